/* pod.list */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "methods/methods.h"
#include "methods/page.h"
#include "methods/shapes.h"
#include "methods/views.h"
#include "methods/world.h"

static const struct rpc_name state_names[] = { { "reserved", POD_RESERVED }, { "bound", POD_BOUND },
	{ "allocated", POD_ALLOCATED }, { "releasing", POD_RELEASING }, { 0 } };

struct list_params {
	const char *node, *namespace;
	unsigned state;
	int64_t limit;
	const char *after;
};

static const struct rpc_field fields[] = {
	OPTIONAL(struct list_params, node, "Only on this node."),
	OPTIONAL(struct list_params, state, "Only in this state.", NAMES(state_names), DEFAULT(POD_NONE)),
	OPTIONAL(struct list_params, namespace, "Only of this namespace."),
	FIELD_LIMIT(struct list_params),
	FIELD_AFTER(struct list_params),
};
static const struct rpc_shape shape = { SHAPE_OF(struct list_params, fields) };

static bool wanted(const struct list_params *p, const struct allocation *a)
{
	return (p->state == POD_NONE || a->state == p->state) && (!p->namespace || strcmp(a->pod.namespace, p->namespace) == 0);
}

/* Prints one row; false when the page is full. */
static bool list_one(const struct list_params *p, const struct holding *h, struct page *page)
{
	if (!wanted(p, h->record))
		return true;
	if (!page_take(page, h->record->pod.uid))
		return false;
	view_holding(page->o, NULL, h);
	return true;
}

static int by_uid(const void *a, const void *b)
{
	return strcmp((*(const struct holding *const *)a)->record->pod.uid, (*(const struct holding *const *)b)->record->pod.uid);
}

static void list_of_node(const struct list_params *p, const struct node *n, struct page *page)
{
	const struct holding **order = mem_array(n->n_holdings, sizeof *order);
	size_t count = 0;
	for (const struct holding *h = n->holdings; h; h = h->next)
		if (!p->after || strcmp(h->record->pod.uid, p->after) > 0)
			order[count++] = h;
	if (count)
		qsort(order, count, sizeof *order, by_uid);
	for (size_t i = 0; i < count && list_one(p, order[i], page); i++)
		;
	free(order);
}

static struct rpc_done handle(struct rpc_call *call, const void *params, void *world)
{
	const struct list_params *p = params;
	const struct world *w = world;
	const struct node *n = p->node ? cluster_node(w->cluster, p->node) : NULL;
	struct page page = { .o = rpc_result(call), .left = p->limit };

	out_array(page.o, "pods");
	if (n)
		list_of_node(p, n, &page);
	struct holding *h = p->node ? NULL : cluster_holding_from(w->cluster, page_start(p->after), p->after);
	while (h && list_one(p, h, &page))
		h = RB_NEXT(holding_tree, &w->cluster->holdings_by_uid, h);
	out_end(page.o);
	page_end(&page, w->cluster);
	return rpc_done(call);
}

static const struct rpc_member result[] = {
	{ "pods", "[Allocation]", "By uid." },
	{ "next", "string?", "Pass as `after` for the next page." },
	{ "revision", "integer", "What the page shows." },
	{ 0 },
};

const struct rpc_method pod_list_method = {
	.name = "pod.list",
	.summary = "Lists pods that hold devices.",
	.roles = ROLE_ALL,
	.params = &shape,
	.result = result,
	.handle = handle,
};

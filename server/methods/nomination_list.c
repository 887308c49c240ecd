/* nomination.list */
#include <string.h>

#include "methods/methods.h"
#include "methods/page.h"
#include "methods/shapes.h"
#include "methods/views.h"
#include "methods/world.h"

struct list_params {
	const char *node;
	int64_t limit;
	const char *after;
};

static const struct rpc_field fields[] = {
	OPTIONAL(struct list_params, node, "Only on this node."),
	FIELD_LIMIT(struct list_params),
	FIELD_AFTER(struct list_params),
};
static const struct rpc_shape shape = { SHAPE_OF(struct list_params, fields) };

static struct rpc_done handle(struct rpc_call *call, const void *params, void *world)
{
	const struct list_params *p = params;
	const struct world *w = world;
	struct page page = { .o = rpc_result(call), .left = p->limit };
	struct promise *n = cluster_promise_from(w->cluster, page_start(p->after), p->after);

	out_array(page.o, "nominations");
	for (; n; n = RB_NEXT(promise_tree, &w->cluster->promises_by_uid, n)) {
		if (p->node && strcmp(n->record->node, p->node) != 0)
			continue;
		if (!page_take(&page, n->record->pod.uid))
			break;
		view_nomination(page.o, NULL, n->record, NULL, 0);
	}
	out_end(page.o);
	page_end(&page, w->cluster);
	return rpc_done(call);
}

static const struct rpc_member result[] = {
	{ "nominations", "[Nomination]", "By uid." },
	{ "next", "string?", "Pass as `after` for the next page." },
	{ "revision", "integer", "What the page shows." },
	{ 0 },
};

const struct rpc_method nomination_list_method = {
	.name = "nomination.list",
	.summary = "Lists nominations.",
	.roles = ROLE_ALL,
	.params = &shape,
	.result = result,
	.handle = handle,
};

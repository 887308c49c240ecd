/* node.list */
#include "methods/methods.h"
#include "methods/page.h"
#include "methods/shapes.h"
#include "methods/views.h"
#include "methods/world.h"

struct list_params {
	int64_t limit;
	const char *after;
};

static const struct rpc_field fields[] = { FIELD_LIMIT(struct list_params), FIELD_AFTER(struct list_params) };
static const struct rpc_shape shape = { SHAPE_OF(struct list_params, fields) };

static struct rpc_done handle(struct rpc_call *call, const void *params, void *world)
{
	const struct list_params *p = params;
	const struct world *w = world;
	struct page page = { .o = rpc_result(call), .left = p->limit };
	size_t i = p->after ? cluster_node_index(w->cluster, p->after, true) : 0;

	out_array(page.o, "nodes");
	for (; i < w->cluster->n_nodes && page_take(&page, w->cluster->order[i]->record->name); i++)
		view_node(page.o, NULL, w->cluster->order[i]);
	out_end(page.o);
	page_end(&page, w->cluster);
	return rpc_done(call);
}

static const struct rpc_member result[] = {
	{ "nodes", "[Node]", "By name." },
	{ "next", "string?", "Pass as `after` for the next page." },
	{ "revision", "integer", "What the page shows." },
	{ 0 },
};

const struct rpc_method node_list_method = {
	.name = "node.list",
	.summary = "Lists nodes.",
	.roles = ROLE_ALL,
	.params = &shape,
	.result = result,
	.handle = handle,
};

/* event.list */
#include "base/error.h"
#include "methods/methods.h"
#include "methods/shapes.h"
#include "methods/world.h"

struct list_params {
	int64_t after, limit;
	const char *uid, *node;
};

static const struct rpc_field fields[] = {
	OPTIONAL(struct list_params, after, "Events of later revisions.", RANGE(0, RPC_INTEGER_MAX), DEFAULT(0)),
	FIELD_LIMIT(struct list_params),
	OPTIONAL(struct list_params, uid, "Only of this pod."),
	OPTIONAL(struct list_params, node, "Only of this node."),
};
static const struct rpc_shape shape = { SHAPE_OF(struct list_params, fields) };

void view_event(void *context, const struct world_event *e)
{
	struct json_out *o = context;
	out_object(o, NULL);
	out_int(o, "revision", e->revision);
	out_int(o, "at", e->at);
	out_string(o, "kind", e->kind);
	out_string_if(o, "node", e->node);
	out_string_if(o, "uid", e->uid);
	out_string(o, "actor", e->actor);
	out_raw(o, "data", e->data);
	out_end(o);
}

static struct rpc_done handle(struct rpc_call *call, const void *params, void *world)
{
	(void)params;
	(void)world;
	return rpc_later(call); /* history is on disk, and the disk is not for the loop */
}

static struct rpc_done work(struct rpc_call *call, const void *params, void *world, void *reader)
{
	const struct list_params *p = params;
	const struct world *w = world;
	const struct world_event_query query = { .after = p->after, .limit = p->limit, .uid = p->uid, .node = p->node };
	struct json_out *o = rpc_result(call);
	int64_t last;

	out_array(o, "events");
	struct error *error = w->services->events(reader, &query, view_event, o, &last);
	if (error)
		return rpc_refuse(call, error);
	out_end(o);
	out_int(o, "last", last);
	return rpc_done(call);
}

static const struct rpc_member result[] = {
	{ "events", "[Event]", "In order; a revision is never split over pages." },
	{ "last", "integer", "Complete up to this revision: the next `after`." },
	{ 0 },
};

const struct rpc_method event_list_method = {
	.name = "event.list",
	.summary = "Tells what happened.",
	.roles = ROLE_ALL,
	.params = &shape,
	.result = result,
	.errors = RPC_ERROR(ERR_COMPACTED),
	.handle = handle,
	.work = work,
};

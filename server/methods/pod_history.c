/* pod.history */
#include "base/error.h"
#include "methods/history.h"
#include "methods/methods.h"
#include "methods/shapes.h"

int64_t history_start(const struct world_span *span, int64_t after)
{
	return after >= 0 ? after : span->horizon;
}

void history_since(struct json_out *o, const struct world_span *span)
{
	out_int(o, "since", span->horizon + 1);
	out_int_if(o, "since_at", span->since);
}

struct error *history_compacted(const struct world_span *span)
{
	struct error *e = error_new(ERR_COMPACTED, "history begins with revision %lld", (long long)span->horizon + 1);
	return error_with_integer(error_with_integer(e, "oldest", span->horizon + 1), "epoch", span->epoch);
}

struct history_params {
	const char *uid;
	int64_t after, limit;
};

static const struct rpc_field fields[] = {
	REQUIRED(struct history_params, uid, "The pod."),
	FIELD_HISTORY_AFTER(struct history_params),
	FIELD_LIMIT(struct history_params),
};
static const struct rpc_shape shape = { SHAPE_OF(struct history_params, fields) };

static struct rpc_done handle(struct rpc_call *call, const void *params, void *world)
{
	(void)params;
	(void)world;
	return rpc_later(call);
}

static struct rpc_done work(struct rpc_call *call, const void *params, void *world, void *reader)
{
	const struct history_params *p = params;
	const struct world *w = world;
	struct json_out *o = rpc_result(call);
	struct world_span span;
	int64_t last;

	struct error *error = w->services->span(reader, &span);
	if (error)
		return rpc_refuse(call, error);

	const struct world_event_query query = { .after = history_start(&span, p->after), .limit = p->limit, .uid = p->uid };
	out_array(o, "events");
	error = w->services->events(reader, &query, view_event, o, &last);
	if (error)
		return rpc_refuse(call, error);
	out_end(o);
	out_int(o, "last", last);
	history_since(o, &span);
	return rpc_done(call);
}

static const struct rpc_member result[] = {
	{ "events", "[Event]", "In order; a revision is never split over pages." },
	{ "last", "integer", "Complete up to this revision: the next `after`." },
	HISTORY_SINCE_MEMBERS,
	{ 0 },
};

const struct rpc_method pod_history_method = {
	.name = "pod.history",
	.summary = "Tells what happened to a pod, as far back as events are kept.",
	.description = "A page may be empty and not the last one: go on until `last` does not rise.",
	.roles = ROLE_ALL,
	.params = &shape,
	.result = result,
	.errors = RPC_ERROR(ERR_COMPACTED),
	.handle = handle,
	.work = work,
};

/* pod.bind */
#include "base/error.h"
#include "core/lifecycle.h"
#include "methods/methods.h"
#include "methods/shapes.h"
#include "methods/views.h"
#include "methods/world.h"

struct bind_params {
	const char *uid, *node;
	int64_t ttl, if_revision;
};

static const struct rpc_field fields[] = {
	REQUIRED(struct bind_params, uid, "The pod."),
	REQUIRED(struct bind_params, node, "The node it was reserved on."),
	FIELD_TTL(struct bind_params, 300, "Seconds until the lock ends; each group handed out starts it again."),
	FIELD_IF_REVISION(struct bind_params),
};
static const struct rpc_shape shape = { SHAPE_OF(struct bind_params, fields) };

static struct rpc_done handle(struct rpc_call *call, const void *params, void *world)
{
	const struct bind_params *p = params;
	struct world *w = world;
	struct report report = report_new(NULL, REPORT_NODES);
	const struct allocation *a = NULL;

	struct error *error = pod_bind(w->txn, p->uid, p->node, p->ttl * SECOND, p->if_revision, &report, &a);
	error = with_report(error, &report);
	report_free(&report);
	if (error)
		return rpc_refuse(call, error);

	view_allocation_result(rpc_result(call), w->cluster, a, !w->txn->revision);
	return rpc_done(call);
}

const struct rpc_method pod_bind_method = {
	.name = "pod.bind",
	.summary =
		"Takes the node lock for a reserved pod and binds it, in one step; fails at once when another pod holds the "
		"lock.",
	.description = "A pod whose claims need no node agent is allocated at once, without a lock. Repeated: the same answer.",
	.roles = ROLE_SCHEDULER,
	.writes = true,
	.params = &shape,
	.result = allocation_members,
	.errors = RPC_ERROR(ERR_NOT_FOUND) | RPC_ERROR(ERR_EXPIRED) | RPC_ERROR(ERR_CONFLICT) | RPC_ERROR(ERR_LOCKED) |
		  RPC_ERROR(ERR_INSUFFICIENT),
	.handle = handle,
};

/* pod.renew */
#include "base/error.h"
#include "core/lifecycle.h"
#include "methods/methods.h"
#include "methods/shapes.h"
#include "methods/views.h"
#include "methods/world.h"

struct renew_params {
	const char *uid;
	int64_t ttl;
};

static const struct rpc_field fields[] = {
	REQUIRED(struct renew_params, uid, "The pod."),
	REQUIRED(struct renew_params, ttl, "Seconds from now.", RANGE(1, 86400)),
};
static const struct rpc_shape shape = { SHAPE_OF(struct renew_params, fields) };

static struct rpc_done handle(struct rpc_call *call, const void *params, void *world)
{
	const struct renew_params *p = params;
	struct world *w = world;
	const struct allocation *a;
	const struct nomination *n;

	struct error *error = pod_renew(w->txn, p->uid, p->ttl * SECOND, &a, &n);
	if (error)
		return rpc_refuse(call, error);

	if (a)
		view_allocation_result(rpc_result(call), w->cluster, a, true);
	else
		view_nomination_members(rpc_result(call), n, NULL, 0);
	return rpc_done(call);
}

static const struct rpc_member result[] = {
	{ "pod", "Pod", "Who." },
	{ "node", "string", "Where." },
	{ "devices", "[Share]", "Held or promised." },
	{ "expires_at", "integer", "Unix ms; never earlier than before." },
	{ "revision", "integer", "Of its last change." },
	{ 0 },
};

const struct rpc_method pod_renew_method = {
	.name = "pod.renew",
	.summary = "Lets a reservation, a bind or a nomination last longer.",
	.description = "The answer is an Allocation, or a Nomination when the pod holds nothing.",
	.roles = ROLE_SCHEDULER,
	.writes = true,
	.params = &shape,
	.result = result,
	.errors = RPC_ERROR(ERR_NOT_FOUND) | RPC_ERROR(ERR_CONFLICT),
	.handle = handle,
};

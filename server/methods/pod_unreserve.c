/* pod.unreserve */
#include "base/error.h"
#include "core/lifecycle.h"
#include "methods/methods.h"
#include "methods/shapes.h"
#include "methods/views.h"
#include "methods/world.h"

struct unreserve_params {
	const char *uid;
	int64_t token;
	bool renominate;
	int64_t ttl, if_revision;
};

static const struct rpc_field fields[] = {
	REQUIRED(struct unreserve_params, uid, "The pod."),
	OPTIONAL(struct unreserve_params, token, "The token of the bind that is taken back.", RANGE(0, RPC_INTEGER_MAX),
		DEFAULT(-1)),
	OPTIONAL(struct unreserve_params, renominate, "Back to a nomination on the same devices."),
	FIELD_TTL(struct unreserve_params, 600, "Seconds until the nomination ends."),
	FIELD_IF_REVISION(struct unreserve_params),
};
static const struct rpc_shape shape = { SHAPE_OF(struct unreserve_params, fields) };

static struct rpc_done handle(struct rpc_call *call, const void *params, void *world)
{
	const struct unreserve_params *p = params;
	const struct unreserve args = {
		.uid = p->uid, .token = p->token, .renominate = p->renominate, .ttl = p->ttl * SECOND, .revision = p->if_revision
	};
	const struct nomination *n;
	bool released;

	struct error *error = pod_unreserve(((struct world *)world)->txn, &args, &released, &n);
	if (error)
		return rpc_refuse(call, error);

	out_bool(rpc_result(call), "released", released);
	if (n)
		view_nomination(rpc_result(call), "nomination", n, NULL, 0);
	return rpc_done(call);
}

static const struct rpc_member result[] = {
	{ "released", "boolean", "Whether it held anything." },
	{ "nomination", "Nomination?", "With `renominate`, while its devices serve." },
	{ 0 },
};

const struct rpc_method pod_unreserve_method = {
	.name = "pod.unreserve",
	.summary = "Gives back what was reserved, or bound with its token and not handed out.",
	.description = "Also drops the pod's nomination.",
	.roles = ROLE_SCHEDULER,
	.writes = true,
	.frees = true,
	.params = &shape,
	.result = result,
	.errors = RPC_ERROR(ERR_CONFLICT) | RPC_ERROR(ERR_STALE_TOKEN),
	.handle = handle,
};

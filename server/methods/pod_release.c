/* pod.release */
#include "base/error.h"
#include "core/lifecycle.h"
#include "methods/methods.h"
#include "methods/shapes.h"
#include "methods/world.h"

enum when { WHEN_NOW, WHEN_NODE_CONFIRMS };
static const struct rpc_name when_names[] = { { "now", WHEN_NOW }, { "node_confirms", WHEN_NODE_CONFIRMS }, { 0 } };

struct release_params {
	const char *uid;
	unsigned when;
	const char *reason;
	int64_t if_revision;
};

static const struct rpc_field fields[] = {
	REQUIRED(struct release_params, uid, "The pod."),
	OPTIONAL(struct release_params, when, "node_confirms: devices stay held until the node's reconcile.", NAMES(when_names),
		DEFAULT(WHEN_NOW)),
	OPTIONAL(struct release_params, reason, "Why, for people.", TEXT(RPC_TEXT_MAX), DEFAULT_TEXT("")),
	FIELD_IF_REVISION(struct release_params),
};
static const struct rpc_shape shape = { SHAPE_OF(struct release_params, fields) };

static struct rpc_done handle(struct rpc_call *call, const void *params, void *world)
{
	const struct release_params *p = params;
	const struct release args = {
		.uid = p->uid, .node_confirms = p->when == WHEN_NODE_CONFIRMS, .reason = p->reason, .revision = p->if_revision
	};
	enum pod_state state;
	bool released;

	struct error *error = pod_release(((struct world *)world)->txn, &args, &released, &state);
	if (error)
		return rpc_refuse(call, error);

	out_bool(rpc_result(call), "released", released);
	if (state != POD_NONE)
		out_string(rpc_result(call), "state", pod_state_name(state));
	return rpc_done(call);
}

static const struct rpc_member result[] = {
	{ "released", "boolean", "Whether devices became free." },
	{ "state", "string?", "The state before; absent when it held nothing." },
	{ 0 },
};

const struct rpc_method pod_release_method = {
	.name = "pod.release",
	.summary = "Ends a pod: frees its devices, lock, nomination, lapses and refusal together.",
	.roles = ROLE_SCHEDULER,
	.writes = true,
	.frees = true,
	.params = &shape,
	.result = result,
	.errors = RPC_ERROR(ERR_CONFLICT),
	.handle = handle,
};

/* plugin.confirm, plugin.fail */
#include "base/error.h"
#include "core/agent.h"
#include "methods/methods.h"
#include "methods/plugin_shared.h"
#include "methods/shapes.h"
#include "methods/world.h"

struct confirm_params {
	const char *node, *type;
	struct rpc_strings device_ids;
	const char *container, *uid, *namespace, *name;
	struct rpc_json detail;
};

static const struct rpc_field confirm_fields[] = {
	REQUIRED(struct confirm_params, node, "The node."),
	REQUIRED(struct confirm_params, type, "Device type."),
	REQUIRED(struct confirm_params, device_ids, "The ids the kubelet named.", ITEMS(1, 4096)),
	REQUIRED(struct confirm_params, container, "The container that really got them.", TEXT(RPC_NAME_MAX)),
	OPTIONAL(struct confirm_params, uid, "The pod that really got them."),
	OPTIONAL(struct confirm_params, namespace, "Instead of the uid, with `name`."),
	OPTIONAL(struct confirm_params, name, "Instead of the uid, with `namespace`."),
	OPTIONAL(struct confirm_params, detail, "Anything worth keeping.", TEXT(1024)),
};
static const struct rpc_shape confirm_shape = { SHAPE_OF(struct confirm_params, confirm_fields) };

static struct rpc_done confirm(struct rpc_call *call, const void *params, void *world)
{
	const struct confirm_params *p = params;
	const struct confirm args = {
		.node = p->node,
		.type = p->type,
		.container = p->container,
		.uid = p->uid,
		.namespace = p->namespace,
		.name = p->name,
		.device_ids = sorted_ids(rpc_call_arena(call), &p->device_ids),
		.n_device_ids = p->device_ids.n,
		.detail = p->detail.text ? p->detail.text : "",
	};

	if (!p->uid && !(p->namespace && p->name))
		return rpc_refuse(call, error_invalid("uid", "give `uid`, or `namespace` and `name`"));

	struct error *error = agent_confirm(((struct world *)world)->txn, &args);
	if (error)
		return rpc_refuse(call, error);

	out_bool(rpc_result(call), "confirmed", true);
	return rpc_done(call);
}

static const struct rpc_member confirm_result[] = { { "confirmed", "boolean", "Always true." }, { 0 } };

const struct rpc_method plugin_confirm_method = {
	.name = "plugin.confirm",
	.summary = "Tells, before the container starts, who really got the devices that were handed out as these ids.",
	.description = "mismatch: they were handed out to somebody else, and the container must not start.",
	.roles = ROLE_PLUGIN,
	.writes = true,
	.params = &confirm_shape,
	.result = confirm_result,
	.errors = RPC_ERROR(ERR_NOT_FOUND) | RPC_ERROR(ERR_MISMATCH),
	.handle = confirm,
};

struct fail_params {
	const char *node, *uid;
	int64_t token;
	const char *reason;
};

static const struct rpc_field fail_fields[] = {
	REQUIRED(struct fail_params, node, "The node."),
	REQUIRED(struct fail_params, uid, "The pod."),
	REQUIRED(struct fail_params, token, "Of its bind.", RANGE(0, RPC_INTEGER_MAX)),
	REQUIRED(struct fail_params, reason, "What went wrong; kept as the pod's refusal.", TEXT(RPC_TEXT_MAX)),
};
static const struct rpc_shape fail_shape = { SHAPE_OF(struct fail_params, fail_fields) };

static struct rpc_done fail(struct rpc_call *call, const void *params, void *world)
{
	const struct fail_params *p = params;

	struct error *error = agent_fail(((struct world *)world)->txn, p->node, p->uid, p->token, p->reason);
	if (error)
		return rpc_refuse(call, error);

	out_bool(rpc_result(call), "released", true);
	return rpc_done(call);
}

static const struct rpc_member fail_result[] = { { "released", "boolean", "Always true." }, { 0 } };

const struct rpc_method plugin_fail_method = {
	.name = "plugin.fail",
	.summary = "Gives back the devices and the lock of a pod that the node agent could not serve.",
	.description = "A bound pod, or an allocated one that was not confirmed yet.",
	.roles = ROLE_PLUGIN,
	.writes = true,
	.frees = true,
	.params = &fail_shape,
	.result = fail_result,
	.errors = RPC_ERROR(ERR_NOT_FOUND) | RPC_ERROR(ERR_CONFLICT) | RPC_ERROR(ERR_STALE_TOKEN) | RPC_ERROR(ERR_EXPIRED),
	.handle = fail,
};

/* plugin.pending, plugin.allocate */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "core/agent.h"
#include "methods/methods.h"
#include "methods/plugin_shared.h"
#include "methods/shapes.h"
#include "methods/views.h"
#include "methods/world.h"

struct pending_params {
	const char *node;
};

static const struct rpc_field pending_fields[] = { REQUIRED(struct pending_params, node, "The node.") };
static const struct rpc_shape pending_shape = { SHAPE_OF(struct pending_params, pending_fields) };

static struct rpc_done pending(struct rpc_call *call, const void *params, void *world)
{
	const struct pending_params *p = params;
	const struct node *n = cluster_node(((struct world *)world)->cluster, p->node);

	if (!n)
		return rpc_refuse(call, not_found_error("node", p->node));

	struct json_out *o = rpc_result(call);
	const struct allocation *a = agent_pending(n);
	if (!a) {
		out_null(o, "pod");
		return rpc_done(call);
	}
	view_pod(o, "pod", &a->pod);
	out_int(o, "token", a->token);
	out_int(o, "expires_at", a->expires_at);
	view_groups(o, "groups", a);
	return rpc_done(call);
}

static const struct rpc_member pending_result[] = {
	{ "pod", "Pod|null", "The bound pod; null when there is none." },
	{ "token", "integer?", "Of the lock it is bound under." },
	{ "expires_at", "integer?", "Of the lock, Unix ms." },
	{ "groups", "[Group]?", "In the order in which the kubelet asks." },
	{ 0 },
};

const struct rpc_method plugin_pending_method = {
	.name = "plugin.pending",
	.summary = "Names the pod that is bound to a node and waits for its devices.",
	.roles = ROLE_PLUGIN | ROLE_DEBUG,
	.params = &pending_shape,
	.result = pending_result,
	.errors = RPC_ERROR(ERR_NOT_FOUND),
	.handle = pending,
};

struct allocate_params {
	const char *node, *type;
	int64_t count;
	const char *uid, *container;
	int64_t token;
	const char *call;
	struct rpc_strings device_ids;
};

static const struct rpc_field allocate_fields[] = {
	REQUIRED(struct allocate_params, node, "The node that asks."),
	OPTIONAL(struct allocate_params, type, "Device type."),
	OPTIONAL(struct allocate_params, count, "Devices that the group must have.", RANGE(1, REQUEST_CLAIMS *CLAIM_COUNT),
		DEFAULT(0)),
	OPTIONAL(struct allocate_params, uid, "The pod, if the agent knows it."),
	OPTIONAL(struct allocate_params, container, "The container, if the agent knows it; may be \"\".", TEXT(RPC_NAME_MAX)),
	OPTIONAL(struct allocate_params, token, "With a uid: of its bind; without: of the node's lock now.",
		RANGE(0, RPC_INTEGER_MAX), DEFAULT(-1)),
	OPTIONAL(struct allocate_params, call, "Idempotency key of the agent: the same key gets the same answer."),
	OPTIONAL(struct allocate_params, device_ids, "The ids the kubelet named.", ITEMS(0, 4096)),
};
static const struct rpc_shape allocate_shape = { SHAPE_OF(struct allocate_params, allocate_fields) };

const char *const *sorted_ids(struct arena *arena, const struct rpc_strings *ids)
{
	const char **sorted = arena_alloc(arena, ids->n * sizeof *sorted);
	if (ids->n) {
		memcpy(sorted, ids->items, ids->n * sizeof *sorted);
		qsort(sorted, ids->n, sizeof *sorted, string_order);
	}
	return sorted;
}

static struct rpc_done allocate(struct rpc_call *call, const void *params, void *world)
{
	const struct allocate_params *p = params;
	const struct world *w = world;
	const struct allocate args = {
		.node = p->node,
		.type = p->type,
		.uid = p->uid,
		.container = p->container,
		.call = p->call,
		.count = p->count,
		.token = p->token,
		.device_ids = sorted_ids(rpc_call_arena(call), &p->device_ids),
		.n_device_ids = p->device_ids.n,
	};
	struct report report = report_new(NULL, REPORT_NODES);
	const struct allocation *a = NULL;
	size_t group = 0;

	struct error *error = with_report(agent_allocate(w->txn, &args, &report, &a, &group), &report);
	report_free(&report);
	if (error)
		return rpc_refuse(call, error);

	struct json_out *o = rpc_result(call);
	const struct group *g = &a->request->groups[group];
	view_pod(o, "pod", &a->pod);
	out_string(o, "container", g->container);
	out_string(o, "type", g->type);
	view_shares(o, "devices", a->request, a->shares, a->n_shares, g->claims, a);
	out_int(o, "remaining", (int64_t)groups_open(a));
	out_string(o, "state", pod_state_name(a->state));
	return rpc_done(call);
}

static const struct rpc_member allocate_result[] = {
	{ "pod", "Pod", "Whose devices they are." },
	{ "container", "string", "Container." },
	{ "type", "string", "Device type." },
	{ "devices", "[Share]", "The devices." },
	{ "remaining", "integer", "Groups of the pod not handed out yet." },
	{ "state", "string", "Of the pod." },
	{ 0 },
};

const struct rpc_method plugin_allocate_method = {
	.name = "plugin.allocate",
	.summary = "Hands out the next group of devices on a node: to the pod named, or to the one that must be meant.",
	.description = "With the last group a bound pod becomes allocated and the lock is freed, in the same step.",
	.roles = ROLE_PLUGIN,
	.writes = true,
	.params = &allocate_shape,
	.result = allocate_result,
	.errors = RPC_ERROR(ERR_NOT_FOUND) | RPC_ERROR(ERR_AMBIGUOUS) | RPC_ERROR(ERR_EXPIRED) | RPC_ERROR(ERR_MISMATCH) |
		  RPC_ERROR(ERR_EXHAUSTED) | RPC_ERROR(ERR_STALE_TOKEN) | RPC_ERROR(ERR_CONFLICT) | RPC_ERROR(ERR_INSUFFICIENT),
	.handle = allocate,
};

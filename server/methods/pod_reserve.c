/* pod.reserve */
#include "base/error.h"
#include "core/lifecycle.h"
#include "methods/methods.h"
#include "methods/shapes.h"
#include "methods/views.h"
#include "methods/world.h"

struct reserve_params {
	struct pod_params pod;
	struct rpc_list request;
	const char *node;
	struct rpc_strings nodes;
	unsigned policy;
	int64_t ttl;
	bool replace;
};

static const struct rpc_field fields[] = {
	REQUIRED(struct reserve_params, pod, "Who.", SHAPE(&pod_shape)),
	FIELD_REQUEST(struct reserve_params),
	OPTIONAL(struct reserve_params, node, "Only there."),
	OPTIONAL(struct reserve_params, nodes, "Only on one of these; neither: anywhere.", ITEMS(0, 16384)),
	OPTIONAL(struct reserve_params, policy, "Which devices and nodes come first.", NAMES(policy_names),
		DEFAULT(POLICY_BINPACK)),
	FIELD_TTL(struct reserve_params, 600, "Seconds until the reservation ends."),
	OPTIONAL(struct reserve_params, replace, "A reservation of the same uid gives way, if the new one fits."),
};
static const struct rpc_shape shape = { SHAPE_OF(struct reserve_params, fields) };

static struct rpc_done reserve(
	struct rpc_call *call, const struct reserve_params *p, const struct request *request, struct world *w)
{
	const struct pod pod = pod_of(&p->pod);
	const struct reserve args = {
		.pod = &pod,
		.request = request,
		.node = p->node,
		.names = p->nodes.items,
		.n_names = p->nodes.n,
		.policy = (enum policy)p->policy,
		.ttl = p->ttl * SECOND,
		.replace = p->replace,
	};
	struct report report = report_new(request, REPORT_NODES);
	const struct allocation *a = NULL;
	bool existing = false;

	struct error *error = with_report(pod_reserve(w->txn, &args, &report, &a, &existing), &report);
	report_free(&report);
	if (error)
		return rpc_refuse(call, error);

	view_allocation_result(rpc_result(call), w->cluster, a, existing);
	return rpc_done(call);
}

static struct rpc_done handle(struct rpc_call *call, const void *params, void *world)
{
	const struct reserve_params *p = params;
	struct request *request;

	if (p->node && p->nodes.items)
		return rpc_refuse(call, error_invalid("nodes", "give `node` or `nodes`, not both"));

	struct error *error = request_of(&p->request, &request);
	if (error)
		return rpc_refuse(call, error);

	struct rpc_done done = reserve(call, p, request, world);
	request_unref(request);
	return done;
}

const struct rpc_method pod_reserve_method = {
	.name = "pod.reserve",
	.summary = "Takes devices for a pod, for a limited time.",
	.description =
		"The same uid, pod and request (and node, if given) again: the present allocation, with existing. Without a "
		"node: the pod's nominated node first, then nodes by policy (binpack: the least free part of what is asked for; "
		"spread: the largest), then by name.",
	.roles = ROLE_SCHEDULER,
	.writes = true,
	.params = &shape,
	.result = allocation_members,
	.errors = RPC_ERROR(ERR_INSUFFICIENT) | RPC_ERROR(ERR_NOT_FOUND) | RPC_ERROR(ERR_CONFLICT) | RPC_ERROR(ERR_OVERLOADED),
	.handle = handle,
};

/* pod.preempt */
#include "base/error.h"
#include "core/preempt.h"
#include "methods/methods.h"
#include "methods/shapes.h"
#include "methods/views.h"
#include "methods/world.h"

struct preempt_params {
	struct pod_params pod;
	struct rpc_list request;
	struct rpc_strings nodes, protect;
	int64_t ttl;
	bool dry_run;
};

static const struct rpc_field fields[] = {
	REQUIRED(struct preempt_params, pod, "For whom.", SHAPE(&pod_shape)),
	FIELD_REQUEST(struct preempt_params),
	OPTIONAL(struct preempt_params, nodes, "Candidates; absent: all.", ITEMS(0, 16384)),
	OPTIONAL(struct preempt_params, protect, "Pods (uids) that should rather stay, a disruption budget for instance.",
		ITEMS(0, 4096)),
	FIELD_TTL(struct preempt_params, 600, "Seconds until the nomination ends."),
	OPTIONAL(struct preempt_params, dry_run, "Only say what would be done."),
};
static const struct rpc_shape shape = { SHAPE_OF(struct preempt_params, fields) };

static void print(struct json_out *o, const struct request *request, const struct preempted *p)
{
	out_string(o, "node", p->node);
	out_array(o, "victims");
	for (size_t i = 0; i < p->n_victims; i++)
		view_holding(o, NULL, p->victims[i]);
	out_end(o);
	view_shares(o, "devices", request, p->shares, p->n_shares, UINT32_MAX, NULL);
	out_bool(o, "nominated", p->nominated);
}

static struct rpc_done preempt(
	struct rpc_call *call, const struct preempt_params *p, const struct request *request, struct world *w)
{
	const struct pod pod = pod_of(&p->pod);
	const struct preempt args = {
		.pod = &pod,
		.request = request,
		.names = p->nodes.items,
		.n_names = p->nodes.n,
		.protect = p->protect.items,
		.n_protect = p->protect.n,
		.ttl = p->ttl * SECOND,
		.dry_run = p->dry_run,
	};
	struct report report = report_new(request, REPORT_NODES);
	struct preempted preempted;

	struct error *error = with_report(pod_preempt(w->txn, &args, &report, &preempted), &report);
	report_free(&report);
	if (error)
		return rpc_refuse(call, error);

	print(rpc_result(call), request, &preempted);
	preempted_free(&preempted);
	return rpc_done(call);
}

static struct rpc_done handle(struct rpc_call *call, const void *params, void *world)
{
	const struct preempt_params *p = params;
	struct request *request;

	struct error *error = request_of(&p->request, &request);
	if (error)
		return rpc_refuse(call, error);

	struct rpc_done done = preempt(call, p, request, world);
	request_unref(request);
	return done;
}

static const struct rpc_member result[] = {
	{ "node", "string", "Where." },
	{ "victims", "[Allocation]", "Who has to leave, by uid; empty where it fits as it is." },
	{ "devices", "[Share]", "What is promised to the pod." },
	{ "nominated", "boolean", "It is promised now; false for `dry_run`." },
	{ 0 },
};

const struct rpc_method pod_preempt_method = {
	.name = "pod.preempt",
	.summary = "Finds the least important pods that must leave so that a pod fits, and nominates it over them.",
	.description =
		"Only preemptible pods of lower priority are victims, and none of them is needless. Best node: fewest protected "
		"victims, lowest highest priority among the victims, smallest sum of their priorities, fewest victims, victims "
		"that started latest (the oldest of the most important ones), name. Where the pod fits as it is there are no "
		"victims; its nominated node comes first then. A nomination over victims that are still there, for the same pod "
		"and request and on one of `nodes`, is answered again and renewed. The victims are released by the caller.",
	.roles = ROLE_SCHEDULER,
	.writes = true,
	.params = &shape,
	.result = result,
	.errors = RPC_ERROR(ERR_INSUFFICIENT) | RPC_ERROR(ERR_CONFLICT) | RPC_ERROR(ERR_OVERLOADED),
	.handle = handle,
};

/* pod.nominate, pod.denominate */
#include "core/nominate.h"

#include <stdlib.h>

#include "base/error.h"
#include "methods/methods.h"
#include "methods/shapes.h"
#include "methods/views.h"
#include "methods/world.h"

struct nominate_params {
	struct pod_params pod;
	const char *node;
	struct rpc_list request;
	struct rpc_strings victims;
	int64_t ttl;
};

static const struct rpc_field fields[] = {
	REQUIRED(struct nominate_params, pod, "Who.", SHAPE(&pod_shape)),
	REQUIRED(struct nominate_params, node, "Where."),
	FIELD_REQUEST(struct nominate_params),
	OPTIONAL(struct nominate_params, victims, "Pods (uids) that will leave; their devices come first.", ITEMS(0, 256)),
	FIELD_TTL(struct nominate_params, 600, "Seconds until the nomination ends."),
};
static const struct rpc_shape shape = { SHAPE_OF(struct nominate_params, fields) };

static struct rpc_done nominate(
	struct rpc_call *call, const struct nominate_params *p, const struct request *request, struct world *w)
{
	const struct pod pod = pod_of(&p->pod);
	const struct nominate args = {
		.pod = &pod,
		.node = p->node,
		.request = request,
		.victims = p->victims.items,
		.n_victims = p->victims.n,
		.ttl = p->ttl * SECOND,
	};
	struct report report = report_new(request, REPORT_NODES);
	const struct nomination *n;
	const char **ignored = NULL;
	size_t n_ignored = 0;

	struct error *error = with_report(pod_nominate(w->txn, &args, &report, &n, &ignored, &n_ignored), &report);
	report_free(&report);
	if (error)
		return rpc_refuse(call, error);

	view_nomination_members(rpc_result(call), n, ignored, n_ignored);
	free(ignored);
	return rpc_done(call);
}

static struct rpc_done handle_nominate(struct rpc_call *call, const void *params, void *world)
{
	const struct nominate_params *p = params;
	struct request *request;

	struct error *error = request_of(&p->request, &request);
	if (error)
		return rpc_refuse(call, error);

	struct rpc_done done = nominate(call, p, request, world);
	request_unref(request);
	return done;
}

const struct rpc_method pod_nominate_method = {
	.name = "pod.nominate",
	.summary = "Promises devices of a node to a pod that waits, as if its victims were gone.",
	.description = "Replaces an earlier nomination of the pod on whatever node; if it does not fit, the earlier one stays.",
	.roles = ROLE_SCHEDULER,
	.writes = true,
	.params = &shape,
	.result = nomination_members,
	.errors = RPC_ERROR(ERR_NOT_FOUND) | RPC_ERROR(ERR_CONFLICT) | RPC_ERROR(ERR_INSUFFICIENT) | RPC_ERROR(ERR_OVERLOADED),
	.handle = handle_nominate,
};

struct denominate_params {
	const char *uid;
	int64_t if_revision;
};

static const struct rpc_field denominate_fields[] = {
	REQUIRED(struct denominate_params, uid, "The pod."),
	FIELD_IF_REVISION(struct denominate_params),
};
static const struct rpc_shape denominate_shape = { SHAPE_OF(struct denominate_params, denominate_fields) };

static struct rpc_done handle_denominate(struct rpc_call *call, const void *params, void *world)
{
	const struct denominate_params *p = params;
	bool cleared = false;

	struct error *error = pod_denominate(((struct world *)world)->txn, p->uid, p->if_revision, &cleared);
	if (error)
		return rpc_refuse(call, error);

	out_bool(rpc_result(call), "cleared", cleared);
	return rpc_done(call);
}

static const struct rpc_member denominate_result[] = { { "cleared", "boolean", "Whether it had one." }, { 0 } };

const struct rpc_method pod_denominate_method = {
	.name = "pod.denominate",
	.summary = "Ends a pod's nomination.",
	.roles = ROLE_SCHEDULER,
	.writes = true,
	.frees = true,
	.params = &denominate_shape,
	.result = denominate_result,
	.errors = RPC_ERROR(ERR_CONFLICT),
	.handle = handle_denominate,
};

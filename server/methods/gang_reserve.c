/* gang.reserve */
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/mem.h"
#include "core/gang.h"
#include "methods/methods.h"
#include "methods/shapes.h"
#include "methods/views.h"
#include "methods/world.h"

struct member_params {
	struct pod_params pod;
	struct rpc_list request;
	const char *node;
	struct rpc_strings nodes;
};

static struct error *finish_member(void *object, struct arena *arena)
{
	const struct member_params *p = object;
	(void)arena;
	return p->node && p->nodes.items ? error_invalid("nodes", "give `node` or `nodes`, not both") : NULL;
}

static const struct rpc_field member_fields[] = {
	REQUIRED(struct member_params, pod, "Who.", SHAPE(&pod_shape)),
	FIELD_REQUEST(struct member_params),
	OPTIONAL(struct member_params, node, "Only there."),
	OPTIONAL(struct member_params, nodes, "Only on one of these; neither: anywhere.", ITEMS(0, 16384)),
};
static const struct rpc_shape member_shape = { SHAPE_OF(struct member_params, member_fields), .finish = finish_member };

struct gang_params {
	struct rpc_list pods;
	unsigned policy;
	int64_t ttl;
};

static const struct rpc_field fields[] = {
	REQUIRED(struct gang_params, pods, "The pods, the most important to place first.", SHAPE(&member_shape),
		ITEMS(1, GANG_PODS)),
	OPTIONAL(struct gang_params, policy, "Which devices and nodes come first.", NAMES(policy_names), DEFAULT(POLICY_BINPACK)),
	FIELD_TTL(struct gang_params, 600, "Seconds until the reservations end."),
};
static const struct rpc_shape shape = { SHAPE_OF(struct gang_params, fields) };

/* The decoded members; each request is a reference of its own. */
struct members {
	struct pod *pods;
	struct request **requests;
	struct reserve *args;
	struct gang_answer *answers;
	size_t n;
};

static void members_free(struct members *m)
{
	for (size_t i = 0; i < m->n; i++)
		request_unref(m->requests[i]);
	free(m->pods);
	free(m->requests);
	free(m->args);
	free(m->answers);
}

/* Fills the members; `n` counts those whose request was made. */
static struct error *members_of(const struct gang_params *p, struct members *m)
{
	const struct member_params *list = p->pods.items;
	*m = (struct members){ .pods = mem_array(p->pods.n, sizeof *m->pods),
		.requests = mem_array(p->pods.n, sizeof *m->requests),
		.args = mem_array(p->pods.n, sizeof *m->args),
		.answers = mem_array(p->pods.n, sizeof *m->answers) };
	for (; m->n < p->pods.n; m->n++) {
		const struct member_params *from = &list[m->n];
		char path[32];
		struct error *error = request_of(&from->request, &m->requests[m->n]);
		(void)snprintf(path, sizeof path, "pods[%zu]", m->n);
		if (error)
			return rpc_path_below(path, error);
		m->pods[m->n] = pod_of(&from->pod);
		m->args[m->n] = (struct reserve){ .pod = &m->pods[m->n],
			.request = m->requests[m->n],
			.node = from->node,
			.names = from->nodes.items,
			.n_names = from->nodes.n,
			.policy = (enum policy)p->policy,
			.ttl = p->ttl * SECOND };
	}
	return NULL;
}

static void print(struct json_out *o, const struct cluster *c, const struct members *m)
{
	out_array(o, "allocations");
	for (size_t i = 0; i < m->n; i++) {
		out_object(o, NULL);
		view_allocation_result(o, c, m->answers[i].allocation, m->answers[i].existing);
		out_end(o);
	}
	out_end(o);
}

static struct error *reserve(struct members *m, struct world *w)
{
	struct report report;
	struct error *error = with_report(gang_reserve(w->txn, m->args, m->n, &report, m->answers), &report);
	report_free(&report);
	return error;
}

static struct rpc_done handle(struct rpc_call *call, const void *params, void *world)
{
	struct world *w = world;
	struct members m;

	struct error *error = members_of(params, &m);
	if (!error)
		error = reserve(&m, w);
	if (!error)
		print(rpc_result(call), w->cluster, &m);
	members_free(&m);
	return error ? rpc_refuse(call, error) : rpc_done(call);
}

static const struct rpc_member result[] = {
	{ "allocations", "[Allocation]", "In the order of `pods`." },
	{ 0 },
};

const struct rpc_method gang_reserve_method = {
	.name = "gang.reserve",
	.summary = "Takes devices for several pods at once: for all of them or for none.",
	.description =
		"Pods that hold just what is asked are kept and count. The others are placed in the order given; where that "
		"fails, up to 8 of them are placed in any way that fits. `insufficient` tells `counts` and `nodes` of the first "
		"pod that does not fit beside those before it, and its `uid`; that pod's refusal is remembered. Nominations of "
		"the gang's own pods do not stand in its way.",
	.roles = ROLE_SCHEDULER,
	.writes = true,
	.params = &shape,
	.result = result,
	.errors = RPC_ERROR(ERR_INSUFFICIENT) | RPC_ERROR(ERR_NOT_FOUND) | RPC_ERROR(ERR_CONFLICT) | RPC_ERROR(ERR_OVERLOADED),
	.handle = handle,
};

/* pod.explain */
#include "base/error.h"
#include "core/explain.h"
#include "methods/methods.h"
#include "methods/pod_named.h"
#include "methods/shapes.h"
#include "methods/views.h"
#include "methods/world.h"

struct explain_params {
	const char *uid, *namespace, *name;
	struct pod_params pod;
	struct rpc_list request;
	struct rpc_strings without;
};

static const struct rpc_field fields[] = {
	OPTIONAL(struct explain_params, uid,
		"A known pod: what it was last refused, else what it is promised, else what it holds."),
	OPTIONAL(struct explain_params, namespace, "Instead of the uid, with `name`."),
	OPTIONAL(struct explain_params, name, "Instead of the uid, with `namespace`."),
	OPTIONAL(struct explain_params, pod, "Instead of a known pod, with `request`.", SHAPE(&pod_shape)),
	OPTIONAL(struct explain_params, request, "What it would ask for.", SHAPE(&claim_shape), ITEMS(1, REQUEST_CLAIMS)),
	OPTIONAL(struct explain_params, without, "As if these pods (uids) were gone.", ITEMS(0, 4096)),
};
static const struct rpc_shape shape = { SHAPE_OF(struct explain_params, fields) };

static struct error *check(const struct explain_params *p)
{
	bool by_uid = p->uid, by_name = p->namespace || p->name, by_request = p->pod.uid || p->request.items;
	if (by_uid + by_name + by_request != 1)
		return error_invalid("uid", "give `uid`, or `namespace` and `name`, or `pod` and `request`");
	if (by_name && !p->name)
		return error_invalid("name", "name is missing");
	if (by_name && !p->namespace)
		return error_invalid("namespace", "namespace is missing");
	if (by_request && !p->pod.uid)
		return error_invalid("pod", "pod is missing");
	if (by_request && !p->request.items)
		return error_invalid("request", "request is missing");
	return NULL;
}

static void print_suggestion(struct json_out *o, const struct suggestion *s)
{
	static const char *const actions[SUGGEST_KINDS] = { "preempt", "wait", "shrink", "uncordon" };
	out_object(o, NULL);
	out_string(o, "action", actions[s->action]);
	if (s->node)
		out_string(o, "node", s->node);
	if (s->action == SUGGEST_PREEMPT)
		out_strings(o, "victims", s->uids, s->n_uids);
	if (s->action == SUGGEST_WAIT && s->lock)
		out_string(o, "for", "lock");
	else if (s->action == SUGGEST_WAIT)
		out_strings(o, "for", s->uids, s->n_uids);
	if (s->action == SUGGEST_SHRINK) {
		out_int(o, "claim", (int64_t)s->claim);
		if (s->resource)
			out_string(o, "resource", s->resource);
		out_int(o, "to", s->to);
	}
	out_end(o);
}

static void print(struct json_out *o, const struct explained *e)
{
	out_string(o, "summary", text_string(&e->summary));
	out_int(o, "fits", (int64_t)e->report.fits);
	view_counts(o, "counts", &e->report);
	view_reasons(o, "nodes", &e->report, REPORT_NODES);
	if (e->refusal)
		view_refusal(o, "refusal", e->refusal);
	out_array(o, "suggestions");
	for (size_t i = 0; i < e->suggestions.n; i++)
		print_suggestion(o, &e->suggestions.list[i]);
	out_end(o);
}

static struct rpc_done explain(struct rpc_call *call, const struct explain *args, struct world *w)
{
	struct explained explained;
	struct error *error = pod_explain(w->cluster, args, &explained);
	if (error)
		return rpc_refuse(call, error);
	print(rpc_result(call), &explained);
	explained_free(&explained);
	return rpc_done(call);
}

static struct rpc_done handle(struct rpc_call *call, const void *params, void *world)
{
	const struct explain_params *p = params;
	struct world *w = world;
	struct pod pod;
	struct request *request = NULL;
	struct explain args = { .uid = p->uid, .without = p->without.items, .n_without = p->without.n };

	struct error *error = check(p);
	if (error)
		return rpc_refuse(call, error);

	if (p->name && !(args.uid = pod_named(w->cluster, p->namespace, p->name)))
		return rpc_refuse(call, not_found_error("pod", p->name));

	if (p->pod.uid) {
		error = request_of(&p->request, &request);
		if (error)
			return rpc_refuse(call, error);
		pod = pod_of(&p->pod);
		args.pod = &pod;
		args.request = request;
	}

	struct rpc_done done = explain(call, &args, w);
	request_unref(request);
	return done;
}

static const struct rpc_member result[] = {
	{ "summary", "string", "In sentences: 0/1213 nodes are available: 700 insufficient gpu, 13 cordoned." },
	{ "fits", "integer", "Nodes where it fits now." },
	{ "counts", "{integer}", "Refused nodes by reason." },
	{ "nodes", "{[Reason]}", "Why not, for at most 64 nodes." },
	{ "refusal", "Refusal?", "Its last refusals." },
	{ "suggestions", "[Suggestion]",
		"What would make it fit, each kind at most once; none where it fits, or when the pod holds devices." },
	{ 0 },
};

const struct rpc_method pod_explain_method = {
	.name = "pod.explain",
	.summary = "Says why a pod is pending, or would be, and what would help.",
	.description =
		"Suggestions are the cheapest of each kind among the first 256 nodes where it could help: preempt (what "
		"pod.preempt on that node would do), wait (until these pods are gone; for a reserved pod that cannot be bound: "
		"for the lock of its node), shrink (the change that gives up the smallest part of what is asked), uncordon.",
	.roles = ROLE_ALL,
	.params = &shape,
	.result = result,
	.errors = RPC_ERROR(ERR_NOT_FOUND) | RPC_ERROR(ERR_OVERLOADED),
	.handle = handle,
};

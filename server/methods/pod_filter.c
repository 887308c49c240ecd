/* pod.filter */
#include <stdlib.h>

#include "base/error.h"
#include "base/mem.h"
#include "core/pods.h"
#include "methods/methods.h"
#include "methods/shapes.h"
#include "methods/views.h"
#include "methods/world.h"

enum detail { DETAIL_NODES, DETAIL_COUNTS };
enum { POLICY_NONE = 99 };

static const struct rpc_name detail_names[] = { { "nodes", DETAIL_NODES }, { "counts", DETAIL_COUNTS }, { 0 } };

struct filter_params {
	struct pod_params pod;
	struct rpc_list request;
	struct rpc_strings nodes, without;
	unsigned detail, score;
	int64_t limit;
	bool record;
};

static const struct rpc_field fields[] = {
	REQUIRED(struct filter_params, pod, "Who.", SHAPE(&pod_shape)),
	FIELD_REQUEST(struct filter_params),
	OPTIONAL(struct filter_params, nodes, "Only these; absent: all.", ITEMS(0, 16384)),
	OPTIONAL(struct filter_params, without, "As if these pods (uids) were gone.", ITEMS(0, 4096)),
	OPTIONAL(struct filter_params, detail, "counts leaves out `nodes` and `failed`.", NAMES(detail_names),
		DEFAULT(DETAIL_NODES)),
	OPTIONAL(struct filter_params, score, "Score the nodes by this policy.", NAMES(policy_names), DEFAULT(POLICY_NONE)),
	OPTIONAL(struct filter_params, limit, "Name at most so many fitting nodes; 0 = all.", RANGE(1, 1000000), DEFAULT(0)),
	OPTIONAL(struct filter_params, record, "Remember a refusal as pod.reserve does."),
};
static const struct rpc_shape shape = { SHAPE_OF(struct filter_params, fields) };

/* What one filter found. */
struct found {
	const struct node **fitting;
	int64_t *scores;
	size_t n;
	struct report report;
};

static int64_t score_of(struct fit *fit, const struct node *n, unsigned policy)
{
	int64_t part = (fit_free_part(fit, n) + 5000) / 10000;
	part = part < 0 ? 0 : part > 100 ? 100 : part;
	return policy == POLICY_SPREAD ? part : 100 - part;
}

/* Asks every node; false when the search was too hard. */
static bool ask(const struct filter_params *p, struct fit *fit, const struct node_list *list, struct found *found)
{
	for (size_t i = 0; i < list->n; i++) {
		const struct node *n = list->nodes[i];
		struct reason why;
		fit_ahead(list->nodes, list->n, i);
		enum fit_verdict verdict = fit_node(fit, n, &why);
		if (verdict == FIT_TOO_HARD)
			return false;
		if (verdict == FIT_NO) {
			report_refused(&found->report, fit, n, n ? n->record->name : list->names[i], &why);
			continue;
		}
		report_fits(&found->report);
		if (p->detail == DETAIL_COUNTS || (p->limit && found->n >= (size_t)p->limit))
			continue;
		if (p->score != POLICY_NONE)
			found->scores[found->n] = score_of(fit, n, p->score);
		found->fitting[found->n++] = n;
	}
	return true;
}

static void print(struct json_out *o, const struct filter_params *p, const struct found *found, int64_t revision)
{
	if (p->detail == DETAIL_NODES) {
		out_array(o, "nodes");
		for (size_t i = 0; i < found->n; i++)
			out_string(o, NULL, found->fitting[i]->record->name);
		out_end(o);
		view_reasons(o, "failed", &found->report, SIZE_MAX);
	}
	view_counts(o, "counts", &found->report);
	out_int(o, "total", (int64_t)found->report.fits);
	if (p->detail == DETAIL_NODES && p->score != POLICY_NONE) {
		out_array(o, "scores");
		for (size_t i = 0; i < found->n; i++)
			out_int(o, NULL, found->scores[i]);
		out_end(o);
	}
	out_int(o, "revision", revision);
}

static struct rpc_done filter(
	struct rpc_call *call, const struct filter_params *p, const struct request *request, struct world *w)
{
	const struct pod pod = pod_of(&p->pod);
	const struct fit_query query = {
		.pod = &pod, .request = request, .gang_exempt = true, .without = p->without.items, .n_without = p->without.n
	};
	struct node_list list;
	struct error *error = node_list_make(w->cluster, NULL, p->nodes.items, p->nodes.n, &list);
	if (error)
		return rpc_refuse(call, error);
	struct fit *fit = fit_new(w->cluster, &query);
	struct found found = {
		.fitting = mem_array(list.n, sizeof(struct node *)),
		.scores = mem_array(list.n, sizeof(int64_t)),
		.report = report_new(request, p->detail == DETAIL_NODES ? SIZE_MAX
					      : p->record               ? REPORT_NODES
									: 0),
	};
	bool answered = ask(p, fit, &list, &found);
	if (answered) {
		print(rpc_result(call), p, &found, cluster_counters(w->cluster)->revision);
		if (p->record && !found.report.fits)
			refusal_note(w->txn, &pod, request, &found.report);
	}
	free(found.fitting);
	free(found.scores);
	report_free(&found.report);
	fit_free(fit);
	node_list_free(&list);
	return answered ? rpc_done(call) : rpc_refuse(call, search_time_error());
}

static struct rpc_done handle(struct rpc_call *call, const void *params, void *world)
{
	const struct filter_params *p = params;
	struct request *request;

	struct error *error = request_of(&p->request, &request);
	if (error)
		return rpc_refuse(call, error);

	struct rpc_done done = filter(call, p, request, world);
	request_unref(request);
	return done;
}

static const struct rpc_member result[] = {
	{ "nodes", "[string]?", "Where it fits: in name order, or as asked." },
	{ "failed", "{[Reason]}?", "Why not on the others." },
	{ "counts", "{integer}", "Refused nodes by reason." },
	{ "total", "integer", "Nodes where it fits." },
	{ "scores", "[integer]?", "0-100, for each of `nodes`." },
	{ "revision", "integer", "What the answer shows." },
	{ 0 },
};

const struct rpc_method pod_filter_method = {
	.name = "pod.filter",
	.summary = "Says on which nodes a request fits, and why not on the others.",
	.roles = ROLE_SCHEDULER | ROLE_DEBUG,
	.params = &shape,
	.result = result,
	.errors = RPC_ERROR(ERR_OVERLOADED),
	.handle = handle,
};

#include "core/preempt.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "core/lifecycle.h"
#include "core/nominate.h"
#include "core/plan.h"

void preempted_free(struct preempted *p)
{
	free(p->victims);
	free(p->own_shares);
	*p = (struct preempted){ 0 };
}

static bool lists_node(const struct node_list *list, const struct node *n)
{
	for (size_t i = 0; i < list->n; i++)
		if (list->nodes[i] == n)
			return true;
	return false;
}

/* The nomination that a repeated call is answered with; NULL when it must be planned. */
static const struct nomination *present_nomination(
	const struct cluster *c, const struct preempt *args, const struct node_list *nodes)
{
	const struct promise *p = cluster_promise(c, args->pod->uid);
	if (!p || !p->record->n_victims || !lists_node(nodes, p->node))
		return NULL;
	bool same = request_equal(p->record->request, args->request) && pod_equal(&p->record->pod, args->pod);
	return same ? p->record : NULL;
}

/* Answers with the nomination the pod has now. */
static void answer_nomination(const struct cluster *c, const struct preempt *args, struct preempted *ret)
{
	const struct promise *p = cluster_promise(c, args->pod->uid);
	assert(p);
	const struct nomination *n = p->record;
	ret->node = n->node;
	ret->nominated = !args->dry_run;
	ret->shares = n->shares;
	ret->n_shares = n->n_shares;
	ret->victims = mem_array(n->n_victims, sizeof *ret->victims);
	for (size_t i = 0; i < n->n_victims; i++) {
		const struct holding *h = cluster_holding(c, n->victims[i]);
		if (h)
			ret->victims[ret->n_victims++] = h;
	}
}

static struct error *answer_again(struct txn *txn, const struct preempt *args, struct preempted *ret)
{
	const struct allocation *allocation;
	const struct nomination *nomination;
	struct error *error = args->dry_run ? NULL : pod_renew(txn, args->pod->uid, args->ttl, &allocation, &nomination);
	if (!error)
		answer_nomination(txn->cluster, args, ret);
	return error;
}

/* Picks the devices, those of the victims first, and promises them to the pod. */
static struct error *carry_out(struct txn *txn, const struct preempt *args, struct plan *plan, struct preempted *ret)
{
	const char **uids = mem_array(plan->n_victims, sizeof *uids);
	for (size_t i = 0; i < plan->n_victims; i++)
		uids[i] = plan->victims[i]->record->pod.uid;
	const struct fit_query query = {
		.pod = args->pod, .request = args->request, .victims = uids, .n_victims = plan->n_victims
	};
	struct fit *fit = fit_new(txn->cluster, &query);
	struct share *shares = NULL;
	size_t n = 0;
	enum fit_verdict verdict = fit_assign(fit, plan->node, &shares, &n);
	fit_free(fit);
	assert(verdict != FIT_NO);
	if (verdict == FIT_YES && args->dry_run) {
		*ret = (struct preempted){ .node = plan->node->record->name,
			.victims = plan->victims,
			.n_victims = plan->n_victims,
			.shares = shares,
			.n_shares = n,
			.own_shares = shares };
		plan->victims = NULL;
		shares = NULL;
	} else if (verdict == FIT_YES) {
		const struct nominate nominate = { .pod = args->pod,
			.node = plan->node->record->name,
			.request = args->request,
			.victims = uids,
			.n_victims = plan->n_victims,
			.ttl = args->ttl };
		(void)nominate_place(txn, &nominate, plan->node, shares, n);
		answer_nomination(txn->cluster, args, ret);
	}
	free(shares);
	free(uids);
	return verdict == FIT_YES ? NULL : search_time_error();
}

static struct error *preempt_on(
	struct txn *txn, const struct preempt *args, const struct node_list *nodes, struct report *report, struct preempted *ret)
{
	const struct fit_query query = { .pod = args->pod, .request = args->request };
	struct fit *fit = fit_new(txn->cluster, &query);
	struct protected protected = protected_new(txn->cluster, args->protect, args->n_protect);
	struct plan plan;
	struct error *error;
	enum fit_verdict verdict = plan_best(fit, nodes->nodes, nodes->n, &protected, &plan);
	if (verdict == FIT_NO)
		error = report_ask(report, fit, nodes->nodes, nodes->names, nodes->n) ? report_error(report)
										      : search_time_error();
	else
		error = verdict == FIT_YES ? carry_out(txn, args, &plan, ret) : search_time_error();
	plan_free(&plan);
	protected_free(&protected);
	fit_free(fit);
	return error;
}

struct error *pod_preempt(struct txn *txn, const struct preempt *args, struct report *report, struct preempted *ret)
{
	const struct holding *h = cluster_holding(txn->cluster, args->pod->uid);
	struct node_list nodes;
	*ret = (struct preempted){ 0 };
	if (h)
		return conflict_error(h->record, "a pod that holds devices needs no preemption");
	struct error *error = node_list_make(txn->cluster, NULL, args->names, args->n_names, &nodes);
	if (error)
		return error;
	if (present_nomination(txn->cluster, args, &nodes))
		error = answer_again(txn, args, ret);
	else
		error = preempt_on(txn, args, &nodes, report, ret);
	node_list_free(&nodes);
	return error;
}

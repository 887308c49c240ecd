#include "core/gang.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "core/gang_private.h"

static int by_uid(const void *a, const void *b)
{
	return strcmp((*(const struct reserve *const *)a)->pod->uid, (*(const struct reserve *const *)b)->pod->uid);
}

static struct error *check_distinct(const struct reserve *members, size_t n)
{
	const struct reserve **order = mem_array(n, sizeof(struct reserve *));
	struct error *error = NULL;
	for (size_t i = 0; i < n; i++)
		order[i] = &members[i];
	qsort(order, n, sizeof(struct reserve *), by_uid);
	for (size_t i = 1; i < n && !error; i++) {
		char path[64];
		if (by_uid(&order[i - 1], &order[i]) != 0)
			continue;
		size_t later = (size_t)((order[i] > order[i - 1] ? order[i] : order[i - 1]) - members);
		(void)snprintf(path, sizeof path, "pods[%zu].pod.uid", later);
		error = error_invalid(path, "%s: %s is listed twice", path, order[i]->pod->uid);
	}
	free(order);
	return error;
}

static struct gang_member member_of(const struct reserve *args, struct gang_answer *answer)
{
	return (struct gang_member){ .args = args,
		.answer = answer,
		.query = { .pod = args->pod, .request = args->request, .policy = args->policy, .gang_exempt = true } };
}

/* Tells the members that hold what they ask for from those that have to be reserved. */
static struct error *sort_members(
	const struct cluster *c, const struct reserve *members, size_t n, struct gang *gang, struct gang_answer *ret)
{
	for (size_t i = 0; i < n; i++) {
		ret[i] = (struct gang_answer){ 0 };
		struct error *error = reserve_check_existing(c, &members[i], &ret[i].allocation);
		if (error)
			return error;
		ret[i].existing = ret[i].allocation;
		if (!ret[i].existing)
			gang->members[gang->n++] = member_of(&members[i], &ret[i]);
	}
	return NULL;
}

static struct error *find_nodes(struct cluster *c, struct gang *gang)
{
	struct error *error = NULL;
	for (size_t i = 0; i < gang->n && !error; i++) {
		const struct reserve *args = gang->members[i].args;
		error = node_list_make(c, args->node, args->names, args->n_names, &gang->members[i].nodes);
	}
	return error;
}

static void gang_free(struct gang *gang)
{
	for (size_t i = 0; i < gang->n; i++)
		node_list_free(&gang->members[i].nodes);
	free(gang->members);
}

struct fit *member_fit(const struct cluster *c, const struct gang_member *m)
{
	return fit_new(c, &m->query);
}

enum fit_verdict member_place_best(struct txn *txn, struct gang_member *m, struct fit *fit)
{
	struct share *shares = NULL;
	struct node *node;
	size_t n = 0;
	enum fit_verdict verdict = fit_best(fit, m->nodes.nodes, m->nodes.n, &node);
	if (verdict == FIT_YES)
		verdict = fit_assign(fit, node, &shares, &n);
	if (verdict == FIT_YES)
		m->answer->allocation = reserve_place(txn, m->args, node, shares, n);
	free(shares);
	return verdict;
}

/* Reserves the members one after the other. At the first that does not fit `*failed` is that one and the report says why. */
static enum fit_verdict place_in_order(
	struct txn *txn, struct gang *gang, struct report *report, const struct gang_member **failed)
{
	enum fit_verdict verdict = FIT_YES;
	for (size_t i = 0; i < gang->n && verdict == FIT_YES; i++) {
		struct gang_member *m = &gang->members[i];
		struct fit *fit = member_fit(txn->cluster, m);
		verdict = member_place_best(txn, m, fit);
		if (verdict == FIT_NO) {
			*failed = m;
			*report = report_new(m->args->request, REPORT_NODES);
			if (!report_ask(report, fit, m->nodes.nodes, m->nodes.names, m->nodes.n))
				verdict = FIT_TOO_HARD;
		}
		fit_free(fit);
	}
	return verdict;
}

static struct error *refuse(struct txn *txn, const struct gang_member *failed, const struct report *report)
{
	struct text t = { 0 };
	assert(failed);
	report_summary(report, &t);
	struct error *error = error_new(ERR_INSUFFICIENT, "pod %s of the gang: %s", failed->args->pod->uid, text_string(&t));
	text_free(&t);
	refusal_note(txn, failed->args->pod, failed->args->request, report);
	return error_with_string(error, "uid", failed->args->pod->uid);
}

static struct error *reserve_members(struct txn *txn, struct gang *gang, struct report *report)
{
	const struct gang_member *failed = NULL;
	enum fit_verdict verdict = place_in_order(txn, gang, report, &failed);
	if (verdict == FIT_YES)
		return NULL;
	txn_abandon(txn);
	if (verdict == FIT_NO && gang->n <= GANG_SEARCHED)
		verdict = gang_search(txn, gang);
	if (verdict == FIT_TOO_HARD)
		return search_time_error();
	return verdict == FIT_YES ? NULL : refuse(txn, failed, report);
}

struct error *gang_reserve(
	struct txn *txn, const struct reserve *members, size_t n, struct report *report, struct gang_answer *ret)
{
	struct gang gang = { .members = mem_array(n, sizeof *gang.members) };
	*report = (struct report){ 0 };
	struct error *error = check_distinct(members, n);
	if (!error)
		error = sort_members(txn->cluster, members, n, &gang, ret);
	if (!error)
		error = find_nodes(txn->cluster, &gang);
	if (!error)
		error = reserve_members(txn, &gang, report);
	gang_free(&gang);
	return error;
}

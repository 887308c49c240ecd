#include "core/explain.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

void explained_free(struct explained *e)
{
	text_free(&e->summary);
	report_free(&e->report);
	suggestions_free(&e->suggestions);
}

/* What is known of the pod in question. */
struct subject {
	const struct pod *pod;
	const struct request *request;
	const struct holding *holding; /* NULL = none, also below */
	const struct promise *promise;
	const struct refusal *refusal;
};

static struct error *find_subject(const struct cluster *c, const struct explain *args, struct subject *ret)
{
	const char *uid = args->uid ? args->uid : args->pod->uid;
	const struct refusal_entry *r = cluster_refusal(c, uid);
	*ret = (struct subject){
		.pod = args->pod,
		.request = args->request,
		.holding = cluster_holding(c, uid),
		.promise = cluster_promise(c, uid),
		.refusal = r ? r->record : NULL,
	};
	if (!args->uid)
		return NULL;
	if (ret->refusal && ret->refusal->request) {
		ret->pod = &ret->refusal->pod;
		ret->request = ret->refusal->request;
	} else if (ret->promise) {
		ret->pod = &ret->promise->record->pod;
		ret->request = ret->promise->record->request;
	} else if (ret->holding) {
		ret->pod = &ret->holding->record->pod;
		ret->request = ret->holding->record->request;
	}
	return ret->request ? NULL : not_found_error("pod", uid);
}

/* The pod that holds the lock the subject needs to be bound; NULL when nothing is in the way. */
static const struct lock *lock_in_the_way(const struct subject *s)
{
	const struct holding *h = s->holding;
	const struct lock_entry *lock = h && h->record->state == POD_RESERVED ? h->node->lock : NULL;
	return lock && strcmp(lock->record->uid, h->record->pod.uid) != 0 ? lock->record : NULL;
}

static void put_held(const struct subject *s, struct text *to)
{
	const struct allocation *a = s->holding->record;
	const struct lock *lock = lock_in_the_way(s);
	text_printf(to, "%s/%s holds devices on node %s (%s).", a->pod.namespace, a->pod.name, a->node, pod_state_name(a->state));
	if (lock)
		text_printf(to, " Binding it waits for the lock of the node, which pod %s holds.", lock->uid);
}

static void put_promised(const struct nomination *n, struct text *to)
{
	text_printf(to, "%s/%s is promised devices on node %s", n->pod.namespace, n->pod.name, n->node);
	if (n->n_victims)
		text_printf(to, ", once %zu pod%s left", n->n_victims, n->n_victims == 1 ? " has" : "s have");
	text_puts(to, ". ");
}

static void summarize(const struct subject *s, const struct report *report, struct text *to)
{
	if (s->holding) {
		put_held(s, to);
		return;
	}
	if (s->promise)
		put_promised(s->promise->record, to);
	report_summary(report, to);
	if (s->refusal && *s->refusal->message)
		text_printf(to, " Its node agent failed it: %s", s->refusal->message);
}

/* Asks every node. */
static enum fit_verdict ask_all(struct cluster *c, const struct fit_query *query, struct report *report, struct survey *survey)
{
	struct fit *fit = fit_new(c, query);
	enum fit_verdict verdict = FIT_NO;
	for (size_t i = 0; i < c->n_nodes && verdict != FIT_TOO_HARD; i++) {
		struct node *n = c->order[i];
		struct reason why;
		fit_ahead(c->order, c->n_nodes, i);
		verdict = fit_node(fit, n, &why);
		if (verdict == FIT_YES)
			report_fits(report);
		if (verdict != FIT_NO)
			continue;
		report_refused(report, fit, n, n->record->name, &why);
		survey_add(survey, n, &why);
	}
	fit_free(fit);
	return verdict;
}

struct error *pod_explain(struct cluster *c, const struct explain *args, struct explained *ret)
{
	struct subject s;
	struct survey survey = { 0 };
	*ret = (struct explained){ 0 };
	struct error *error = find_subject(c, args, &s);
	if (error)
		return error;
	const struct fit_query query = {
		.pod = s.pod, .request = s.request, .gang_exempt = true, .without = args->without, .n_without = args->n_without
	};
	ret->request = s.request;
	ret->refusal = s.refusal;
	ret->report = report_new(s.request, REPORT_NODES);
	if (ask_all(c, &query, &ret->report, &survey) == FIT_TOO_HARD) {
		explained_free(ret);
		return search_time_error();
	}
	summarize(&s, &ret->report, &ret->summary);
	if (lock_in_the_way(&s))
		suggestion_add(&ret->suggestions, SUGGEST_WAIT, s.holding->record->node, NULL, 0)->lock = true;
	else if (!s.holding && !ret->report.fits)
		suggest(c, &query, &survey, &ret->suggestions);
	return NULL;
}

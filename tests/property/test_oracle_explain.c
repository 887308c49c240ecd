/* What pod.explain suggests helps: each suggestion is carried out in a copy of the cluster, and the pod reserves. And what the oracle says
 * would help is suggested. */
#include "property/cases.h"
#include "property/oracle.h"

#include "core/explain.h"
#include "core/preempt.h"

struct question {
	struct lab *lab;
	const struct pod *pod;
	const struct request *request;
	const char *without[4];
	size_t n_without;
};

static bool reserves(struct lab *lab, const struct pod *pod, const struct request *request, const char *node)
{
	const struct reserve args = { .pod = pod, .request = request, .node = node, .ttl = 60000 };
	struct report report = report_new(request, REPORT_NODES);
	const struct allocation *a;
	bool existing;
	struct error *error = pod_reserve(lab_txn(lab), &args, &report, &a, &existing);
	bool done = !error;
	error_free(error);
	report_free(&report);
	return done;
}

static bool preempts(struct lab *lab, const struct question *q, const struct suggestion *s)
{
	const struct preempt args = { .pod = q->pod, .request = q->request, .names = &s->node, .n_names = 1, .ttl = 60000 };
	struct report report = report_new(q->request, REPORT_NODES);
	struct preempted answer;
	struct error *error = pod_preempt(lab_txn(lab), &args, &report, &answer);
	bool done = !error && answer.n_victims == s->n_uids;
	for (size_t i = 0; done && i < s->n_uids; i++)
		done = strcmp(answer.victims[i]->record->pod.uid, s->uids[i]) == 0;
	error_free(error);
	preempted_free(&answer);
	report_free(&report);
	for (size_t i = 0; i < s->n_uids; i++)
		lab_release(lab, s->uids[i]);
	return done && reserves(lab, q->pod, q->request, s->node);
}

static bool shrinks(struct lab *lab, const struct question *q, const struct suggestion *s)
{
	struct claim claims[REQUEST_CLAIMS];
	struct need needs[DEVICE_RESOURCES];
	struct claim *c = &claims[s->claim];
	memcpy(claims, q->request->claims, q->request->n_claims * sizeof *claims);
	memcpy(needs, c->needs, c->n_needs * sizeof *needs);
	c->needs = needs;
	if (!s->resource)
		c->count = s->to;
	for (size_t i = 0; i < c->n_needs && s->resource; i++)
		if (strcmp(needs[i].resource, s->resource) == 0)
			*(needs[i].percent ? &needs[i].percent : &needs[i].amount) = s->to;
	struct request *request = request_new(claims, q->request->n_claims, "shrunk");
	bool done = reserves(lab, q->pod, request, NULL);
	request_unref(request);
	return done;
}

static bool helps(const struct question *q, const struct suggestion *s)
{
	struct lab *lab = lab_copy(q->lab);
	const struct node_record *ignored;
	bool done = false;
	for (size_t i = 0; i < q->n_without; i++)
		lab_release(lab, q->without[i]);
	assert_false(reserves(lab, q->pod, q->request, NULL));
	switch (s->action) {
	case SUGGEST_PREEMPT:
		done = preempts(lab, q, s);
		break;
	case SUGGEST_WAIT:
		for (size_t i = 0; i < s->n_uids; i++)
			lab_release(lab, s->uids[i]);
		done = reserves(lab, q->pod, q->request, s->node);
		break;
	case SUGGEST_SHRINK:
		done = shrinks(lab, q, s);
		break;
	default:
		lab_ok(node_cordon(lab_txn(lab), s->node, false, "", &ignored));
		done = reserves(lab, q->pod, q->request, s->node);
		break;
	}
	lab_free(lab);
	return done;
}

/* Whether everybody's leaving some node would help. */
static bool waiting_helps(const struct question *q)
{
	bool found = false;
	for (size_t i = 0; i < q->lab->cluster->n_nodes && !found; i++) {
		const struct node *n = q->lab->cluster->order[i];
		const char *gone[64];
		size_t n_gone = 0;
		for (const struct holding *h = n->holdings; h; h = h->next)
			gone[n_gone++] = h->record->pod.uid;
		const struct oracle o = { .cluster = q->lab->cluster,
			.node = n,
			.pod = q->pod,
			.request = q->request,
			.ignore_promises = true,
			.gone = gone,
			.n_gone = n_gone };
		found = oracle_fits(&o);
	}
	return found;
}

static const char *check(const struct question *q, const struct explained *e, size_t *counts)
{
	static const char *const names[SUGGEST_KINDS] = { "preempting does not help", "waiting does not help",
		"shrinking does not help", "uncordoning does not help" };
	bool waits = false;
	for (size_t i = 0; i < e->suggestions.n; i++) {
		const struct suggestion *s = &e->suggestions.list[i];
		if (!helps(q, s))
			return names[s->action];
		counts[s->action]++;
		waits |= s->action == SUGGEST_WAIT;
	}
	if (e->report.fits)
		return e->suggestions.n ? "it fits, and there are suggestions" : NULL;
	return waits == waiting_helps(q) ? NULL : waits ? "waiting is suggested" : "waiting would help";
}

static const char *compare(const struct question *q, size_t *counts)
{
	const struct explain args = { .pod = q->pod, .request = q->request, .without = q->without, .n_without = q->n_without };
	struct explained e;
	lab_ok(pod_explain(q->lab->cluster, &args, &e));
	const char *wrong = check(q, &e, counts);
	explained_free(&e);
	return wrong;
}

static void test_suggestions_help(void **state)
{
	size_t cases = case_count(3000), counts[SUGGEST_KINDS] = { 0 };
	(void)state;
	for (size_t i = 0; i < cases; i++) {
		struct random r = case_random(i);
		const struct case_shape shape = {
			.nodes = 1 + random_below(&r, 3), .steps = 4 + random_below(&r, 16), .nominations = true, .defects = true
		};
		struct lab *lab = case_cluster(&r, &shape);
		struct request *request = case_request(&r, 2, 3);
		struct pod pod = case_pod(&r, "x");
		struct question q = { .lab = lab, .pod = &pod, .request = request };
		pod.priority += 1;
		for (const struct holding *h = lab->cluster->holdings; h && q.n_without < 4; h = h->hh.next)
			if (random_once_in(&r, 10))
				q.without[q.n_without++] = h->record->pod.uid;
		const char *wrong = compare(&q, counts);
		if (wrong) {
			case_print(lab->cluster);
			case_print_request(&pod, request);
			fail_msg("case %zu: %s", i, wrong);
		}
		request_unref(request);
		lab_free(lab);
	}
	for (size_t k = 0; k < SUGGEST_KINDS; k++)
		assert_true(counts[k] > cases / 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_suggestions_help) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}

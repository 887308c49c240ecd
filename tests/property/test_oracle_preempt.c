/* pod.preempt against the contract's sentences: who is given back in which order, which node is best, and that no victim is needless. */
#include "property/cases.h"
#include "property/oracle.h"

#include "core/preempt.h"

enum { MOST = 32 };

/* A plan as the contract has it. */
struct expected {
	const struct node *node; /* NULL: none */
	const struct allocation *victims[MOST];
	size_t n, protected;
	int64_t highest, sum, started;
};

struct question {
	struct lab *lab;
	const struct pod *pod;
	const struct request *request;
	const char *protect[4];
	size_t n_protect;
};

static bool is_protected(const struct question *q, const struct allocation *a)
{
	for (size_t i = 0; i < q->n_protect; i++)
		if (strcmp(q->protect[i], a->pod.uid) == 0)
			return true;
	return false;
}

static bool fits_without(
	const struct question *q, const struct node *n, const struct allocation *const *gone, size_t n_gone, size_t but)
{
	const char *uids[MOST];
	size_t k = 0;
	for (size_t i = 0; i < n_gone; i++)
		if (i != but)
			uids[k++] = gone[i]->pod.uid;
	const struct oracle o = {
		.cluster = q->lab->cluster, .node = n, .pod = q->pod, .request = q->request, .gone = uids, .n_gone = k
	};
	return oracle_fits(&o);
}

static bool given_back_before(const struct question *q, const struct allocation *a, const struct allocation *b)
{
	if (is_protected(q, a) != is_protected(q, b))
		return is_protected(q, a);
	if (a->pod.priority != b->pod.priority)
		return a->pod.priority > b->pod.priority;
	return a->created_at != b->created_at ? a->created_at < b->created_at : a->id < b->id;
}

static struct expected plan_for(const struct question *q, const struct node *n)
{
	struct expected e = { .highest = INT64_MIN };
	const struct allocation *gone[MOST];
	size_t n_gone = 0;
	for (const struct holding *h = n->holdings; h; h = h->next) {
		if (h->record->pod.priority >= q->pod->priority || !h->record->pod.preemptible)
			continue;
		size_t at = n_gone++;
		for (; at > 0 && given_back_before(q, h->record, gone[at - 1]); at--)
			gone[at] = gone[at - 1];
		gone[at] = h->record;
	}
	if (!fits_without(q, n, gone, n_gone, MOST))
		return e;
	e.node = n;
	for (size_t i = 0; i < n_gone;) {
		if (fits_without(q, n, gone, n_gone, i)) {
			memmove(&gone[i], &gone[i + 1], (n_gone - i - 1) * sizeof *gone);
			n_gone--;
			continue;
		}
		const struct allocation *v = e.victims[e.n++] = gone[i++];
		e.protected += is_protected(q, v);
		e.sum += v->pod.priority;
		if (v->pod.priority > e.highest || (v->pod.priority == e.highest && v->created_at < e.started))
			e.started = v->created_at;
		e.highest = v->pod.priority > e.highest ? v->pod.priority : e.highest;
	}
	return e;
}

static bool is_better(const struct question *q, const struct expected *a, const struct expected *b)
{
	const struct promise *own = cluster_promise(q->lab->cluster, q->pod->uid);
	if (!a->n && !b->n && own && (own->node == a->node || own->node == b->node))
		return own->node == a->node;
	if (a->protected != b->protected)
		return a->protected < b->protected;
	if (a->highest != b->highest)
		return a->highest < b->highest;
	if (a->sum != b->sum)
		return a->sum < b->sum;
	if (a->n != b->n)
		return a->n < b->n;
	return a->n && a->started != b->started ? a->started > b->started
						: strcmp(a->node->record->name, b->node->record->name) < 0;
}

static struct expected expect(const struct question *q)
{
	struct expected best = { 0 };
	for (size_t i = 0; i < q->lab->cluster->n_nodes; i++) {
		struct expected e = plan_for(q, q->lab->cluster->order[i]);
		if (e.node && (!best.node || is_better(q, &e, &best)))
			best = e;
	}
	return best;
}

static bool same_victims(const struct expected *e, const struct preempted *p)
{
	size_t found = 0;
	for (size_t i = 0; i < p->n_victims; i++)
		for (size_t k = 0; k < e->n; k++)
			found += e->victims[k] == p->victims[i]->record;
	return found == e->n && found == p->n_victims;
}

static const char *check_answer(const struct question *q, const struct expected *e, const struct preempted *p)
{
	const struct allocation *victims[MOST];
	const char *uids[MOST];
	struct oracle_picks first;
	if (strcmp(p->node, e->node->record->name) != 0)
		return "another node is better";
	if (!same_victims(e, p))
		return "other victims are right";
	for (size_t i = 0; i < p->n_victims; i++) {
		victims[i] = p->victims[i]->record;
		uids[i] = victims[i]->pod.uid;
	}
	for (size_t i = 0; i < p->n_victims; i++)
		if (fits_without(q, e->node, victims, p->n_victims, i))
			return "a victim is needless";
	const struct oracle o = { .cluster = q->lab->cluster,
		.node = e->node,
		.pod = q->pod,
		.request = q->request,
		.gone = uids,
		.n_gone = p->n_victims,
		.wanted = uids,
		.n_wanted = p->n_victims };
	if (!oracle_serves(&o, p->shares, p->n_shares) || !oracle_first(&o, &first))
		return "the devices do not serve";
	for (size_t i = 0; i < first.n && !p->nominated; i++) { /* once nominated, these devices come first */
		bool found = false;
		for (size_t k = 0; k < p->n_shares; k++)
			found |= p->shares[k].device_id == first.devices[i]->id;
		if (!found)
			return "other devices come first";
	}
	return NULL;
}

/* Asks for a dry run and then for the real thing. */
static const char *compare(const struct question *q, size_t *plans)
{
	struct preempt args = { .pod = q->pod,
		.request = q->request,
		.protect = q->protect,
		.n_protect = q->n_protect,
		.ttl = 60000,
		.dry_run = true };
	struct expected e = expect(q);
	const char *wrong = NULL;
	for (int round = 0; round < 2 && !wrong; round++) {
		struct report report = report_new(q->request, REPORT_NODES);
		struct preempted answer;
		struct error *error = pod_preempt(lab_txn(q->lab), &args, &report, &answer);
		if (error && e.node)
			wrong = "there is a plan";
		else if (!error && !e.node)
			wrong = "there is no plan";
		else if (!error)
			wrong = check_answer(q, &e, &answer);
		*plans += !error && e.n;
		error_free(error);
		preempted_free(&answer);
		report_free(&report);
		args.dry_run = false;
	}
	return wrong;
}

static void test_against_the_oracle(void **state)
{
	size_t plans = 0, cases = case_count(20000);
	(void)state;
	for (size_t i = 0; i < cases; i++) {
		struct random r = case_random(i);
		const struct case_shape shape = { .nodes = 1 + random_below(&r, 3),
			.steps = 4 + random_below(&r, 16),
			.nominations = random_once_in(&r, 2),
			.defects = random_once_in(&r, 2) };
		struct lab *lab = case_cluster(&r, &shape);
		struct request *request = case_request(&r, 2, 3);
		struct pod pod = case_pod(&r, "x");
		struct question q = { .lab = lab, .pod = &pod, .request = request };
		pod.priority += 2;
		for (const struct holding *h = lab->cluster->holdings; h && q.n_protect < 4; h = h->hh.next)
			if (random_once_in(&r, 4))
				q.protect[q.n_protect++] = h->record->pod.uid;
		const char *wrong = compare(&q, &plans);
		if (wrong) {
			case_print(lab->cluster);
			case_print_request(&pod, request);
			fail_msg("case %zu: %s", i, wrong);
		}
		request_unref(request);
		lab_free(lab);
	}
	assert_true(plans > cases / 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_against_the_oracle) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}

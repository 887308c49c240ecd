/* gang.reserve against the oracle: a placement that exists is found, and what is reserved serves; otherwise nothing remains. */
#include "property/cases.h"
#include "property/oracle.h"

#include "core/gang.h"

enum { PODS = 4 };

struct question {
	struct lab *lab;
	struct pod pods[PODS];
	struct request *requests[PODS];
	struct reserve members[PODS];
	size_t n;
	size_t order[PODS];                             /* by priority, rising: who is placed later sees no more promises */
	struct oracle_extra extra[PODS * ORACLE_PICKS]; /* what the pods before hold */
	size_t n_extra;
	size_t steps; /* of the brute force */
};

static bool place_from(struct question *q, size_t pod);

struct placing {
	struct question *q;
	const struct node *node;
	size_t pod;
};

static bool place_next(void *context, const struct oracle_picks *picks)
{
	struct placing *p = context;
	const struct request *r = p->q->requests[p->q->order[p->pod]];
	size_t before = p->q->n_extra, at = 0;
	p->q->steps++;
	for (size_t c = 0; c < r->n_claims; c++)
		for (int64_t k = 0; k < r->claims[c].count; k++)
			p->q->extra[p->q->n_extra++] = (struct oracle_extra){ p->node, picks->devices[at++], &r->claims[c] };
	bool found = place_from(p->q, p->pod + 1);
	p->q->n_extra = before;
	return found;
}

/* Tries every assignment of every pod on every node. */
static bool place_from(struct question *q, size_t pod)
{
	if (pod == q->n)
		return true;
	size_t member = q->order[pod];
	for (size_t i = 0; i < q->lab->cluster->n_nodes; i++) {
		struct placing placing = { q, q->lab->cluster->order[i], pod };
		struct oracle_extra here[PODS * ORACLE_PICKS];
		size_t n = 0;
		if (q->members[member].node && strcmp(q->members[member].node, placing.node->record->name) != 0)
			continue;
		for (size_t k = 0; k < q->n_extra; k++)
			if (q->extra[k].node == placing.node)
				here[n++] = q->extra[k];
		const struct oracle o = { .cluster = q->lab->cluster,
			.node = placing.node,
			.pod = &q->pods[member],
			.request = q->requests[member],
			.gang_exempt = true,
			.extra = here,
			.n_extra = n };
		if (oracle_search(&o, place_next, &placing))
			return true;
	}
	return false;
}

static const char *check_reserved(const struct question *q, const struct gang_answer *answers)
{
	for (size_t i = 0; i < q->n; i++) {
		const struct allocation *a = answers[i].allocation;
		const struct oracle o = { .cluster = q->lab->cluster,
			.node = cluster_node(q->lab->cluster, a->node),
			.pod = &q->pods[i],
			.request = q->requests[i],
			.gang_exempt = true };
		if (strcmp(a->pod.uid, q->pods[i].uid) != 0 || answers[i].existing)
			return "an answer is about another pod";
		if (q->members[i].node && strcmp(q->members[i].node, a->node) != 0)
			return "a pod is on a node it did not ask for";
		if (!oracle_serves(&o, a->shares, a->n_shares))
			return "the devices do not serve";
	}
	return NULL;
}

static const char *check_nothing(const struct question *q, const struct change_list *before)
{
	struct change_list after = { 0 }, difference = { 0 };
	size_t others = 0;
	cluster_snapshot(q->lab->cluster, &after);
	snapshot_difference(before, &after, &difference);
	for (size_t i = 0; i < difference.n; i++)
		others += difference.changes[i].kind != RECORD_REFUSAL;
	size_t n = difference.n;
	change_list_free(&after);
	change_list_free(&difference);
	return others || n > 1 ? "something remains of it" : NULL;
}

static const char *compare(struct question *q, size_t *found)
{
	struct change_list before = { 0 };
	struct gang_answer answers[PODS];
	struct report report;
	cluster_snapshot(q->lab->cluster, &before);
	bool exists = place_from(q, 0), promised = q->lab->cluster->promises;
	struct error *error = gang_reserve(lab_txn(q->lab), q->members, q->n, &report, answers);
	const char *wrong = error && exists ? "there is a placement" : NULL;
	if (!error && !exists && !promised) /* a promise that gives way to one pod may make room for the next */
		wrong = "there is no placement";
	if (!wrong)
		wrong = error ? check_nothing(q, &before) : check_reserved(q, answers);
	*found += !error;
	error_free(error);
	report_free(&report);
	change_list_free(&before);
	return wrong;
}

static void fill(struct question *q, struct random *r)
{
	static const char *const uids[PODS] = { "g0", "g1", "g2", "g3" }, *const nodes[] = { "n1", "n2" };
	struct pod like = case_pod(r, "");
	bool mixed = random_once_in(r, 2);
	q->n = 2 + random_below(r, PODS - 1);
	for (size_t i = 0; i < q->n; i++) {
		q->pods[i] = like;
		q->pods[i].uid = q->pods[i].name = uids[i];
		if (mixed)
			q->pods[i].priority = (int32_t)random_below(r, 5);
		size_t at = i;
		for (; at > 0 && q->pods[q->order[at - 1]].priority > q->pods[i].priority; at--)
			q->order[at] = q->order[at - 1];
		q->order[at] = i;
		q->requests[i] = case_request(r, 2, 2);
		q->members[i] = (struct reserve){ .pod = &q->pods[i],
			.request = q->requests[i],
			.ttl = 60000,
			.policy = random_once_in(r, 2) ? POLICY_SPREAD : POLICY_BINPACK };
		if (random_once_in(r, 6))
			q->members[i].node = nodes[random_below(r, q->lab->cluster->n_nodes < 2 ? 1 : 2)];
	}
}

static void test_against_the_oracle(void **state)
{
	size_t found = 0, cases = case_count(20000);
	(void)state;
	for (size_t i = 0; i < cases; i++) {
		struct random r = case_random(i);
		const struct case_shape shape = { .nodes = 1 + random_below(&r, 3),
			.steps = random_below(&r, 6),
			.nominations = random_once_in(&r, 2),
			.defects = random_once_in(&r, 4) };
		struct question *q = mem_alloc(sizeof *q);
		q->lab = case_cluster(&r, &shape);
		fill(q, &r);
		const char *wrong = compare(q, &found);
		if (wrong) {
			case_print(q->lab->cluster);
			for (size_t k = 0; k < q->n; k++)
				case_print_request(&q->pods[k], q->requests[k]);
			fail_msg("case %zu: %s", i, wrong);
		}
		for (size_t k = 0; k < q->n; k++)
			request_unref(q->requests[k]);
		lab_free(q->lab);
		free(q);
	}
	assert_in_range(found, cases / 16, cases - cases / 16);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_against_the_oracle) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}

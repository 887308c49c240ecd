/* gang.reserve: all of a gang or nothing, and the placement that exists is found. */
#include "lab.h"

#include "core/gang.h"

enum { MOST = 16 };

struct gang_call {
	struct pod pods[MOST];
	struct request *requests[MOST];
	struct reserve members[MOST];
	struct gang_answer answers[MOST];
	struct report report;
	size_t n;
};

static void add(struct gang_call *g, const char *uid, const char *gang, const char *node, struct request *request_take)
{
	size_t i = g->n++;
	g->pods[i] = lab_pod(uid, 0);
	g->pods[i].gang = gang;
	g->requests[i] = request_take;
	g->members[i] = (struct reserve){ .pod = &g->pods[i], .request = request_take, .node = node, .ttl = RESERVATION_TTL };
}

static struct error *run(struct lab *lab, struct gang_call *g)
{
	report_free(&g->report);
	return gang_reserve(lab_txn(lab), g->members, g->n, &g->report, g->answers);
}

static void done(struct gang_call *g)
{
	for (size_t i = 0; i < g->n; i++)
		request_unref(g->requests[i]);
	report_free(&g->report);
	*g = (struct gang_call){ 0 };
}

static struct request *of_model(int64_t count, const char *model)
{
	struct claim c = { .count = count, .models = &model, .n_models = 1 };
	return lab_request(&c, 1);
}

static void test_all_are_reserved_in_order(void **state)
{
	struct lab *lab = lab_new();
	struct gang_call g = { 0 };
	(void)state;
	lab_node(lab, "n1", 2);
	lab_node(lab, "n2", 2);
	add(&g, "a", "g", NULL, lab_whole(2));
	add(&g, "b", "g", NULL, lab_whole(1));
	add(&g, "c", "g", "n2", lab_whole(1));
	lab_ok(run(lab, &g));
	assert_string_equal(g.answers[0].allocation->node, "n1");
	assert_string_equal(g.answers[2].allocation->pod.uid, "c");
	assert_int_equal(g.answers[0].allocation->revision, g.answers[2].allocation->revision);
	int64_t revision = cluster_counters(lab->cluster)->revision;
	lab_ok(run(lab, &g));
	assert_true(g.answers[0].existing && g.answers[1].existing && g.answers[2].existing);
	assert_int_equal(cluster_counters(lab->cluster)->revision, revision);
	done(&g);
	lab_free(lab);
}

static void test_those_that_exist_are_kept(void **state)
{
	struct lab *lab = lab_new();
	struct gang_call g = { 0 };
	(void)state;
	lab_node(lab, "n1", 3);
	lab_reserve(lab, "a", 0, "n1", lab_whole(1));
	add(&g, "a", "", NULL, lab_whole(1));
	add(&g, "b", "", NULL, lab_whole(2));
	lab_ok(run(lab, &g));
	assert_true(g.answers[0].existing && !g.answers[1].existing);
	done(&g);
	add(&g, "a", "", NULL, lab_whole(2));
	lab_refused(run(lab, &g), ERR_CONFLICT);
	done(&g);
	lab_free(lab);
}

static void test_nothing_remains_of_a_gang_that_does_not_fit(void **state)
{
	struct lab *lab = lab_new();
	struct gang_call g = { 0 };
	static const char *const uids[] = { "a", "b", "c", "d", "e", "f" };
	(void)state;
	lab_node(lab, "n1", 3);
	lab_node(lab, "n2", 2);
	int64_t revision = cluster_counters(lab->cluster)->revision;
	for (size_t i = 0; i < 6; i++)
		add(&g, uids[i], "g", NULL, lab_whole(1));
	struct error *error = run(lab, &g);
	assert_non_null(error);
	assert_string_equal(error->message, "pod f of the gang: 0/2 nodes are available: 2 insufficient gpu.");
	lab_refused(error, ERR_INSUFFICIENT);
	assert_int_equal(report_count(&g.report, SLUG_INSUFFICIENT), 2);
	assert_null(lab->cluster->holdings);
	assert_int_equal(HASH_COUNT(lab->cluster->refusals), 1);
	assert_string_equal(lab->cluster->refusals->record->pod.uid, "f");
	assert_int_equal(cluster_counters(lab->cluster)->revision, revision + 1);
	lab_refused(run(lab, &g), ERR_INSUFFICIENT);
	assert_int_equal(cluster_counters(lab->cluster)->revision, revision + 1);
	assert_int_equal(lab->txn.revision, 0);
	done(&g);
	lab_free(lab);
}

static void test_another_order_is_found(void **state)
{
	struct lab *lab = lab_new();
	struct gang_call g = { 0 };
	(void)state;
	lab_node(lab, "n1", 2);
	add(&g, "any", "", NULL, lab_whole(1));
	add(&g, "a", "", NULL, of_model(1, "A"));
	lab_ok(run(lab, &g));
	assert_string_equal(g.answers[0].allocation->shares[0].uuid, "n1-gpu-1");
	assert_string_equal(g.answers[1].allocation->shares[0].uuid, "n1-gpu-0");
	done(&g);
	lab_free(lab);
}

static void test_other_nodes_are_found(void **state)
{
	struct lab *lab = lab_new();
	struct gang_call g = { 0 };
	(void)state;
	lab_node(lab, "n1", 4);
	lab_node(lab, "n2", 3);
	lab_reserve(lab, "x", 0, "n1", lab_whole(1));
	add(&g, "b", "", NULL, lab_whole(2));
	add(&g, "d", "", NULL, lab_whole(1));
	add(&g, "c", "", NULL, lab_whole(3));
	lab_ok(run(lab, &g));
	done(&g);
	add(&g, "e", "", NULL, lab_whole(1));
	lab_refused(run(lab, &g), ERR_INSUFFICIENT);
	done(&g);
	lab_free(lab);
}

/* Six parts fill three devices exactly: 60+40, 70+30, 50+50. */
static void test_parts_are_packed(void **state)
{
	static const int64_t parts[] = { 30, 40, 50, 50, 60, 70 };
	static const char *const uids[] = { "a", "b", "c", "d", "e", "f" };
	struct lab *lab = lab_new();
	struct gang_call g = { 0 };
	(void)state;
	lab_node(lab, "n1", 2);
	lab_node(lab, "n2", 1);
	for (size_t i = 0; i < 6; i++)
		add(&g, uids[i], "g", NULL, lab_cores(1, parts[i]));
	lab_ok(run(lab, &g));
	assert_int_equal(HASH_COUNT(lab->cluster->holdings), 6);
	done(&g);
	lab_free(lab);
}

static void test_what_is_wrong_is_refused(void **state)
{
	struct lab *lab = lab_new();
	struct gang_call g = { 0 };
	(void)state;
	lab_node(lab, "n1", 4);
	add(&g, "a", "", NULL, lab_whole(1));
	add(&g, "b", "", NULL, lab_whole(1));
	add(&g, "a", "", NULL, lab_whole(1));
	struct error *error = run(lab, &g);
	assert_non_null(error);
	assert_string_equal(error->details[0].string, "pods[2].pod.uid");
	lab_refused(error, ERR_INVALID_PARAMS);
	done(&g);
	add(&g, "a", "", NULL, lab_whole(1));
	add(&g, "b", "", "n9", lab_whole(1));
	lab_refused(run(lab, &g), ERR_NOT_FOUND);
	assert_null(lab->cluster->holdings);
	done(&g);
	lab_free(lab);
}

static void test_promises_of_the_gang_do_not_block_it(void **state)
{
	struct lab *lab = lab_new();
	struct gang_call g = { 0 };
	struct pod promised = lab_pod("p", 100);
	(void)state;
	promised.gang = "g";
	lab_node(lab, "n1", 2);
	assert_true(lab_nominate(lab, &promised, "n1", lab_whole(2), NULL, 0));
	add(&g, "x", "other", "n1", lab_whole(1));
	lab_refused(run(lab, &g), ERR_INSUFFICIENT);
	assert_string_equal(g.report.nodes[0].by[0], "p");
	done(&g);
	add(&g, "a", "g", "n1", lab_whole(1));
	add(&g, "b", "g", "n1", lab_whole(1));
	lab_ok(run(lab, &g));
	assert_null(cluster_promise(lab->cluster, "p"));
	done(&g);
	lab_free(lab);
}

/* The promise that the first pod moved is told although all of it is taken back. */
static void test_a_report_outlives_what_is_taken_back(void **state)
{
	struct lab *lab = lab_new();
	struct gang_call g = { 0 };
	const struct pod p = lab_pod("p", 5), q = lab_pod("q", 5);
	(void)state;
	lab_node(lab, "n1", 4);
	assert_true(lab_nominate(lab, &p, "n1", lab_whole(1), NULL, 0));
	assert_true(lab_nominate(lab, &q, "n1", of_model(1, "B"), NULL, 0));
	add(&g, "high", "", NULL, of_model(2, "A"));
	add(&g, "low", "", NULL, of_model(2, "B"));
	g.pods[0].priority = 10;
	lab_refused(run(lab, &g), ERR_INSUFFICIENT);
	assert_int_equal(g.report.nodes[0].n_by, 2);
	assert_string_equal(g.report.nodes[0].by[0], "p");
	assert_string_equal(g.report.nodes[0].by[1], "q");
	assert_string_equal(cluster_promise(lab->cluster, "p")->record->shares[0].uuid, "n1-gpu-0");
	done(&g);
	lab_free(lab);
}

/* Who sees more promises is placed first. */
static void test_pods_of_several_priorities(void **state)
{
	struct lab *lab = lab_new();
	struct gang_call g = { 0 };
	const struct pod p = lab_pod("p", 5);
	(void)state;
	lab_node(lab, "n1", 2);
	assert_true(lab_nominate(lab, &p, "n1", lab_whole(1), NULL, 0));
	add(&g, "high", "", NULL, of_model(1, "A"));
	add(&g, "low", "", NULL, lab_whole(1));
	g.pods[0].priority = 10;
	lab_ok(run(lab, &g));
	assert_null(cluster_promise(lab->cluster, "p"));
	done(&g);
	lab_free(lab);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_are_reserved_in_order),
		cmocka_unit_test(test_those_that_exist_are_kept),
		cmocka_unit_test(test_nothing_remains_of_a_gang_that_does_not_fit),
		cmocka_unit_test(test_another_order_is_found),
		cmocka_unit_test(test_other_nodes_are_found),
		cmocka_unit_test(test_parts_are_packed),
		cmocka_unit_test(test_what_is_wrong_is_refused),
		cmocka_unit_test(test_promises_of_the_gang_do_not_block_it),
		cmocka_unit_test(test_a_report_outlives_what_is_taken_back),
		cmocka_unit_test(test_pods_of_several_priorities),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* pod.explain: the sentence, whom it is about, and what it suggests. */
#include "lab.h"

#include "core/explain.h"

static struct explained ask(struct lab *lab, const struct pod *pod, const struct request *request)
{
	const struct explain args = { .pod = pod, .request = request };
	struct explained e;
	lab_ok(pod_explain(lab->cluster, &args, &e));
	return e;
}

static struct explained ask_uid(struct lab *lab, const char *uid)
{
	const struct explain args = { .uid = uid };
	struct explained e;
	lab_ok(pod_explain(lab->cluster, &args, &e));
	return e;
}

static const struct suggestion *suggested(const struct explained *e, enum suggested action)
{
	for (size_t i = 0; i < e->suggestions.n; i++)
		if (e->suggestions.list[i].action == action)
			return &e->suggestions.list[i];
	return NULL;
}

static void test_the_sentence(void **state)
{
	struct lab *lab = lab_new();
	const struct pod x = lab_pod("x", 0), p = lab_pod("p", 5);
	const char *model = "A10";
	struct claim of_model = { .models = &model, .n_models = 1 };
	struct request *whole = lab_whole(1), *a10 = lab_request(&of_model, 1);
	const struct node_record *ignored;
	(void)state;
	lab_node(lab, "n1", 1);
	lab_node(lab, "n2", 1);
	lab_node(lab, "n3", 1);
	lab_node(lab, "n4", 1);
	lab_node(lab, "n5", 0);
	lab_reserve(lab, "a", 0, "n1", lab_whole(1));
	lab_reserve(lab, "b", 0, "n4", lab_whole(1));
	assert_true(lab_nominate(lab, &p, "n2", lab_whole(1), NULL, 0));
	lab_ok(node_cordon(lab_txn(lab), "n3", true, "", &ignored));
	struct explained e = ask(lab, &x, whole);
	assert_string_equal(text_string(&e.summary),
		"0/5 nodes are available: 2 insufficient gpu, 1 cordoned, 1 no device of type gpu, "
		"1 promised to pods of equal or higher priority.");
	explained_free(&e);
	e = ask(lab, &x, a10);
	assert_string_equal(text_string(&e.summary),
		"0/5 nodes are available: 3 no device of model A10, 1 cordoned, 1 no device of type gpu.");
	explained_free(&e);
	request_unref(whole);
	request_unref(a10);
	lab_free(lab);
}

static void test_a_known_pod(void **state)
{
	struct lab *lab = lab_new();
	const struct pod p = lab_pod("p", 5);
	static const char *const victims[] = { "a" };
	struct explained e;
	(void)state;
	lab_node(lab, "n1", 2);
	lab_reserve(lab, "a", 0, "n1", lab_whole(2));
	assert_null(lab_reserve(lab, "x", 0, NULL, lab_whole(1)));
	e = ask_uid(lab, "x");
	assert_int_equal(e.report.fits, 0);
	assert_non_null(e.refusal);
	explained_free(&e);
	assert_true(lab_nominate(lab, &p, "n1", lab_whole(1), victims, 1));
	e = ask_uid(lab, "p");
	assert_string_equal(text_string(&e.summary),
		"default/p is promised devices on node n1, once 1 pod has left. 0/1 nodes are available: 1 insufficient gpu.");
	assert_string_equal(suggested(&e, SUGGEST_WAIT)->uids[0], "a");
	explained_free(&e);
	e = ask_uid(lab, "a");
	assert_string_equal(text_string(&e.summary), "default/a holds devices on node n1 (reserved).");
	assert_int_equal(e.suggestions.n, 0);
	explained_free(&e);
	lab_refused(pod_explain(lab->cluster, &(struct explain){ .uid = "nobody" }, &e), ERR_NOT_FOUND);
	lab_free(lab);
}

static void test_a_lock_in_the_way(void **state)
{
	struct lab *lab = lab_new();
	struct report report;
	const struct allocation *a;
	(void)state;
	lab_node(lab, "n1", 2);
	lab_reserve(lab, "a", 0, "n1", lab_whole(1));
	lab_reserve(lab, "b", 0, "n1", lab_whole(1));
	report = report_new(cluster_holding(lab->cluster, "a")->record->request, 0);
	lab_ok(pod_bind(lab_txn(lab), "a", "n1", LOCK_TTL, -1, &report, &a));
	report_free(&report);
	struct explained e = ask_uid(lab, "b");
	assert_string_equal(text_string(&e.summary),
		"default/b holds devices on node n1 (reserved). Binding it waits for the lock of the node, which pod a holds.");
	assert_true(suggested(&e, SUGGEST_WAIT)->lock);
	explained_free(&e);
	e = ask_uid(lab, "a");
	assert_int_equal(e.suggestions.n, 0);
	explained_free(&e);
	lab_free(lab);
}

static void test_suggestions(void **state)
{
	struct lab *lab = lab_new();
	const struct pod x = lab_pod("x", 10);
	const struct node_record *ignored;
	struct request *four = lab_whole(4), *share = lab_cores(1, 90);
	(void)state;
	lab_node(lab, "n1", 4);
	lab_node(lab, "n2", 4);
	lab_node(lab, "n3", 4);
	lab_reserve(lab, "high", 20, "n1", lab_cores(1, 60));
	lab_reserve(lab, "low", 1, "n2", lab_whole(2));
	lab_reserve(lab, "low2", 1, "n2", lab_cores(2, 30));
	lab_ok(node_cordon(lab_txn(lab), "n3", true, "", &ignored));
	struct explained e = ask(lab, &x, four);
	assert_string_equal(suggested(&e, SUGGEST_PREEMPT)->node, "n2");
	assert_int_equal(suggested(&e, SUGGEST_PREEMPT)->n_uids, 2);
	assert_string_equal(suggested(&e, SUGGEST_WAIT)->node, "n1");
	assert_string_equal(suggested(&e, SUGGEST_WAIT)->uids[0], "high");
	assert_null(suggested(&e, SUGGEST_SHRINK)->resource);
	assert_int_equal(suggested(&e, SUGGEST_SHRINK)->to, 3);
	assert_string_equal(suggested(&e, SUGGEST_UNCORDON)->node, "n3");
	explained_free(&e);
	lab_reserve(lab, "high2", 20, "n1", lab_whole(3));
	lab_reserve(lab, "high3", 20, "n2", lab_cores(2, 50));
	e = ask(lab, &x, share);
	assert_string_equal(suggested(&e, SUGGEST_SHRINK)->resource, "core");
	assert_int_equal(suggested(&e, SUGGEST_SHRINK)->to, 40);
	explained_free(&e);
	request_unref(four);
	request_unref(share);
	lab_free(lab);
}

static void test_waiting_for_promises(void **state)
{
	struct lab *lab = lab_new();
	const struct pod x = lab_pod("x", 0), p = lab_pod("p", 5), q = lab_pod("q", 5);
	struct request *two = lab_whole(2);
	(void)state;
	lab_node(lab, "n1", 3);
	assert_true(lab_nominate(lab, &p, "n1", lab_whole(1), NULL, 0));
	assert_true(lab_nominate(lab, &q, "n1", lab_whole(1), NULL, 0));
	struct explained e = ask(lab, &x, two);
	assert_int_equal(suggested(&e, SUGGEST_WAIT)->n_uids, 1);
	assert_null(suggested(&e, SUGGEST_PREEMPT));
	explained_free(&e);
	request_unref(two);
	lab_free(lab);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_sentence),
		cmocka_unit_test(test_a_known_pod),
		cmocka_unit_test(test_a_lock_in_the_way),
		cmocka_unit_test(test_suggestions),
		cmocka_unit_test(test_waiting_for_promises),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

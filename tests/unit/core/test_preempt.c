/* pod.preempt: who has to leave, where, and what a repeated call is answered. */
#include "lab.h"

#include "core/preempt.h"

struct asked {
	struct preempted answer;
	struct error *error;
};

static struct asked ask(struct lab *lab, struct preempt args, struct request *request_take)
{
	struct report report = report_new(request_take, REPORT_NODES);
	struct asked asked;
	args.request = request_take;
	args.ttl = args.ttl ? args.ttl : NOMINATION_TTL;
	asked.error = pod_preempt(lab_txn(lab), &args, &report, &asked.answer);
	report_free(&report);
	request_unref(request_take);
	return asked;
}

/* The answer must be this node and these victims ("a b"); released. */
static void expect(struct asked asked, const char *node, const char *victims)
{
	struct text t = { 0 };
	lab_ok(asked.error);
	assert_string_equal(asked.answer.node, node);
	for (size_t i = 0; i < asked.answer.n_victims; i++)
		text_printf(&t, "%s%s", i ? " " : "", asked.answer.victims[i]->record->pod.uid);
	assert_string_equal(text_string(&t), victims);
	text_free(&t);
	preempted_free(&asked.answer);
}

static void test_where_it_fits_nobody_leaves(void **state)
{
	struct lab *lab = lab_new();
	const struct pod x = lab_pod("x", 10);
	(void)state;
	lab_node(lab, "n1", 1);
	lab_node(lab, "n2", 1);
	lab_node(lab, "n3", 1);
	lab_reserve(lab, "v", 1, "n1", lab_whole(1));
	expect(ask(lab, (struct preempt){ .pod = &x, .dry_run = true }, lab_whole(1)), "n2", "");
	lab_nominate(lab, &x, "n3", lab_whole(1), NULL, 0);
	expect(ask(lab, (struct preempt){ .pod = &x }, lab_whole(1)), "n3", "");
	assert_string_equal(cluster_promise(lab->cluster, "x")->record->node, "n3");
	lab_free(lab);
}

static void test_nobody_is_needless(void **state)
{
	struct lab *lab = lab_new();
	const struct pod x = lab_pod("x", 10);
	(void)state;
	lab_node(lab, "n1", 4);
	lab_reserve(lab, "a", 1, "n1", lab_whole(1));
	lab_reserve(lab, "b", 2, "n1", lab_whole(1));
	lab_reserve(lab, "c", 1, "n1", lab_whole(1));
	lab_reserve(lab, "d", 10, "n1", lab_whole(1));
	expect(ask(lab, (struct preempt){ .pod = &x, .dry_run = true }, lab_whole(1)), "n1", "c");
	expect(ask(lab, (struct preempt){ .pod = &x, .dry_run = true }, lab_whole(2)), "n1", "a c");
	expect(ask(lab, (struct preempt){ .pod = &x, .dry_run = true }, lab_whole(3)), "n1", "a b c");
	lab_refused(ask(lab, (struct preempt){ .pod = &x, .dry_run = true }, lab_whole(4)).error, ERR_INSUFFICIENT);
	static const char *const protect[] = { "c", "nobody" };
	expect(ask(lab, (struct preempt){ .pod = &x, .dry_run = true, .protect = protect, .n_protect = 2 }, lab_whole(1)), "n1",
		"a");
	lab_free(lab);
}

static void test_victims_are_lower_and_preemptible(void **state)
{
	struct lab *lab = lab_new();
	const struct pod x = lab_pod("x", 10);
	struct pod stubborn = lab_pod("s", 1);
	stubborn.preemptible = false;
	(void)state;
	lab_node(lab, "n1", 2);
	lab_reserve(lab, "equal", 10, "n1", lab_whole(1));
	lab_reserve_pod(lab, &stubborn, "n1", lab_whole(1));
	lab_refused(ask(lab, (struct preempt){ .pod = &x }, lab_whole(1)).error, ERR_INSUFFICIENT);
	assert_null(cluster_promise(lab->cluster, "x"));
	lab_free(lab);
}

static void test_a_card_shared_with_a_higher_pod_stays_closed(void **state)
{
	struct lab *lab = lab_new();
	const struct pod x = lab_pod("x", 10);
	(void)state;
	lab_node(lab, "n1", 2);
	lab_reserve(lab, "low", 1, "n1", lab_cores(1, 40));
	lab_reserve(lab, "high", 20, "n1", lab_cores(1, 60));
	lab_reserve(lab, "low2", 5, "n1", lab_whole(1));
	expect(ask(lab, (struct preempt){ .pod = &x, .dry_run = true }, lab_whole(1)), "n1", "low2");
	expect(ask(lab, (struct preempt){ .pod = &x, .dry_run = true }, lab_cores(1, 40)), "n1", "low");
	lab_free(lab);
}

static void test_the_best_node(void **state)
{
	struct lab *lab = lab_new();
	const struct pod x = lab_pod("x", 10);
	static const char *const protect[] = { "b", "c" };
	(void)state;
	lab_node(lab, "n1", 1);
	lab_node(lab, "n2", 1);
	lab_node(lab, "n3", 1);
	lab_reserve(lab, "a", 7, "n1", lab_whole(1));
	lab_reserve(lab, "b", 3, "n2", lab_whole(1));
	lab_reserve(lab, "c", 3, "n3", lab_whole(1));
	expect(ask(lab, (struct preempt){ .pod = &x, .dry_run = true }, lab_whole(1)), "n3", "c");
	expect(ask(lab, (struct preempt){ .pod = &x, .dry_run = true, .protect = protect, .n_protect = 2 }, lab_whole(1)), "n1",
		"a");
	static const char *const names[] = { "n2", "nowhere" };
	expect(ask(lab, (struct preempt){ .pod = &x, .dry_run = true, .names = names, .n_names = 2 }, lab_whole(1)), "n2", "b");
	lab_free(lab);
}

static void test_a_dry_run_changes_nothing(void **state)
{
	struct lab *lab = lab_new();
	const struct pod x = lab_pod("x", 10);
	struct change_list before = { 0 }, after = { 0 }, difference = { 0 };
	(void)state;
	lab_node(lab, "n1", 2);
	lab_reserve(lab, "v", 1, "n1", lab_whole(2));
	cluster_snapshot(lab->cluster, &before);
	const struct counters counters = *cluster_counters(lab->cluster);
	struct asked asked = ask(lab, (struct preempt){ .pod = &x, .dry_run = true }, lab_whole(1));
	assert_false(asked.answer.nominated);
	assert_int_equal(asked.answer.n_shares, 1);
	expect(asked, "n1", "v");
	cluster_snapshot(lab->cluster, &after);
	snapshot_difference(&before, &after, &difference);
	assert_int_equal(difference.n, 0);
	assert_int_equal(lab->list.n, 0);
	assert_memory_equal(&counters, cluster_counters(lab->cluster), sizeof counters);
	change_list_free(&before);
	change_list_free(&after);
	lab_free(lab);
}

static void test_a_repeated_call_renews(void **state)
{
	struct lab *lab = lab_new();
	const struct pod x = lab_pod("x", 10);
	static const char *const names[] = { "n2" };
	(void)state;
	lab_node(lab, "n1", 2);
	lab_node(lab, "n2", 2);
	lab_reserve(lab, "a", 1, "n1", lab_whole(1));
	lab_reserve(lab, "b", 1, "n1", lab_whole(1));
	lab_reserve(lab, "c", 2, "n2", lab_whole(2));
	expect(ask(lab, (struct preempt){ .pod = &x, .ttl = 5000 }, lab_whole(2)), "n1", "a b");
	int64_t id = cluster_promise(lab->cluster, "x")->record->id,
		expires = cluster_promise(lab->cluster, "x")->record->expires_at;
	lab_release(lab, "a");
	expect(ask(lab, (struct preempt){ .pod = &x, .dry_run = true }, lab_whole(2)), "n1", "b");
	assert_int_equal(lab->list.n, 0);
	expect(ask(lab, (struct preempt){ .pod = &x, .ttl = 60000 }, lab_whole(2)), "n1", "b");
	assert_int_equal(cluster_promise(lab->cluster, "x")->record->id, id);
	assert_true(cluster_promise(lab->cluster, "x")->record->expires_at > expires);
	expect(ask(lab, (struct preempt){ .pod = &x, .names = names, .n_names = 1 }, lab_whole(2)), "n2", "c");
	assert_null(holding_preemptor(cluster_holding(lab->cluster, "b")));
	assert_non_null(holding_preemptor(cluster_holding(lab->cluster, "c")));
	expect(ask(lab, (struct preempt){ .pod = &x }, lab_whole(1)), "n1", "");
	lab_free(lab);
}

static void test_promises_of_equal_priority_are_kept(void **state)
{
	struct lab *lab = lab_new();
	const struct pod x = lab_pod("x", 10), y = lab_pod("y", 10), z = lab_pod("z", 11);
	(void)state;
	lab_node(lab, "n1", 1);
	lab_reserve(lab, "v", 1, "n1", lab_whole(1));
	expect(ask(lab, (struct preempt){ .pod = &x }, lab_whole(1)), "n1", "v");
	lab_refused(ask(lab, (struct preempt){ .pod = &y }, lab_whole(1)).error, ERR_INSUFFICIENT);
	expect(ask(lab, (struct preempt){ .pod = &z }, lab_whole(1)), "n1", "v");
	assert_null(cluster_promise(lab->cluster, "x"));
	lab_free(lab);
}

static void test_who_holds_devices_is_refused(void **state)
{
	struct lab *lab = lab_new();
	const struct pod x = lab_pod("x", 10);
	(void)state;
	lab_node(lab, "n1", 2);
	lab_reserve(lab, "x", 10, "n1", lab_whole(1));
	lab_refused(ask(lab, (struct preempt){ .pod = &x, .dry_run = true }, lab_whole(1)).error, ERR_CONFLICT);
	lab_free(lab);
}

static void test_devices_of_victims_come_first(void **state)
{
	struct lab *lab = lab_new();
	const struct pod x = lab_pod("x", 10);
	(void)state;
	lab_node(lab, "n1", 3);
	lab_reserve(lab, "keep", 10, "n1", lab_whole(1));
	lab_reserve(lab, "v", 1, "n1", lab_whole(1));
	struct asked asked = ask(lab, (struct preempt){ .pod = &x }, lab_whole(2));
	lab_ok(asked.error);
	assert_int_equal(asked.answer.n_shares, 2);
	assert_string_equal(asked.answer.shares[0].uuid, "n1-gpu-1");
	expect(asked, "n1", "v");
	lab_free(lab);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_where_it_fits_nobody_leaves),
		cmocka_unit_test(test_nobody_is_needless),
		cmocka_unit_test(test_victims_are_lower_and_preemptible),
		cmocka_unit_test(test_a_card_shared_with_a_higher_pod_stays_closed),
		cmocka_unit_test(test_the_best_node),
		cmocka_unit_test(test_a_dry_run_changes_nothing),
		cmocka_unit_test(test_a_repeated_call_renews),
		cmocka_unit_test(test_promises_of_equal_priority_are_kept),
		cmocka_unit_test(test_who_holds_devices_is_refused),
		cmocka_unit_test(test_devices_of_victims_come_first),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

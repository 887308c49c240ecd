/* The cluster moved by changes: order, look-ups, undoing, snapshots and their differences; and that cluster_check sees what is wrong. */
#include <stdlib.h>
#include <string.h>

#include "core/check.h"
#include "unit/core/world.h"

#define OK(call) assert_string_equal(call, "ok")

static void empty(void **state)
{
	struct world *w = *state;
	struct change_list snapshot = { 0 };
	cluster_snapshot(w->cluster, &snapshot);
	assert_int_equal(snapshot.n, 0);
	assert_null(cluster_node(w->cluster, "n1"));
	assert_null(cluster_holding_from(w->cluster, "", false));
	assert_null(cluster_lock_from(w->cluster, ""));
	assert_int_equal(cluster_node_index(w->cluster, "x", false), 0);
	assert_int_equal(cluster_symbol(w->cluster, "gpu"), SYMBOL_NONE);
	cluster_free(NULL);
}

static void orders(void **state)
{
	struct world *w = *state;
	static const char *const names[] = { "n3", "n1", "n2" };
	for (size_t i = 0; i < 3; i++)
		standard_node(w, names[i], 2, 1, 0);
	assert_string_equal(w->cluster->order[0]->record->name, "n1");
	assert_string_equal(w->cluster->order[2]->record->name, "n3");
	assert_int_equal(cluster_node_index(w->cluster, "n2", false), 1);
	assert_int_equal(cluster_node_index(w->cluster, "n2", true), 2);
	const struct node *n = cluster_node(w->cluster, "n2");
	assert_string_equal(n->devices[0].record->uuid, "n2-gpu-0");
	assert_string_equal(n->devices[2].record->uuid, "n2-rdma-0");
	assert_ptr_equal(node_device_uuid(n, "n2-gpu-1"), node_device(n, n->devices[1].id));
	OK(try_reserve(w, "b", "gpu", NULL));
	OK(try_reserve(w, "a", "gpu", NULL));
	struct holding *h = cluster_holding_from(w->cluster, "", false);
	assert_string_equal(h->record->pod.uid, "a");
	assert_string_equal(cluster_holding_from(w->cluster, "a", true)->record->pod.uid, "b");
	assert_string_equal(cluster_holding_from(w->cluster, "a", false)->record->pod.uid, "a");
	assert_null(cluster_holding_from(w->cluster, "b", true));
	assert_ptr_equal(cluster_holding_named(w->cluster, "default", "a"), h);
	assert_null(cluster_holding_named(w->cluster, "default", "c"));
}

/* Takes everything back, change by change, down to nothing. */
static void undoing(void **state)
{
	struct world *w = *state;
	standard_node(w, "n1", 4, 1, 1);
	OK(try_reserve(w, "a", "gpu core=20", "n1"));
	OK(try_bind(w, "a", "n1"));
	pass(w, LOCK_TTL);
	OK(try_reserve(w, "b", "gpu", "n1"));
	OK(try_nominate(w, "c", 10, "n1", "gpu*2", "b"));
	assert_string_equal(try_reserve(w, "d", "gpu*4", "n1"), "insufficient");
	OK(try_remove(w, "n1", true));
	for (size_t i = w->list.n; i > 0; i--)
		cluster_unapply(w->cluster, &w->list.changes[i - 1]);
	struct cluster_counts counts = cluster_count(w->cluster);
	assert_int_equal(counts.nodes + counts.devices + counts.allocations + counts.nominations + counts.locks + counts.lapses +
				 counts.refusals,
		0);
	for (size_t i = 0; i < w->list.n; i++)
		cluster_apply(w->cluster, &w->list.changes[i]);
	assert_int_equal(cluster_count(w->cluster).nodes, 0);
	assert_int_equal(cluster_count(w->cluster).refusals, 1);
}

static void txn_undo_leaves_the_counters(void **state)
{
	struct world *w = *state;
	const struct lock *lock;
	standard_node(w, "n1", 1, 0, 0);
	size_t changes = w->list.n;
	struct txn txn = txn_begin(w->cluster, &w->list, w->now, "test");
	assert_null(lock_acquire(&txn, "n1", "a", 1000, &lock));
	int64_t revision = txn.revision, token = lock->token;
	txn_undo(&txn);
	assert_int_equal(w->list.n, changes);
	assert_int_equal(txn.revision, 0);
	assert_null(cluster_node(w->cluster, "n1")->lock);
	OK(try_lock(w, "n1", "a", 1000));
	assert_true(w->revision > revision);
	assert_true(w->token > token);
}

/* Snapshots taken before and after, and the difference applied to a copy. */
static void differences(void **state)
{
	struct world *w = *state;
	struct change_list before = { 0 }, after = { 0 }, difference = { 0 }, then = { 0 }, none = { 0 };
	standard_node(w, "n1", 2, 0, 0);
	standard_node(w, "n2", 2, 0, 0);
	OK(try_reserve(w, "a", "gpu*2", "n1"));
	OK(try_reserve(w, "b", "gpu", "n2"));
	cluster_snapshot(w->cluster, &before);
	OK(try_remove(w, "n1", true));
	OK(try_reserve(w, "a", "gpu", "n2"));
	OK(try_bind(w, "b", "n2"));
	cluster_snapshot(w->cluster, &after);
	snapshot_difference(&before, &after, &difference);
	struct cluster *copy = cluster_new();
	for (size_t i = 0; i < before.n; i++)
		cluster_apply(copy, &before.changes[i]);
	for (size_t i = 0; i < difference.n; i++)
		cluster_apply(copy, &difference.changes[i]);
	cluster_snapshot(copy, &then);
	snapshot_difference(&after, &then, &none);
	assert_int_equal(none.n, 0);
	cluster_free(copy);
	change_list_free(&before);
	change_list_free(&after);
	change_list_free(&difference);
	change_list_free(&then);
}

/* ---- cluster_check */

static void remember(void *context, const char *sentence)
{
	text_printf(context, "%s\n", sentence);
}

static void assert_violation(const struct world *w, const char *part)
{
	struct text t = { 0 };
	cluster_check(w->cluster, remember, &t);
	if (!strstr(text_string(&t), part))
		fail_msg("not found: %s, but: %s", part, text_string(&t));
	text_free(&t);
}

static struct node *filled_node(struct world *w)
{
	standard_node(w, "n1", 2, 0, 0);
	OK(try_reserve(w, "a", "gpu core=20", "n1"));
	OK(try_bind(w, "a", "n1"));
	OK(try_nominate(w, "b", 10, "n1", "gpu core=30", NULL));
	return cluster_node(w->cluster, "n1");
}

static void miscounted_use_is_seen(void **state)
{
	struct world *w = *state;
	struct node *n = filled_node(w);
	n->stocks[0].held++;
	assert_violation(w, "counts 21 of core held, but it is 20");
	n->stocks[0].held--;
	n->devices[0].shares++;
	assert_violation(w, "counts 2 shares");
	n->devices[0].shares--;
	n->devices[1].eligible = false;
	assert_violation(w, "differs from its record");
	n->devices[1].eligible = true;
}

static void wrong_counters_and_deadlines_are_seen(void **state)
{
	struct world *w = *state;
	struct node *n = filled_node(w);
	struct counters right = w->cluster->counters;
	w->cluster->counters.token = 0;
	assert_violation(w, "the token of pod a was never given out");
	w->cluster->counters.token = right.token;
	w->cluster->counters.revision = 1;
	assert_violation(w, "the revision");
	w->cluster->counters = right;
	n->lock->deadline.armed = false;
	assert_violation(w, "the end of n1 is");
	n->lock->deadline.armed = true;
}

/* Puts an allocation as only a wrong decision would. */
static void put_by_force(struct world *w, struct allocation like)
{
	struct txn txn = txn_begin(w->cluster, &w->list, w->now, "test");
	like.revision = txn_revision(&txn);
	like.id = cluster_next_id(w->cluster);
	like.pod = pod_of("wrong", 0);
	txn_put(&txn, RECORD_ALLOCATION, NULL, allocation_new(&like));
}

static void giving_too_much_is_seen(void **state)
{
	struct world *w = *state;
	standard_node(w, "n1", 1, 0, 0);
	OK(try_reserve(w, "a", "gpu core=60", "n1"));
	put_by_force(w, *w->a);
	assert_violation(w, "120 of core are held on device n1-gpu-0, which has 100");
}

static void two_on_a_whole_device_are_seen(void **state)
{
	struct world *w = *state;
	standard_node(w, "n1", 1, 0, 0);
	OK(try_reserve(w, "a", "gpu", "n1"));
	put_by_force(w, *w->a);
	assert_violation(w, "is held whole, and 2 shares of it are held");
}

static void bound_without_a_lock_is_seen(void **state)
{
	struct world *w = *state;
	struct node *n = filled_node(w);
	struct txn txn = txn_begin(w->cluster, &w->list, w->now, "test");
	txn_put(&txn, RECORD_LOCK, n->lock->record, NULL);
	assert_violation(w, "pod a is bound but does not hold the lock of node n1");
}

static void broken_promises_are_seen(void **state)
{
	struct world *w = *state;
	struct node *n = filled_node(w);
	struct txn txn = txn_begin(w->cluster, &w->list, w->now, "test");
	struct nomination more = *n->promises->record;
	struct amount amount = { "core", 90 };
	struct share share = more.shares[0];
	share.amounts = &amount;
	more.shares = &share;
	txn_put(&txn, RECORD_NOMINATION, n->promises->record, nomination_new(&more));
	assert_violation(w, "makes 110 of core on device n1-gpu-0, which has 100");
	struct device_record sick = *n->devices[0].record;
	sick.healthy = false;
	txn_put(&txn, RECORD_DEVICE, n->devices[0].record, device_record_new(&sick));
	assert_violation(w, "is nominated to device n1-gpu-0, which is not eligible");
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, world_setup, world_teardown)
	const struct CMUnitTest tests[] = {
		TEST(empty),
		TEST(orders),
		TEST(undoing),
		TEST(txn_undo_leaves_the_counters),
		TEST(differences),
		TEST(miscounted_use_is_seen),
		TEST(wrong_counters_and_deadlines_are_seen),
		TEST(giving_too_much_is_seen),
		TEST(two_on_a_whole_device_are_seen),
		TEST(bound_without_a_lock_is_seen),
		TEST(broken_promises_are_seen),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

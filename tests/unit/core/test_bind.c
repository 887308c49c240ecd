/* pod.bind, pod.release, locks, and what ends by itself (contract, sections 3 and 5). */
#include <string.h>

#include "core/expire.h"
#include "unit/core/world.h"

#define OK(call) assert_string_equal(call, "ok")

static const struct lock *lock_of(const struct world *w, const char *node)
{
	const struct node *n = cluster_node(w->cluster, node);
	return n && n->lock ? n->lock->record : NULL;
}

static const char *hand_out(struct world *w)
{
	return try_allocate(w, &(struct allocate){ .node = "n1", .token = -1 });
}

/* ---- bind */

static void binding(void **state)
{
	struct world *w = *state;
	standard_node(w, "n1", 2, 0, 0);
	OK(try_reserve(w, "a", "gpu", "n1"));
	OK(try_bind(w, "a", "n1"));
	assert_int_equal(w->a->state, POD_BOUND);
	assert_int_equal(w->a->expires_at, w->now + LOCK_TTL);
	assert_string_equal(lock_of(w, "n1")->uid, "a");
	assert_int_equal(lock_of(w, "n1")->token, w->token);
	assert_string_equal(text_string(&w->events), "pod.bound");
	int64_t token = w->token;
	OK(try_bind(w, "a", "n1"));
	assert_int_equal(w->revision, 0);
	assert_int_equal(w->token, token);
	OK(hand_out(w));
	OK(try_bind(w, "a", "n1")); /* the same answer, also when it is allocated */
	assert_int_equal(w->token, token);
}

static void binding_fails(void **state)
{
	struct world *w = *state;
	standard_node(w, "n1", 3, 0, 0);
	standard_node(w, "n2", 2, 0, 0);
	assert_string_equal(try_bind(w, "a", "n1"), "not_found");
	OK(try_reserve(w, "a", "gpu", "n1"));
	assert_string_equal(try_bind(w, "a", "n2"), "conflict");
	OK(try_reserve(w, "b", "gpu", "n1"));
	OK(try_bind(w, "b", "n1"));
	assert_string_equal(try_bind(w, "a", "n1"), "locked");
	assert_string_equal(error_text(w, "node"), "n1");
	assert_string_equal(error_text(w, "holder"), "b");
	assert_int_equal(error_integer(w, "expires_at"), w->now + LOCK_TTL);
	OK(try_release(w, "b", true));
	assert_string_equal(try_bind(w, "b", "n1"), "expired");
	OK(try_update(w, "n1", "n1-gpu-0", SAID_NO, SAID_NOTHING));
	assert_string_equal(try_bind(w, "a", "n1"), "insufficient");
	assert_int_equal(report_count(&w->report, SLUG_UNHEALTHY), 1);
	assert_null(lock_of(w, "n1"));
}

static void binding_without_an_agent_needs_no_lock(void **state)
{
	struct world *w = *state;
	standard_node(w, "n1", 1, 0, 1);
	OK(try_lock(w, "n1", "x", LOCK_TTL));
	OK(try_reserve(w, "a", "host cpu=1 unattended", "n1"));
	OK(try_bind(w, "a", "n1"));
	assert_int_equal(w->a->state, POD_ALLOCATED);
	assert_int_equal(w->a->expires_at, 0);
	assert_string_equal(lock_of(w, "n1")->uid, "x");
}

static void binding_under_a_lock_taken_before(void **state)
{
	struct world *w = *state;
	standard_node(w, "n1", 1, 0, 0);
	OK(try_lock(w, "n1", "a", 2 * LOCK_TTL));
	int64_t token = w->token, expires_at = w->now + 2 * LOCK_TTL;
	OK(try_reserve(w, "a", "gpu", "n1"));
	OK(try_bind(w, "a", "n1"));
	assert_int_equal(w->token, token);
	assert_int_equal(w->a->expires_at, expires_at); /* never shortened */
}

/* ---- release */

static void released_from_every_state(void **state)
{
	struct world *w = *state;
	standard_node(w, "n1", 1, 0, 0);
	OK(try_release(w, "a", false));
	assert_false(w->flag);
	assert_int_equal(w->state, POD_NONE);
	for (enum pod_state s = POD_RESERVED; s <= POD_RELEASING; s++) {
		OK(try_reserve(w, "a", "gpu", "n1"));
		if (s >= POD_BOUND)
			OK(try_bind(w, "a", "n1"));
		if (s >= POD_ALLOCATED)
			OK(hand_out(w));
		if (s == POD_RELEASING)
			OK(try_release(w, "a", true));
		OK(try_release(w, "a", false));
		assert_true(w->flag);
		assert_int_equal(w->state, s);
		assert_string_equal(text_string(&w->events), "pod.released");
		assert_null(lock_of(w, "n1"));
		assert_string_equal(state_of(w, "a"), "none");
	}
}

static void waiting_for_the_node(void **state)
{
	struct world *w = *state;
	standard_node(w, "n1", 2, 0, 0);
	OK(try_reserve(w, "a", "gpu", "n1"));
	OK(try_release(w, "a", true));
	assert_true(w->flag); /* reserved: at once */
	OK(try_reserve(w, "a", "gpu", "n1"));
	OK(try_bind(w, "a", "n1"));
	OK(try_release(w, "a", true));
	assert_false(w->flag);
	assert_int_equal(w->state, POD_BOUND);
	assert_string_equal(state_of(w, "a"), "releasing");
	assert_string_equal(text_string(&w->events), "pod.releasing");
	assert_null(lock_of(w, "n1"));
	assert_int_equal(cluster_node(w->cluster, "n1")->devices[0].shares, 1);
	OK(try_release(w, "a", true));
	assert_int_equal(w->revision, 0);
	assert_int_equal(w->state, POD_RELEASING);
}

static void everything_goes_together(void **state)
{
	struct world *w = *state;
	standard_node(w, "n1", 2, 0, 0);
	standard_node(w, "n2", 2, 0, 0);
	OK(try_reserve(w, "a", "gpu", "n1"));
	OK(try_bind(w, "a", "n1"));
	pass(w, LOCK_TTL);
	assert_non_null(cluster_lapse(w->cluster, "a", "n1"));
	OK(try_nominate(w, "a", 0, "n1", "gpu", NULL));
	OK(try_lock(w, "n2", "a", LOCK_TTL));
	OK(try_release(w, "a", false));
	assert_false(w->flag);
	assert_null(cluster_lapse(w->cluster, "a", "n1"));
	assert_null(cluster_promise(w->cluster, "a"));
	assert_null(lock_of(w, "n2"));
	assert_string_equal(text_string(&w->events), "nomination.cleared lock.released");
}

/* ---- locks */

static void locking(void **state)
{
	struct world *w = *state;
	assert_string_equal(try_lock(w, "n1", "a", LOCK_TTL), "not_found");
	standard_node(w, "n1", 1, 0, 0);
	OK(try_lock(w, "n1", "a", LOCK_TTL));
	int64_t token = w->token;
	assert_string_equal(try_lock(w, "n1", "b", LOCK_TTL), "locked");
	OK(try_lock(w, "n1", "a", 1000));
	assert_int_equal(w->token, token);
	assert_int_equal(lock_of(w, "n1")->expires_at, w->now + LOCK_TTL);
	OK(try_lock(w, "n1", "a", LOCK_TTL + 1));
	assert_int_equal(w->token, token);
	assert_int_equal(lock_of(w, "n1")->expires_at, w->now + LOCK_TTL + 1);
	assert_string_equal(try_unlock(w, "n1", token + 1), "stale_token");
	assert_string_equal(try_unlock(w, "n9", token), "not_found");
	OK(try_unlock(w, "n1", token));
	assert_string_equal(try_unlock(w, "n1", token), "stale_token");
	OK(try_lock(w, "n1", "b", LOCK_TTL));
	assert_true(w->token > token);
}

static void the_lock_of_a_bound_pod(void **state)
{
	struct world *w = *state;
	standard_node(w, "n1", 1, 0, 0);
	OK(try_reserve(w, "a", "gpu", "n1"));
	OK(try_bind(w, "a", "n1"));
	assert_string_equal(try_unlock(w, "n1", w->token), "conflict");
	OK(try_lock(w, "n1", "a", 2 * LOCK_TTL));
	assert_int_equal(cluster_holding(w->cluster, "a")->record->expires_at, w->now + 2 * LOCK_TTL);
}

/* ---- what ends by itself */

static void a_reservation_ends(void **state)
{
	struct world *w = *state;
	int64_t end = w->now + RESERVATION_TTL;
	standard_node(w, "n1", 1, 0, 0);
	OK(try_reserve(w, "a", "gpu", "n1"));
	assert_int_equal(expire_next(w->cluster), end);
	pass(w, RESERVATION_TTL - 1);
	assert_string_equal(state_of(w, "a"), "reserved");
	pass(w, 1000);
	assert_string_equal(text_string(&w->events), "pod.expired");
	const struct event *e = w->list.changes[w->list.n - 1].after;
	assert_int_equal(e->at, end); /* it ended then, though it was seen later */
	assert_int_equal(expire_next(w->cluster), INT64_MAX);
}

static void a_bind_lapses(void **state)
{
	struct world *w = *state;
	standard_node(w, "n1", 1, 0, 0);
	OK(try_reserve(w, "a", "gpu", "n1"));
	OK(try_bind(w, "a", "n1"));
	int64_t end = w->a->expires_at;
	pass(w, LOCK_TTL + 5000);
	assert_string_equal(text_string(&w->events), "pod.lapsed");
	assert_string_equal(state_of(w, "a"), "none");
	assert_null(lock_of(w, "n1"));
	const struct lapse *l = cluster_lapse(w->cluster, "a", "n1")->record;
	assert_int_equal(l->at, end);
	assert_int_equal(l->expires_at, end + DAY);
	assert_string_equal(try_bind(w, "a", "n1"), "expired");
	OK(try_reserve(w, "a", "gpu", "n1"));
	assert_non_null(cluster_lapse(w->cluster, "a", "n1"));
	OK(try_bind(w, "a", "n1")); /* a new bind ends it */
	assert_null(cluster_lapse(w->cluster, "a", "n1"));
}

static void a_lapse_ends(void **state)
{
	struct world *w = *state;
	standard_node(w, "n1", 1, 0, 0);
	OK(try_reserve(w, "a", "gpu", "n1"));
	OK(try_bind(w, "a", "n1"));
	pass(w, LOCK_TTL);
	pass(w, DAY);
	assert_string_equal(text_string(&w->events), "pod.forgotten");
	assert_null(cluster_lapse(w->cluster, "a", "n1"));
}

static void in_the_order_of_their_ends(void **state)
{
	struct world *w = *state;
	standard_node(w, "n1", 3, 0, 0);
	OK(try_lock(w, "n1", "x", RESERVATION_TTL + 2000));
	OK(try_reserve(w, "b", "gpu", "n1"));
	w->now += 1000;
	OK(try_reserve(w, "a", "gpu", "n1"));
	w->now += 500;
	OK(try_nominate(w, "c", 0, "n1", "gpu", NULL));
	pass(w, DAY / 2);
	assert_string_equal(text_string(&w->events), "pod.expired pod.expired nomination.expired lock.expired");
}

/* Whoever could not renew while the server was away gets some time; what is made after the start gets none. */
static void grace_after_a_start(void **state)
{
	struct world *w = *state;
	standard_node(w, "n1", 2, 0, 0);
	OK(try_reserve(w, "old", "gpu", "n1"));
	int64_t end = w->a->expires_at, until = end + 60 * SECOND;
	w->now = end - SECOND;
	cluster_grace(w->cluster, until);
	assert_int_equal(expire_next(w->cluster), until);
	OK(try_lock(w, "n1", "new", SECOND));
	pass(w, 2 * SECOND);
	assert_string_equal(text_string(&w->events), "lock.expired");
	assert_string_equal(state_of(w, "old"), "reserved");
	OK(try_bind(w, "old", "n1"));
	OK(try_unreserve(w, "old", w->a->token, false));
	assert_int_equal(expire_next(w->cluster), INT64_MAX);
}

static void grace_ends(void **state)
{
	struct world *w = *state;
	standard_node(w, "n1", 2, 0, 0);
	OK(try_reserve(w, "old", "gpu", "n1"));
	int64_t end = w->a->expires_at;
	cluster_grace(w->cluster, end + 60 * SECOND);
	pass(w, RESERVATION_TTL + 59 * SECOND);
	assert_string_equal(state_of(w, "old"), "reserved");
	pass(w, SECOND);
	const struct event *e = w->list.changes[w->list.n - 1].after;
	assert_string_equal(e->kind, "pod.expired");
	assert_int_equal(e->at, end);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, world_setup, world_teardown)
	const struct CMUnitTest tests[] = {
		TEST(binding),
		TEST(binding_fails),
		TEST(binding_without_an_agent_needs_no_lock),
		TEST(binding_under_a_lock_taken_before),
		TEST(released_from_every_state),
		TEST(waiting_for_the_node),
		TEST(everything_goes_together),
		TEST(locking),
		TEST(the_lock_of_a_bound_pod),
		TEST(a_reservation_ends),
		TEST(a_bind_lapses),
		TEST(a_lapse_ends),
		TEST(in_the_order_of_their_ends),
		TEST(grace_after_a_start),
		TEST(grace_ends),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

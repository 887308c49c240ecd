/* Commits that fail: what is decided again, who is told what, and that memory equals the disk afterwards. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "rig.h"

/* Puts one commit to the gate with calls in both turns: call 0 commits, 1..5 are open. */
static void two_turns(struct rig *rig)
{
	fake_store_close_gate(rig->store);
	rig_do(rig, DO_ACQUIRE, 0);
	engine_pass(rig->engine);
	fake_store_wait_at_gate(rig->store);
	rig_do(rig, DO_READ, 0);
	rig_do(rig, DO_ACQUIRE, 1);
	rig_do(rig, DO_ACQUIRE, 1); /* refused: taken */
	rig_do(rig, DO_READ, 0);
	rig_do(rig, DO_ACQUIRE, 2);
	rig_turn(rig, 0);
}

static void script(struct rig *rig, enum store_outcome first, enum store_outcome second)
{
	const enum store_outcome outcomes[] = { first, second };
	fake_store_script(rig->store, outcomes, 2);
}

static void test_known_failure_decides_again(void **state)
{
	static const enum store_outcome known[] = { STORE_FULL, STORE_CONSTRAINT, STORE_NOMEM };
	(void)state;
	for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
		struct rig *rig = rig_new((struct rig_options){ .busy_patience = 1 });
		two_turns(rig);
		fake_store_always(rig->store, known[k]);
		fake_store_let(rig->store, 1);
		rig_run_for(rig, 30); /* the second try stands before the gate */
		fake_store_always(rig->store, STORE_OK);
		fake_store_open_gate(rig->store);
		rig_settle(rig);
		for (size_t i = 0; i < rig->n_calls; i++) {
			expect_released(&rig->calls[i], -1);
			assert_int_equal(rig->calls[i].place, i);
			assert_int_equal(rig->calls[i].decided, 2);
		}
		assert_true(rig->calls[3].refused);
		assert_int_equal(rig->calls[1].locks, 1);
		assert_int_equal(fake_store_committed(rig->store), 3); /* one call per transaction */
		assert_false(engine_status(rig->engine).read_only);
		rig_do(rig, DO_ACQUIRE, 10);
		rig_do(rig, DO_ACQUIRE, 11);
		rig_settle(rig);
		assert_int_equal(fake_store_committed(rig->store), 4); /* together again */
		rig_free(rig);
	}
}

static void test_another_writer_is_waited_for(void **state)
{
	const enum store_outcome outcomes[] = { STORE_BUSY, STORE_BUSY, STORE_BUSY };
	struct rig *rig = rig_new((struct rig_options){ .busy_patience = 2000 });
	(void)state;
	fake_store_script(rig->store, outcomes, 3);
	struct test_call *c = rig_do(rig, DO_ACQUIRE, 0);
	rig_settle(rig);
	expect_released(c, -1);
	assert_int_equal(c->decided, 1);
	assert_int_equal(fake_store_tried(rig->store), 4);
	rig_free(rig);
}

static void test_another_writer_does_not_go(void **state)
{
	struct rig *rig = rig_new((struct rig_options){ 0 });
	(void)state;
	fake_store_always(rig->store, STORE_BUSY);
	struct test_call *write = rig_do(rig, DO_ACQUIRE, 0), *read = rig_do(rig, DO_READ, 0);
	rig_settle(rig);
	expect_released(write, ERR_UNAVAILABLE);
	expect_released(read, -1);
	assert_int_equal(read->locks, 0); /* as it was decided last */
	fake_store_always(rig->store, STORE_OK);
	rig_free(rig);
}

static void test_full_disk(void **state)
{
	struct rig *rig = rig_new((struct rig_options){ 0 });
	(void)state;
	rig_do(rig, DO_ACQUIRE, 0);
	rig_do(rig, DO_ACQUIRE, 1);
	rig_settle(rig);
	fake_store_always(rig->store, STORE_FULL);
	struct test_call *grow = rig_do(rig, DO_ACQUIRE, 2), *read = rig_do(rig, DO_READ, 0),
			 *release = rig_do(rig, DO_RELEASE, 0);
	rig_settle(rig);
	expect_released(grow, ERR_READ_ONLY);
	expect_released(read, -1);
	expect_released(release, ERR_READ_ONLY);
	assert_non_null(strstr(grow->message, "releases still work"));
	assert_null(strstr(release->message, "releases still work")); /* this one did not */
	assert_int_equal(read->locks, 2);
	assert_true(engine_status(rig->engine).read_only);
	assert_true(rig_has_alarm(rig, "disk_full"));

	size_t tried = fake_store_tried(rig->store);
	struct test_call *refused = rig_do(rig, DO_ACQUIRE, 3), *soft = rig_do(rig, DO_TOUCH, 3), *work = rig_do(rig, DO_WORK, 0);
	rig_settle(rig);
	expect_released(refused, ERR_READ_ONLY);
	expect_released(soft, -1);
	expect_released(work, -1);
	assert_int_equal(work->seen_on_disk, work->seen);
	assert_int_equal(fake_store_tried(rig->store), tried); /* not even tried */

	const enum store_outcome one_goes[] = { STORE_OK };
	fake_store_script(rig->store, one_goes, 1);
	struct test_call *freed = rig_do(rig, DO_RELEASE, 1);
	rig_settle(rig);
	expect_released(freed, -1); /* freeing is tried, and works */
	assert_true(engine_status(rig->engine).read_only);
	rig_free(rig);
}

static void test_space_returns(void **state)
{
	struct rig *rig = rig_new((struct rig_options){ 0 });
	(void)state;
	fake_store_always(rig->store, STORE_FULL);
	rig_do(rig, DO_ACQUIRE, 0);
	rig_settle(rig);
	size_t tried = fake_store_tried(rig->store);
	rig_run_for(rig, 2500);
	assert_in_range(fake_store_tried(rig->store), tried + 1, tried + 3); /* once a second */
	assert_true(engine_status(rig->engine).read_only);
	fake_store_always(rig->store, STORE_OK);
	rig_run_for(rig, 1200);
	assert_false(engine_status(rig->engine).read_only);
	assert_false(rig_has_alarm(rig, "disk_full"));
	struct test_call *c = rig_do(rig, DO_ACQUIRE, 0);
	rig_settle(rig);
	expect_released(c, -1);
	rig_free(rig);
}

static void test_soft_changes_survive_a_failure(void **state)
{
	struct rig *rig = rig_new((struct rig_options){ 0 });
	(void)state;
	rig_do(rig, DO_TOUCH, 7);
	rig_settle(rig); /* answered */
	script(rig, STORE_NOMEM, STORE_OK);
	rig_do(rig, DO_ACQUIRE, 0);
	struct test_call *read = rig_do(rig, DO_READ, 0);
	rig_settle(rig);
	expect_released(&rig->calls[1], -1);
	assert_int_equal(read->seen, 1);
	assert_int_equal(rig->calls[0].decided, 1);
	rig_free(rig);
}

static void test_soft_changes_that_do_not_fit_are_dropped(void **state)
{
	struct rig *rig = rig_new((struct rig_options){ .flush_interval = 10 });
	(void)state;
	fake_store_always(rig->store, STORE_FULL);
	rig_do(rig, DO_TOUCH, 7);
	rig_run_for(rig, 100);
	assert_true(fake_store_equals(rig->store, rig->cluster));
	fake_store_always(rig->store, STORE_OK);
	rig_free(rig);
}

/* One call is refused by the database: only that one fails, memory is made equal to the disk. */
static void test_constraint(void **state)
{
	const enum store_outcome outcomes[] = { STORE_CONSTRAINT, STORE_OK, STORE_CONSTRAINT, STORE_OK };
	struct rig *rig = rig_new((struct rig_options){ 0 });
	(void)state;
	rig_do(rig, DO_ACQUIRE, 9);
	rig_settle(rig);
	rig_outside_lock(rig, 20, true); /* unnoticed */
	rig->store->outside = false;
	fake_store_script(rig->store, outcomes, 4);
	struct test_call *a = rig_do(rig, DO_ACQUIRE, 0), *b = rig_do(rig, DO_ACQUIRE, 20), *c = rig_do(rig, DO_ACQUIRE, 2),
			 *d = rig_do(rig, DO_ACQUIRE, 20);
	rig_settle(rig);
	expect_released(a, -1);
	expect_released(b, ERR_INTERNAL);
	expect_released(c, -1);
	expect_released(d, -1);
	assert_false(a->refused);
	assert_true(d->refused); /* after the rebuilding the lock is seen */
	assert_true(rig_has_alarm(rig, "diverged"));
	assert_int_equal(rig->store->loads, 1);
	rig_free(rig);
}

static void test_unknown_outcome(void **state)
{
	struct rig *rig = rig_new((struct rig_options){ 0 });
	(void)state;
	fake_store_close_gate(rig->store);
	struct test_call *write = rig_do(rig, DO_ACQUIRE, 0), *read = rig_do(rig, DO_READ, 0);
	engine_pass(rig->engine);
	fake_store_wait_at_gate(rig->store);
	struct test_call *later = rig_do(rig, DO_ACQUIRE, 1), *work = rig_do(rig, DO_WORK, 1), *waiting = rig_do(rig, DO_READ, 1);
	fake_store_always(rig->store, STORE_UNKNOWN);
	fake_store_open_gate(rig->store);
	rig_settle(rig);
	expect_released(write, ERR_OUTCOME_UNKNOWN);
	expect_released(read, ERR_UNAVAILABLE); /* it changed nothing, but what it saw is not sure */
	expect_released(later, ERR_UNAVAILABLE);
	expect_released(work, ERR_UNAVAILABLE);
	expect_released(waiting, ERR_UNAVAILABLE);
	assert_int_equal(rig->broken, 1);
	size_t tried = fake_store_tried(rig->store);
	struct test_call *after = rig_do(rig, DO_ACQUIRE, 5);
	rig_settle(rig);
	expect_released(after, ERR_UNAVAILABLE);
	assert_int_equal(after->decided, 0);
	rig_run_for(rig, 30);
	assert_int_equal(fake_store_tried(rig->store), tried);
	assert_int_equal(rig->broken, 1);
	rig_free(rig);
}

static void test_housekeeping_breaks(void **state)
{
	struct rig *rig = rig_new((struct rig_options){ 0 });
	(void)state;
	rig->store->tidy_outcome = STORE_UNKNOWN;
	rig_do(rig, DO_ACQUIRE, 5);
	rig_run_for(rig, 2200);
	assert_int_equal(rig->broken, 1);
	rig_free(rig);
}

static void test_expiry_that_cannot_be_written_stays_held(void **state)
{
	struct rig *rig = rig_new((struct rig_options){ .clock = CLOCK_MANUAL });
	(void)state;
	rig_do_ttl(rig, DO_ACQUIRE, 0, 1000);
	rig_settle(rig);
	fake_store_always(rig->store, STORE_FULL);
	rig->clock.start += 1000;
	rig_run_for(rig, 100);
	assert_int_equal(cluster_count(rig->cluster).locks, 1);
	struct test_call *c = rig_do(rig, DO_READ, 0);
	rig_settle(rig);
	assert_int_equal(c->locks, 1);
	fake_store_always(rig->store, STORE_OK);
	rig_run_for(rig, 1500);
	assert_int_equal(cluster_count(rig->cluster).locks, 0);
	assert_false(engine_status(rig->engine).read_only);
	rig_free(rig);
}

static void test_advance_is_taken_back_and_done_once(void **state)
{
	struct rig *rig = rig_new((struct rig_options){ .clock = CLOCK_MANUAL });
	(void)state;
	rig_do_ttl(rig, DO_ACQUIRE, 0, 1000);
	rig_settle(rig);
	int64_t before = clock_now(&rig->clock);
	script(rig, STORE_NOMEM, STORE_OK);
	struct test_call *a = rig_do_ttl(rig, DO_ADVANCE, 0, 1000), *b = rig_do_ttl(rig, DO_ADVANCE, 0, 500),
			 *c = rig_do(rig, DO_READ, 0);
	rig_settle(rig);
	assert_int_equal(a->now, before + 1000);
	assert_int_equal(b->now, before + 1500);
	assert_int_equal(c->now, before + 1500);
	assert_int_equal(clock_now(&rig->clock), before + 1500);
	assert_int_equal(c->locks, 0);
	script(rig, STORE_NOMEM, STORE_NOMEM);
	struct test_call *d = rig_do_ttl(rig, DO_ADVANCE, 0, 1000);
	rig_settle(rig);
	expect_released(d, ERR_UNAVAILABLE);
	assert_int_equal(clock_now(&rig->clock), before + 1500);
	rig_free(rig);
}

/* ---- somebody else writes */

static void test_external_write_is_taken_over(void **state)
{
	struct rig *rig = rig_new((struct rig_options){ 0 });
	(void)state;
	rig_do(rig, DO_ACQUIRE, 0);
	rig_settle(rig);
	rig_outside_lock(rig, 0, false);
	rig_outside_lock(rig, 1, true);
	struct test_call *b = rig_do(rig, DO_ACQUIRE, 1), *a = rig_do(rig, DO_ACQUIRE, 0), *c = rig_do(rig, DO_READ, 0);
	assert_true(a->refused); /* as memory had it */
	rig_settle(rig);
	expect_released(a, -1);
	expect_released(b, -1);
	assert_false(a->refused);
	assert_true(b->refused);
	assert_int_equal(c->locks, 2);
	char *events = fake_store_events(rig->store);
	assert_string_equal(
		events, "lock.acquired u0\nlock.released u0 external\nlock.acquired hand external\nlock.acquired u2\n");
	free(events);
	rig_free(rig);
}

static void test_external_write_is_noticed_when_idle(void **state)
{
	struct rig *rig = rig_new((struct rig_options){ 0 });
	(void)state;
	rig_do(rig, DO_ACQUIRE, 0);
	rig_do(rig, DO_TOUCH, 3);
	rig_settle(rig);
	rig_outside_lock(rig, 0, false);
	rig_run_for(rig, 1000);
	assert_int_equal(cluster_count(rig->cluster).locks, 0);
	char *events = fake_store_events(rig->store);
	assert_string_equal(events, "lock.acquired u0\nlock.released u0 external\n");
	free(events);
	rig_free(rig);
}

/* A checkpoint or VACUUM from outside looks like a write and says nothing. */
static void test_external_write_of_nothing(void **state)
{
	struct rig *rig = rig_new((struct rig_options){ 0 });
	(void)state;
	rig->store->outside = true;
	struct test_call *c = rig_do(rig, DO_ACQUIRE, 0);
	rig_settle(rig);
	expect_released(c, -1);
	char *events = fake_store_events(rig->store);
	assert_string_equal(events, "lock.acquired u0\n");
	free(events);
	rig_free(rig);
}

static void test_external_writes_without_end(void **state)
{
	struct rig *rig = rig_new((struct rig_options){ 0 });
	(void)state;
	fake_store_always(rig->store, STORE_EXTERNAL);
	struct test_call *c = rig_do(rig, DO_ACQUIRE, 0), *read = rig_do(rig, DO_READ, 0);
	rig_settle(rig);
	expect_released(c, ERR_UNAVAILABLE);
	expect_released(read, ERR_UNAVAILABLE);
	fake_store_always(rig->store, STORE_OK);
	rig_free(rig);
}

/* The events about it are not lost when the next commit fails. */
static void test_external_events_survive_failures(void **state)
{
	const enum store_outcome outcomes[] = { STORE_NOMEM, STORE_NOMEM, STORE_OK };
	struct rig *rig = rig_new((struct rig_options){ .flush_interval = 50 });
	(void)state;
	rig_outside_lock(rig, 1, true);
	fake_store_script(rig->store, outcomes, 3);
	rig_do(rig, DO_READ, 0);
	rig_do(rig, DO_WORK, 0); /* makes the engine look */
	rig_run_for(rig, 1500);
	char *events = fake_store_events(rig->store);
	assert_string_equal(events, "lock.acquired hand external\n");
	free(events);
	rig_free(rig);
}

static void test_unreadable_database_ends_it(void **state)
{
	struct rig *rig = rig_new((struct rig_options){ 0 });
	(void)state;
	rig->store->load_fails = true;
	rig->store->outside = true;
	struct test_call *c = rig_do(rig, DO_ACQUIRE, 0);
	rig_settle(rig);
	expect_released(c, ERR_UNAVAILABLE);
	assert_int_equal(rig->broken, 1);
	rig_free(rig);
}

/* ---- every outcome at every commit of a random history */

static uint32_t next_random(uint32_t *seed)
{
	*seed = *seed * 1664525 + 1013904223;
	return *seed >> 8;
}

static void random_call(struct rig *rig, uint32_t *seed)
{
	static const enum doing doings[] = { DO_READ, DO_ACQUIRE, DO_ACQUIRE, DO_ACQUIRE, DO_RELEASE, DO_RELEASE, DO_TOUCH,
		DO_REFUSE, DO_WORK, DO_TOUCH_AND_WORK, DO_ADVANCE };
	enum doing doing = doings[next_random(seed) % (sizeof doings / sizeof *doings)];
	rig_do_ttl(rig, doing, (int)(next_random(seed) % 12), (int64_t)(next_random(seed) % 20));
}

/* Whether the snapshot of a call with work showed what it saw. With a full disk its own soft change was taken back after it was seen. */
static void check_snapshot(const struct test_call *c, enum store_outcome outcome)
{
	if (c->failure != -1 || c->call.class->work == NULL)
		return;
	assert_int_equal(c->locks, c->locks_on_disk);
	if (outcome != STORE_FULL || c->doing == DO_WORK)
		assert_int_equal(c->seen, c->seen_on_disk);
}

/* A random history in which commits number `at` and following end like this. That memory equals the disk at the end and that each call was
 * released once is checked by rig_free. */
static void history(enum store_outcome outcome, size_t at, size_t times, uint32_t seed)
{
	enum store_outcome outcomes[64] = { STORE_OK };
	struct rig *rig = rig_new((struct rig_options){ .clock = CLOCK_MANUAL, .flush_interval = 5, .busy_patience = 1 });
	for (size_t i = at; i < at + times; i++)
		outcomes[i] = outcome;
	fake_store_script(rig->store, outcomes, 64);
	for (int i = 0; i < 120; i++) {
		random_call(rig, &seed);
		if (next_random(&seed) % 3 == 0)
			rig_turn(rig, (int)(next_random(&seed) % 3));
	}
	rig_settle(rig);
	for (size_t i = 0; i < rig->n_calls; i++)
		check_snapshot(&rig->calls[i], outcome);
	rig_free(rig);
}

static void test_every_outcome_everywhere(void **state)
{
	static const enum store_outcome all[] = { STORE_BUSY, STORE_EXTERNAL, STORE_FULL, STORE_CONSTRAINT, STORE_NOMEM,
		STORE_UNKNOWN };
	(void)state;
	for (size_t o = 0; o < sizeof all / sizeof *all; o++)
		for (size_t at = 0; at < 12; at++)
			for (size_t times = 1; times < 4; times++)
				history(all[o], at, times, (uint32_t)(o * 1000 + at * 10 + times));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_known_failure_decides_again),
		cmocka_unit_test(test_another_writer_is_waited_for),
		cmocka_unit_test(test_another_writer_does_not_go),
		cmocka_unit_test(test_full_disk),
		cmocka_unit_test(test_space_returns),
		cmocka_unit_test(test_soft_changes_survive_a_failure),
		cmocka_unit_test(test_soft_changes_that_do_not_fit_are_dropped),
		cmocka_unit_test(test_constraint),
		cmocka_unit_test(test_unknown_outcome),
		cmocka_unit_test(test_housekeeping_breaks),
		cmocka_unit_test(test_expiry_that_cannot_be_written_stays_held),
		cmocka_unit_test(test_advance_is_taken_back_and_done_once),
		cmocka_unit_test(test_external_write_is_taken_over),
		cmocka_unit_test(test_external_write_is_noticed_when_idle),
		cmocka_unit_test(test_external_write_of_nothing),
		cmocka_unit_test(test_external_writes_without_end),
		cmocka_unit_test(test_external_events_survive_failures),
		cmocka_unit_test(test_unreadable_database_ends_it),
		cmocka_unit_test(test_every_outcome_everywhere),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

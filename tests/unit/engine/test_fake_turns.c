/* Turns when nothing fails: what is written together, who waits for what, time, work on snapshots, bounds, the end. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "rig.h"

static void test_answer_comes_after_the_commit(void **state)
{
	struct rig *rig = rig_new((struct rig_options){ 0 });
	(void)state;
	fake_store_close_gate(rig->store);
	struct test_call *c = rig_do(rig, DO_ACQUIRE, 1);
	engine_pass(rig->engine);
	fake_store_wait_at_gate(rig->store);
	rig_run_for(rig, 20);
	assert_int_equal(c->decided, 1);
	assert_false(c->released);
	fake_store_open_gate(rig->store);
	rig_settle(rig);
	expect_released(c, -1);
	assert_int_equal(engine_status(rig->engine).durable_revision, c->revision);
	rig_free(rig);
}

/* What comes during a commit is written by the next one, all of it. */
static void test_group_commit(void **state)
{
	struct rig *rig = rig_new((struct rig_options){ 0 });
	(void)state;
	fake_store_close_gate(rig->store);
	rig_do(rig, DO_ACQUIRE, 0);
	engine_pass(rig->engine);
	fake_store_wait_at_gate(rig->store);
	for (int i = 1; i < 50; i++)
		rig_do(rig, DO_ACQUIRE, i);
	rig_run_for(rig, 10);
	fake_store_open_gate(rig->store);
	rig_settle(rig);
	assert_int_equal(fake_store_committed(rig->store), 2);
	for (size_t i = 0; i < 50; i++)
		assert_int_equal(rig->calls[i].place, i);
	rig_free(rig);
}

static void test_reads_wait_for_what_they_saw(void **state)
{
	struct rig *rig = rig_new((struct rig_options){ 0 });
	(void)state;
	struct test_call *idle = rig_do(rig, DO_READ, 0);
	engine_pass(rig->engine);
	expect_released(idle, -1); /* nothing to wait for, nothing to write */
	assert_int_equal(fake_store_tried(rig->store), 0);

	fake_store_close_gate(rig->store);
	rig_do(rig, DO_ACQUIRE, 0);
	engine_pass(rig->engine);
	fake_store_wait_at_gate(rig->store);
	struct test_call *saw_first = rig_do(rig, DO_READ, 0);
	struct test_call *refused = rig_do(rig, DO_REFUSE, 0);
	struct test_call *second = rig_do(rig, DO_ACQUIRE, 1);
	struct test_call *saw_second = rig_do(rig, DO_READ, 0);
	rig_run_for(rig, 10);
	assert_false(saw_first->released);
	fake_store_let(rig->store, 1);
	rig_run_for(rig, 50);
	expect_released(saw_first, -1);
	expect_released(refused, -1);
	assert_false(second->released);
	assert_false(saw_second->released);
	fake_store_open_gate(rig->store);
	rig_settle(rig);
	assert_int_equal(saw_first->locks, 1);
	assert_int_equal(saw_second->locks, 2);
	assert_true(saw_second->place > second->place);
	assert_int_equal(fake_store_committed(rig->store), 2);
	rig_free(rig);
}

static void test_soft_changes_ride_along(void **state)
{
	struct rig *rig = rig_new((struct rig_options){ 0 });
	(void)state;
	for (int i = 0; i < 10; i++) {
		struct test_call *c = rig_do(rig, DO_TOUCH, i);
		engine_pass(rig->engine);
		expect_released(c, -1);
	}
	rig_run_for(rig, 20);
	assert_int_equal(fake_store_tried(rig->store), 0);
	assert_false(fake_store_equals(rig->store, rig->cluster));
	rig_do(rig, DO_ACQUIRE, 0);
	rig_settle(rig);
	assert_int_equal(fake_store_committed(rig->store), 1);
	assert_true(fake_store_equals(rig->store, rig->cluster));
	rig_free(rig);
}

static void test_soft_changes_are_flushed_in_time(void **state)
{
	struct rig *rig = rig_new((struct rig_options){ .flush_interval = 60 });
	(void)state;
	rig_do(rig, DO_TOUCH, 0);
	rig_run_for(rig, 30);
	assert_int_equal(fake_store_tried(rig->store), 0);
	rig_run_for(rig, 100);
	assert_int_equal(fake_store_committed(rig->store), 1);
	rig_free(rig);
}

static void test_many_soft_changes_are_flushed(void **state)
{
	struct rig *rig = rig_new((struct rig_options){ 0 });
	(void)state;
	for (int i = 0; i < 300; i++) {
		rig_do(rig, DO_TOUCH, 0);
		rig_turn(rig, 0);
	}
	rig_run_for(rig, 20);
	assert_int_equal(fake_store_committed(rig->store), 1);
	rig_free(rig);
}

static void test_soft_changes_are_written_at_the_end(void **state)
{
	struct rig *rig = rig_new((struct rig_options){ 0 });
	(void)state;
	rig_do(rig, DO_TOUCH, 0);
	rig_settle(rig);
	rig_free(rig); /* compares memory and disk */
}

static void test_expiry_comes_before_anybody_sees_it(void **state)
{
	struct rig *rig = rig_new((struct rig_options){ .clock = CLOCK_MANUAL });
	(void)state;
	rig_do_ttl(rig, DO_ACQUIRE, 0, 10000);
	rig_settle(rig);
	rig->clock.start += 10000;
	struct test_call *c = rig_do(rig, DO_READ, 0);
	assert_int_equal(c->locks, 0);
	rig_settle(rig);
	char *events = fake_store_events(rig->store);
	assert_string_equal(events, "lock.acquired u0\nlock.expired u0\n");
	free(events);
	rig_free(rig);
}

static void test_expiry_on_an_idle_server(void **state)
{
	struct rig *rig = rig_new((struct rig_options){ 0 });
	(void)state;
	rig_do_ttl(rig, DO_ACQUIRE, 0, 80);
	rig_settle(rig);
	int64_t wait = engine_timeout(rig->engine);
	assert_in_range(wait, 0, 80);
	rig_run_for(rig, 150);
	assert_int_equal(fake_store_committed(rig->store), 2);
	assert_int_equal(cluster_count(rig->cluster).locks, 0);
	rig_free(rig);
}

/* The grace is for what was there before the start. */
static void test_what_is_new_expires_soon_after_a_start(void **state)
{
	struct rig *rig = rig_new((struct rig_options){ .restart_grace = 60000 });
	(void)state;
	rig_do_ttl(rig, DO_ACQUIRE, 0, 1);
	rig_run_for(rig, 50);
	assert_int_equal(cluster_count(rig->cluster).locks, 0);
	rig_free(rig);
}

static void test_advance(void **state)
{
	struct rig *rig = rig_new((struct rig_options){ .clock = CLOCK_MANUAL });
	(void)state;
	rig_do_ttl(rig, DO_ACQUIRE, 0, 5000);
	rig_do_ttl(rig, DO_ACQUIRE, 1, 50000);
	struct test_call *advance = rig_do_ttl(rig, DO_ADVANCE, 0, 5000);
	struct test_call *after = rig_do(rig, DO_READ, 0);
	rig_settle(rig);
	assert_int_equal(advance->now, 1005000 + (rig->calls[0].now - 1000000));
	assert_int_equal(advance->locks, 1);
	assert_int_equal(after->now, advance->now);
	assert_int_equal(store_meta(rig->store).now, advance->now);
	size_t before = fake_store_committed(rig->store);
	struct test_call *again = rig_do_ttl(rig, DO_ADVANCE, 0, 1);
	rig_settle(rig); /* nothing expires, and the time is durable all the same */
	assert_int_equal(fake_store_committed(rig->store), before + 1);
	assert_int_equal(store_meta(rig->store).now, again->now);
	rig_free(rig);
}

/* The snapshot shows exactly what the call saw, although others come at the same time. */
static void test_work_sees_its_own_turn(void **state)
{
	struct rig *rig = rig_new((struct rig_options){ 0 });
	struct test_call *works[20];
	(void)state;
	for (int round = 0; round < 20; round++) {
		rig_do(rig, DO_TOUCH, round);
		rig_do(rig, DO_ACQUIRE, round);
		works[round] = rig_do(rig, round % 2 ? DO_WORK : DO_TOUCH_AND_WORK, round);
		rig_do(rig, DO_TOUCH, round);
		rig_do(rig, DO_ACQUIRE, 63 - round);
	}
	rig_settle(rig);
	for (int i = 0; i < 20; i++) {
		assert_int_equal(works[i]->locks_on_disk, works[i]->locks);
		assert_int_equal(works[i]->seen_on_disk, works[i]->seen);
		assert_true(works[i]->place > (works[i] - 1)->place); /* after the calls of its turn */
	}
	rig_free(rig);
}

static void test_work_flushes_soft_changes(void **state)
{
	struct rig *rig = rig_new((struct rig_options){ 0 });
	(void)state;
	rig_do(rig, DO_TOUCH, 0);
	rig_settle(rig);
	struct test_call *w = rig_do(rig, DO_WORK, 0);
	rig_settle(rig);
	assert_int_equal(w->seen, 1);
	assert_int_equal(w->seen_on_disk, 1);
	size_t committed = fake_store_committed(rig->store);
	rig_do(rig, DO_WORK, 0); /* nothing to write: no commit */
	rig_settle(rig);
	assert_int_equal(fake_store_tried(rig->store), committed);
	rig_free(rig);
}

/* While all readers are busy, other calls go on, and a further call with work waits aside. */
static void test_long_work_holds_nobody_up(void **state)
{
	struct rig *rig = rig_new((struct rig_options){ 0 });
	struct test_call *works[4];
	(void)state;
	(void)pthread_mutex_lock(&rig->work_gate);
	for (int i = 0; i < 4; i++)
		works[i] = rig_do(rig, DO_WORK, 0);
	struct test_call *write = rig_do(rig, DO_ACQUIRE, 5);
	rig_run_for(rig, 50);
	expect_released(write, -1);
	for (int i = 0; i < 4; i++)
		assert_false(works[i]->released);
	(void)pthread_mutex_unlock(&rig->work_gate);
	rig_settle(rig);
	assert_int_equal(works[0]->locks, 0);
	assert_int_equal(works[3]->locks, 1);
	assert_int_equal(works[3]->locks_on_disk, 1);
	rig_free(rig);
}

/* Slow works wait for each other, and nobody waits for them. */
static void test_slow_work(void **state)
{
	struct rig *rig = rig_new((struct rig_options){ 0 });
	(void)state;
	(void)pthread_mutex_lock(&rig->work_gate);
	struct test_call *first = rig_do(rig, DO_SLOW_WORK, 0), *second = rig_do(rig, DO_SLOW_WORK, 0);
	struct test_call *write = rig_do(rig, DO_ACQUIRE, 5), *work = rig_do(rig, DO_WORK, 0);
	rig_run_for(rig, 30);
	expect_released(write, -1);
	assert_int_equal(work->decided, 1);
	assert_int_equal(first->decided, 1);
	assert_int_equal(second->decided, 0);
	(void)pthread_mutex_unlock(&rig->work_gate);
	rig_settle(rig);
	assert_int_equal(first->locks_on_disk, 0);
	assert_int_equal(second->locks_on_disk, 1);
	rig_free(rig);
}

static void test_turns_are_bounded(void **state)
{
	struct rig *rig = rig_new((struct rig_options){ 0 });
	(void)state;
	fake_store_close_gate(rig->store);
	rig_do(rig, DO_ACQUIRE, 0);
	engine_pass(rig->engine);
	fake_store_wait_at_gate(rig->store);
	rig_do(rig, DO_ACQUIRE, 1);
	while (!engine_full(rig->engine))
		rig_do(rig, DO_READ, 1);
	assert_int_equal(rig->n_calls, 1025);
	struct test_call *extra = rig_do(rig, DO_READ, 2); /* the rest of a batch */
	assert_int_equal(extra->decided, 0);
	assert_int_equal(rig->rooms, 0);
	fake_store_open_gate(rig->store);
	rig_settle(rig);
	assert_true(rig->rooms > 0);
	assert_false(engine_full(rig->engine));
	rig_free(rig);
}

static void test_turns_are_bounded_by_bytes(void **state)
{
	struct rig *rig = rig_new((struct rig_options){ 0 });
	(void)state;
	fake_store_close_gate(rig->store);
	rig_do(rig, DO_ACQUIRE, 0);
	engine_pass(rig->engine);
	fake_store_wait_at_gate(rig->store);
	while (!engine_full(rig->engine)) {
		struct test_call *c = &rig->calls[rig->n_calls++];
		*c = (struct test_call){ .call = rig->calls[0].call, .rig = rig, .doing = DO_READ };
		c->call.size = 1000000;
		engine_submit(rig->engine, &c->call);
	}
	assert_int_equal(rig->n_calls, 6);
	fake_store_open_gate(rig->store);
	rig_settle(rig);
	rig_free(rig);
}

/* Many things end at once: the turns stay bounded, and nobody sees any of them. */
static void test_mass_expiry(void **state)
{
	struct rig *rig = rig_new((struct rig_options){ .clock = CLOCK_MANUAL });
	(void)state;
	for (int i = 0; i < RIG_NODES; i++)
		rig_do_ttl(rig, DO_ACQUIRE, i, 1000);
	rig_settle(rig);
	size_t before = fake_store_committed(rig->store);
	rig->clock.start += 1000;
	struct test_call *c = rig_do(rig, DO_READ, 0);
	assert_int_equal(c->decided, 0); /* the first 1,024 end, and the turn is full */
	rig_settle(rig);
	assert_int_equal(c->locks, 0);
	assert_int_equal(fake_store_committed(rig->store), before + 2);
	rig_free(rig);
}

static void test_stop_finishes_everything(void **state)
{
	struct rig *rig = rig_new((struct rig_options){ 0 });
	(void)state;
	fake_store_close_gate(rig->store);
	rig_do(rig, DO_ACQUIRE, 0);
	engine_pass(rig->engine);
	fake_store_wait_at_gate(rig->store);
	rig_do(rig, DO_ACQUIRE, 1);
	rig_do(rig, DO_READ, 1);
	for (int i = 0; i < 5; i++)
		rig_do(rig, DO_WORK, 1);
	rig_do(rig, DO_TOUCH, 1);
	rig_do(rig, DO_ACQUIRE, 2);
	fake_store_open_gate(rig->store);
	rig_free(rig); /* stops; all calls must be released */
}

static void test_status(void **state)
{
	struct rig *rig = rig_new((struct rig_options){ 0 });
	(void)state;
	assert_true(rig_has_alarm(rig, "fake"));
	engine_alarm(rig->engine, "mine", true);
	assert_true(rig_has_alarm(rig, "mine"));
	engine_alarm(rig->engine, "mine", false);
	assert_false(rig_has_alarm(rig, "mine"));
	rig->clock.start -= 60000; /* as if the wall clock had been set forward */
	rig_do(rig, DO_READ, 0);
	assert_true(rig_has_alarm(rig, "clock_skew"));
	rig->clock.start += 60000;
	rig_settle(rig);
	rig_do(rig, DO_READ, 0);
	assert_false(rig_has_alarm(rig, "clock_skew"));
	rig_free(rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_answer_comes_after_the_commit),
		cmocka_unit_test(test_group_commit),
		cmocka_unit_test(test_reads_wait_for_what_they_saw),
		cmocka_unit_test(test_soft_changes_ride_along),
		cmocka_unit_test(test_soft_changes_are_flushed_in_time),
		cmocka_unit_test(test_many_soft_changes_are_flushed),
		cmocka_unit_test(test_soft_changes_are_written_at_the_end),
		cmocka_unit_test(test_expiry_comes_before_anybody_sees_it),
		cmocka_unit_test(test_expiry_on_an_idle_server),
		cmocka_unit_test(test_what_is_new_expires_soon_after_a_start),
		cmocka_unit_test(test_advance),
		cmocka_unit_test(test_work_sees_its_own_turn),
		cmocka_unit_test(test_work_flushes_soft_changes),
		cmocka_unit_test(test_long_work_holds_nobody_up),
		cmocka_unit_test(test_slow_work),
		cmocka_unit_test(test_turns_are_bounded),
		cmocka_unit_test(test_turns_are_bounded_by_bytes),
		cmocka_unit_test(test_mass_expiry),
		cmocka_unit_test(test_stop_finishes_everything),
		cmocka_unit_test(test_status),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

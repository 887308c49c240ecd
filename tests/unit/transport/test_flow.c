/* Who may speak when: barriers, pauses, fairness, limits, deadlines, the end of the server, slow and vanishing peers. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "rig.h"

static void answer(struct rig *rig, uint64_t conn)
{
	transport_send(rig->transport, conn, "ok\n", 3);
	transport_done(rig->transport, conn);
}

static void test_hold_is_a_barrier(void **state)
{
	struct rig *rig = rig_new((struct transport_limits){ 0 });
	(void)state;
	rig->hold_each = true;
	int fd = rig_connect(rig);
	peer_puts(rig, fd, "a\nb\nc\n");
	rig_run(rig);
	assert_string_equal(text_string(&rig->seen), "a\n");
	answer(rig, rig->last);
	rig_run(rig);
	assert_string_equal(text_string(&rig->seen), "a\n");
	transport_release(rig->transport, rig->last);
	rig_run(rig);
	assert_string_equal(text_string(&rig->seen), "a\nb\n");
	rig->hold_each = false;
	transport_release(rig->transport, rig->last);
	peer_puts(rig, fd, "d\n");
	rig_run(rig);
	assert_string_equal(text_string(&rig->seen), "a\nb\nc\nd\n");
	close(fd);
	rig_free(rig);
}

static void test_hold_holds_only_its_connection(void **state)
{
	struct rig *rig = rig_new((struct transport_limits){ 0 });
	(void)state;
	int held = rig_connect(rig);
	transport_hold(rig->transport, rig->last);
	int other = rig_connect(rig);
	peer_puts(rig, held, "no\n");
	peer_puts(rig, other, "yes\n");
	rig_run(rig);
	assert_string_equal(text_string(&rig->seen), "yes\n");
	close(held);
	close(other);
	rig_free(rig);
}

/* Held, with the end of input behind what waits: all is still worked off. */
static void test_hold_then_end_of_input(void **state)
{
	struct rig *rig = rig_new((struct transport_limits){ 0 });
	struct text got = { 0 };
	(void)state;
	rig->echo = rig->hold_each = true;
	int fd = rig_connect(rig);
	peer_puts(rig, fd, "a\nb\n");
	shutdown(fd, SHUT_WR);
	rig_run(rig);
	assert_int_equal(rig->texts, 1);
	assert_int_equal(rig->closed, 0);
	transport_release(rig->transport, rig->last);
	rig_run(rig);
	assert_int_equal(rig->closed, 0); /* held again by b */
	transport_release(rig->transport, rig->last);
	assert_true(peer_read(rig, fd, &got));
	assert_string_equal(text_string(&got), "a\nb\n");
	assert_int_equal(rig->closed, 1);
	text_free(&got);
	close(fd);
	rig_free(rig);
}

static void test_pause_between_two_lines(void **state)
{
	struct rig *rig = rig_new((struct transport_limits){ 0 });
	(void)state;
	rig->pause_each = true;
	int a = rig_connect(rig), b = rig_connect(rig);
	peer_puts(rig, a, "1\n2\n");
	peer_puts(rig, b, "3\n");
	rig_run(rig);
	assert_int_equal(rig->texts, 1);
	transport_resume(rig->transport);
	rig_run(rig);
	assert_int_equal(rig->texts, 2);
	rig->pause_each = false;
	transport_resume(rig->transport);
	rig_run(rig);
	assert_int_equal(rig->texts, 3);
	close(a);
	close(b);
	rig_free(rig);
}

/* While paused, bytes stay in the kernel: the peer's writes stop. */
static void test_pause_stops_reading(void **state)
{
	struct rig *rig = rig_new((struct transport_limits){ 0 });
	struct text lines = { 0 };
	(void)state;
	rig->echo = true;
	int fd = rig_connect(rig);
	transport_pause(rig->transport);
	for (int i = 0; i < 200000; i++)
		text_puts(&lines, "0123456789abcdef\n");
	size_t written = peer_write(rig, fd, lines.bytes, lines.length);
	assert_true(written < lines.length / 2);
	assert_int_equal(rig->texts, 0);
	text_free(&lines);
	close(fd);
	rig_free(rig);
}

/* One connection with many lines does not keep another from being served in the same pass. */
static void test_fair_share_of_a_pass(void **state)
{
	struct rig *rig = rig_new((struct transport_limits){ .pass_texts = 10 });
	struct text lines = { 0 };
	(void)state;
	rig->echo = true;
	for (int i = 0; i < 1000; i++)
		text_puts(&lines, "x\n");
	int busy = rig_connect(rig), other = rig_connect(rig);
	assert_int_equal(peer_write(rig, busy, lines.bytes, lines.length), lines.length);
	assert_int_equal(peer_write(rig, other, "y\n", 2), 2);
	transport_once(rig->transport, 0);
	assert_int_equal(rig->texts, 11);
	transport_once(rig->transport, 0);
	assert_int_equal(rig->texts, 21);
	for (int i = 0; i < 100; i++)
		transport_once(rig->transport, 0);
	assert_int_equal(rig->texts, 1001);
	text_free(&lines);
	close(busy);
	close(other);
	rig_free(rig);
}

/* Work that is left is done without an event from outside: the loop does not sleep on it. */
static void test_left_lines_do_not_wait(void **state)
{
	struct rig *rig = rig_new((struct transport_limits){ .pass_texts = 1 });
	(void)state;
	rig->echo = true;
	int fd = rig_connect(rig);
	peer_puts(rig, fd, "1\n2\n3\n");
	for (int i = 0; i < 3; i++)
		transport_once(rig->transport, -1);
	assert_int_equal(rig->texts, 3);
	close(fd);
	rig_free(rig);
}

static void test_open_texts_are_bounded(void **state)
{
	struct rig *rig = rig_new((struct transport_limits){ .open_texts = 3 });
	(void)state;
	int fd = rig_connect(rig);
	peer_puts(rig, fd, "1\n2\n3\n4\n5\n");
	rig_run(rig);
	assert_int_equal(rig->texts, 3);
	answer(rig, rig->last);
	rig_run(rig);
	assert_int_equal(rig->texts, 4);
	answer(rig, rig->last);
	answer(rig, rig->last);
	rig_run(rig);
	assert_int_equal(rig->texts, 5);
	close(fd);
	rig_free(rig);
}

static void test_unfinished_request_has_a_deadline(void **state)
{
	struct rig *rig = rig_new((struct transport_limits){ .request_ms = 100 });
	(void)state;
	int idle = rig_connect(rig), slow = rig_connect(rig);
	for (int i = 0; i < 8 && rig->closed == 0; i++) { /* a byte now and then does not help */
		(void)send(slow, "x", 1, MSG_NOSIGNAL);
		rig_run_for(rig, 25);
	}
	assert_int_equal(rig->closed, 1);
	rig_run_for(rig, 150);
	assert_int_equal(rig->closed, 1); /* the idle one lives */
	close(idle);
	close(slow);
	rig_free(rig);
}

/* The deadline does not run while it is the server that does not read. */
static void test_no_deadline_while_held(void **state)
{
	struct rig *rig = rig_new((struct transport_limits){ .request_ms = 60 });
	(void)state;
	rig->hold_each = true;
	int fd = rig_connect(rig);
	peer_puts(rig, fd, "a\nb");
	rig_run(rig);
	peer_puts(rig, fd, "c\n");
	rig_run_for(rig, 150);
	assert_int_equal(rig->closed, 0);
	answer(rig, rig->last);
	transport_release(rig->transport, rig->last);
	rig_run(rig);
	assert_string_equal(text_string(&rig->seen), "a\nbc\n");
	close(fd);
	rig_free(rig);
}

/* Many answers of one pass leave in one write: a peer that reads datagram-wise would see one. */
static void test_answers_of_a_pass_leave_together(void **state)
{
	struct rig *rig = rig_new((struct transport_limits){ 0 });
	char got[64] = "";
	(void)state;
	int fd = rig_connect(rig);
	for (int i = 0; i < 3; i++)
		transport_send(rig->transport, rig->last, "abc\n", 4);
	assert_int_equal(read(fd, got, sizeof got), -1);
	transport_once(rig->transport, 0);
	assert_int_equal(read(fd, got, sizeof got), 12);
	close(fd);
	rig_free(rig);
}

static void test_big_answer_to_a_slow_reader(void **state)
{
	struct rig *rig = rig_new((struct transport_limits){ 0 });
	struct text got = { 0 };
	const size_t size = 8 * 1024 * 1024;
	char *big = mem_alloc(size);
	(void)state;
	for (size_t i = 0; i < size; i++)
		big[i] = (char)('a' + i % 23);
	int fd = rig_connect(rig);
	transport_send(rig->transport, rig->last, big, size);
	transport_send(rig->transport, rig->last, "end\n", 4);
	rig_run(rig);
	assert_false(transport_drained(rig->transport));
	for (int i = 0; i < 1000 && got.length < size + 4; i++)
		assert_false(peer_read(rig, fd, &got));
	assert_int_equal(got.length, size + 4);
	assert_memory_equal(got.bytes, big, size);
	assert_string_equal(got.bytes + size, "end\n");
	assert_true(transport_drained(rig->transport));
	text_free(&got);
	free(big);
	close(fd);
	rig_free(rig);
}

static void test_output_is_bounded(void **state)
{
	struct rig *rig = rig_new((struct transport_limits){ .output_bytes = 3000000 });
	char *big = mem_alloc(2000000);
	(void)state;
	int fd = rig_connect(rig);
	transport_send(rig->transport, rig->last, big, 2000000);
	rig_run(rig);
	assert_int_equal(rig->closed, 0);
	transport_send(rig->transport, rig->last, big, 2000000);
	assert_int_equal(rig->closed, 1);
	transport_send(rig->transport, rig->last, big, 2000000); /* gone: nothing happens */
	rig_run(rig);
	assert_true(transport_drained(rig->transport));
	free(big);
	close(fd);
	rig_free(rig);
}

static void test_total_output_is_bounded(void **state)
{
	struct rig *rig = rig_new((struct transport_limits){ .output_total = 3000000 });
	char *big = mem_alloc(2000000);
	(void)state;
	int a = rig_connect(rig);
	transport_send(rig->transport, rig->last, big, 2000000);
	int b = rig_connect(rig);
	transport_send(rig->transport, rig->last, big, 2000000);
	rig_run(rig);
	assert_int_equal(rig->closed, 1);
	assert_int_equal(transport_connections(rig->transport), 1);
	free(big);
	close(a);
	close(b);
	rig_free(rig);
}

/* A peer that asks and does not read is not asked further, instead of growing without bound. */
static void test_peer_that_does_not_read_is_not_served_on(void **state)
{
	struct rig *rig = rig_new((struct transport_limits){ .drain_ms = 100 });
	char line[1001];
	(void)state;
	rig->echo = true;
	memset(line, 'x', 1000);
	line[1000] = '\n';
	int fd = rig_connect(rig);
	size_t sent = 0;
	while (sent < 20000 && peer_write(rig, fd, line, sizeof line) == sizeof line)
		sent++;
	assert_true(sent < 5000);
	assert_int_equal(rig->closed, 0);
	rig_run_for(rig, 200);
	assert_int_equal(rig->closed, 1); /* and in the end it is cut off */
	close(fd);
	rig_free(rig);
}

static void test_peer_vanishes(void **state)
{
	struct rig *rig = rig_new((struct transport_limits){ 0 });
	(void)state;
	int fd = rig_connect(rig);
	peer_puts(rig, fd, "a\n");
	rig_run(rig);
	uint64_t conn = rig->last;
	close(fd);
	rig_run(rig);
	assert_int_equal(rig->closed, 0); /* as far as anybody can see, a half-close */
	answer(rig, conn);
	rig_run(rig);
	assert_int_equal(rig->closed, 1);
	transport_send(rig->transport, conn, "x", 1);
	transport_done(rig->transport, conn);
	transport_hold(rig->transport, conn);
	transport_release(rig->transport, conn);
	transport_close_after_flush(rig->transport, conn);
	int other = rig_connect(rig); /* the same place, another number */
	assert_int_not_equal(rig->last, conn);
	transport_close_after_flush(rig->transport, conn);
	rig_run(rig);
	assert_int_equal(rig->closed, 1);
	close(other);
	rig_free(rig);
}

static void test_close_after_flush(void **state)
{
	struct rig *rig = rig_new((struct transport_limits){ 0 });
	struct text got = { 0 };
	(void)state;
	int fd = rig_connect(rig);
	peer_puts(rig, fd, "a\nb\n");
	rig_run(rig);
	transport_close_after_flush(rig->transport, rig->last);
	peer_puts(rig, fd, "c\n");
	answer(rig, rig->last);
	assert_false(peer_read(rig, fd, &got));
	answer(rig, rig->last);
	assert_true(peer_read(rig, fd, &got));
	assert_string_equal(text_string(&got), "ok\nok\n");
	assert_int_equal(rig->texts, 2);
	text_free(&got);
	close(fd);
	rig_run(rig);
	assert_int_equal(transport_connections(rig->transport), 0);
	rig_free(rig);
}

/* A peer that does not close after the end is not waited for for ever. */
static void test_lingering_ends(void **state)
{
	struct rig *rig = rig_new((struct transport_limits){ 0 });
	(void)state;
	int fd = rig_connect(rig);
	transport_close_after_flush(rig->transport, rig->last);
	rig_run(rig);
	assert_int_equal(rig->closed, 0);
	rig_run_for(rig, 3500);
	assert_int_equal(rig->closed, 1);
	close(fd);
	rig_free(rig);
}

static void test_stop(void **state)
{
	struct rig *rig = rig_new((struct transport_limits){ 0 });
	struct text got = { 0 };
	(void)state;
	int fd = rig_connect(rig);
	peer_puts(rig, fd, "a\n");
	rig_run(rig);
	transport_stop(rig->transport);
	peer_puts(rig, fd, "b\n");
	rig_run(rig);
	assert_int_equal(rig->texts, 1);
	assert_false(transport_drained(rig->transport));
	answer(rig, rig->last);
	assert_false(transport_drained(rig->transport));
	transport_once(rig->transport, 0);
	assert_true(transport_drained(rig->transport));
	assert_false(peer_read(rig, fd, &got));
	assert_string_equal(text_string(&got), "ok\n");
	text_free(&got);
	close(fd);
	rig_free(rig);
}

static void mark(void *context)
{
	uint64_t n = 0;
	int *fd = context;
	assert_int_equal(read(fd[0], &n, sizeof n), sizeof n);
	fd[1]++;
}

static void test_watch_and_timeout(void **state)
{
	struct rig *rig = rig_new((struct transport_limits){ 0 });
	int fds[2] = { eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC), 0 };
	const uint64_t one = 1;
	(void)state;
	transport_watch(rig->transport, fds[0], mark, fds);
	transport_once(rig->transport, 20); /* comes back */
	assert_int_equal(fds[1], 0);
	assert_int_equal(write(fds[0], &one, sizeof one), sizeof one);
	transport_once(rig->transport, -1);
	assert_int_equal(fds[1], 1);
	rig_free(rig);
	close(fds[0]);
}

static void test_signals(void **state)
{
	struct rig *rig = rig_new((struct transport_limits){ 0 });
	(void)state;
	(void)raise(SIGTERM);
	transport_once(rig->transport, -1);
	(void)raise(SIGINT);
	transport_once(rig->transport, -1);
	(void)raise(SIGPIPE);
	assert_int_equal(rig->signals, 2);
	rig_free(rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hold_is_a_barrier),
		cmocka_unit_test(test_hold_holds_only_its_connection),
		cmocka_unit_test(test_hold_then_end_of_input),
		cmocka_unit_test(test_pause_between_two_lines),
		cmocka_unit_test(test_pause_stops_reading),
		cmocka_unit_test(test_fair_share_of_a_pass),
		cmocka_unit_test(test_left_lines_do_not_wait),
		cmocka_unit_test(test_open_texts_are_bounded),
		cmocka_unit_test(test_unfinished_request_has_a_deadline),
		cmocka_unit_test(test_no_deadline_while_held),
		cmocka_unit_test(test_answers_of_a_pass_leave_together),
		cmocka_unit_test(test_big_answer_to_a_slow_reader),
		cmocka_unit_test(test_output_is_bounded),
		cmocka_unit_test(test_total_output_is_bounded),
		cmocka_unit_test(test_peer_that_does_not_read_is_not_served_on),
		cmocka_unit_test(test_peer_vanishes),
		cmocka_unit_test(test_close_after_flush),
		cmocka_unit_test(test_lingering_ends),
		cmocka_unit_test(test_stop),
		cmocka_unit_test(test_watch_and_timeout),
		cmocka_unit_test(test_signals),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

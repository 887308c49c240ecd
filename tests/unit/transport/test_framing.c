/* Bytes become texts: lines, blank lines, carriage returns, lines in pieces, lines too long, ends without a line end. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "rig.h"

static int setup(void **state)
{
	struct rig *rig = rig_new((struct transport_limits){ .request_bytes = 1000 });
	rig->echo = true;
	*state = rig;
	return 0;
}

static int teardown(void **state)
{
	rig_free(*state);
	return 0;
}

/* Sends the bytes and checks which texts came out. */
static void expect(struct rig *rig, const char *bytes, const char *texts)
{
	int fd = rig_connect(rig);
	text_clear(&rig->seen);
	peer_puts(rig, fd, bytes);
	rig_run(rig);
	assert_string_equal(text_string(&rig->seen), texts);
	close(fd);
	rig_run(rig);
}

static void test_lines(void **state)
{
	expect(*state, "a\n", "a\n");
	expect(*state, "a\nb\nc\n", "a\nb\nc\n");
	expect(*state, "a\r\nb\r\n", "a\nb\n");
	expect(*state, "\n\r\n\n a \n\n", " a \n");
	expect(*state, "a\rb\n", "a\rb\n");
	expect(*state, "a\r\r\n", "a\r\n");
	expect(*state, "unfinished", "");
	expect(*state, "a\nunfinished", "a\n");
}

static void test_pieces(void **state)
{
	struct rig *rig = *state;
	int fd = rig_connect(rig);
	const char *bytes = "hello\r\nworld\n\nagain\n";
	for (const char *p = bytes; *p; p++) {
		assert_int_equal(peer_write(rig, fd, p, 1), 1);
		rig_run(rig);
	}
	assert_string_equal(text_string(&rig->seen), "hello\nworld\nagain\n");
	close(fd);
}

static void test_nul_inside_and_behind(void **state)
{
	struct rig *rig = *state;
	int fd = rig_connect(rig);
	assert_int_equal(peer_write(rig, fd, "a\0b\n", 4), 4);
	rig_run(rig);
	assert_int_equal(rig->seen.length, 4);
	assert_memory_equal(rig->seen.bytes, "a\0b\n", 4);
	close(fd);
}

static void test_answers_in_order(void **state)
{
	struct rig *rig = *state;
	struct text sent = { 0 }, got = { 0 };
	int fd = rig_connect(rig);
	for (int i = 0; i < 20000; i++)
		text_printf(&sent, "request number %d\n", i);
	size_t at = 0;
	while (at < sent.length) {
		size_t piece = sent.length - at < 50000 ? sent.length - at : 50000;
		assert_int_equal(peer_write(rig, fd, sent.bytes + at, piece), piece);
		at += piece;
		assert_false(peer_read(rig, fd, &got));
	}
	while (got.length < sent.length)
		assert_false(peer_read(rig, fd, &got));
	assert_string_equal(got.bytes, sent.bytes);
	text_free(&sent);
	text_free(&got);
	close(fd);
}

static void send_line_of(struct rig *rig, int fd, size_t length, const char *end)
{
	char *line = mem_alloc(length + 1);
	memset(line, 'x', length);
	(void)peer_write(rig, fd, line, length);
	peer_puts(rig, fd, end);
	rig_run(rig);
	free(line);
}

static void test_longest_line(void **state)
{
	struct rig *rig = *state;
	int fd = rig_connect(rig);
	send_line_of(rig, fd, 1000, "\n");
	send_line_of(rig, fd, 1000, "\r\n");
	assert_int_equal(rig->texts, 2);
	assert_int_equal(rig->overlong, 0);
	close(fd);
}

/* The line is one byte too long: the answer to it comes after all others, then the end. */
static void overlong_is_last(struct rig *rig, size_t length, const char *end)
{
	struct text got = { 0 };
	int fd = rig_connect(rig);
	size_t before = rig->overlong;
	rig->echo = false;
	peer_puts(rig, fd, "first\nsecond\n");
	send_line_of(rig, fd, length, end);
	peer_puts(rig, fd, "third\n");
	rig_run(rig);
	assert_int_equal(rig->overlong, before); /* two texts are not done */
	transport_send(rig->transport, rig->last, "1\n", 2);
	transport_done(rig->transport, rig->last);
	assert_int_equal(rig->overlong, before);
	transport_send(rig->transport, rig->last, "2\n", 2);
	transport_done(rig->transport, rig->last);
	assert_int_equal(rig->overlong, before + 1);
	assert_true(peer_read(rig, fd, &got));
	assert_string_equal(text_string(&got), "1\n2\noverloaded\n");
	assert_null(strstr(text_string(&rig->seen), "third"));
	text_free(&got);
	close(fd);
	rig_run(rig);
	assert_int_equal(transport_connections(rig->transport), 0);
}

static void test_overlong(void **state)
{
	overlong_is_last(*state, 1001, "\n");
	overlong_is_last(*state, 1001, "");
	overlong_is_last(*state, 1002, "");
	overlong_is_last(*state, 300000, "");
	overlong_is_last(*state, 300000, "\n");
}

/* The peer can finish sending its too long line, and still reads the answer: no reset. */
static void test_overlong_can_be_sent_to_its_end(void **state)
{
	struct rig *rig = *state;
	struct text got = { 0 };
	int fd = rig_connect(rig);
	char *line = mem_alloc(3000000);
	memset(line, 'x', 3000000);
	assert_int_equal(peer_write(rig, fd, line, 3000000), 3000000);
	assert_true(peer_read(rig, fd, &got));
	assert_string_equal(text_string(&got), "overloaded\n");
	text_free(&got);
	free(line);
	close(fd);
}

static void test_http_verb_closes(void **state)
{
	static const char *const lines[] = { "GET / HTTP/1.1\r\n", "POST /rpc HTTP/1.1\r\nHost: a\r\n\r\n{}\n",
		"\r\nOPTIONS * HTTP/1.1\n" };
	struct rig *rig = *state;
	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
		struct text got = { 0 };
		int fd = rig_connect(rig);
		peer_puts(rig, fd, lines[i]);
		assert_true(peer_read(rig, fd, &got));
		assert_int_equal(got.length, 0);
		text_free(&got);
		close(fd);
	}
	assert_int_equal(rig->texts, 0);
	assert_int_equal(rig->closed, 3);
}

static void test_http_verb_only_on_the_first_line(void **state)
{
	expect(*state, "x\nGET / HTTP/1.1\n", "x\nGET / HTTP/1.1\n");
	expect(*state, "GETTER\n", "GETTER\n");
}

/* A half-close: what came is answered, then the end. */
static void test_end_of_input(void **state)
{
	struct rig *rig = *state;
	struct text got = { 0 };
	int fd = rig_connect(rig);
	rig->echo = false;
	peer_puts(rig, fd, "one\ntwo\nthree");
	assert_int_equal(shutdown(fd, SHUT_WR), 0);
	rig_run(rig);
	assert_string_equal(text_string(&rig->seen), "one\ntwo\n");
	assert_int_equal(rig->closed, 0);
	transport_send(rig->transport, rig->last, "1\n", 2);
	transport_done(rig->transport, rig->last);
	assert_false(peer_read(rig, fd, &got));
	transport_send(rig->transport, rig->last, "2\n", 2);
	transport_done(rig->transport, rig->last);
	assert_true(peer_read(rig, fd, &got));
	assert_string_equal(text_string(&got), "1\n2\n");
	assert_int_equal(rig->closed, 1);
	text_free(&got);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_lines, setup, teardown),
		cmocka_unit_test_setup_teardown(test_pieces, setup, teardown),
		cmocka_unit_test_setup_teardown(test_nul_inside_and_behind, setup, teardown),
		cmocka_unit_test_setup_teardown(test_answers_in_order, setup, teardown),
		cmocka_unit_test_setup_teardown(test_longest_line, setup, teardown),
		cmocka_unit_test_setup_teardown(test_overlong, setup, teardown),
		cmocka_unit_test_setup_teardown(test_overlong_can_be_sent_to_its_end, setup, teardown),
		cmocka_unit_test_setup_teardown(test_http_verb_closes, setup, teardown),
		cmocka_unit_test_setup_teardown(test_http_verb_only_on_the_first_line, setup, teardown),
		cmocka_unit_test_setup_teardown(test_end_of_input, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

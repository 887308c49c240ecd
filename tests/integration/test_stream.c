/* The stream between client and server: lines, pipelining, order, half-close, limits of size. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "support/call.h"
#include "support/check.h"
#include "support/cluster.h"
#include "support/server.h"

enum { MEBIBYTE = 1 << 20 };

static int setup(void **state)
{
	struct server *s = server_start(NULL);
	*state = s;
	register_gpus(s->wire, "n1", 8);
	return 0;
}

static bool pod_exists(struct server *s, const char *uid)
{
	json_t *got = call_result(s->wire, "pod.get", json_of("{'uid': '%s'}", uid));
	bool there = json_object_get(got, "allocation") != NULL;
	json_decref(got);
	return there;
}

static char *reserve_line(const char *uid, int id)
{
	json_t *request = json_of(
		"{'jsonrpc': '2.0', 'id': %d, 'method': 'pod.reserve', 'params': {'pod': {'uid': '%s'}, 'node': 'n1',"
		" 'request': [{'type': 'gpu', 'resources': {'core': 1}}]}}",
		id, uid);
	char *line = json_dumps(request, JSON_COMPACT);
	json_decref(request);
	return line;
}

static void release(struct server *s, const char *uid)
{
	json_decref(call_result(s->wire, "pod.release", json_of("{'uid': '%s'}", uid)));
}

static void many_calls_in_one_write_are_answered_in_order(void **state)
{
	struct server *s = *state;
	struct wire *w = wire_open(s->socket);
	char all[64000] = "";
	size_t used = 0;
	for (int i = 0; i < 200; i++) {
		const char *method = i % 3 == 0 ? "server.info" : i % 3 == 1 ? "pod.nothing" : "event.list";
		used += (size_t)snprintf(
			all + used, sizeof all - used, "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"%s\"}\n", i, method);
	}
	assert_true(wire_send(w, all, used));
	for (int i = 0; i < 200; i++) {
		char *line = wire_line(w);
		assert_non_null(line);
		json_t *answer = json_loads(line, 0, NULL);
		assert_int_equal(json_integer_value(json_object_get(answer, "id")), i);
		json_decref(answer);
		free(line);
	}
	wire_close(w);
}

/* Writes, reads of memory and reads of history on one connection: each sees what was called before it and nothing after it. */
static void each_call_sees_those_before_it(void **state)
{
	struct server *s = *state;
	struct wire *w = wire_open(s->socket);
	int64_t revision = revision_of(w);
	int64_t reserve = call_send(w, "pod.reserve", whole_gpus("a", "n1", 1));
	int64_t get = call_send(w, "pod.get", json_of("{'uid': 'a'}"));
	int64_t events = call_send(w, "event.list", json_of("{'uid': 'a', 'after': %lld}", (long long)revision));
	int64_t rel = call_send(w, "pod.release", json_of("{'uid': 'a'}"));
	int64_t again = call_send(w, "pod.get", json_of("{'uid': 'a'}"));
	json_t *answers[5] = { call_receive(w, reserve), call_receive(w, get), call_receive(w, events), call_receive(w, rel),
		call_receive(w, again) };
	expect_match(answers[1], json_of("{'result': {'allocation': {'state': 'reserved'}}}"));
	expect_match(answers[2], json_of("{'result': {'events': [{'kind': 'pod.reserved'}]}}"));
	expect_match(answers[3], json_of("{'result': {'released': true}}"));
	expect_match(answers[4], json_of("{'result': {'allocation': {'$absent': true}}}"));
	for (int i = 0; i < 5; i++)
		json_decref(answers[i]);
	wire_close(w);
}

/* The calls of a batch run one after another, also those that the loop leaves to other threads. */
static void each_call_of_a_batch_sees_those_before_it(void **state)
{
	struct server *s = *state;
	struct wire *w = wire_open(s->socket);
	assert_true(wire_say(w,
		"[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"backup.create\",\"params\":{\"name\":\"batch\"}},"
		"{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"backup.list\"},"
		"{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"backup.remove\",\"params\":{\"name\":\"batch\"}},"
		"{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"backup.list\"}]"));
	char *line = wire_line(w);
	json_t *answers = json_loads(line, 0, NULL);
	expect_match(
		answers, json_of("[{'id': 1, 'result': {'name': 'batch'}}, {'id': 2, 'result': {'backups': [{'name': 'batch'}]}},"
				 " {'id': 3}, {'id': 4, 'result': {'backups': []}}]"));
	json_decref(answers);
	free(line);
	wire_close(w);
}

static void notifications_are_executed_in_order(void **state)
{
	struct server *s = *state;
	struct wire *w = wire_open(s->socket);
	for (int i = 0; i < 8; i++) {
		char line[300];
		(void)snprintf(line, sizeof line,
			"{\"jsonrpc\":\"2.0\",\"method\":\"pod.reserve\",\"params\":{\"pod\":{\"uid\":\"n%d\"},\"node\":\"n1\","
			"\"request\":[{\"type\":\"gpu\"}]}}",
			i);
		assert_true(wire_say(w, line));
	}
	expect(w, "pod.list", NULL, json_of("{'pods': {'$count': 8}}"));
	assert_true(wire_say(w, "{\"jsonrpc\":\"2.0\",\"method\":\"pod.release\",\"params\":{\"uid\":\"n0\"}}"));
	expect(w, "pod.reserve", whole_gpus("late", "n1", 1), json_of("{'devices': [{'minor': 0}]}"));
	release(s, "late");
	for (int i = 1; i < 8; i++) {
		char uid[16];
		(void)snprintf(uid, sizeof uid, "n%d", i);
		release(s, uid);
	}
	wire_close(w);
}

static void blank_lines_and_carriage_returns(void **state)
{
	struct server *s = *state;
	struct wire *w = wire_open(s->socket);
	static const char text[] =
		"\n\r\n\n{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"server.info\"}\r\n\r\n\n"
		"  {\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"server.info\"}  \n";
	assert_true(wire_send(w, text, sizeof text - 1));
	for (int i = 1; i <= 2; i++) {
		char *line = wire_line(w);
		assert_non_null(line);
		json_t *answer = json_loads(line, 0, NULL);
		expect_match(answer, json_of("{'id': %d, 'result': {}}", i));
		assert_null(strchr(line, '\r'));
		json_decref(answer);
		free(line);
	}
	assert_true(wire_silent(w, 100));
	wire_close(w);
}

static void a_byte_at_a_time(void **state)
{
	struct server *s = *state;
	struct wire *w = wire_open(s->socket);
	static const char text[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"server.info\"}\n";
	for (size_t i = 0; i < sizeof text - 1; i++) {
		assert_true(wire_send(w, text + i, 1));
		if (i % 8 == 0)
			check_sleep(1);
	}
	json_decref(call_receive(w, 1));
	wire_close(w);
}

static void after_half_close_everything_is_answered(void **state)
{
	struct server *s = *state;
	struct wire *w = wire_open(s->socket);
	char *a = reserve_line("half", 1), *b = reserve_line("half", 2);
	assert_true(wire_say(w, a) && wire_say(w, b));
	assert_true(wire_say(w, "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"event.list\"}"));
	wire_end(w);
	for (int i = 1; i <= 3; i++)
		json_decref(call_receive(w, i));
	assert_true(wire_ended(w));
	wire_close(w);
	assert_true(pod_exists(s, "half"));
	release(s, "half");
	free(a);
	free(b);
}

static void an_unterminated_last_line_is_not_executed(void **state)
{
	struct server *s = *state;
	struct wire *w = wire_open(s->socket);
	char *whole = reserve_line("whole", 1), *torn = reserve_line("torn", 2);
	assert_true(wire_say(w, whole) && wire_send(w, torn, strlen(torn)));
	wire_end(w);
	json_decref(call_receive(w, 1));
	assert_true(wire_ended(w));
	wire_close(w);
	assert_true(pod_exists(s, "whole"));
	assert_false(pod_exists(s, "torn"));
	release(s, "whole");
	free(whole);
	free(torn);
}

/* The connection is reset with calls under way: they are done or not, and the server goes on. */
static void a_reset_connection_hurts_nobody(void **state)
{
	struct server *s = *state;
	for (int i = 0; i < 20; i++) {
		struct wire *w = wire_open(s->socket);
		char *line = reserve_line("reset", 1);
		for (int n = 0; n < 10; n++)
			assert_true(wire_say(w, line));
		struct linger now = { .l_onoff = 1 };
		(void)setsockopt(w->fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
		wire_close(w);
		free(line);
	}
	release(s, "reset");
	expect(s->wire, "server.check", NULL, json_of("{'ok': true}"));
}

static void a_first_line_of_http_closes(void **state)
{
	static const char *const verbs[] = { "GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH" };
	struct server *s = *state;
	for (size_t i = 0; i < sizeof verbs / sizeof verbs[0]; i++) {
		struct wire *w = wire_open(s->socket);
		char *line = reserve_line("http", 1), head[64];
		(void)snprintf(head, sizeof head, "%s / HTTP/1.1\r\nHost: x\r\n\r", verbs[i]);
		(void)wire_say(w, head);
		(void)wire_say(w, line);
		assert_true(wire_ended(w));
		wire_close(w);
		free(line);
	}
	assert_false(pod_exists(s, "http"));
}

static void a_later_line_of_http_is_bad_json(void **state)
{
	struct server *s = *state;
	struct wire *w = wire_open(s->socket);
	json_decref(call_result(w, "server.info", NULL));
	assert_true(wire_say(w, "GET / HTTP/1.1"));
	char *line = wire_line(w);
	assert_non_null(line);
	assert_non_null(strstr(line, "parse_error"));
	free(line);
	json_decref(call_result(w, "server.info", NULL));
	wire_close(w);
}

/* server.info padded with spaces to `length` bytes. */
static char *padded(size_t length)
{
	static const char call[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"server.info\"}";
	char *line = malloc(length + 1);
	memcpy(line, call, sizeof call - 1);
	memset(line + sizeof call - 1, ' ', length - (sizeof call - 1));
	line[length] = '\0';
	return line;
}

static void a_request_of_one_mebibyte_is_served(void **state)
{
	struct server *s = *state;
	struct wire *w = wire_open(s->socket);
	char *line = padded(MEBIBYTE);
	assert_true(wire_say(w, line));
	json_decref(call_receive(w, 1));
	json_decref(call_result(w, "server.info", NULL));
	wire_close(w);
	free(line);
}

static void expect_overloaded_end(struct wire *w)
{
	char *line = wire_line(w);
	assert_non_null(line);
	json_t *answer = json_loads(line, 0, NULL);
	expect_match(answer, json_of("{'id': null, 'error': {'code': -32014, 'data': {'reason': 'overloaded'}}}"));
	assert_true(wire_ended(w));
	json_decref(answer);
	free(line);
}

static void a_longer_request_is_refused_and_ends_the_connection(void **state)
{
	struct server *s = *state;
	struct wire *w = wire_open(s->socket);
	char *line = padded(MEBIBYTE + 1), *first = reserve_line("before", 7);
	assert_true(wire_say(w, first));
	(void)wire_say(w, line);
	(void)wire_say(w, first);
	json_decref(call_receive(w, 7));
	expect_overloaded_end(w);
	wire_close(w);
	free(line);
	free(first);
	release(s, "before");
}

static void a_request_without_end_is_refused(void **state)
{
	struct server *s = *state;
	struct wire *w = wire_open(s->socket);
	char *line = padded(2 * MEBIBYTE);
	(void)wire_send(w, line, 2 * MEBIBYTE);
	expect_overloaded_end(w);
	wire_close(w);
	free(line);
}

/* Devices with long names of resources, so that a page of them is more than 8 MiB. */
static void register_wordy_node(struct wire *w, int number)
{
	json_t *devices = json_array(), *resources = json_object();
	char name[201];
	for (int r = 0; r < 8; r++) {
		memset(name, 'a' + r, 200);
		name[200] = '\0';
		json_object_set_new(resources, name, json_integer(1));
	}
	for (int i = 0; i < 400; i++) {
		(void)snprintf(name, sizeof name, "wordy-%d-%d", number, i);
		json_array_append_new(devices,
			json_pack("{s:s, s:s, s:i, s:O}", "uuid", name, "type", "wordy", "minor", i, "resources", resources));
	}
	(void)snprintf(name, sizeof name, "wordy-%d", number);
	json_decref(call_result(w, "node.register", json_pack("{s:s, s:o}", "node", name, "devices", devices)));
	json_decref(resources);
}

static void an_answer_beyond_eight_mebibytes_is_refused(void **state)
{
	struct server *s = *state;
	struct wire *w = wire_open(s->socket);
	for (int i = 0; i < 5; i++)
		register_wordy_node(w, i);
	refused(w, "device.list", json_of("{'type': 'wordy', 'limit': 5000}"), "overloaded", NULL);
	expect(w, "device.list", json_of("{'type': 'wordy', 'limit': 100}"), json_of("{'devices': {'$count': 100}}"));
	for (int i = 0; i < 5; i++)
		json_decref(call_result(w, "node.remove", json_of("{'node': 'wordy-%d'}", i)));
	wire_close(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(many_calls_in_one_write_are_answered_in_order),
		cmocka_unit_test(each_call_sees_those_before_it),
		cmocka_unit_test(each_call_of_a_batch_sees_those_before_it),
		cmocka_unit_test(notifications_are_executed_in_order),
		cmocka_unit_test(blank_lines_and_carriage_returns),
		cmocka_unit_test(a_byte_at_a_time),
		cmocka_unit_test(after_half_close_everything_is_answered),
		cmocka_unit_test(an_unterminated_last_line_is_not_executed),
		cmocka_unit_test(a_reset_connection_hurts_nobody),
		cmocka_unit_test(a_first_line_of_http_closes),
		cmocka_unit_test(a_later_line_of_http_is_bad_json),
		cmocka_unit_test(a_request_of_one_mebibyte_is_served),
		cmocka_unit_test(a_longer_request_is_refused_and_ends_the_connection),
		cmocka_unit_test(a_request_without_end_is_refused),
		cmocka_unit_test(an_answer_beyond_eight_mebibytes_is_refused),
	};
	return cmocka_run_group_tests(tests, setup, server_teardown);
}

/* liballot against a server that behaves well and badly. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fake.h"

static const char *method_of(const json_t *call)
{
	return json_string_value(json_object_get(call, "method"));
}

/* What the methods of the fake do, by name. */
static char *answer(void *context, const json_t *call)
{
	const char *method = method_of(call);

	if (strcmp(method, "echo") == 0) {
		return fake_result(call, json_incref(json_object_get(call, "params")));
	}
	if (strcmp(method, "refuse") == 0) {
		return fake_error(call, -32004, "locked", "node n1 is locked by a", fake_json("{'holder': 'a', 'later': [1]}"));
	}
	if (strcmp(method, "slow") == 0) {
		usleep(150000);
		return fake_result(call, json_object());
	}
	if (strcmp(method, "silent") == 0) {
		return NULL;
	}
	if (strcmp(method, "garbage") == 0) {
		return strdup("HTTP/1.1 400 Bad Request\r\n");
	}
	if (strcmp(method, "other-id") == 0) {
		return strdup("{\"jsonrpc\":\"2.0\",\"id\":77,\"result\":{}}\n");
	}
	if (strcmp(method, "both") == 0) {
		return strdup("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{},\"error\":{}}\n");
	}
	if (strcmp(method, "null-id") == 0) {
		return strdup(
			"{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32014,\"message\":\"too "
			"long\",\"data\":{\"reason\":\"overloaded\"}}}\n");
	}
	if (strcmp(method, "news") == 0) {
		return strdup(
			"{\"jsonrpc\":\"2.0\",\"method\":\"watch\",\"params\":{}}\n\
{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"new\":true},\"later\":1}\r\n");
	}
	if (strcmp(method, "last-words") == 0) {
		*(int *)context = 1;
		return strdup("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"said\":1}}\n");
	}
	return FAKE_CLOSE;
}

static int closing;

static int setup(void **state)
{
	*state = fake_start(answer, &closing);
	return 0;
}

static int teardown(void **state)
{
	fake_stop(*state);
	return 0;
}

static void call_gives_the_result(void **state)
{
	struct allot_conn *conn = fake_conn(*state);
	struct allot_error error = ALLOT_ERROR_INIT;
	json_t *result = NULL;

	assert_int_equal(allot_call(conn, "echo", json_pack("{s:s}", "node", "n\xc3\xb6\"1"), &result, &error), 0);
	assert_string_equal(json_string_value(json_object_get(result, "node")), "n\xc3\xb6\"1");
	assert_int_equal(error.kind, ALLOT_OK);
	assert_int_equal(allot_unanswered(conn), 0);
	json_decref(result);
	assert_int_equal(allot_call(conn, "echo", json_object(), NULL, NULL), 0);
	allot_close(conn);
}

static void refusal_carries_code_reason_message_and_data(void **state)
{
	struct allot_conn *conn = fake_conn(*state);
	struct allot_error error = ALLOT_ERROR_INIT;
	json_t *result = NULL;

	assert_int_equal(allot_call(conn, "refuse", NULL, &result, &error), -1);
	assert_null(result);
	assert_int_equal(error.kind, ALLOT_REFUSED);
	assert_int_equal(error.code, -32004);
	assert_string_equal(error.reason, "locked");
	assert_string_equal(error.message, "node n1 is locked by a");
	assert_string_equal(json_string_value(json_object_get(error.data, "holder")), "a");
	allot_error_clear(&error);
	assert_int_equal(error.kind, ALLOT_OK);
	assert_int_equal(allot_call(conn, "refuse", NULL, NULL, NULL), -1);
	assert_int_equal(allot_call(conn, "echo", json_object(), NULL, &error), 0); /* still usable */
	allot_close(conn);
}

static void pipelined_answers_come_in_order(void **state)
{
	struct allot_conn *conn = fake_conn(*state);
	struct allot_error error = ALLOT_ERROR_INIT;
	int64_t id, i;
	json_t *result;

	for (i = 1; i <= 500; i++) {
		const char *method = i % 10 ? "echo" : "refuse";

		assert_int_equal(allot_send(conn, method, json_pack("{s:I}", "i", (json_int_t)i), &id, &error), 0);
		assert_int_equal(id, i);
	}
	assert_int_equal(allot_unanswered(conn), 500);
	assert_int_equal(allot_call(conn, "echo", json_object(), NULL, &error), -1);
	assert_int_equal(error.kind, ALLOT_INVALID);
	for (i = 1; i <= 500; i++) {
		int received = allot_receive(conn, &id, &result, &error);

		assert_int_equal(id, i);
		assert_int_equal(received, i % 10 ? 0 : -1);
		if (received == 0) {
			assert_int_equal(json_integer_value(json_object_get(result, "i")), i);
			json_decref(result);
		} else {
			assert_int_equal(error.kind, ALLOT_REFUSED);
		}
	}
	assert_int_equal(allot_receive(conn, &id, &result, &error), -1);
	assert_int_equal(error.kind, ALLOT_INVALID);
	allot_error_clear(&error);
	allot_close(conn);
}

/* More than the sockets can hold in both directions: sending must take answers in, or both sides wait for ever. */
static void much_pipelining_does_not_deadlock(void **state)
{
	struct allot_conn *conn = fake_conn(*state);
	struct allot_error error = ALLOT_ERROR_INIT;
	char *big = malloc(60001);
	int i;

	memset(big, 'x', 60000);
	big[60000] = '\0';
	for (i = 0; i < 100; i++) {
		assert_int_equal(allot_send(conn, "echo", json_pack("{s:s}", "big", big), NULL, &error), 0);
	}
	for (i = 0; i < 100; i++) {
		json_t *result;

		assert_int_equal(allot_receive(conn, NULL, &result, &error), 0);
		assert_int_equal(json_string_length(json_object_get(result, "big")), 60000);
		json_decref(result);
	}
	free(big);
	allot_close(conn);
}

static void late_answer_of_a_call_given_up_is_dropped(void **state)
{
	struct allot_conn *conn = fake_conn(*state);
	struct allot_error error = ALLOT_ERROR_INIT;
	json_t *result;

	allot_set_timeout(conn, 20);
	assert_int_equal(allot_call(conn, "slow", NULL, NULL, &error), -1);
	assert_int_equal(error.kind, ALLOT_TIMED_OUT);
	assert_int_equal(allot_unanswered(conn), 0);
	allot_set_timeout(conn, 20000);
	assert_int_equal(allot_call(conn, "echo", json_pack("{s:i}", "mine", 1), &result, &error), 0);
	assert_int_equal(json_integer_value(json_object_get(result, "mine")), 1);
	json_decref(result);
	allot_close(conn);
}

static void receive_may_be_repeated_after_a_timeout(void **state)
{
	struct allot_conn *conn = fake_conn(*state);
	struct allot_error error = ALLOT_ERROR_INIT;
	int64_t id = 0;

	assert_int_equal(allot_send(conn, "slow", NULL, NULL, &error), 0);
	allot_set_timeout(conn, 0);
	assert_int_equal(allot_receive(conn, &id, NULL, &error), -1);
	assert_int_equal(error.kind, ALLOT_TIMED_OUT);
	assert_int_equal(allot_unanswered(conn), 1);
	allot_set_timeout(conn, 20000);
	assert_int_equal(allot_receive(conn, &id, NULL, &error), 0);
	assert_int_equal(id, 1);
	allot_error_clear(&error);
	allot_close(conn);
}

static void breaks_when_the_peer_is_no_server(void **state)
{
	static const char *const methods[] = { "garbage", "other-id", "both" };
	struct allot_error error = ALLOT_ERROR_INIT;
	size_t i;

	for (i = 0; i < 3; i++) {
		struct fake *fake = fake_start(answer, NULL);
		struct allot_conn *conn = fake_conn(fake);

		assert_int_equal(allot_call(conn, methods[i], NULL, NULL, &error), -1);
		assert_int_equal(error.kind, ALLOT_PROTOCOL);
		assert_true(*error.message);
		assert_int_equal(allot_call(conn, "echo", json_object(), NULL, &error), -1); /* and stays broken */
		assert_int_equal(error.kind, ALLOT_PROTOCOL);
		allot_close(conn);
		fake_stop(fake);
	}
	allot_error_clear(&error);
}

static void error_without_id_belongs_to_the_oldest_call(void **state)
{
	struct allot_conn *conn = fake_conn(*state);
	struct allot_error error = ALLOT_ERROR_INIT;

	assert_int_equal(allot_call(conn, "null-id", NULL, NULL, &error), -1);
	assert_int_equal(error.kind, ALLOT_REFUSED);
	assert_string_equal(error.reason, "overloaded");
	allot_error_clear(&error);
	allot_close(conn);
}

static void ignores_what_newer_servers_say(void **state)
{
	struct allot_conn *conn = fake_conn(*state);
	json_t *result;

	assert_int_equal(allot_call(conn, "news", NULL, &result, NULL), 0);
	assert_true(json_is_true(json_object_get(result, "new")));
	json_decref(result);
	allot_close(conn);
}

static void answers_before_the_end_are_given(void **state)
{
	struct allot_conn *conn = fake_conn(*state);
	struct allot_error error = ALLOT_ERROR_INIT;
	json_t *result;

	assert_int_equal(allot_send(conn, "last-words", NULL, NULL, &error), 0);
	assert_int_equal(allot_send(conn, "bye", NULL, NULL, &error), 0);
	assert_int_equal(allot_flush(conn, &error), 0);
	usleep(100000); /* both have come: the answer and the end */
	assert_int_equal(allot_receive(conn, NULL, &result, &error), 0);
	json_decref(result);
	assert_int_equal(allot_receive(conn, NULL, &result, &error), -1);
	assert_int_equal(error.kind, ALLOT_UNREACHABLE);
	assert_int_equal(allot_send(conn, "echo", json_object(), NULL, &error), -1);
	allot_error_clear(&error);
	allot_close(conn);
}

static void unprintable_parameters_are_the_callers_mistake(void **state)
{
	struct allot_conn *conn = fake_conn(*state);
	struct allot_error error = ALLOT_ERROR_INIT;

	assert_int_equal(allot_call(conn, "echo\xff", NULL, NULL, &error), -1);
	assert_int_equal(error.kind, ALLOT_INVALID);
	assert_int_equal(allot_call(conn, "echo", json_object(), NULL, &error), 0);
	allot_close(conn);
}

static void polled_without_blocking(void **state)
{
	struct allot_conn *conn = fake_conn(*state);
	struct allot_error error = ALLOT_ERROR_INIT;
	json_t *result = NULL;
	int64_t id = 0;
	int taken, i;

	assert_int_equal(allot_take(conn, &id, &result, &error), 0);
	assert_int_equal(allot_send(conn, "echo", json_object(), NULL, &error), 0);
	assert_int_equal(allot_send(conn, "refuse", NULL, NULL, &error), 0);
	assert_int_equal(allot_interest(conn), 5); /* POLLIN | POLLOUT */
	for (i = 0; i < 2; i++) {
		while ((taken = allot_take(conn, &id, &result, &error)) == 0) {
			assert_int_equal(allot_process(conn, &error), 0);
			usleep(1000);
		}
		assert_int_equal(taken, 1);
		assert_int_equal(id, i + 1);
		assert_int_equal(error.kind, i ? ALLOT_REFUSED : ALLOT_OK);
		assert_true(i ? result == NULL : json_is_object(result));
		json_decref(result);
	}
	assert_int_equal(allot_interest(conn), 1);
	allot_error_clear(&error);
	allot_close(conn);
}

/* A server that sends its answer byte by byte. */
static void answers_in_pieces(void **state)
{
	static const char text[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"a\":[1,2,3]}}\n";
	struct allot_error error = ALLOT_ERROR_INIT;
	struct allot_conn *conn;
	json_t *result = NULL;
	int64_t id;
	int fds[2];
	size_t i;

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	conn = allot_attach(fds[1]);
	assert_int_equal(allot_send(conn, "x", NULL, NULL, &error), 0);
	for (i = 0; text[i]; i++) {
		assert_int_equal(allot_take(conn, &id, &result, &error), 0);
		assert_int_equal(write(fds[0], text + i, 1), 1);
		assert_int_equal(allot_process(conn, &error), 0);
	}
	assert_int_equal(allot_take(conn, &id, &result, &error), 1);
	assert_int_equal(json_array_size(json_object_get(result, "a")), 3);
	json_decref(result);
	allot_close(conn);
	close(fds[0]);
}

static void connects_by_path(void **state)
{
	struct fake *fake = fake_listen(answer, NULL);
	struct allot_error error = ALLOT_ERROR_INIT;
	char *with_scheme;
	struct allot_conn *conn = allot_connect(fake_path(fake), 5000, &error);

	assert_non_null(conn);
	assert_int_equal(allot_call(conn, "echo", json_object(), NULL, &error), 0);
	allot_close(conn);
	assert_true(asprintf(&with_scheme, "unix:%s", fake_path(fake)) > 0);
	conn = allot_connect(with_scheme, 5000, &error);
	assert_non_null(conn);
	allot_close(conn);
	free(with_scheme);
	fake_stop(fake);
}

static void says_why_it_cannot_connect(void **state)
{
	static const struct {
		const char *address;
		enum allot_kind kind;
		const char *part;
	} cases[] = {
		{ "/nonexistent/allotd.sock", ALLOT_UNREACHABLE, "/nonexistent/allotd.sock: No such file" },
		{ "127.0.0.1:1", ALLOT_UNREACHABLE, "Connection refused" },
		{ "[::1", ALLOT_INVALID, "HOST:PORT" },
		{ "localhost", ALLOT_INVALID, "HOST:PORT" },
		{ "::1:80", ALLOT_INVALID, "HOST:PORT" },
		{ "", ALLOT_INVALID, "HOST:PORT" },
		{ "unix:", ALLOT_INVALID, "path" },
		{ "127.0.0.1:nosuchservice", ALLOT_UNREACHABLE, "cannot find" },
	};
	struct allot_error error = ALLOT_ERROR_INIT;
	char *long_path = malloc(300);
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_null(allot_connect(cases[i].address, 1000, &error));
		assert_int_equal(error.kind, cases[i].kind);
		assert_non_null(strstr(error.message, cases[i].part));
	}
	memset(long_path, '/', 299);
	long_path[299] = '\0';
	assert_null(allot_connect(long_path, 1000, &error));
	assert_int_equal(error.kind, ALLOT_INVALID);
	assert_null(allot_connect(long_path, 1000, NULL));
	free(long_path);
	allot_error_clear(&error);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(call_gives_the_result, setup, teardown),
		cmocka_unit_test_setup_teardown(refusal_carries_code_reason_message_and_data, setup, teardown),
		cmocka_unit_test_setup_teardown(pipelined_answers_come_in_order, setup, teardown),
		cmocka_unit_test_setup_teardown(much_pipelining_does_not_deadlock, setup, teardown),
		cmocka_unit_test_setup_teardown(late_answer_of_a_call_given_up_is_dropped, setup, teardown),
		cmocka_unit_test_setup_teardown(receive_may_be_repeated_after_a_timeout, setup, teardown),
		cmocka_unit_test(breaks_when_the_peer_is_no_server),
		cmocka_unit_test_setup_teardown(error_without_id_belongs_to_the_oldest_call, setup, teardown),
		cmocka_unit_test_setup_teardown(ignores_what_newer_servers_say, setup, teardown),
		cmocka_unit_test_setup_teardown(answers_before_the_end_are_given, setup, teardown),
		cmocka_unit_test_setup_teardown(unprintable_parameters_are_the_callers_mistake, setup, teardown),
		cmocka_unit_test_setup_teardown(polled_without_blocking, setup, teardown),
		cmocka_unit_test(answers_in_pieces),
		cmocka_unit_test(connects_by_path),
		cmocka_unit_test(says_why_it_cannot_connect),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

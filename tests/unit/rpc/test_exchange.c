/* Envelopes, batches, notifications, and the life of a call. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "base/mem.h"
#include "fake.h"

#define CALL(rest) "{\"jsonrpc\":\"2.0\"," rest "}"
#define BIG(id, bytes) CALL("\"id\":" id ",\"method\":\"big\",\"params\":{\"bytes\":" bytes "}")
#define RESULT(id, members) "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"result\":{" members "}}"

static int open_server(void **state)
{
	*state = fake_server();
	return 0;
}

static int close_server(void **state)
{
	rpc_server_free(*state);
	return 0;
}

static void assert_refusal(
	struct rpc_server *server, const char *text, const char *id, int code, const char *reason, const char *path)
{
	struct fake_world world = { 0 };
	char *answer = fake_answer(server, text, strlen(text), &world);
	assert_error(answer, id, code, reason, path);
	assert_int_equal(world.runs, 0);
	free(answer);
}

/* Section 7 of the JSON-RPC 2.0 specification. Where an example passes parameters by position our contract says -32602. */
static void examples_of_the_specification(void **state)
{
	/* rpc call with positional parameters */
	assert_refusal(*state, "{\"jsonrpc\": \"2.0\", \"method\": \"subtract\", \"params\": [42, 23], \"id\": 1}", "1", -32602,
		"invalid_params", "params");
	assert_refusal(*state, "{\"jsonrpc\": \"2.0\", \"method\": \"subtract\", \"params\": [23, 42], \"id\": 2}", "2", -32602,
		"invalid_params", "params");

	/* rpc call with named parameters */
	assert_answer(*state,
		"{\"jsonrpc\": \"2.0\", \"method\": \"subtract\", \"params\": {\"subtrahend\": 23, \"minuend\": 42}, \"id\": 3}",
		RESULT("3", "\"difference\":19"));
	assert_answer(*state,
		"{\"jsonrpc\": \"2.0\", \"method\": \"subtract\", \"params\": {\"minuend\": 42, \"subtrahend\": 23}, \"id\": 4}",
		RESULT("4", "\"difference\":19"));

	/* a notification, by position and to an unknown method: nothing comes back */
	assert_answer(*state, "{\"jsonrpc\": \"2.0\", \"method\": \"update\", \"params\": [1,2,3,4,5]}", "");
	assert_answer(*state, "{\"jsonrpc\": \"2.0\", \"method\": \"foobar\"}", "");
	assert_answer(*state, "{\"jsonrpc\": \"2.0\", \"method\": \"update\"}", "");

	/* rpc call of non-existent method */
	assert_refusal(
		*state, "{\"jsonrpc\": \"2.0\", \"method\": \"foobar\", \"id\": \"1\"}", "\"1\"", -32601, "unknown_method", NULL);

	/* rpc call with invalid JSON */
	assert_refusal(*state, "{\"jsonrpc\": \"2.0\", \"method\": \"foobar, \"params\": \"bar\", \"baz]", "null", -32700,
		"parse_error", NULL);

	/* rpc call with invalid Request object */
	assert_refusal(*state, "{\"jsonrpc\": \"2.0\", \"method\": 1, \"params\": \"bar\"}", "null", -32600, "invalid_request",
		"method");

	/* rpc call batch, invalid JSON */
	assert_refusal(*state,
		"[ {\"jsonrpc\": \"2.0\", \"method\": \"sum\", \"params\": [1,2,4], \"id\": \"1\"}, {\"jsonrpc\": \"2.0\", "
		"\"method\" ]",
		"null", -32700, "parse_error", NULL);

	/* rpc call with an empty array */
	assert_refusal(*state, "[]", "null", -32600, "invalid_request", NULL);
}

/* Splits the answer of a batch; element i as text, free(). */
static char *element(const char *answer, size_t i)
{
	json_t *json = json_loads(answer, 0, NULL);
	assert_true(json_is_array(json));
	char *text = json_dumps(json_array_get(json, i), JSON_COMPACT | JSON_PRESERVE_ORDER);
	json_decref(json);
	return text;
}

static size_t elements(const char *answer)
{
	json_t *json = json_loads(answer, 0, NULL);
	assert_true(json_is_array(json));
	size_t n = json_array_size(json);
	json_decref(json);
	return n;
}

static void assert_element_error(const char *answer, size_t i, const char *id, int code, const char *reason)
{
	char *one = element(answer, i);
	assert_error(one, id, code, reason, NULL);
	free(one);
}

static void assert_element(const char *answer, size_t i, const char *expected)
{
	char *one = element(answer, i);
	assert_string_equal(one, expected);
	free(one);
}

static void batches_of_the_specification(void **state)
{
	struct fake_world world = { 0 };
	char *answer;

	/* an invalid batch, but not empty; invalid batch of three */
	answer = fake_answer(*state, "[1]", 3, &world);
	assert_int_equal(elements(answer), 1);
	assert_element_error(answer, 0, "null", -32600, "invalid_request");
	free(answer);
	answer = fake_answer(*state, "[1,2,3]", 7, &world);
	assert_int_equal(elements(answer), 3);
	for (size_t i = 0; i < 3; i++)
		assert_element_error(answer, i, "null", -32600, "invalid_request");
	free(answer);

	/* rpc call batch */
	static const char mixed[] =
		"[{\"jsonrpc\": \"2.0\", \"method\": \"sum\", \"params\": {\"a\":1,\"b\":2,\"c\":4}, \"id\": \"1\"},"
		"{\"jsonrpc\": \"2.0\", \"method\": \"notify_hello\", \"params\": {\"n\":7}},"
		"{\"jsonrpc\": \"2.0\", \"method\": \"subtract\", \"params\": {\"minuend\":42,\"subtrahend\":23}, \"id\": \"2\"},"
		"{\"foo\": \"boo\"},"
		"{\"jsonrpc\": \"2.0\", \"method\": \"foo.get\", \"params\": {\"name\": \"myself\"}, \"id\": \"5\"},"
		"{\"jsonrpc\": \"2.0\", \"method\": \"get_data\", \"id\": \"9\"}]";
	world.runs = 0;
	answer = fake_answer(*state, mixed, sizeof mixed - 1, &world);
	assert_int_equal(elements(answer), 5);
	assert_element(answer, 0, RESULT("\"1\"", "\"sum\":7"));
	assert_element(answer, 1, RESULT("\"2\"", "\"difference\":19"));
	assert_element_error(answer, 2, "null", -32600, "invalid_request");
	assert_element_error(answer, 3, "\"5\"", -32601, "unknown_method");
	assert_element(answer, 4, RESULT("\"9\"", "\"data\":[\"hello\",5]"));
	assert_int_equal(world.runs, 4);
	free(answer);

	/* all notifications */
	static const char silent[] =
		"[{\"jsonrpc\": \"2.0\", \"method\": \"notify_hello\", \"params\": {\"n\":1}}, "
		"{\"jsonrpc\": \"2.0\", \"method\": \"update\"}]";
	world.runs = 0;
	answer = fake_answer(*state, silent, sizeof silent - 1, &world);
	assert_string_equal(answer, "");
	assert_int_equal(world.runs, 2);
	free(answer);
}

static char *batch_of(size_t n)
{
	struct text text = { 0 };
	for (size_t i = 0; i < n; i++)
		text_printf(&text, "%s{\"jsonrpc\":\"2.0\",\"id\":%zu,\"method\":\"count\"}", i ? "," : "[", i);
	text_putc(&text, ']');
	return text_take(&text);
}

static void batch_limits_and_order(void **state)
{
	struct fake_world world = { 0 };
	char expected[100], *text = batch_of(RPC_BATCH_MAX);
	char *answer = fake_answer(*state, text, strlen(text), &world);

	assert_int_equal(elements(answer), RPC_BATCH_MAX);
	assert_int_equal(world.counter, RPC_BATCH_MAX);
	for (size_t i = 0; i < RPC_BATCH_MAX; i += 31) {
		snprintf(expected, sizeof expected, RESULT("%zu", "\"counter\":%zu"), i, i + 1);
		assert_element(answer, i, expected);
	}
	free(answer);
	free(text);

	text = batch_of(RPC_BATCH_MAX + 1);
	assert_refusal(*state, text, "null", -32600, "invalid_request", NULL);
	free(text);
	assert_answer(*state, "[" CALL("\"method\":\"update\",\"id\":1") "]", "[" RESULT("1", "") "]");
}

static void ids(void **state)
{
	char text[2000], expected[2000], id[400];
	static const char *const good[] = { "0", "1", "-1", "9007199254740992", "-9007199254740992", "null", "\"\"", "\"a\"",
		"\"\\n\\\"\\\\\"", "\"\xe2\x82\xac\"", "\"1\"" };

	for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
		snprintf(text, sizeof text, CALL("\"method\":\"update\",\"id\":%s"), good[i]);
		snprintf(expected, sizeof expected, RESULT("%s", ""), good[i]);
		assert_answer(*state, text, expected);
	}
	assert_answer(*state, CALL("\"id\":-0,\"method\":\"update\""), RESULT("0", ""));
	assert_answer(*state, CALL("\"id\":\"\\u0041\",\"method\":\"update\""), RESULT("\"A\"", ""));

	memset(id, 'i', 256);
	id[256] = '\0';
	snprintf(text, sizeof text, CALL("\"id\":\"%s\",\"method\":\"update\""), id);
	snprintf(expected, sizeof expected, RESULT("\"%s\"", ""), id);
	assert_answer(*state, text, expected);
}

/* An id that could be read is used even when the rest is wrong, whatever the order of the members. */
static void ids_of_refusals(void **state)
{
	assert_refusal(*state, "{\"zzz\":1,\"id\":5}", "5", -32600, "invalid_request", "zzz");
	assert_refusal(*state, "{\"method\":5,\"jsonrpc\":\"2.0\",\"id\":\"x\"}", "\"x\"", -32600, "invalid_request", "method");
	assert_refusal(*state, CALL("\"method\":\"sum\",\"params\":7,\"id\":null"), "null", -32600, "invalid_request", "params");
	assert_refusal(*state, CALL("\"method\":\"sum\",\"params\":{\"a\":null},\"id\":-3"), "-3", -32602, "invalid_params", "a");
	assert_refusal(*state, CALL("\"method\":\"sum\",\"extra\":1"), "null", -32600, "invalid_request", "extra");
	assert_refusal(*state, CALL("\"method\":\"sum\",\"params\":null"), "null", -32600, "invalid_request", "params");
}

static void notifications(void **state)
{
	struct fake_world world = { 0 };
	static const char *const silent[] = {
		CALL("\"method\":\"count\",\"params\":{\"by\":5}"),
		CALL("\"method\":\"count\",\"params\":{\"by\":0}"),
		CALL("\"method\":\"nothing\""),
		CALL("\"method\":\"refuse\""),
		CALL("\"method\":\"count\",\"params\":[]"),
		CALL("\"method\":\"later\",\"params\":{\"x\":1}"),
		CALL("\"method\":\"big\",\"params\":{\"bytes\":9000000}"),
	};
	for (size_t i = 0; i < sizeof silent / sizeof silent[0]; i++) {
		char *answer = fake_answer(*state, silent[i], strlen(silent[i]), &world);
		assert_string_equal(answer, "");
		free(answer);
	}
	assert_int_equal(world.counter, 5);
	assert_int_equal(world.runs, 4);
	assert_int_equal(world.works, 1);
}

static void blanks_around_and_within(void **state)
{
	assert_answer(*state, " \t{ \"jsonrpc\" : \"2.0\" ,\t\"id\" : 1 , \"method\" : \"update\" , \"params\" : { } } \r",
		RESULT("1", ""));
	assert_answer(*state, CALL("\"id\":1,\"method\":\"\\u0075pdate\""), RESULT("1", ""));
	assert_answer(*state, "{\"\\u006asonrpc\":\"\\u0032.0\",\"id\":1,\"method\":\"update\"}", RESULT("1", ""));
}

/* 32 levels are allowed, also when a string is full of brackets. */
static void depth_at_the_limit(void **state)
{
	struct text text = { 0 };

	for (int i = 0; i < 32; i++)
		text_putc(&text, '[');
	for (int i = 0; i < 32; i++)
		text_putc(&text, ']');
	struct fake_world world = { 0 };
	char *answer = fake_answer(*state, text.bytes, text.length, &world);
	assert_element_error(answer, 0, "null", -32600, "invalid_request");
	free(answer);
	text_clear(&text);
	text_puts(&text, "{\"jsonrpc\":\"2.0\",\"method\":\"update\",\"id\":\"");
	for (int i = 0; i < 80; i++)
		text_puts(&text, "[{\\\"");
	text_puts(&text, "\"}");
	answer = fake_answer(*state, text.bytes, text.length, &world);
	assert_non_null(strstr(answer, "\"result\":{}"));
	free(answer);
	text_free(&text);
}

static void errors_in_full(void **state)
{
	assert_answer(*state, CALL("\"id\":1,\"method\":\"refuse\""),
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32003,\"message\":\"it says "
		"\\\"no\\\"\",\"data\":{\"reason\":\"conflict\",\"revision\":7,"
		"\"node\":\"n1\",\"candidates\":[\"a\",\"b\\\"c\"],\"counts\":{\"x\":1}}}}");
	assert_answer(*state, CALL("\"id\":1,\"method\":\"count\",\"params\":{\"by\":101}"),
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32602,\"message\":\"by must be an integer from 1 to "
		"100\",\"data\":"
		"{\"reason\":\"invalid_params\",\"path\":\"by\"}}}");
	assert_answer(*state, "nope",
		"{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32700,\"message\":\"the text is not valid JSON: at byte "
		"4: "
		"invalid token near 'nope'\",\"data\":{\"reason\":\"parse_error\",\"detail\":\"at byte 4: invalid token near "
		"'nope'\"}}}");
}

static void roles(void **state)
{
	static const struct {
		const char *method;
		unsigned allowed;
	} cases[] = { { "order", ROLE_ADMIN }, { "plug", ROLE_PLUGIN | ROLE_ADMIN }, { "count", ROLE_SCHEDULER | ROLE_ADMIN },
		{ "update", ROLE_ALL } };

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		for (unsigned role = 0; role <= ROLE_ADMIN; role = role ? role << 1 : 1) {
			struct fake_world world = { 0 };
			char text[200];
			snprintf(text, sizeof text, CALL("\"id\":1,\"method\":\"%s\""), cases[i].method);
			char *answer = fake_answer_to(*state, role, text, strlen(text), &world);
			if (role & cases[i].allowed)
				assert_int_equal(world.runs, 1);
			else
				assert_error(answer, "1", -32010, "forbidden", NULL);
			free(answer);
		}
	}
	struct fake_world world = { 0 };
	static const char text[] = CALL("\"id\":1,\"method\":\"plug\",\"params\":{\"x\":1}");
	char *answer = fake_answer_to(*state, ROLE_DEBUG, text, sizeof text - 1, &world);
	assert_non_null(strstr(answer, "\"role\":\"plugin|admin\""));
	free(answer);
}

static struct rpc_exchange *exchange_of(struct rpc_server *server, const char *text)
{
	const struct rpc_peer peer = { .actor = "test", .roles = ROLE_ADMIN };
	return rpc_exchange_new(server, text, strlen(text), &peer, 40, &text);
}

static char *answer_of(struct rpc_exchange *x)
{
	struct text out = { 0 };
	rpc_exchange_answer(x, &out);
	return text_take(&out);
}

/* A commit that failed: the call is undone by its owner, decided again, and only the last answer counts. */
static void run_again(void **state)
{
	struct fake_world world = { 0 };
	struct rpc_exchange *x = exchange_of(*state, CALL("\"id\":1,\"method\":\"count\",\"params\":{\"by\":2}"));
	struct rpc_call *call = rpc_exchange_call(x, 0);

	for (int i = 1; i <= 3; i++) {
		assert_true(rpc_call_run(call, &world));
		assert_int_equal(world.counter, 2 * i);
	}
	assert_true(rpc_call_finish(call));
	char *answer = answer_of(x);
	assert_string_equal(answer, RESULT("1", "\"counter\":6"));
	free(answer);
	rpc_exchange_free(x);
}

static void failure_replaces_the_answer(void **state)
{
	struct fake_world world = { 0 };
	struct error *failure = error_new(ERR_UNAVAILABLE, "The disk is busy.");
	struct rpc_exchange *x = exchange_of(
		*state, "[" CALL("\"id\":1,\"method\":\"count\"") "," CALL("\"id\":2,\"method\":\"nope\"") "]");
	struct rpc_call *first = rpc_exchange_call(x, 0), *second = rpc_exchange_call(x, 1);

	assert_true(rpc_call_run(first, &world));
	assert_false(rpc_call_run(second, &world));
	rpc_call_fail(first, failure);
	rpc_call_fail(second, failure);
	assert_false(rpc_call_finish(first));
	assert_true(rpc_call_finish(second));
	char *answer = answer_of(x);
	assert_element_error(answer, 0, "1", -32016, "unavailable");
	assert_element_error(answer, 1, "2", -32601, "unknown_method"); /* more precise, and true whatever the disk does */
	free(answer);
	rpc_exchange_free(x);
	error_free(failure);
}

static void failure_without_a_run(void **state)
{
	struct error *failure = error_new(ERR_READ_ONLY, "The disk is full.");
	struct rpc_exchange *x = exchange_of(*state, CALL("\"id\":1,\"method\":\"count\""));

	assert_true(rpc_call_method(rpc_exchange_call(x, 0))->writes);
	rpc_call_fail(rpc_exchange_call(x, 0), failure);
	char *answer = answer_of(x);
	assert_error(answer, "1", -32012, "read_only", NULL);
	free(answer);
	rpc_exchange_free(x);
	error_free(failure);
}

static void work_answers_later(void **state)
{
	struct fake_world world = { 0 };
	int reader;
	struct rpc_exchange *x = exchange_of(*state, CALL("\"id\":1,\"method\":\"later\",\"params\":{\"x\":5}"));
	struct rpc_call *call = rpc_exchange_call(x, 0);

	assert_true(rpc_exchange_has_work(x));
	assert_true(rpc_call_run(call, &world));
	assert_true(rpc_call_run(call, &world)); /* again before the work */
	assert_int_equal(world.ended, 1);
	rpc_call_work(call, &world, &reader);
	char *answer = answer_of(x);
	assert_string_equal(answer, RESULT("1", "\"x\":5"));
	free(answer);
	rpc_exchange_free(x);
	assert_int_equal(world.ended, 2);
	assert_int_equal(world.works, 1);

	x = exchange_of(*state, CALL("\"id\":1,\"method\":\"later\",\"params\":{\"x\":6,\"early\":true}"));
	call = rpc_exchange_call(x, 0);
	assert_true(rpc_call_run(call, &world));
	rpc_call_work(call, &world, &reader);
	answer = answer_of(x);
	assert_string_equal(answer, RESULT("1", "\"x\":6"));
	free(answer);
	rpc_exchange_free(x);
	assert_int_equal(world.works, 1);

	x = exchange_of(*state, CALL("\"id\":1,\"method\":\"later\",\"params\":{\"x\":-1}"));
	fake_run(x, &world);
	answer = answer_of(x);
	assert_error(answer, "1", -32015, "compacted", NULL);
	free(answer);
	rpc_exchange_free(x);

	x = exchange_of(*state, CALL("\"id\":1,\"method\":\"sum\""));
	assert_false(rpc_exchange_has_work(x));
	rpc_exchange_free(x);
	x = exchange_of(*state, "[1," CALL("\"id\":1,\"method\":\"later\",\"params\":{\"x\":1}") "]");
	assert_true(rpc_exchange_has_work(x));
	rpc_exchange_free(x);
	x = exchange_of(*state, CALL("\"id\":1,\"method\":\"later\",\"params\":{\"x\":null}"));
	assert_false(rpc_exchange_has_work(x));
	rpc_exchange_free(x);
}

static void owners_memory(void **state)
{
	struct rpc_exchange *x = exchange_of(*state, "[1,2,3]");

	for (size_t i = 0; i < 3; i++) {
		struct rpc_call *call = rpc_exchange_call(x, i);
		char *extra = rpc_call_extra(call);
		for (size_t k = 0; k < 40; k++)
			assert_int_equal(extra[k], 0);
		memset(extra, 0xff, 40);
		assert_int_equal((uintptr_t)extra % _Alignof(max_align_t), 0);
		assert_ptr_equal(rpc_call_of_extra(extra), call);
		assert_ptr_equal(rpc_call_exchange(call), x);
		assert_null(rpc_call_method(call));
	}
	assert_non_null(rpc_exchange_owner(x));
	rpc_exchange_free(x);
	rpc_exchange_free(NULL);
}

static void peer_is_copied(void **state)
{
	char actor[] = "unix:uid=7";
	const struct rpc_peer peer = { .actor = actor, .roles = ROLE_PLUGIN };
	struct rpc_exchange *x = rpc_exchange_new(*state, "1", 1, &peer, 0, NULL);

	memset(actor, 'x', sizeof actor - 1);
	assert_string_equal(rpc_call_peer(rpc_exchange_call(x, 0))->actor, "unix:uid=7");
	assert_int_equal(rpc_call_peer(rpc_exchange_call(x, 0))->roles, ROLE_PLUGIN);
	assert_ptr_equal(rpc_call_server(rpc_exchange_call(x, 0)), *state);
	rpc_exchange_free(x);
}

static char *big_call(int64_t bytes)
{
	return mem_format(CALL("\"id\":1,\"method\":\"big\",\"params\":{\"bytes\":%lld}"), (long long)bytes);
}

static void longest_answer(void **state)
{
	struct fake_world world = { 0 };
	int64_t fits = RPC_RESPONSE_MAX - (int64_t)strlen(RESULT("1", "\"x\":\"\""));
	char *text = big_call(fits), *answer = fake_answer(*state, text, strlen(text), &world);

	assert_int_equal(strlen(answer), RPC_RESPONSE_MAX);
	free(answer);
	free(text);
	text = big_call(fits + 1);
	answer = fake_answer(*state, text, strlen(text), &world);
	assert_error(answer, "1", -32014, "overloaded", NULL);
	assert_non_null(strstr(answer, "\"limit\":\"response\""));
	free(answer);
	free(text);
}

static void longest_batch(void **state)
{
	struct fake_world world = { 0 };
	static const char text[] = "[" BIG("1", "5000000") "," BIG("2", "5000000") "," CALL(
		"\"id\":3,\"method\":\"count\"") "," CALL("\"id\":4,\"method\":\"later\",\"params\":{\"x\":5000000}") "," BIG("5",
		"3000000") "]";
	struct rpc_exchange *x = exchange_of(*state, text);
	int reader;

	for (size_t i = 0; i < 5; i++) {
		struct rpc_call *call = rpc_exchange_call(x, i);
		assert_int_equal(rpc_call_run(call, &world), i != 1); /* the owner must know, to undo it */
		rpc_call_work(call, &world, &reader);
	}
	/* once more: what was counted before does not count twice */
	assert_true(rpc_call_run(rpc_exchange_call(x, 0), &world));
	assert_true(rpc_call_run(rpc_exchange_call(x, 4), &world));
	char *answer = answer_of(x);
	assert_true(strlen(answer) <= RPC_RESPONSE_MAX);
	assert_int_equal(elements(answer), 5);
	assert_element_error(answer, 1, "2", -32014, "overloaded");
	assert_element(answer, 2, RESULT("3", "\"counter\":1"));
	assert_element_error(answer, 3, "4", -32014, "overloaded");
	free(answer);
	rpc_exchange_free(x);
}

static void overlong_request(void **state)
{
	struct text out = { 0 };
	(void)state;
	rpc_overlong_text(&out);
	assert_error(out.bytes, "null", -32014, "overloaded", NULL);
	assert_non_null(strstr(out.bytes, "\"limit\":\"request\""));
	text_free(&out);
}

static void answers_are_appended(void **state)
{
	struct fake_world world = { 0 };
	struct rpc_exchange *x = exchange_of(
		*state, "[" CALL("\"id\":1,\"method\":\"update\"") "," CALL("\"method\":\"update\"") "]");
	struct text out = { 0 };

	text_puts(&out, "before\n");
	fake_run(x, &world);
	assert_true(rpc_exchange_answer(x, &out));
	assert_string_equal(out.bytes, "before\n[" RESULT("1", "") "]");
	rpc_exchange_free(x);
	text_free(&out);
}

static void methods_by_name(void **state)
{
	assert_string_equal(rpc_server_method(*state, "subtract")->name, "subtract");
	assert_string_equal(rpc_server_method(*state, "big")->name, "big");
	assert_string_equal(rpc_server_method(*state, "update")->name, "update");
	assert_null(rpc_server_method(*state, ""));
	assert_null(rpc_server_method(*state, "subtrac"));
	assert_null(rpc_server_method(*state, "subtracts"));
	assert_null(rpc_server_method(*state, "zzz"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(examples_of_the_specification),
		cmocka_unit_test(batches_of_the_specification),
		cmocka_unit_test(batch_limits_and_order),
		cmocka_unit_test(ids),
		cmocka_unit_test(ids_of_refusals),
		cmocka_unit_test(notifications),
		cmocka_unit_test(blanks_around_and_within),
		cmocka_unit_test(depth_at_the_limit),
		cmocka_unit_test(errors_in_full),
		cmocka_unit_test(roles),
		cmocka_unit_test(run_again),
		cmocka_unit_test(failure_replaces_the_answer),
		cmocka_unit_test(failure_without_a_run),
		cmocka_unit_test(work_answers_later),
		cmocka_unit_test(owners_memory),
		cmocka_unit_test(peer_is_copied),
		cmocka_unit_test(longest_answer),
		cmocka_unit_test(longest_batch),
		cmocka_unit_test(overlong_request),
		cmocka_unit_test(answers_are_appended),
		cmocka_unit_test(methods_by_name),
	};
	return cmocka_run_group_tests(tests, open_server, close_server);
}

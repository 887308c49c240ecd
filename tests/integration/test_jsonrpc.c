/* JSON-RPC 2.0 on the real server: each example of the specification (section 7), said with methods of the contract, then ids,
 * batches and notifications. */
#include <stdlib.h>
#include <string.h>

#include "support/call.h"
#include "support/check.h"
#include "support/cluster.h"
#include "support/server.h"

/* Says a line and returns the parsed answer. */
static json_t *ask(struct server *s, const char *line)
{
	char *said = strdup(line);
	for (char *c = said; *c; c++)
		if (*c == '\'')
			*c = '"';
	assert_true(wire_say(s->wire, said));
	char *text = wire_line(s->wire);
	json_t *answer = text ? json_loads(text, 0, NULL) : NULL;
	if (!answer)
		check_failed("%s\n# was answered by %s", said, text ? text : "closing the connection");
	free(text);
	free(said);
	return answer;
}

/* The answer to `line` matches `want`. */
static void answers(struct server *s, const char *line, const char *want)
{
	json_t *answer = ask(s, line);
	expect_match(answer, json_of("%s", want));
	json_decref(answer);
}

/* Nothing is said to `line`: the next answer is that to the next call. */
static void never_answered(struct server *s, const char *line)
{
	char *said = strdup(line);
	for (char *c = said; *c; c++)
		if (*c == '\'')
			*c = '"';
	assert_true(wire_say(s->wire, said));
	free(said);
	answers(s, "{'jsonrpc': '2.0', 'id': 'after', 'method': 'server.info'}", "{'id': 'after', 'result': {}}");
}

#define PARSE_ERROR                                                                                                 \
	"{'jsonrpc': '2.0', 'id': null, 'result': {'$absent': true}, 'error': {'code': -32700, 'data': {'reason': " \
	"'parse_error'}}}"
#define INVALID_REQUEST                                                                                             \
	"{'jsonrpc': '2.0', 'id': null, 'result': {'$absent': true}, 'error': {'code': -32600, 'data': {'reason': " \
	"'invalid_request'}}}"

static int setup(void **state)
{
	struct server *s = server_start(NULL);
	*state = s;
	register_gpus(s->wire, "n1", 8);
	return 0;
}

static void named_parameters_in_any_order(void **state)
{
	answers(*state, "{'jsonrpc': '2.0', 'method': 'lock.acquire', 'params': {'node': 'n1', 'uid': 'a'}, 'id': 3}",
		"{'jsonrpc': '2.0', 'id': 3, 'result': {'token': {'$above': 0}}, 'error': {'$absent': true}}");
	answers(*state, "{'id': 4, 'params': {'uid': 'a', 'node': 'n1'}, 'method': 'lock.acquire', 'jsonrpc': '2.0'}",
		"{'jsonrpc': '2.0', 'id': 4, 'result': {'token': {'$above': 0}}}");
}

static void positional_parameters_are_refused(void **state)
{
	answers(*state, "{'jsonrpc': '2.0', 'method': 'lock.acquire', 'params': ['n1', 'a'], 'id': 1}",
		"{'id': 1, 'error': {'code': -32602, 'data': {'reason': 'invalid_params'}}}");
	answers(*state, "{'jsonrpc': '2.0', 'method': 'server.info', 'params': [], 'id': 2}",
		"{'id': 2, 'error': {'code': -32602, 'data': {'reason': 'invalid_params'}}}");
}

static void a_notification_is_not_answered(void **state)
{
	never_answered(*state, "{'jsonrpc': '2.0', 'method': 'pod.release', 'params': {'uid': 'a'}}");
	never_answered(*state, "{'jsonrpc': '2.0', 'method': 'foobar'}");
	never_answered(*state, "{'jsonrpc': '2.0', 'method': 'pod.release', 'params': {'colour': 1}}");
	never_answered(*state, "{'jsonrpc': '2.0', 'method': 'event.list'}");
}

static void an_unknown_method(void **state)
{
	answers(*state, "{'jsonrpc': '2.0', 'method': 'foobar', 'id': '1'}",
		"{'jsonrpc': '2.0', 'id': '1', 'error': {'code': -32601, 'data': {'reason': 'unknown_method'}}, 'result': "
		"{'$absent': true}}");
}

static void invalid_json(void **state)
{
	answers(*state, "{'jsonrpc': '2.0', 'method': 'foobar, 'params': 'bar', 'baz]", PARSE_ERROR);
}

static void an_invalid_request_object(void **state)
{
	answers(*state, "{'jsonrpc': '2.0', 'method': 1, 'params': 'bar'}", INVALID_REQUEST);
}

static void a_batch_of_invalid_json(void **state)
{
	answers(*state, "[{'jsonrpc': '2.0', 'method': 'server.info', 'id': '1'}, {'jsonrpc': '2.0', 'method'", PARSE_ERROR);
}

static void an_empty_batch(void **state)
{
	answers(*state, "[]", INVALID_REQUEST);
}

static void invalid_batches(void **state)
{
	answers(*state, "[1]", "[" INVALID_REQUEST "]");
	answers(*state, "[1,2,3]", "[" INVALID_REQUEST "," INVALID_REQUEST "," INVALID_REQUEST "]");
	answers(*state, "[[]]", "[" INVALID_REQUEST "]");
}

static void a_mixed_batch(void **state)
{
	answers(*state,
		"[{'jsonrpc': '2.0', 'method': 'pod.get', 'params': {'uid': 'a'}, 'id': '1'},"
		"{'jsonrpc': '2.0', 'method': 'pod.release', 'params': {'uid': 'a'}},"
		"{'jsonrpc': '2.0', 'method': 'pod.bind', 'params': {'uid': 'a', 'node': 'n1'}, 'id': '2'},"
		"{'foo': 'boo'},"
		"{'jsonrpc': '2.0', 'method': 'foo.get', 'params': {'name': 'myself'}, 'id': '5'},"
		"{'jsonrpc': '2.0', 'method': 'server.info', 'id': '9'}]",
		"[{'id': '1', 'result': {}}, {'id': '2', 'error': {'code': -32002}}," INVALID_REQUEST
		",{'id': '5', 'error': {'code': -32601}}, {'id': '9', 'result': {}}]");
}

static void a_batch_of_notifications(void **state)
{
	never_answered(*state,
		"[{'jsonrpc': '2.0', 'method': 'pod.release', 'params': {'uid': 'a'}}, {'jsonrpc': '2.0', "
		"'method': 'server.info'}]");
}

static void ids_come_back_as_they_were(void **state)
{
	static const char *const ids[] = { "0", "-1", "9007199254740992", "-9007199254740992", "''", "'1'", "null",
		"'\\u00e9\\ud83d\\ude00 \\\\ / \\t'" };
	for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
		json_t *request = json_of("{'jsonrpc': '2.0', 'method': 'server.info', 'id': %s}", ids[i]);
		char *line = json_dumps(request, 0);
		json_t *answer = ask(*state, line);
		if (!json_equal(json_object_get(request, "id"), json_object_get(answer, "id")) ||
			!json_object_get(answer, "result"))
			check_failed("%s: %s", line, json_dumps(answer, 0));
		free(line);
		json_decref(request);
		json_decref(answer);
	}
}

static void the_same_id_may_be_used_again(void **state)
{
	answers(*state,
		"[{'jsonrpc': '2.0', 'method': 'server.info', 'id': 1}, {'jsonrpc': '2.0', 'method': 'nothing', 'id': 1}]",
		"[{'id': 1, 'result': {}}, {'id': 1, 'error': {'code': -32601}}]");
}

static void a_null_id_is_no_notification(void **state)
{
	answers(*state, "{'jsonrpc': '2.0', 'method': 'server.info', 'id': null}", "{'id': null, 'result': {}}");
}

static void a_batch_is_in_order_and_no_transaction(void **state)
{
	answers(*state,
		"[{'jsonrpc': '2.0', 'id': 1, 'method': 'pod.reserve', 'params': {'pod': {'uid': 'x'}, 'node': 'n1', 'request': "
		"[{'type': 'gpu'}]}},"
		"{'jsonrpc': '2.0', 'id': 2, 'method': 'pod.reserve', 'params': {'pod': {'uid': 'y'}, 'node': 'n1', 'request': "
		"[{'type': 'gpu', 'count': 64}]}},"
		"{'jsonrpc': '2.0', 'method': 'pod.release', 'params': {'uid': 'x'}},"
		"{'jsonrpc': '2.0', 'id': 3, 'method': 'pod.reserve', 'params': {'pod': {'uid': 'z'}, 'node': 'n1', 'request': "
		"[{'type': 'gpu', 'count': 8}]}},"
		"{'jsonrpc': '2.0', 'id': 4, 'method': 'pod.release', 'params': {'uid': 'z'}}]",
		"[{'id': 1, 'result': {'state': 'reserved'}}, {'id': 2, 'error': {'code': -32001}}, {'id': 3, 'result': "
		"{'devices': {'$count': 8}}},"
		"{'id': 4, 'result': {'released': true}}]");
}

static void methods_that_read_history_keep_their_place_in_a_batch(void **state)
{
	answers(*state,
		"[{'jsonrpc': '2.0', 'id': 1, 'method': 'pod.reserve', 'params': {'pod': {'uid': 'h'}, 'node': 'n1', 'request': "
		"[{'type': 'gpu'}]}},"
		"{'jsonrpc': '2.0', 'id': 2, 'method': 'event.list', 'params': {'uid': 'h'}},"
		"{'jsonrpc': '2.0', 'id': 3, 'method': 'pod.release', 'params': {'uid': 'h'}},"
		"{'jsonrpc': '2.0', 'id': 4, 'method': 'server.check'}]",
		"[{'id': 1, 'result': {}}, {'id': 2, 'result': {}}, {'id': 3, 'result': {'released': true}}, {'id': 4, 'result': "
		"{'ok': true}}]");
}

static void a_batch_of_128(void **state)
{
	struct server *s = *state;
	json_t *batch = json_array();
	for (int i = 0; i < 128; i++)
		json_array_append_new(
			batch, json_of("{'jsonrpc': '2.0', 'id': %d, 'method': 'pod.get', 'params': {'uid': 'u'}}", i));
	char *line = json_dumps(batch, 0);
	json_t *answer = ask(s, line);
	assert_int_equal(json_array_size(answer), 128);
	for (int i = 0; i < 128; i++)
		assert_int_equal(json_integer_value(json_object_get(json_array_get(answer, (size_t)i), "id")), i);
	json_decref(answer);
	free(line);
	json_array_append_new(batch, json_of("{'jsonrpc': '2.0', 'id': 128, 'method': 'server.info'}"));
	line = json_dumps(batch, 0);
	answers(s, line, INVALID_REQUEST);
	free(line);
	json_decref(batch);
}

static void errors_are_sentences_with_a_reason(void **state)
{
	json_t *answer = ask(
		*state, "{'jsonrpc': '2.0', 'id': 1, 'method': 'pod.bind', 'params': {'uid': 'nobody', 'node': 'n1'}}");
	const json_t *error = json_object_get(answer, "error");
	assert_true(strlen(json_string_value(json_object_get(error, "message"))) > 5);
	expect_match(error, json_of("{'code': -32002, 'data': {'reason': 'not_found', 'name': 'nobody', 'kind': 'pod'}}"));
	json_decref(answer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(named_parameters_in_any_order),
		cmocka_unit_test(positional_parameters_are_refused),
		cmocka_unit_test(a_notification_is_not_answered),
		cmocka_unit_test(an_unknown_method),
		cmocka_unit_test(invalid_json),
		cmocka_unit_test(an_invalid_request_object),
		cmocka_unit_test(a_batch_of_invalid_json),
		cmocka_unit_test(an_empty_batch),
		cmocka_unit_test(invalid_batches),
		cmocka_unit_test(a_mixed_batch),
		cmocka_unit_test(a_batch_of_notifications),
		cmocka_unit_test(ids_come_back_as_they_were),
		cmocka_unit_test(the_same_id_may_be_used_again),
		cmocka_unit_test(a_null_id_is_no_notification),
		cmocka_unit_test(a_batch_is_in_order_and_no_transaction),
		cmocka_unit_test(methods_that_read_history_keep_their_place_in_a_batch),
		cmocka_unit_test(a_batch_of_128),
		cmocka_unit_test(errors_are_sentences_with_a_reason),
	};
	return cmocka_run_group_tests(tests, setup, server_teardown);
}

/* allotctl against the real server: exit statuses, where the output goes, tables, method calls. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/call.h"
#include "support/check.h"
#include "support/cluster.h"
#include "support/program.h"
#include "support/server.h"

/* Runs `$ALLOTCTL --socket S` with the words of a shell line. */
static struct outcome allotctl(const struct server *s, const char *line)
{
	return shell("NO_COLOR=1 \"$ALLOTCTL\" --socket '%s' %s", s->socket, line);
}

/* The line ends with `status` and says `text` on standard output (status 0) or standard error. */
static void says(const struct server *s, const char *line, int status, const char *text)
{
	struct outcome o = allotctl(s, line);
	if (o.status != status || !strstr(status ? o.err : o.out, text) || (status && *o.out))
		check_failed("allotctl %s: status %d, want %d and '%s'\n# out: %s\n# err: %s", line, o.status, status, text,
			o.out, o.err);
	outcome_free(&o);
}

static int setup(void **state)
{
	struct server *s = server_start(NULL);
	*state = s;
	register_gpus(s->wire, "n1", 2);
	run_pod(s->wire, "a", "n1", 1);
	return 0;
}

static void a_method_call_prints_its_result(void **state)
{
	says(*state, "pod.get uid=a", 0, "\"allocated\"");
	says(*state, "pod.list state=allocated limit=10", 0, "\"a\"");
	says(*state, "pod.reserve pod:='{\"uid\":\"b\"}' request:='[{\"type\":\"gpu\"}]' node=n1", 0, "\"reserved\"");
	says(*state, "pod.release uid=b", 0, "true");
}

static void the_output_of_a_method_is_json(void **state)
{
	struct outcome o = allotctl(*state, "server.info");
	json_t *value = json_loads(o.out, 0, NULL);
	expect_match(value, json_of("{'contract': '1.0'}"));
	json_decref(value);
	outcome_free(&o);
}

static void a_refusal_is_1_with_the_reason_on_standard_error(void **state)
{
	says(*state, "pod.bind uid=nobody node=n1", 1, "not_found");
	says(*state, "pod.reserve pod:='{\"uid\":\"c\"}' request:='[{\"type\":\"gpu\",\"count\":2}]' node=n1", 1, "insufficient");
}

static void bad_usage_is_2(void **state)
{
	says(*state, "pod.destroy", 2, "pod.destroy");
	says(*state, "pod.get colour=red", 2, "colour");
	says(*state, "--nonsense", 2, "nonsense");
	says(*state, "pod.get uid:=notjson", 2, "");
	says(*state, "nodes surplus", 2, "nodes does not take surplus");
	says(*state, "replay --policy tetris", 2, "binpack or spread");
}

static void an_unreachable_server_is_3(void **state)
{
	struct outcome o = shell("\"$ALLOTCTL\" --socket /nonexistent/s server.info");
	assert_int_equal(o.status, 3);
	assert_non_null(strstr(o.err, "/nonexistent/s"));
	assert_string_equal(o.out, "");
	outcome_free(&o);
	o = shell("\"$ALLOTCTL\" --server 127.0.0.1:1 server.info");
	assert_int_equal(o.status, 3);
	outcome_free(&o);
}

static void tables_for_people(void **state)
{
	says(*state, "nodes", 0, "n1");
	says(*state, "devices", 0, "gpu:0");
	says(*state, "pods", 0, "allocated");
	says(*state, "locks", 0, "");
	says(*state, "events", 0, "pod.allocated");
	says(*state, "info", 0, "");
}

static void every_table_as_json(void **state)
{
	static const char *const tables[] = { "nodes", "devices", "pods", "locks", "events", "info" };
	for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
		char line[64];
		(void)snprintf(line, sizeof line, "%s -o json", tables[i]);
		struct outcome o = allotctl(*state, line);
		json_t *value = json_loads(o.out, 0, NULL);
		if (o.status != 0 || !value)
			check_failed("allotctl %s: status %d: %s%s", line, o.status, o.out, o.err);
		json_decref(value);
		outcome_free(&o);
		(void)snprintf(line, sizeof line, "%s -o wide", tables[i]);
		says(*state, line, 0, "");
	}
}

/* Every method of the running server is known to allotctl and documented there. */
static void every_method_has_its_help(void **state)
{
	struct server *s = *state;
	json_t *document = call_result(s->wire, "rpc.discover", NULL), *method;
	size_t i;
	assert_true(json_array_size(json_object_get(document, "methods")) > 25);
	json_array_foreach (json_object_get(document, "methods"), i, method) {
		char line[128];
		(void)snprintf(line, sizeof line, "help %s", json_string_value(json_object_get(method, "name")));
		says(s, line, 0, json_string_value(json_object_get(method, "name")));
	}
	json_decref(document);
}

static void help_and_version(void **state)
{
	says(*state, "--help", 0, "allotctl");
	says(*state, "help", 0, "pod.reserve");
	says(*state, "--version", 0, "allotctl");
	says(*state, "help pod.reserve", 0, "request");
	says(*state, "help help", 0, "pod.reserve");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_method_call_prints_its_result),
		cmocka_unit_test(the_output_of_a_method_is_json),
		cmocka_unit_test(a_refusal_is_1_with_the_reason_on_standard_error),
		cmocka_unit_test(bad_usage_is_2),
		cmocka_unit_test(an_unreachable_server_is_3),
		cmocka_unit_test(tables_for_people),
		cmocka_unit_test(every_table_as_json),
		cmocka_unit_test(every_method_has_its_help),
		cmocka_unit_test(help_and_version),
	};
	return cmocka_run_group_tests(tests, setup, server_teardown);
}

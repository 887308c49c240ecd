/* Plays scenario files on the real server: runner [FILE...], without files those that the pattern
 * $ALLOT_SCENARIOS matches (all of tests/scenarios).
 *
 * A file is an array of {"title", "why"?, "steps": [...]}; each scenario is one test on a fresh server with a manual clock. A step is one of
 *   {"call", "params", "result"?, "as"?}          must succeed with a result that matches; `as` saves it under a name
 *   {"call", "params", "error": slug, "data"?}    must be refused for that reason, with data that matches
 *   {"cluster": {node: {type: n}}}                registers standard devices
 *   {"advance": seconds}                          moves the manual clock
 *   {"restart": "kill" | "term"}                  ends the server and starts it on the same data
 *   {"parallel": [{"call", "params", "times"?}], "outcome": {"ok": n, slug: n}}     all at once, each on a connection of its own
 * In params and expectations "$name.path.0" is a value saved earlier. support/match.h says how values are compared.
 *
 * After the last step server.check must be ok, and after SIGKILL and a start the same pods, devices, nominations and locks be there. */
#include <glob.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/call.h"
#include "support/check.h"
#include "support/cluster.h"
#include "support/match.h"
#include "support/server.h"

/* A scenario being played. */
struct play {
	json_t *steps;
	struct server *server;
	json_t *saved;   /* results by the name of their step's `as` */
	char where[256]; /* the step, for messages */
};

/* ---- saved values */

static json_t *saved_value(const struct play *p, const char *path)
{
	char *words = strdup(path), *rest = NULL;
	json_t *value = json_object_get(p->saved, strtok_r(words, ".", &rest));
	for (char *word; value && (word = strtok_r(NULL, ".", &rest));)
		value = json_is_array(value) ? json_array_get(value, strtoul(word, NULL, 10)) : json_object_get(value, word);
	free(words);
	if (!value)
		check_failed("%s: nothing was saved as %s", p->where, path);
	return json_incref(value);
}

/* A copy of the value with "$name.path" replaced; owned by the caller. */
static json_t *substitute(const struct play *p, json_t *value)
{
	const char *string = json_string_value(value), *key;
	size_t i;
	json_t *member, *copy;
	if (string && string[0] == '$')
		return saved_value(p, string + 1);
	if (json_is_array(value)) {
		copy = json_array();
		json_array_foreach (value, i, member)
			json_array_append_new(copy, substitute(p, member));
		return copy;
	}
	if (!json_is_object(value))
		return json_incref(value);
	copy = json_object();
	json_object_foreach (value, key, member)
		json_object_set_new(copy, key, substitute(p, member));
	return copy;
}

static void must_match(const struct play *p, json_t *want, const json_t *got)
{
	json_t *wish = want ? substitute(p, want) : json_object();
	char *why = match(wish, got);
	if (why)
		check_failed("%s\n#     %s", p->where, why);
	json_decref(wish);
}

/* ---- steps */

static void play_call(struct play *p, json_t *step, const char *method)
{
	const char *reason = json_string_value(json_object_get(step, "error")),
		   *as = json_string_value(json_object_get(step, "as"));
	json_t *params = json_object_get(step, "params");
	json_t *answer = call(p->server->wire, method, params ? substitute(p, params) : NULL);
	json_t *result = json_object_get(answer, "result"), *data = json_object_get(json_object_get(answer, "error"), "data");
	char *text = json_dumps(answer, 0);
	if (strcmp(answer_reason(answer), reason ? reason : "ok") != 0)
		check_failed("%s\n#     want %s, got %.3000s", p->where, reason ? reason : "a result", text);
	if (reason)
		must_match(p, json_object_get(step, "data"), data);
	else
		must_match(p, json_object_get(step, "result"), result);
	if (as)
		json_object_set(p->saved, as, result);
	free(text);
	json_decref(answer);
}

static void play_cluster(struct play *p, json_t *cluster)
{
	const char *node, *type;
	json_t *types, *count;
	json_object_foreach (cluster, node, types) {
		json_t *devices = json_array();
		json_object_foreach (types, type, count)
			for (int i = 0, n = (int)json_integer_value(count); i < n; i++)
				json_array_append_new(devices, standard_device(node, type, n, i));
		json_decref(
			call_result(p->server->wire, "node.register", json_pack("{s:s, s:o}", "node", node, "devices", devices)));
	}
}

/* The calls of a parallel step, each as often as it says. */
static json_t *parallel_calls(const struct play *p, json_t *list)
{
	json_t *calls = json_array(), *one;
	size_t i;
	json_array_foreach (list, i, one) {
		const json_t *times = json_object_get(one, "times");
		json_t *params = substitute(p, json_object_get(one, "params"));
		for (json_int_t n = times ? json_integer_value(times) : 1; n > 0; n--)
			json_array_append_new(
				calls, json_pack("{s:O, s:O}", "call", json_object_get(one, "call"), "params", params));
		json_decref(params);
	}
	return calls;
}

static void play_parallel(struct play *p, json_t *step)
{
	json_t *calls = parallel_calls(p, json_object_get(step, "parallel")), *outcome = json_object();
	size_t n = json_array_size(calls);
	struct wire **wires = calloc(n, sizeof(struct wire *));
	for (size_t i = 0; i < n; i++)
		wires[i] = wire_open(p->server->socket);
	for (size_t i = 0; i < n; i++) {
		json_t *one = json_array_get(calls, i);
		call_send(wires[i], json_string_value(json_object_get(one, "call")), json_incref(json_object_get(one, "params")));
	}
	for (size_t i = 0; i < n; i++) {
		json_t *answer = call_receive(wires[i], wires[i]->next_id);
		const char *reason = answer_reason(answer);
		json_int_t before = json_integer_value(json_object_get(outcome, reason));
		json_object_set_new(outcome, reason, json_integer(before + 1));
		json_decref(answer);
		wire_close(wires[i]);
	}
	free(wires);
	if (!json_equal(outcome, json_object_get(step, "outcome")))
		check_failed("%s\n#     got %s", p->where, json_dumps(outcome, JSON_SORT_KEYS));
	json_decref(outcome);
	json_decref(calls);
}

static void play_step(struct play *p, json_t *step)
{
	const char *method = json_string_value(json_object_get(step, "call"));
	const char *restart = json_string_value(json_object_get(step, "restart"));
	json_t *cluster = json_object_get(step, "cluster"), *advance = json_object_get(step, "advance");
	if (cluster)
		play_cluster(p, cluster);
	else if (advance)
		json_decref(call_result(p->server->wire, "clock.advance", json_pack("{s:O}", "seconds", advance)));
	else if (restart)
		server_restart(p->server, strcmp(restart, "kill") == 0 ? SIGKILL : SIGTERM);
	else if (json_object_get(step, "parallel"))
		play_parallel(p, step);
	else if (method)
		play_call(p, step, method);
	else
		check_failed("%s: this is no step", p->where);
}

/* ---- after the last step */

static json_t *list_of(struct wire *w, const char *method, const char *member)
{
	json_t *result = call_result(w, method, NULL), *list = json_incref(json_object_get(result, member)), *one;
	size_t i;
	json_decref(result);
	json_array_foreach (list, i, one)
		json_object_del(one, "existing");
	return list;
}

static json_t *state_of(struct wire *w)
{
	return json_pack("{s:o, s:o, s:o, s:o}", "pods", list_of(w, "pod.list", "pods"), "devices",
		list_of(w, "device.list", "devices"), "nominations", list_of(w, "nomination.list", "nominations"), "locks",
		list_of(w, "lock.list", "locks"));
}

static void finish(struct play *p)
{
	expect(p->server->wire, "server.check", NULL, json_of("{'ok': true}"));
	json_t *before = state_of(p->server->wire);
	server_restart(p->server, SIGKILL);
	json_t *after = state_of(p->server->wire);
	if (!json_equal(before, after))
		check_failed("the state changed across kill -9 and start:\n# before %s\n# after  %s",
			json_dumps(before, JSON_SORT_KEYS), json_dumps(after, JSON_SORT_KEYS));
	json_decref(before);
	json_decref(after);
}

/* ---- scenarios as tests */

static void play_scenario(void **state)
{
	struct play *p = *state;
	json_t *step;
	size_t i;
	static char guard[] = "--guard";
	static char *const arguments[] = { guard, NULL };
	p->server = server_start(arguments);
	json_array_foreach (p->steps, i, step) {
		char *text = json_dumps(step, 0);
		(void)snprintf(p->where, sizeof p->where, "step %zu %.200s", i + 1, text);
		free(text);
		play_step(p, step);
	}
	finish(p);
}

static int end_scenario(void **state)
{
	struct play *p = *state;
	server_stop(p->server);
	p->server = NULL;
	return 0;
}

struct tests {
	struct CMUnitTest *all;
	size_t n;
};

static void add_scenario(struct tests *tests, const char *file, json_t *scenario)
{
	struct play *p = calloc(1, sizeof *p);
	char *name = NULL;
	const char *base = strrchr(file, '/') ? strrchr(file, '/') + 1 : file;
	if (!p || asprintf(&name, "%s: %s", base, json_string_value(json_object_get(scenario, "title"))) < 0)
		abort();
	p->steps = json_incref(json_object_get(scenario, "steps"));
	p->saved = json_object();
	tests->all = realloc(tests->all, (tests->n + 1) * sizeof *tests->all);
	tests->all[tests->n++] = (struct CMUnitTest){ name, play_scenario, NULL, end_scenario, p };
}

static void add_file(struct tests *tests, const char *file)
{
	json_error_t error;
	json_t *scenarios = json_load_file(file, JSON_REJECT_DUPLICATES, &error), *one;
	size_t i;
	if (!json_is_array(scenarios)) {
		fprintf(stderr, "%s:%d: %s\n", file, error.line, error.text);
		exit(1);
	}
	json_array_foreach (scenarios, i, one)
		add_scenario(tests, file, one);
	json_decref(scenarios);
}

static void add_all_files(struct tests *tests)
{
	const char *pattern = getenv("ALLOT_SCENARIOS");
	glob_t found;
	if (glob(pattern ? pattern : "tests/scenarios/*.json", 0, NULL, &found) != 0) {
		fprintf(stderr, "no scenario files here\n");
		exit(1);
	}
	for (size_t i = 0; i < found.gl_pathc; i++)
		add_file(tests, found.gl_pathv[i]);
	globfree(&found);
}

static void free_tests(struct tests *tests)
{
	for (size_t i = 0; i < tests->n; i++) {
		struct play *p = tests->all[i].initial_state;
		json_decref(p->saved);
		json_decref(p->steps);
		free(p);
		free((void *)(uintptr_t)tests->all[i].name);
	}
	free(tests->all);
}

int main(int argc, char **argv)
{
	struct tests tests = { 0 };
	for (int i = 1; i < argc; i++)
		add_file(&tests, argv[i]);
	if (argc == 1)
		add_all_files(&tests);
	int failed = _cmocka_run_group_tests("scenarios", tests.all, tests.n, NULL, NULL);
	free_tests(&tests);
	return failed ? 1 : 0;
}

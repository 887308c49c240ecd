/* The emergency commands of docs/operations.md, in the real sqlite3 shell, beside the running server: each is noticed within a second, told
 * as an event, and leaves nothing that server.check would find. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "support/call.h"
#include "support/check.h"
#include "support/cluster.h"
#include "support/program.h"
#include "support/server.h"

/* "a" holds a whole GPU and runs, "b" is bound to n1 with a share of the other, "c" is nominated to n1 over "a". */
static int setup(void **state)
{
	struct server *s = server_start(NULL);
	*state = s;
	register_gpus(s->wire, "n1", 2);
	run_pod(s->wire, "a", "n1", 1);
	json_decref(call_result(s->wire, "pod.reserve",
		json_of("{'pod': {'uid': 'b'}, 'node': 'n1', 'request': [{'type': 'gpu', 'resources': {'core': 60}}]}")));
	json_decref(call_result(s->wire, "pod.bind", json_of("{'uid': 'b', 'node': 'n1'}")));
	json_decref(call_result(s->wire, "pod.nominate",
		json_of("{'pod': {'uid': 'c', 'priority': 10}, 'node': 'n1', 'victims': ['a'],"
			" 'request': [{'type': 'gpu'}]}")));
	return 0;
}

/* Runs SQL in the shell; it must succeed. */
static void hand(const struct server *s, const char *sql)
{
	struct outcome o = shell("sqlite3 -cmd '.timeout 5000' '%s/allotd.db' \"%s\"", s->data, sql);
	if (o.status != 0)
		check_failed("%s: %s", sql, o.err);
	outcome_free(&o);
}

/* Waits for an event that matches, after `revision`, within a second; more when the server is instrumented. */
static void told(struct server *s, int64_t revision, const char *kind, const char *what)
{
	int64_t start = check_now();
	for (;;) {
		json_t *page = call_result(s->wire, "event.list", json_of("{'after': %lld}", (long long)revision)), *event;
		size_t i;
		bool found = false;
		json_array_foreach (json_object_get(page, "events"), i, event) {
			const char *cause = json_string_value(json_object_get(json_object_get(event, "data"), "cause"));
			assert_null(json_object_get(json_object_get(event, "data"), "unclaimed"));
			found |= strcmp(json_string_value(json_object_get(event, "kind")), kind) == 0 && cause &&
				 strcmp(cause, "external") == 0;
		}
		json_decref(page);
		if (found)
			break;
		if (check_now() - start > (check_instrumented() ? 20000 : 1000))
			check_failed("no %s after %s", kind, what);
		check_sleep(10);
	}
	expect(s->wire, "server.check", NULL, json_of("{'ok': true, 'violations': []}"));
}

static void commands(void **state)
{
	static const struct {
		const char *sql, *kind;
	} all[] = {
		{ "DELETE FROM nomination WHERE uid = 'c'", "nomination.cleared" },
		{ "UPDATE node SET cordoned = 1, reason = 'smoke' WHERE name = 'n1'", "node.cordoned" },
		{ "UPDATE node SET cordoned = 0, reason = '' WHERE name = 'n1'", "node.uncordoned" },
		{ "UPDATE device SET healthy = 0, reason = 'Xid 79' WHERE uuid = 'n1-gpu-1'", "device.updated" },
		{ "UPDATE device SET healthy = 1, reason = '' WHERE uuid = 'n1-gpu-1'", "device.updated" },
		{ "DELETE FROM allocation WHERE uid = 'b'", "pod.released" },
		{ "DELETE FROM allocation WHERE uid IN (SELECT uid FROM v_pod WHERE node = 'n1')", "pod.released" },
	};
	struct server *s = *state;
	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		int64_t revision = revision_of(s->wire);
		hand(s, all[i].sql);
		told(s, revision, all[i].kind, all[i].sql);
	}
	expect(s->wire, "pod.list", NULL, json_of("{'pods': []}"));
	expect(s->wire, "lock.list", NULL, json_of("{'locks': []}"));
	expect(s->wire, "device.list", json_of("{'uuid': 'n1-gpu-0'}"),
		json_of("{'devices': [{'holders': [], 'used': {'core': 0}}]}"));
	json_decref(call_result(s->wire, "pod.reserve", whole_gpus("d", "n1", 2)));
	server_restart(s, SIGKILL);
	expect(s->wire, "server.check", NULL, json_of("{'ok': true}"));
	expect(s->wire, "pod.list", NULL, json_of("{'pods': [{'pod': {'uid': 'd'}}]}"));
}

/* What a method would have seen to is seen to: a victim that left is none any more, a promise that cannot be kept is taken back. */
static void what_follows(void **state)
{
	struct server *s = *state;
	int64_t revision = revision_of(s->wire);
	hand(s, "DELETE FROM allocation WHERE uid = 'a'");
	told(s, revision, "pod.released", "the delete");
	expect(s->wire, "nomination.list", NULL, json_of("{'nominations': [{'pod': {'uid': 'c'}, 'victims': []}]}"));
	revision = revision_of(s->wire);
	hand(s, "UPDATE node SET cordoned = 1 WHERE name = 'n1'");
	told(s, revision, "nomination.invalidated", "the cordon");
	expect(s->wire, "nomination.list", NULL, json_of("{'nominations': []}"));
	/* The same while nobody is there to see it. */
	json_decref(call_result(s->wire, "node.uncordon", json_of("{'node': 'n1'}")));
	json_decref(call_result(
		s->wire, "pod.nominate", json_of("{'pod': {'uid': 'c'}, 'node': 'n1', 'request': [{'type': 'gpu'}]}")));
	(void)server_end(s, SIGTERM);
	hand(s, "UPDATE node SET cordoned = 1 WHERE name = 'n1'");
	server_continue(s);
	expect(s->wire, "server.check", NULL, json_of("{'ok': true}"));
	expect(s->wire, "nomination.list", NULL, json_of("{'nominations': []}"));
}

/* History knows of it like of everything else, and so do the views. */
static void history_knows(void **state)
{
	struct server *s = *state;
	int64_t before = revision_of(s->wire);
	hand(s, "DELETE FROM allocation WHERE uid = 'a'");
	told(s, before, "pod.released", "the delete");
	expect(s->wire, "device.history", json_of("{'uuid': 'n1-gpu-0', 'at_revision': %lld}", (long long)before),
		json_of("{'holders': [{'uid': 'a', 'state': 'allocated'}]}"));
	expect(s->wire, "device.history", json_of("{'uuid': 'n1-gpu-0', 'at_revision': %lld}", (long long)revision_of(s->wire)),
		json_of("{'holders': []}"));
	struct outcome o = shell(
		"sqlite3 -readonly '%s/allotd.db' \"SELECT kind, uid, held, minor, actor FROM v_device_history "
		"WHERE uuid = 'n1-gpu-0'"
		" AND uid = 'a' ORDER BY revision DESC LIMIT 1; SELECT count(*) FROM v_restore\"",
		s->data);
	assert_string_equal(o.out, "pod.released|a|0|0|server\n0\n");
	outcome_free(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(commands, setup, server_teardown),
		cmocka_unit_test_setup_teardown(what_follows, setup, server_teardown),
		cmocka_unit_test_setup_teardown(history_knows, setup, server_teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

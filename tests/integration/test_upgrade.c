/* Databases of earlier versions, kept as SQL in version_N.sql: the server of today starts on each, has all that was in it, and its schema is
 * then that of a new database. (Starts that are killed on the way: tests/unit/store/test_migrate.c.) */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "support/call.h"
#include "support/check.h"
#include "support/cluster.h"
#include "support/program.h"
#include "support/server.h"

/* A server that has ended, on a database made of the file. */
static struct server *server_of_version(int version)
{
	struct server *s = server_start(NULL);
	(void)server_end(s, SIGTERM);
	struct outcome o = shell(
		"rm -f '%s'/allotd.db* '%s'/allotd.highwater && sqlite3 '%s/allotd.db' <tests/integration/version_%d.sql",
		s->data, s->data, s->data, version);
	if (o.status != 0)
		check_failed("version %d: %s", version, o.err);
	outcome_free(&o);
	return s;
}

/* The shell may have to roll back or recover what was cut off. */
static char *ask(const struct server *s, const char *sql)
{
	struct outcome o = shell("sqlite3 '%s/allotd.db' \"%s\"", s->data, sql);
	if (o.status != 0)
		check_failed("%s: %s", sql, o.err);
	char *said = o.out;
	o.out = NULL;
	outcome_free(&o);
	return said;
}

static void has_everything_of_version_1(struct wire *w)
{
	expect(w, "server.info", NULL,
		json_of("{'revision': 21, 'epoch': 1, 'db_id': '0e0bd263ed529157230344568cd0e7f4',"
			" 'counts': {'nodes': 2, 'devices': 8, 'allocations': 4, 'nominations': 1, 'locks': 2, 'lapses': 1, "
			"'refusals': 1}}"));
	expect(w, "server.check", NULL, json_of("{'ok': true, 'violations': []}"));
	expect(w, "pod.get", json_of("{'uid': 'allocated'}"),
		json_of("{'allocation': {'state': 'allocated', 'pod': {'namespace': 'ns', 'name': 'train', 'priority': 5}, "
			"'preempted_by': 'nominated',"
			" 'devices': [{'uuid': 'n1-gpu-0', 'whole': true}, {'uuid': 'n1-gpu-1'}]}}"));
	expect(w, "pod.get", json_of("{'uid': 'bound'}"),
		json_of("{'allocation': {'state': 'bound', 'pod': {'gang': 'g'}, 'devices': {'$count': 2}}}"));
	expect(w, "pod.get", json_of("{'uid': 'reserved'}"), json_of("{'allocation': {'state': 'reserved'}}"));
	expect(w, "pod.get", json_of("{'uid': 'releasing'}"), json_of("{'allocation': {'state': 'releasing', 'node': 'n2'}}"));
	expect(w, "pod.get", json_of("{'uid': 'lapsed'}"), json_of("{'lapses': [{'node': 'n2'}]}"));
	expect(w, "pod.get", json_of("{'uid': 'nominated'}"), json_of("{'nomination': {'victims': ['allocated']}}"));
	expect(w, "pod.get", json_of("{'uid': 'refused'}"), json_of("{'refusal': {'count': 1}}"));
	expect(w, "device.list", json_of("{'uuid': 'n2-gpu-3'}"),
		json_of("{'devices': [{'healthy': false, 'reason': 'Xid 79', 'labels': {'slot': '3'}}]}"));
	expect(w, "event.list", json_of("{'limit': 5000}"), json_of("{'last': 21}"));
	expect(w, "plugin.allocate", json_of("{'node': 'n1', 'call': 'first'}"), json_of("{'pod': {'uid': 'allocated'}}"));
}

static void version_1(void **state)
{
	struct server *s = *state = server_of_version(1);
	server_continue(s);
	has_everything_of_version_1(s->wire);
	/* A backup checks the schema to the letter. */
	expect(s->wire, "backup.create", json_of("{'name': 'after'}"), json_of("{'revision': 21}"));
	server_restart(s, SIGKILL);
	has_everything_of_version_1(s->wire);
	char *version = ask(s, "PRAGMA user_version"),
	     *views = ask(s, "SELECT count(*) > 5 FROM v_device_history; SELECT count(*) FROM v_restore");
	assert_true(atoi(version) > 1);
	assert_string_equal(views, "1\n0\n");
	free(version);
	free(views);
	/* Life goes on. */
	expect(s->wire, "plugin.allocate", json_of("{'node': 'n1', 'uid': 'bound', 'container': 'a', 'type': 'gpu'}"),
		json_of("{'remaining': 1}"));
	expect(s->wire, "plugin.allocate", json_of("{'node': 'n1', 'uid': 'bound'}"), json_of("{'state': 'allocated'}"));
	json_decref(call_result(s->wire, "pod.release", json_of("{'uid': 'allocated'}")));
	json_decref(call_result(
		s->wire, "pod.reserve", json_of("{'pod': {'uid': 'nominated', 'priority': 10}, 'request': [{'type': 'gpu'}]}")));
	expect(s->wire, "server.check", NULL, json_of("{'ok': true}"));
}

/* Killed again and again while it starts, the server brings it about in the end. */
static void killed_while_it_starts(void **state)
{
	struct server *s = *state = server_of_version(1);
	for (int i = 0; i < 12; i++) {
		server_launch(s);
		check_sleep(i * 2);
		(void)server_end(s, SIGKILL);
		char *version = ask(s, "PRAGMA integrity_check; PRAGMA user_version");
		assert_memory_equal(version, "ok\n", 3);
		free(version);
	}
	server_continue(s);
	has_everything_of_version_1(s->wire);
}

static int stop(void **state)
{
	server_stop(*state);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(version_1, stop),
		cmocka_unit_test_teardown(killed_while_it_starts, stop),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

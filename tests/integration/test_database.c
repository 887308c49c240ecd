/* The database beside the running server: people read it through views, the database refuses what would break an invariant, and the
 * server takes over what a hand in the sqlite3 shell changed. */
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/call.h"
#include "support/check.h"
#include "support/cluster.h"
#include "support/program.h"
#include "support/server.h"

/* Opens the server's database as the sqlite3 shell does: no pragma set, foreign keys off. */
static sqlite3 *open_database(const struct server *s, int flags)
{
	char path[256];
	sqlite3 *db;
	(void)snprintf(path, sizeof path, "%s/allotd.db", s->data);
	if (sqlite3_open_v2(path, &db, flags, NULL) != SQLITE_OK)
		check_failed("%s: %s", path, sqlite3_errmsg(db));
	(void)sqlite3_busy_timeout(db, 5000);
	return db;
}

/* The first column of the first row; -1 when there is no row. */
static int64_t number(sqlite3 *db, const char *sql)
{
	sqlite3_stmt *statement;
	if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK)
		check_failed("%s: %s", sql, sqlite3_errmsg(db));
	int rc = sqlite3_step(statement);
	if (rc != SQLITE_ROW && rc != SQLITE_DONE)
		check_failed("%s: %s", sql, sqlite3_errmsg(db));
	int64_t value = rc == SQLITE_ROW ? sqlite3_column_int64(statement, 0) : -1;
	(void)sqlite3_finalize(statement);
	return value;
}

/* n1 with two GPUs: "a" holds the first whole and runs, "b" has 60 cores of the second and is bound; n2 with one. */
static int setup(void **state)
{
	struct server *s = server_start(NULL);
	*state = s;
	register_gpus(s->wire, "n1", 2);
	register_gpus(s->wire, "n2", 1);
	run_pod(s->wire, "a", "n1", 1);
	json_decref(call_result(s->wire, "pod.reserve",
		json_of("{'pod': {'uid': 'b'}, 'node': 'n1', 'request': [{'type': 'gpu', 'resources': {'core': 60}}]}")));
	json_decref(call_result(s->wire, "pod.bind", json_of("{'uid': 'b', 'node': 'n1'}")));
	return 0;
}

static void views_read_while_the_server_runs(void **state)
{
	struct server *s = *state;
	sqlite3 *db = open_database(s, SQLITE_OPEN_READONLY);
	assert_int_equal(number(db, "SELECT count(*) FROM v_node"), 2);
	assert_true(number(db, "SELECT count(*) FROM v_device") >= 3);
	assert_int_equal(number(db, "SELECT count(*) FROM v_pod WHERE uid IN ('a', 'b')"), 2);
	assert_int_equal(number(db, "SELECT count(*) FROM v_lock"), 1);
	assert_true(number(db, "SELECT count(*) FROM v_event") > 5);
	json_decref(call_result(s->wire, "pod.release", json_of("{'uid': 'a'}")));
	assert_int_equal(number(db, "SELECT count(*) FROM v_pod WHERE uid = 'a'"), 0);
	(void)sqlite3_close(db);
}

static void times_in_views_are_for_people(void **state)
{
	struct server *s = *state;
	struct outcome o = shell(
		"sqlite3 -readonly -header %s/allotd.db 'SELECT * FROM v_event LIMIT 3; SELECT * FROM v_lock'", s->data);
	assert_int_equal(o.status, 0);
	if (!strstr(o.out, "-") || !strstr(o.out, ":"))
		check_failed("%s", o.out);
	outcome_free(&o);
}

#define USAGE "INSERT OR REPLACE INTO usage (device_id, allocation_id, claim, resource, amount, whole, minor, place) "
#define ALLOCATION                                                                                                            \
	"INSERT OR REPLACE INTO allocation (id, uid, namespace, name, gang, priority, preemptible, external, over, node_id, " \
	"state, "                                                                                                             \
	"handed_out, created_at, state_at, expires_at, token, revision, request) "

/* What no hand may do. Each is tried with foreign keys off and on. */
static const char *const forbidden[] = {
	/* 1: more than there is */
	"UPDATE usage SET amount = amount + 50 WHERE resource = 'core' AND NOT whole",
	USAGE
	"SELECT device_id, allocation_id, claim, resource, 101, whole, minor, place FROM usage WHERE resource = 'core' AND "
	"NOT whole",
	USAGE
	"SELECT u.device_id, a.id, 9, 'core', 50, 0, u.minor, 9 FROM usage u, allocation a WHERE u.resource = 'core' AND "
	"NOT u.whole AND a.uid = 'b'",
	/* a device of another node */
	USAGE "SELECT d.id, a.id, 9, 'core', 1, 0, 0, 9 FROM device d, allocation a WHERE d.uuid = 'n2-gpu-0' AND a.uid = 'b'",
	/* 2: somebody on a device that is held whole, or whole where somebody is */
	USAGE
	"SELECT u.device_id, b.id, 9, 'core', 0, 0, u.minor, 9 FROM usage u, allocation b WHERE u.whole AND u.resource = "
	"'' AND b.uid = 'b'",
	USAGE
	"SELECT u.device_id, a.id, 9, 'core', 10, 1, u.minor, 9 FROM usage u, allocation a WHERE NOT u.whole AND "
	"u.resource = '' AND a.uid = 'a'",
	/* 3: a second allocation of a pod, another lock of the node, a bound pod without its lock */
	ALLOCATION
	"SELECT 99999, uid, namespace, name, gang, priority, preemptible, external, over, node_id, state, handed_out, "
	"created_at, "
	"state_at, expires_at, token, revision, request FROM allocation WHERE uid = 'a'",
	"UPDATE allocation SET uid = 'a' WHERE uid = 'b'",
	"INSERT OR REPLACE INTO lock (node_id, uid, token, acquired_at, expires_at) SELECT node_id, 'x', 99999, 1, 2 FROM lock",
	"INSERT INTO lock (node_id, uid, token, acquired_at, expires_at) SELECT node_id, 'x', 99999, 1, 2 FROM lock",
	"UPDATE lock SET uid = 'x'",
	"DELETE FROM lock",
	/* a device or node that is in use */
	"DELETE FROM device WHERE uuid = 'n1-gpu-0'",
	"DELETE FROM node WHERE name = 'n1'",
	/* what is held does not move */
	"UPDATE usage SET device_id = (SELECT id FROM device WHERE uuid = 'n2-gpu-0') WHERE whole",
	"UPDATE OR REPLACE usage SET allocation_id = (SELECT id FROM allocation WHERE uid = 'b') WHERE whole",
};

static void forbidden_writes_fail_in_the_shell(void **state)
{
	struct server *s = *state;
	for (int running = 1; running >= 0; running--) {
		sqlite3 *db = open_database(s, SQLITE_OPEN_READWRITE);
		for (size_t i = 0; i < sizeof forbidden / sizeof forbidden[0]; i++)
			for (int keys = 0; keys <= 1; keys++) {
				(void)sqlite3_exec(
					db, keys ? "PRAGMA foreign_keys = ON" : "PRAGMA foreign_keys = OFF", NULL, NULL, NULL);
				int rc = sqlite3_exec(db, forbidden[i], NULL, NULL, NULL);
				if (rc == SQLITE_OK || (rc & 255) != SQLITE_CONSTRAINT)
					check_failed(
						"%s: %s", forbidden[i], rc == SQLITE_OK ? "was accepted" : sqlite3_errmsg(db));
			}
		(void)sqlite3_close(db);
		if (running)
			expect(s->wire, "server.check", NULL, json_of("{'ok': true}"));
		if (running)
			assert_int_equal(server_end(s, SIGTERM), 0);
	}
	server_continue(s);
	expect(s->wire, "server.check", NULL, json_of("{'ok': true}"));
}

/* Waits until `method` with `params` has a result in which `member` is absent. */
static void wait_until_absent(struct server *s, const char *uid)
{
	int64_t start = check_now();
	for (;;) {
		json_t *pod = call_result(s->wire, "pod.get", json_of("{'uid': '%s'}", uid));
		bool gone = !json_object_get(pod, "allocation");
		json_decref(pod);
		if (gone)
			break;
		if (check_now() - start > (check_instrumented() ? 20000 : 2000))
			check_failed("the deleted allocation is still there after %lld ms", (long long)(check_now() - start));
		check_sleep(20);
	}
	print_message("# noticed after %lld ms\n", (long long)(check_now() - start));
}

static void an_emergency_delete_is_taken_over_within_a_second(void **state)
{
	struct server *s = *state;
	int64_t revision = revision_of(s->wire);
	sqlite3 *db = open_database(s, SQLITE_OPEN_READWRITE);
	if (sqlite3_exec(db, "DELETE FROM allocation WHERE uid = 'a'", NULL, NULL, NULL) != SQLITE_OK)
		check_failed("%s", sqlite3_errmsg(db));
	(void)sqlite3_close(db);
	wait_until_absent(s, "a");
	expect(s->wire, "event.list", json_of("{'after': %lld, 'uid': 'a'}", (long long)revision),
		json_of("{'events': [{'kind': 'pod.released', 'data': {'cause': 'external'}}]}"));
	expect(s->wire, "device.list", json_of("{'uuid': 'n1-gpu-0'}"),
		json_of("{'devices': [{'used': {'core': 0}, 'holders': []}]}"));
	expect(s->wire, "server.check", NULL, json_of("{'ok': true}"));
	json_decref(call_result(s->wire, "pod.reserve", whole_gpus("c", "n1", 1)));
	server_restart(s, SIGKILL);
	expect(s->wire, "server.check", NULL, json_of("{'ok': true}"));
}

/* The change from outside is noticed by the call that comes next, however soon. */
static void a_call_right_after_the_delete_sees_it(void **state)
{
	struct server *s = *state;
	sqlite3 *db = open_database(s, SQLITE_OPEN_READWRITE);
	assert_int_equal(sqlite3_exec(db, "DELETE FROM allocation WHERE uid = 'a'", NULL, NULL, NULL), SQLITE_OK);
	(void)sqlite3_close(db);
	expect(s->wire, "pod.reserve", whole_gpus("n", "n1", 1), json_of("{'devices': [{'minor': 0}]}"));
	expect(s->wire, "server.check", NULL, json_of("{'ok': true}"));
}

static void an_external_checkpoint_or_vacuum_makes_no_event(void **state)
{
	struct server *s = *state;
	int64_t revision = revision_of(s->wire);
	sqlite3 *db = open_database(s, SQLITE_OPEN_READWRITE);
	(void)sqlite3_exec(db, "PRAGMA wal_checkpoint(PASSIVE); VACUUM;", NULL, NULL, NULL);
	(void)sqlite3_close(db);
	check_sleep(1200);
	expect(s->wire, "server.info", NULL, json_of("{'revision': %lld}", (long long)revision));
	expect(s->wire, "server.check", NULL, json_of("{'ok': true}"));
}

/* A hand that keeps the write lock for a while delays answers and loses none. */
static void a_writer_that_holds_the_database_delays_only(void **state)
{
	struct server *s = *state;
	sqlite3 *db = open_database(s, SQLITE_OPEN_READWRITE);
	assert_int_equal(sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
	int64_t id = call_send(s->wire, "pod.reserve", whole_gpus("d", "n2", 1));
	assert_true(wire_silent(s->wire, 300));
	/* what is not durable is not shown to others either, nor is a refusal because of it */
	struct wire *reader = wire_open(s->socket), *rival = wire_open(s->socket);
	int64_t get = call_send(reader, "pod.get", json_of("{'uid': 'd'}"));
	int64_t reserve = call_send(rival, "pod.reserve", whole_gpus("e", "n2", 1));
	assert_true(wire_silent(reader, 200) && wire_silent(rival, 0));
	assert_int_equal(sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL), SQLITE_OK);
	json_t *answer = call_receive(s->wire, id);
	assert_string_equal(answer_reason(answer), "ok");
	json_decref(answer);
	answer = call_receive(reader, get);
	expect_match(answer, json_of("{'result': {'allocation': {'state': 'reserved'}}}"));
	json_decref(answer);
	answer = call_receive(rival, reserve);
	assert_string_equal(answer_reason(answer), "insufficient");
	json_decref(answer);
	wire_close(reader);
	wire_close(rival);
	(void)sqlite3_close(db);
	expect(s->wire, "server.check", NULL, json_of("{'ok': true}"));
}

/* What was written with the server stopped is simply the state it starts with. */
static void a_delete_while_stopped_is_the_state_at_the_start(void **state)
{
	struct server *s = *state;
	assert_int_equal(server_end(s, SIGTERM), 0);
	sqlite3 *db = open_database(s, SQLITE_OPEN_READWRITE);
	assert_int_equal(sqlite3_exec(db, "DELETE FROM allocation WHERE uid = 'a'", NULL, NULL, NULL), SQLITE_OK);
	(void)sqlite3_close(db);
	server_continue(s);
	expect(s->wire, "pod.get", json_of("{'uid': 'a'}"), json_of("{'allocation': {'$absent': true}}"));
	expect(s->wire, "server.check", NULL, json_of("{'ok': true}"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(views_read_while_the_server_runs, setup, server_teardown),
		cmocka_unit_test_setup_teardown(times_in_views_are_for_people, setup, server_teardown),
		cmocka_unit_test_setup_teardown(forbidden_writes_fail_in_the_shell, setup, server_teardown),
		cmocka_unit_test_setup_teardown(an_emergency_delete_is_taken_over_within_a_second, setup, server_teardown),
		cmocka_unit_test_setup_teardown(a_call_right_after_the_delete_sees_it, setup, server_teardown),
		cmocka_unit_test_setup_teardown(an_external_checkpoint_or_vacuum_makes_no_event, setup, server_teardown),
		cmocka_unit_test_setup_teardown(a_writer_that_holds_the_database_delays_only, setup, server_teardown),
		cmocka_unit_test_setup_teardown(a_delete_while_stopped_is_the_state_at_the_start, setup, server_teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* A hand in the sqlite3 shell while many clients write: what would break an invariant is refused by the database, an emergency release is taken
 * over within a second and told as an event, nobody's call fails, and memory and database stay the same. */
#include <poll.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client.h"
#include "support/call.h"
#include "support/check.h"
#include "support/cluster.h"
#include "support/server.h"

enum { CLIENTS = 16, WINDOW = 4, PODS = 24, NOTICED_MS = 1000 };

struct outside {
	struct server *server;
	struct client *clients[CLIENTS];
	sqlite3 *db;     /* as the sqlite3 shell opens it: foreign keys off */
	int64_t after;   /* history was read up to here */
	int64_t slowest; /* ms until a release was told */
	size_t answered;
};

static void run_hand_pod(struct outside *o, int i)
{
	char uid[16];
	(void)snprintf(uid, sizeof uid, "hand%d", i);
	run_pod(o->server->wire, uid, "hand", 1);
}

static int setup(void **state)
{
	struct outside *o = calloc(1, sizeof *o);
	char path[512];
	if (!o)
		abort();
	*state = o;
	o->server = server_start(NULL);
	register_gpus(o->server->wire, "hand", PODS);
	for (int i = 0; i < PODS; i++)
		run_hand_pod(o, i);
	for (int i = 0; i < CLIENTS; i++) {
		char node[16];
		(void)snprintf(node, sizeof node, "c%d", i);
		register_gpus(o->server->wire, node, CLIENT_DEVICES);
		o->clients[i] = client_new(i, (unsigned)i + 1);
		client_connect(o->clients[i], o->server->socket);
	}
	(void)snprintf(path, sizeof path, "%s/allotd.db", o->server->data);
	if (sqlite3_open(path, &o->db) != SQLITE_OK)
		check_failed("%s: %s", path, sqlite3_errmsg(o->db));
	(void)sqlite3_busy_timeout(o->db, 5000);
	return 0;
}

static int teardown(void **state)
{
	struct outside *o = *state;
	(void)sqlite3_close(o->db);
	for (int i = 0; i < CLIENTS; i++)
		client_free(o->clients[i]);
	server_stop(o->server);
	free(o);
	return 0;
}

/* Everybody takes what has come and sends on. */
static void work(struct outside *o)
{
	for (int i = 0; i < CLIENTS; i++)
		if (!client_receive(o->clients[i]) || !client_send(o->clients[i], WINDOW))
			check_failed("the server closed the connection of client %d", i);
}

static void work_for(struct outside *o, int ms)
{
	for (int64_t end = check_now() + ms; check_now() < end; check_sleep(1))
		work(o);
}

static void hand_may(struct outside *o, const char *sql)
{
	char *why = NULL;
	if (sqlite3_exec(o->db, sql, NULL, NULL, &why) != SQLITE_OK)
		check_failed("%s: %s", sql, why);
}

static void hand_may_not(struct outside *o, const char *sql)
{
	char *why = NULL;
	int rc = sqlite3_exec(o->db, sql, NULL, NULL, &why);
	if (rc != SQLITE_CONSTRAINT)
		check_failed("%s: code %d, %s", sql, rc, why ? why : "");
	sqlite3_free(why);
	(void)sqlite3_exec(o->db, "ROLLBACK", NULL, NULL, NULL);
}

static void try_what_is_forbidden(struct outside *o)
{
	static const char history_rewritten[] =
		"INSERT OR REPLACE INTO event SELECT id, revision, n, at, 'x', node, uid, actor, data FROM event LIMIT 1";
	static const char *const forbidden[] = {
		/* the devices of one pod for another one */
		"INSERT OR REPLACE INTO usage SELECT u.device_id, (SELECT id FROM allocation WHERE uid = 'hand0'), 7, "
		"u.resource, u.amount, 1, 9, 0"
		" FROM usage AS u JOIN allocation AS a ON a.id = u.allocation_id WHERE a.uid = 'hand1' ORDER BY u.resource",
		"UPDATE OR REPLACE allocation SET uid = 'hand0' WHERE uid = 'hand1'",
		"DELETE FROM usage WHERE allocation_id = (SELECT id FROM allocation WHERE uid = 'hand1')",
		"DELETE FROM device WHERE node_id = (SELECT id FROM node WHERE name = 'hand')",
		"INSERT OR REPLACE INTO lock SELECT node_id, 'thief', 1000000000, 0, 1, 1 FROM lock LIMIT 1",
		"DELETE FROM event WHERE kind = 'pod.reserved'",
		history_rewritten,
		"UPDATE meta SET revision = 1",
		"DELETE FROM meta",
	};
	for (size_t i = 0; i < sizeof forbidden / sizeof *forbidden; i++) {
		if (strstr(forbidden[i], "INTO lock")) /* needs a lock to be there */
			hand_may(o,
				"BEGIN IMMEDIATE; INSERT OR IGNORE INTO lock SELECT id, 'me', 999999999, 0, 1, 1 FROM node "
				"WHERE name = 'hand'");
		hand_may_not(o, forbidden[i]);
		work(o);
	}
}

/* Whether the history goes on with the release of this pod by a hand. */
static bool is_told(struct outside *o, const char *uid)
{
	json_t *page = call_result(
		o->server->wire, "event.list", json_of("{'after': %lld, 'limit': 5000, 'uid': '%s'}", (long long)o->after, uid));
	const json_t *event;
	size_t i;
	bool told = false;
	json_array_foreach (json_object_get(page, "events"), i, event) {
		const char *kind = json_string_value(json_object_get(event, "kind"));
		const char *cause = json_string_value(json_object_get(json_object_get(event, "data"), "cause"));
		if (strcmp(kind, "pod.released") == 0 && (!cause || strcmp(cause, "external") != 0))
			check_failed("the release of %s is told with the cause %s", uid, cause ? cause : "missing");
		told |= strcmp(kind, "pod.released") == 0;
	}
	json_decref(page);
	return told;
}

/* An emergency: the pod is deleted by hand, inside a transaction that takes a while. */
static void release_by_hand(struct outside *o, int i, int ms)
{
	char uid[16], sql[96];
	(void)snprintf(uid, sizeof uid, "hand%d", i);
	(void)snprintf(sql, sizeof sql, "DELETE FROM allocation WHERE uid = '%s'", uid);
	o->after = revision_of(o->server->wire);
	hand_may(o, "BEGIN IMMEDIATE");
	hand_may(o, sql);
	work_for(o, ms);
	hand_may(o, "COMMIT");
	int64_t begin = check_now();
	while (!is_told(o, uid)) {
		work(o);
		if (check_now() - begin > NOTICED_MS + (check_instrumented() ? check_patience() : 0))
			check_failed("%s was deleted %lld ms ago and the server has not noticed", uid,
				(long long)(check_now() - begin));
	}
	if (check_now() - begin > o->slowest)
		o->slowest = check_now() - begin;
	expect(o->server->wire, "pod.get", json_of("{'uid': '%s'}", uid), json_of("{'allocation': {'$absent': true}}"));
	run_hand_pod(o, i); /* the device is free again */
}

static void a_hand_under_load(void **state)
{
	struct outside *o = *state;
	for (int i = 0; i < PODS; i++) {
		work_for(o, 30);
		try_what_is_forbidden(o);
		release_by_hand(o, i, i % 4 == 0 ? 120 : 0);
	}
	expect(o->server->wire, "server.check", NULL, json_of("{'ok': true}"));
	work_for(o, 50);
	for (int i = 0; i < CLIENTS; i++) {
		struct client *c = o->clients[i];
		for (int64_t end = check_now() + check_patience(); c->answered < c->sent; check_sleep(1))
			if (!client_receive(c) || check_now() > end)
				check_failed("client %d got no answer", i);
		o->answered += c->answered;
		client_verify(c, o->server->wire);
	}
	expect(o->server->wire, "server.check", NULL, json_of("{'ok': true}"));
	expect(o->server->wire, "server.info", NULL, json_of("{'alarms': {'$count': 0}}"));
	print_message(
		"# %d releases by hand, told within %lld ms; %zu calls of others\n", PODS, (long long)o->slowest, o->answered);
	assert_true(o->answered > PODS * CLIENTS);
	server_restart(o->server, SIGKILL);
	expect(o->server->wire, "pod.list", json_of("{'node': 'hand'}"), json_of("{'pods': {'$count': %d}}", PODS));
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test_setup_teardown(a_hand_under_load, setup, teardown) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}

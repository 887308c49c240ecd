/* Invariants 1 to 3 against a hand in the sqlite3 shell: foreign keys off, recursive triggers off, OR REPLACE and OR IGNORE. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sample.h"

/* What no hand may do to the sample cluster, and a part of what it is told. */
static const struct {
	const char *sql, *part;
} forbidden[] = {
	/* more than there is */
	{ "INSERT INTO usage VALUES (11, 22, 0, '', 1, 0, 0, 1), (11, 22, 0, 'core', 41, 0, 0, 1)", "not that much left" },
	{ "INSERT OR REPLACE INTO usage VALUES (11, 22, 0, '', 1, 0, 0, 1), (11, 22, 0, 'memory', 41, 0, 0, 1)",
		"not that much left" },
	{ "INSERT INTO usage VALUES (11, 22, 0, '', 1, 0, 0, 1), (11, 22, 0, 'vf', 1, 0, 0, 1)", "not that much left" },
	{ "INSERT INTO usage VALUES (11, 22, 0, '', 1, 0, 0, 1), (11, 22, 0, 'core', 9223372036854775807, 0, 0, 1)", "" },
	{ "INSERT INTO usage VALUES (11, 22, 0, '', 1, 0, 0, 1), (11, 22, 1, '', 1, 0, 0, 2), (11, 22, 2, '', 1, 0, 0, 3)",
		"not that much left" },
	{ "INSERT INTO usage VALUES (11, 22, 0, 'core', 1, 0, 0, 1)", "begins with its own row" },
	{ "INSERT INTO usage VALUES (11, 22, 0, '', 0, 0, 0, 1)", "begins with its own row" },
	{ "INSERT INTO usage VALUES (11, 22, 0, '', 1, 0, 0, 1), (11, 22, 0, 'core', -1, 0, 0, 1)", "CHECK" },
	{ "INSERT INTO usage VALUES (11, 22, 0, '', 1, 0, 0, 1), (11, 22, 0, 'core', 1, 1, 0, 1)", "begins with its own row" },
	/* sharing what is held whole */
	{ "INSERT INTO usage VALUES (12, 21, 0, '', 1, 0, 1, 1)", "held whole" },
	{ "INSERT INTO usage VALUES (12, 21, 0, '', 1, 1, 1, 1)", "held whole" },
	{ "INSERT INTO usage VALUES (11, 22, 0, '', 1, 1, 0, 1)", "held whole" },
	{ "INSERT INTO usage VALUES (12, 22, 1, '', 1, 0, 1, 1)", "held whole" },
	/* somewhere else, or of nobody */
	{ "INSERT INTO usage VALUES (13, 21, 0, '', 1, 0, 2, 1)", "not on the node" },
	{ "INSERT INTO usage VALUES (11, 99, 0, '', 1, 0, 0, 1)", "no such allocation" },
	{ "INSERT INTO usage VALUES (99, 21, 0, '', 1, 0, 0, 1)", "not on the node" },
	/* what is held stays */
	{ "UPDATE usage SET amount = 1", "stays until" },
	{ "UPDATE OR REPLACE usage SET device_id = 12", "stays until" },
	{ "DELETE FROM usage", "stays until" },
	{ "DELETE FROM usage WHERE resource = 'core'", "stays until" },
	{ "INSERT OR REPLACE INTO usage VALUES (11, 21, 0, 'core', 1, 0, 0, 0)", "there already" },
	{ "INSERT OR IGNORE INTO usage VALUES (11, 21, 0, 'core', 1, 0, 0, 0)", "there already" },
	{ "INSERT INTO usage VALUES (11, 21, 0, 'core', 1, 0, 0, 0) ON CONFLICT DO UPDATE SET amount = 1", "there already" },
	/* a second allocation of a uid */
	{ "INSERT INTO allocation SELECT 99, uid, namespace, name, gang, priority, preemptible, external, over, node_id, "
	  "'allocated', 0, 0, 0, 0, 0, 0,"
	  " request FROM allocation WHERE id = 22",
		"already" },
	{ "INSERT OR REPLACE INTO allocation SELECT 99, uid, namespace, name, gang, priority, preemptible, external, over, "
	  "node_id, 'allocated', 0, 0, 0,"
	  " 0, 0, 0, request FROM allocation WHERE id = 22",
		"already" },
	{ "REPLACE INTO allocation SELECT id, 'other', namespace, name, gang, priority, preemptible, external, over, node_id, "
	  "'allocated', 0, 0, 0, 0, 0, 0,"
	  " request FROM allocation WHERE id = 22",
		"already" },
	{ "UPDATE OR REPLACE allocation SET uid = 'a1' WHERE uid = 'a2'", "stays" },
	{ "UPDATE OR REPLACE allocation SET id = 21 WHERE id = 22", "stays" },
	{ "UPDATE OR REPLACE allocation SET rowid = 21 WHERE rowid = 22", "stays" },
	{ "UPDATE allocation SET node_id = 2 WHERE uid = 'a2'", "stays" },
	{ "UPDATE allocation SET over = 1", "stays" },
	{ "UPDATE allocation SET request = 'gpu,2,main,1' WHERE uid = 'a2'", "stays" },
	/* states */
	{ "UPDATE allocation SET state = 'gone' WHERE uid = 'a2'", "CHECK" },
	{ "UPDATE allocation SET expires_at = 0 WHERE uid = 'a3'", "CHECK" },
	{ "UPDATE allocation SET expires_at = 1 WHERE uid = 'a2'", "CHECK" },
	{ "UPDATE allocation SET handed_out = 'x' WHERE uid = 'a2'", "cannot store" },
	/* bound means holding the lock of the node under the token */
	{ "UPDATE allocation SET state = 'bound', token = 2 WHERE uid = 'a3'", "holds the lock" },
	{ "UPDATE allocation SET state = 'bound', token = 1, expires_at = 1 WHERE uid = 'a2'", "holds the lock" },
	{ "UPDATE allocation SET token = 7 WHERE uid = 'a1'", "holds the lock" },
	{ "UPDATE allocation SET token = 0 WHERE uid = 'a1'", "holds the lock" },
	{ "INSERT INTO allocation SELECT 99, 'a9', namespace, name, gang, priority, preemptible, external, over, node_id, "
	  "'bound', 0, 0, 0, 1, 1, 0,"
	  " request FROM allocation WHERE id = 21",
		"holds the lock" },
	{ "INSERT INTO allocation SELECT 99, 'a9', namespace, name, gang, priority, preemptible, external, over, 77, 'reserved', "
	  "0, 0, 0, 1, 0, 0,"
	  " request FROM allocation WHERE id = 21",
		"no such node" },
	{ "DELETE FROM lock WHERE node_id = 1", "is bound" },
	{ "DELETE FROM lock", "is bound" },
	{ "UPDATE lock SET uid = 'a2' WHERE node_id = 1", "is bound" },
	{ "UPDATE lock SET token = 9 WHERE node_id = 1", "is bound" },
	/* a second lock */
	{ "INSERT INTO lock VALUES (1, 'a2', 9, 0, 1, 1)", "locked" },
	{ "INSERT OR REPLACE INTO lock VALUES (1, 'a2', 9, 0, 1, 1)", "locked" },
	{ "INSERT OR REPLACE INTO lock VALUES (2, 'a2', 9, 0, 1, 1)", "locked" },
	{ "UPDATE OR REPLACE lock SET node_id = 1 WHERE node_id = 2", "stays on its node" },
	{ "UPDATE OR REPLACE lock SET rowid = 1 WHERE rowid = 2", "stays on its node" },
	{ "UPDATE lock SET token = 1 WHERE node_id = 2", "used before" },
	{ "INSERT INTO lock VALUES (77, 'a2', 9, 0, 1, 1)", "no such node" },
	/* a second nomination */
	{ "INSERT INTO nomination SELECT 99, uid, namespace, name, gang, priority, preemptible, external, 1, 9, 9, request FROM "
	  "nomination",
		"already" },
	{ "INSERT OR REPLACE INTO nomination SELECT 99, uid, namespace, name, gang, priority, preemptible, external, 1, 9, 9, "
	  "request FROM nomination",
		"already" },
	{ "UPDATE OR REPLACE nomination SET node_id = 1", "stays" },
	{ "UPDATE OR REPLACE nomination SET uid = 'a1'", "stays" },
	{ "UPDATE promised SET amount = 1", "stays until" },
	{ "DELETE FROM promised", "stays until" },
	{ "INSERT OR REPLACE INTO promised VALUES (13, 31, 0, 'core', 1, 0, 2, 0)", "already" },
	{ "INSERT INTO promised VALUES (11, 31, 0, '', 1, 0, 0, 1)", "not on the node" },
	{ "INSERT INTO promised VALUES (13, 99, 0, '', 1, 0, 2, 1)", "no such nomination" },
	{ "INSERT INTO promised VALUES (13, 31, 1, 'core', 1, 0, 2, 1)", "begins with its own row" },
	{ "INSERT INTO nomination SELECT 99, 'n8', namespace, name, gang, priority, preemptible, external, 77, 9, 9, request "
	  "FROM nomination",
		"no such node" },
	{ "INSERT INTO victim VALUES (99, 'a1')", "no such nomination" },
	{ "UPDATE OR REPLACE victim SET uid = 'a1'", "stay" },
	/* devices and nodes that are needed stay */
	{ "DELETE FROM device WHERE uuid = 'd1'", "is held" },
	{ "DELETE FROM device", "" },
	{ "DELETE FROM node", "has devices" },
	{ "UPDATE OR REPLACE device SET uuid = 'd1' WHERE uuid = 'd3'", "stay" },
	{ "UPDATE OR REPLACE device SET id = 11 WHERE id = 13", "stay" },
	{ "UPDATE OR REPLACE device SET node_id = 2 WHERE id = 11", "stay" },
	{ "INSERT OR REPLACE INTO device SELECT 99, 2, uuid, type, minor, model, 1, 0, 0, 0, 0, '', '', '', 1 FROM device WHERE "
	  "id = 11",
		"already" },
	{ "INSERT OR REPLACE INTO device SELECT id, 2, 'new', type, minor, model, 1, 0, 0, 0, 0, '', '', '', 1 FROM device WHERE "
	  "id = 11",
		"already" },
	{ "INSERT INTO device SELECT 99, 77, 'new', type, minor, model, 1, 0, 0, 0, 0, '', '', '', 1 FROM device WHERE id = 11",
		"no such node" },
	{ "INSERT OR REPLACE INTO node VALUES (9, 'n1', 0, 0, '', 0, 0)", "already" },
	{ "INSERT OR REPLACE INTO node VALUES (1, 'n9', 0, 0, '', 0, 0)", "already" },
	{ "UPDATE OR REPLACE node SET name = 'n1' WHERE name = 'n2'", "stay" },
	{ "UPDATE OR REPLACE capacity SET device_id = 12 WHERE device_id = 11", "stays" },
	{ "INSERT INTO capacity VALUES (99, 'core', 1)", "no such device" },
	{ "INSERT INTO node_label VALUES (99, 'a', 'b')", "no such node" },
	{ "UPDATE OR REPLACE node_label SET node_id = 1 WHERE node_id = 2", "stays" },
	{ "INSERT INTO device_label VALUES (99, 'a', 'b')", "no such device" },
	{ "UPDATE OR REPLACE device_label SET device_id = 11", "stays" },
	{ "INSERT INTO lapse VALUES (99, 'p1', 1, 2, 'gpu,1,main,1')", "no such node" },
	{ "UPDATE lapse SET node_id = 1", "stays" },
	/* what was handed out */
	{ "INSERT OR REPLACE INTO handout VALUES (22, 'main', 'gpu', 'other', '', 0, '')", "already" },
	{ "INSERT INTO handout VALUES (99, 'main', 'gpu', 'other', '', 0, '')", "no such allocation" },
	{ "UPDATE OR REPLACE handout SET allocation_id = 21", "stays" },
	/* the database's own row */
	{ "DELETE FROM meta", "one row" },
	{ "INSERT INTO meta VALUES (2, lower(hex(randomblob(16))), 1, 0, 0, 0, 0)", "one row" },
	{ "INSERT OR REPLACE INTO meta VALUES (1, lower(hex(randomblob(16))), 1, 0, 0, 0, 0)", "one row" },
	{ "UPDATE meta SET revision = 0", "only rise" },
	{ "UPDATE meta SET db_id = lower(hex(randomblob(16)))", "stays" },
	{ "UPDATE meta SET id = 2", "stays" },
	/* history */
	{ "UPDATE event SET data = '{}'", "history" },
	{ "DELETE FROM event", "above the horizon" },
	{ "INSERT OR REPLACE INTO event SELECT id, 99, n, at, kind, node, uid, actor, data FROM event", "history" },
	{ "INSERT INTO event VALUES (NULL, 1, 5, 0, 'pod.bound', '', '', '', '')", "history" },
};

/* All tables as one text, to see that a refused statement did nothing. */
static char *everything(sqlite3 *db)
{
	return hand_text(db,
		"SELECT (SELECT group_concat(device_id || ',' || allocation_id || ',' || claim || ',' || resource || ',' || "
		"amount) FROM usage) || '/' ||"
		" (SELECT group_concat(id || uid || node_id || state || token || over || request) FROM allocation) || '/' ||"
		" (SELECT group_concat(node_id || uid || token) FROM lock) || '/' || (SELECT group_concat(id || uid || node_id) "
		"FROM nomination) || '/' ||"
		" (SELECT group_concat(device_id || resource || amount) FROM promised) || '/' || (SELECT group_concat(id || uuid "
		"|| node_id) FROM device)"
		" || '/' || (SELECT group_concat(id || name) FROM node) || '/' || (SELECT group_concat(device_id || resource || "
		"amount) FROM capacity)"
		" || '/' || (SELECT group_concat(allocation_id || call) FROM handout) || '/' || (SELECT db_id || revision || "
		"horizon FROM meta)"
		" || '/' || (SELECT group_concat(id || data) FROM event)");
}

static void forbidden_statements(void **state)
{
	sqlite3 *db = hand_open(*state);
	char *before = everything(db);
	for (size_t i = 0; i < sizeof forbidden / sizeof *forbidden; i++) {
		hand_may_not(db, forbidden[i].sql, forbidden[i].part);
		char *after = everything(db);
		if (strcmp(before, after) != 0)
			fail_msg("it was refused and changed something: %s", forbidden[i].sql);
		free(after);
	}
	free(before);
	sqlite3_close(db);
}

/* With foreign keys and recursive triggers on nothing becomes possible either. */
static void forbidden_statements_with_everything_on(void **state)
{
	sqlite3 *db = hand_open(*state);
	hand_may(db, "PRAGMA foreign_keys = ON; PRAGMA recursive_triggers = ON");
	for (size_t i = 0; i < sizeof forbidden / sizeof *forbidden; i++)
		hand_may_not(db, forbidden[i].sql, "");
	sqlite3_close(db);
}

static void a_pod_is_released(void **state)
{
	sqlite3 *db = hand_open(*state);
	hand_may(db, "DELETE FROM allocation WHERE uid = 'a2'");
	assert_int_equal(hand_number(db, "SELECT count(*) FROM usage WHERE allocation_id = 22"), 0);
	assert_int_equal(hand_number(db, "SELECT count(*) FROM handout"), 0);
	assert_int_equal(hand_number(db, "SELECT count(*) FROM lock"), 2);
	hand_may(db, "DELETE FROM allocation WHERE uid = 'a1'");
	assert_int_equal(hand_number(db, "SELECT count(*) FROM usage WHERE allocation_id = 21"), 0);
	assert_int_equal(hand_number(db, "SELECT count(*) FROM lock WHERE uid = 'a1'"), 0);
	assert_int_equal(hand_number(db, "SELECT count(*) FROM usage"), 2);
	hand_may(db, "DELETE FROM allocation");
	assert_int_equal(hand_number(db, "SELECT count(*) FROM usage"), 0);
	sqlite3_close(db);
}

/* Devices without holders and promises can go, and nodes without devices; they take along what is theirs. */
static void a_node_is_removed(void **state)
{
	sqlite3 *db = hand_open(*state);
	hand_may(db, "DELETE FROM allocation; DELETE FROM nomination");
	assert_int_equal(hand_number(db, "SELECT count(*) FROM promised"), 0);
	assert_int_equal(hand_number(db, "SELECT count(*) FROM victim"), 0);
	hand_may(db, "DELETE FROM device WHERE node_id = 2; DELETE FROM node WHERE id = 2");
	assert_int_equal(hand_number(db, "SELECT count(*) FROM lapse"), 0);
	assert_int_equal(hand_number(db, "SELECT count(*) FROM lock"), 0);
	assert_int_equal(hand_number(db, "SELECT count(*) FROM node_label"), 1);
	assert_int_equal(hand_number(db, "SELECT count(*) FROM device_label"), 2);
	assert_int_equal(hand_number(db, "SELECT count(*) FROM capacity WHERE device_id = 13"), 0);
	sqlite3_close(db);
}

/* Each reason for which a node or device stays, by itself. */
static void what_is_needed_stays(void **state)
{
	sqlite3 *db = hand_open(*state);
	hand_may(db, "INSERT INTO node VALUES (3, 'n3', 0, 0, '', 0, 0), (4, 'n4', 0, 0, '', 0, 0)");
	hand_may(db,
		"INSERT INTO allocation SELECT 99, 'a9', namespace, name, gang, priority, preemptible, external, over, 3, "
		"'allocated', 0, 0, 0, 0, 0, 0,"
		" request FROM allocation WHERE id = 21");
	hand_may(db,
		"INSERT INTO nomination SELECT 98, 'n8', namespace, name, gang, priority, preemptible, external, 4, 9, 9, "
		"request FROM nomination");
	hand_may_not(db, "INSERT INTO lock VALUES (3, 'a9', 2, 0, 1, 1)", "used before");
	hand_may_not(db, "DELETE FROM node WHERE id = 3", "pods are on the node");
	hand_may_not(db, "DELETE FROM node WHERE id = 4", "pods are nominated to the node");
	hand_may(db, "DELETE FROM allocation");
	hand_may_not(db, "DELETE FROM device WHERE id = 13", "is promised");
	hand_may_not(db, "UPDATE OR REPLACE device SET id = 12 WHERE id = 11", "stay");
	sqlite3_close(db);
}

/* The exceptions of invariants 1 and 2, and what does no harm. */
static void allowed_statements(void **state)
{
	sqlite3 *db = hand_open(*state);
	hand_may(db, "UPDATE capacity SET amount = 10 WHERE device_id = 11");
	hand_may(db, "INSERT OR REPLACE INTO capacity VALUES (11, 'memory', 1)");
	hand_may(db, "UPDATE device SET missing = 1, healthy = 0 WHERE id = 11");
	hand_may(db,
		"INSERT INTO allocation SELECT 99, 'forced', namespace, name, gang, priority, preemptible, external, 1, node_id, "
		"'allocated', 1, 0, 0,"
		" 0, 0, 0, request FROM allocation WHERE id = 21");
	hand_may(db, "INSERT INTO usage VALUES (12, 99, 0, '', 1, 0, 1, 0), (12, 99, 0, 'core', 1000, 0, 1, 0)");
	hand_may(db, "UPDATE allocation SET expires_at = expires_at + 1000 WHERE uid = 'a3'");
	hand_may(db, "UPDATE allocation SET state = 'allocated', expires_at = 0 WHERE uid = 'a1'");
	hand_may(db, "DELETE FROM lock");
	hand_may(db, "INSERT INTO lock VALUES (1, 'p5', 9, 0, 1, 1)");
	hand_may(db, "UPDATE node SET cordoned = 1, reason = 'fan'");
	hand_may(db, "DELETE FROM refusal; DELETE FROM lapse");
	hand_may(db, "UPDATE meta SET horizon = 1; DELETE FROM event");
	sqlite3_close(db);
}

/* What fits may be given out by hand, and the last bit of it only once. */
static void the_rest_fits_once(void **state)
{
	sqlite3 *db = hand_open(*state);
	hand_may(db,
		"INSERT INTO usage VALUES (11, 22, 1, '', 1, 0, 0, 1), (11, 22, 1, 'core', 40, 0, 0, 1), (11, 22, 1, 'memory', "
		"40, 0, 0, 1)");
	hand_may_not(db, "INSERT INTO usage VALUES (11, 22, 2, '', 1, 0, 0, 2), (11, 22, 2, 'core', 1, 0, 0, 2)",
		"not that much left");
	hand_may(db, "INSERT INTO usage VALUES (11, 22, 2, '', 1, 0, 0, 2)");
	hand_may_not(db, "INSERT INTO usage VALUES (11, 22, 3, '', 1, 0, 0, 3)", "not that much left");
	sqlite3_close(db);
}

/* The server itself, with its guard on, is refused what a hand is. */
static void the_guard_binds_the_server(void **state)
{
	struct place *p = *state;
	static const struct amount much[] = { { "core", 41 } };
	struct change_list changes = { 0 };
	struct store_meta meta = store_meta(p->store);
	const struct share share = { .device_id = 11, .uuid = "d1", .amounts = much, .n_amounts = 1 };
	struct request *request = request_of("gpu,1,main,1");
	const struct allocation like = { .id = 90,
		.pod = { .uid = "late", .namespace = "", .name = "", .gang = "" },
		.node_id = 1,
		.node = "n1",
		.state = POD_ALLOCATED,
		.request = request,
		.shares = &share,
		.n_shares = 1 };
	char *why = NULL;
	change_list_add(&changes, RECORD_ALLOCATION, NULL, allocation_new(&like));
	place_close(p);
	place_open(p, true);
	assert_int_equal(store_commit(p->store, &changes, &meta, &why), STORE_CONSTRAINT);
	assert_non_null(strstr(why, "not that much left"));
	free(why);
	place_close(p);
	place_open(p, false);
	assert_int_equal(store_commit(p->store, &changes, &meta, &why), STORE_OK);
	change_list_free(&changes);
	request_unref(request);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(forbidden_statements, place_new_sample, place_end),
		cmocka_unit_test_setup_teardown(forbidden_statements_with_everything_on, place_new_sample, place_end),
		cmocka_unit_test_setup_teardown(a_pod_is_released, place_new_sample, place_end),
		cmocka_unit_test_setup_teardown(a_node_is_removed, place_new_sample, place_end),
		cmocka_unit_test_setup_teardown(what_is_needed_stays, place_new_sample, place_end),
		cmocka_unit_test_setup_teardown(allowed_statements, place_new_sample, place_end),
		cmocka_unit_test_setup_teardown(the_rest_fits_once, place_new_sample, place_end),
		cmocka_unit_test_setup_teardown(the_guard_binds_the_server, place_new_sample, place_end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

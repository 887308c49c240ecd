/* What a reader's check finds, and what loading refuses, in a database that somebody changed with triggers and foreign keys off. */
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "sample.h"

static sqlite3 *vandal_open(const struct place *p)
{
	sqlite3 *db = hand_open(p);
	assert_int_equal(sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL), SQLITE_OK);
	return db;
}

static void collect(void *context, const char *sentence)
{
	text_printf(context, "%s\n", sentence);
}

/* Everything the check says, a sentence a line; the caller's. */
static char *check(struct place *p)
{
	struct store_reader *reader = NULL;
	struct text found = { 0 };
	assert_null(store_reader_open(p->store, &reader));
	assert_null(store_reader_begin(reader));
	assert_null(store_reader_check(reader, collect, &found));
	store_reader_end(reader);
	store_reader_close(reader);
	return text_take(&found);
}

static void finds(struct place *p, const char *sql, const char *want)
{
	sqlite3 *db = vandal_open(p);
	hand_may(db, sql);
	sqlite3_close(db);
	char *found = check(p);
	assert_string_equal(found, want);
	free(found);
}

static void nothing(void **state)
{
	finds(*state, "SELECT 1", "");
}

static void an_orphaned_row(void **state)
{
	finds(*state, "UPDATE lapse SET node_id = 99", "a row of lapse refers to a row of node that is not there\n");
}

static void a_bound_pod_without_lock(void **state)
{
	finds(*state, "DELETE FROM lock WHERE node_id = 1", "pod a1 is bound without holding the lock of its node\n");
}

static void a_bound_pod_with_another_token(void **state)
{
	finds(*state, "UPDATE lock SET token = 5 WHERE node_id = 1", "pod a1 is bound without holding the lock of its node\n");
}

static void usage_of_nobody(void **state)
{
	finds(*state, "DELETE FROM allocation WHERE id = 22",
		"device id 12 is held by allocation id 22, which is not there\nallocation id 22 was handed out and is not "
		"there\n");
}

static void usage_on_another_node(void **state)
{
	finds(*state, "UPDATE allocation SET node_id = 1 WHERE id = 23", "pod a3 holds device d3, which is on another node\n");
}

static void a_whole_device_shared(void **state)
{
	finds(*state, "INSERT INTO usage VALUES (12, 21, 0, '', 1, 0, 1, 1)", "device d2 is held whole and shared\n");
	/* an exception: it was forced in */
	finds(*state, "UPDATE allocation SET over = 1 WHERE id = 21", "");
}

static void an_amount_without_share(void **state)
{
	finds(*state, "INSERT INTO usage VALUES (11, 22, 0, 'core', 1, 0, 0, 1)",
		"an amount of core is held on device id 11 without a share\n");
}

static void a_promise_of_nobody(void **state)
{
	finds(*state, "DELETE FROM nomination; DELETE FROM victim",
		"device id 13 is promised to nomination id 31, which is not there\n");
}

static void an_event_of_the_future(void **state)
{
	finds(*state, "INSERT INTO event VALUES (NULL, 7, 0, 0, 'pod.bound', '', '', '', '')",
		"the last event has revision 7, the database is at 1\n");
}

static void a_broken_index(void **state)
{
	struct place *p = *state;
	sqlite3 *db = vandal_open(p);
	hand_may(db,
		"PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = 'CREATE INDEX device_node ON device (minor)'"
		" WHERE name = 'device_node'");
	sqlite3_close(db);
	char *found = check(p);
	assert_non_null(strstr(found, "missing from index device_node"));
	free(found);
}

/* ---- loading */

static void load_refuses(struct place *p, const char *sql, const char *part)
{
	struct change_list list = { 0 };
	struct store_meta meta;
	sqlite3 *db = vandal_open(p);
	hand_may(db, sql);
	sqlite3_close(db);
	struct error *e = store_load(p->store, &list, &meta);
	assert_non_null(e);
	if (!strstr(e->message, part))
		fail_msg("\"%s\" does not say \"%s\"", e->message, part);
	assert_int_equal(e->details[0].integer, EX_DATAERR);
	assert_int_equal(list.n, 0);
	change_list_free(&list);
	error_free(e);
}

static void loading_refuses_contradictions(void **state)
{
	struct place *p = *state;
	struct change_list list = { 0 };
	load_refuses(p, "INSERT INTO usage VALUES (11, 99, 0, '', 1, 0, 0, 1)", "a row of usage belongs to id 99");
	load_refuses(p, "DELETE FROM usage WHERE allocation_id = 99; INSERT INTO usage VALUES (11, 22, 0, 'core', 1, 0, 0, 1)",
		"amounts without a share");
	load_refuses(p,
		"DELETE FROM usage WHERE device_id = 11 AND allocation_id = 22; INSERT INTO usage VALUES (98, 22, 1, '', 1, 0, "
		"0, 1)",
		"device id 98, which is not there");
	load_refuses(p, "DELETE FROM usage WHERE device_id = 98; UPDATE device SET node_id = 97 WHERE id = 13",
		"device d3 is on node id 97");
	load_refuses(
		p, "UPDATE device SET node_id = 2 WHERE id = 13; UPDATE handout SET type = 'rdma'", "which it does not ask for");
	load_refuses(p, "UPDATE handout SET type = 'gpu', allocation_id = 96", "a row of handout belongs to id 96");
	load_refuses(p, "UPDATE handout SET allocation_id = 22; UPDATE refusal SET counts = 'none'", "refusal of pod p8");
	load_refuses(
		p, "UPDATE refusal SET counts = ''; UPDATE lock SET node_id = 95 WHERE node_id = 2", "a lock is on node id 95");
	load_refuses(p, "UPDATE lock SET node_id = 2 WHERE node_id = 95; UPDATE victim SET nomination_id = 94",
		"a row of victim belongs to id 94");
	sqlite3 *db = vandal_open(p);
	hand_may(db, "UPDATE victim SET nomination_id = 31");
	sqlite3_close(db);
	(void)load(p, &list);
	assert_int_equal(list.n, SAMPLE_RECORDS);
	change_list_free(&list);
}

static void loading_refuses_unreadable_requests(void **state)
{
	load_refuses(
		*state, "UPDATE allocation SET request = 'nonsense' WHERE id = 22", "cannot be read: nonsense: not a request");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(nothing, place_new_sample, place_end),
		cmocka_unit_test_setup_teardown(an_orphaned_row, place_new_sample, place_end),
		cmocka_unit_test_setup_teardown(a_bound_pod_without_lock, place_new_sample, place_end),
		cmocka_unit_test_setup_teardown(a_bound_pod_with_another_token, place_new_sample, place_end),
		cmocka_unit_test_setup_teardown(usage_of_nobody, place_new_sample, place_end),
		cmocka_unit_test_setup_teardown(usage_on_another_node, place_new_sample, place_end),
		cmocka_unit_test_setup_teardown(a_whole_device_shared, place_new_sample, place_end),
		cmocka_unit_test_setup_teardown(an_amount_without_share, place_new_sample, place_end),
		cmocka_unit_test_setup_teardown(a_promise_of_nobody, place_new_sample, place_end),
		cmocka_unit_test_setup_teardown(an_event_of_the_future, place_new_sample, place_end),
		cmocka_unit_test_setup_teardown(a_broken_index, place_new_sample, place_end),
		cmocka_unit_test_setup_teardown(loading_refuses_contradictions, place_new_sample, place_end),
		cmocka_unit_test_setup_teardown(loading_refuses_unreadable_requests, place_new_sample, place_end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

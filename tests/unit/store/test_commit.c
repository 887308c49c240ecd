/* How commits end: each outcome, what is left behind, and what the store does next. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/mem.h"
#include "sample.h"

/* ---- a disk that can fail: the library's calls end here */

static bool sync_fails;
static int write_error; /* errno, 0 = none */

int fdatasync(int fd)
{
	if (sync_fails) {
		errno = EIO;
		return -1;
	}
	return (int)syscall(SYS_fdatasync, fd);
}

static ssize_t failing_write(int fd, const void *bytes, size_t n, off_t at)
{
	(void)fd, (void)bytes, (void)n, (void)at;
	errno = write_error;
	return -1;
}

static void writes_fail(int error)
{
	sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);
	write_error = error;
	(void)vfs->xSetSystemCall(vfs, "pwrite", error ? (sqlite3_syscall_ptr)(void (*)(void))failing_write : NULL);
	(void)vfs->xSetSystemCall(vfs, "pwrite64", error ? (sqlite3_syscall_ptr)(void (*)(void))failing_write : NULL);
}

static int repair(void **state)
{
	sync_fails = false;
	writes_fail(0);
	return place_end(state);
}

/* ---- helpers */

static void add_node(struct change_list *changes, int64_t id, const char *name)
{
	change_list_add(
		changes, RECORD_NODE, NULL, node_record_new(&(struct node_record){ .id = id, .name = name, .reason = "" }));
}

static void add_device(struct change_list *changes, int64_t id, int64_t node_id, const char *node)
{
	change_list_add(changes, RECORD_DEVICE, NULL,
		device_record_new(&(struct device_record){ .id = id,
			.node_id = node_id,
			.node = node,
			.uuid = "new",
			.type = "gpu",
			.model = "",
			.pcie = "",
			.bus_id = "",
			.reason = "" }));
}

/* Commits with the next revision; the changes stay the caller's. */
static enum store_outcome try(struct place *p, const struct change_list *changes, char **why)
{
	struct store_meta meta = store_meta(p->store);
	meta.revision++;
	return store_commit(p->store, changes, &meta, why);
}

static void ends(struct place *p, const struct change_list *changes, enum store_outcome want, const char *part)
{
	char *why = NULL;
	enum store_outcome outcome = try(p, changes, &why);
	if (outcome != want)
		fail_msg("outcome %d instead of %d: %s", outcome, want, why);
	assert_true(outcome == STORE_OK ? !why : strstr(why, part) != NULL);
	free(why);
}

static size_t count(struct place *p)
{
	struct change_list is = { 0 };
	(void)load(p, &is);
	size_t n = is.n;
	change_list_free(&is);
	return n;
}

/* ---- tests */

static void the_meta_row_is_written(void **state)
{
	struct place *p = *state;
	struct change_list none = { 0 };
	char *why = NULL;
	struct store_meta meta = store_meta(p->store);
	meta.revision = INT64_C(1) << 50;
	meta.token = 77;
	meta.now = 1800000000000;
	meta.epoch = 3;
	meta.horizon = 12;
	assert_int_equal(store_commit(p->store, &none, &meta, &why), STORE_OK);
	meta.horizon = 5; /* never goes back */
	assert_int_equal(store_commit(p->store, &none, &meta, &why), STORE_OK);
	place_close(p);
	place_open(p, true);
	const struct store_meta is = store_meta(p->store);
	assert_int_equal(is.revision, INT64_C(1) << 50);
	assert_int_equal(is.token, 77);
	assert_int_equal(is.now, 1800000000000);
	assert_int_equal(is.epoch, 3);
	assert_int_equal(is.horizon, 12);
	assert_string_equal(is.db_id, meta.db_id);
}

static void an_external_write(void **state)
{
	struct place *p = *state;
	struct change_list changes = { 0 };
	sqlite3 *db = hand_open(p);
	add_node(&changes, 50, "new");
	assert_false(store_changed_outside(p->store));
	hand_may(db, "DELETE FROM allocation WHERE uid = 'a2'");
	assert_true(store_changed_outside(p->store));
	ends(p, &changes, STORE_EXTERNAL, "another process");
	assert_true(store_changed_outside(p->store));
	assert_int_equal(count(p), SAMPLE_RECORDS - 1);
	assert_false(store_changed_outside(p->store));
	ends(p, &changes, STORE_OK, "");
	assert_false(store_changed_outside(p->store));
	assert_int_equal(count(p), SAMPLE_RECORDS);
	sqlite3_close(db);
	change_list_free(&changes);
}

/* Nothing that the store and its readers do themselves looks like somebody else's work. */
static void our_own_work_is_not_external(void **state)
{
	struct place *p = *state;
	struct change_list none = { 0 };
	struct store_reader *reader = NULL;
	char *why = NULL;
	const struct store_retention retention = { .keep_events = 1 };
	assert_null(store_reader_open(p->store, &reader));
	assert_null(store_reader_begin(reader));
	store_reader_end(reader);
	ends(p, &none, STORE_OK, "");
	assert_int_equal(store_tidy(p->store, &retention, 0, &why), STORE_OK);
	store_reader_close(reader);
	assert_false(store_changed_outside(p->store));
	ends(p, &none, STORE_OK, "");
}

static void a_busy_database(void **state)
{
	struct place *p = *state;
	struct change_list changes = { 0 };
	sqlite3 *db = hand_open(p);
	add_node(&changes, 50, "new");
	hand_may(db, "BEGIN IMMEDIATE");
	ends(p, &changes, STORE_BUSY, "locked");
	hand_may(db, "ROLLBACK");
	ends(p, &changes, STORE_OK, "");
	assert_int_equal(count(p), SAMPLE_RECORDS + 1);
	sqlite3_close(db);
	change_list_free(&changes);
}

/* A failure in the middle takes everything of the turn back, and the next turn is unharmed. */
static void a_constraint_in_the_middle(void **state)
{
	struct place *p = *state;
	struct change_list good = { 0 }, bad = { 0 };
	add_node(&good, 50, "good");
	add_node(&bad, 51, "first");
	add_node(&bad, 52, "n1");
	add_node(&bad, 53, "last");
	ends(p, &bad, STORE_CONSTRAINT, "node: UNIQUE constraint failed: node.name");
	assert_int_equal(count(p), SAMPLE_RECORDS);
	ends(p, &good, STORE_OK, "");
	assert_int_equal(count(p), SAMPLE_RECORDS + 1);
	change_list_free(&good);
	change_list_free(&bad);
}

/* A row that is to be changed must be there. */
static void a_row_that_is_not_there(void **state)
{
	struct place *p = *state;
	struct change_list bad = { 0 };
	const struct node_record like = { .id = 99, .name = "n99", .reason = "" };
	change_list_add(&bad, RECORD_NODE, node_record_new(&like), node_record_new(&like));
	ends(p, &bad, STORE_CONSTRAINT, "node: a row that is to be changed is not there");
	change_list_free(&bad);
	change_list_add(&bad, RECORD_NODE, node_record_new(&like), NULL);
	ends(p, &bad, STORE_CONSTRAINT, "not there");
	change_list_free(&bad);
}

/* Foreign keys are looked at when the turn ends, so the order within a turn does not matter to them. */
static void a_foreign_key(void **state)
{
	struct place *p = *state;
	struct change_list changes = { 0 };
	add_device(&changes, 60, 50, "new");
	ends(p, &changes, STORE_CONSTRAINT, "commit: FOREIGN KEY");
	assert_int_equal(count(p), SAMPLE_RECORDS);
	add_node(&changes, 50, "new");
	ends(p, &changes, STORE_OK, "");
	assert_int_equal(count(p), SAMPLE_RECORDS + 2);
	change_list_free(&changes);
}

static void fill(struct change_list *changes, int64_t revision)
{
	for (int64_t i = 0; i < 2000; i++)
		change_list_add(changes, RECORD_EVENT, NULL,
			sample_event(revision, i, 0, "pod.reserved", "node-with-a-long-name", "uid-of-some-length"));
}

/* The limit of the file is reached in the middle of a turn: all of the turn is gone, and with more room it goes on. */
static void a_full_database(void **state)
{
	struct place *p = *state;
	struct change_list changes = { 0 };
	struct store_options options = options_for(p);
	char *why = NULL;
	enum store_outcome outcome = STORE_OK;
	place_close(p);
	options.max_bytes = 1024 * 1024;
	assert_null(store_open(&options, &p->store));
	for (int turn = 0; outcome == STORE_OK && turn < 100; turn++) {
		char name[24];
		(void)snprintf(name, sizeof name, "turn-%d", turn);
		change_list_truncate(&changes, 0);
		add_node(&changes, 1000 + turn, name);
		fill(&changes, store_meta(p->store).revision + 1);
		outcome = try(p, &changes, &why);
	}
	assert_int_equal(outcome, STORE_FULL);
	assert_non_null(strstr(why, "event: database or disk is full"));
	free(why);
	const struct node_record *last = changes.changes[0].after;
	assert_int_equal(count(p), SAMPLE_RECORDS + (size_t)(last->id - 1000));
	place_close(p);
	place_open(p, false);
	ends(p, &changes, STORE_OK, "");
	change_list_free(&changes);
}

/* No space for the log: nothing was done, and it can be told. */
static void a_full_disk(void **state)
{
	struct place *p = *state;
	struct change_list changes = { 0 };
	add_node(&changes, 50, "new");
	writes_fail(ENOSPC);
	ends(p, &changes, STORE_FULL, "commit: database or disk is full");
	writes_fail(0);
	assert_int_equal(count(p), SAMPLE_RECORDS);
	ends(p, &changes, STORE_OK, "");
	assert_int_equal(count(p), SAMPLE_RECORDS + 1);
	change_list_free(&changes);
}

/* After a failed sync or write nobody knows: the store does nothing more. */
static void breaks(struct place *p)
{
	struct change_list changes = { 0 }, none = { 0 };
	char *why = NULL;
	const struct store_retention retention = { .keep_events = 1 };
	int64_t revision = store_meta(p->store).revision;
	add_node(&changes, 50, "new");
	ends(p, &changes, STORE_UNKNOWN, "commit: disk I/O error");
	sync_fails = false;
	writes_fail(0);
	ends(p, &none, STORE_UNKNOWN, "failed before");
	assert_int_equal(store_tidy(p->store, &retention, 0, &why), STORE_UNKNOWN);
	free(why);
	place_close(p);
	place_open(p, false); /* not behind what was recorded */
	int64_t now = store_meta(p->store).revision;
	assert_int_equal(count(p), now == revision ? SAMPLE_RECORDS : SAMPLE_RECORDS + 1); /* wholly there or wholly not */
	assert_true(now == revision || now == revision + 1);
	change_list_free(&changes);
}

static void a_failed_sync(void **state)
{
	sync_fails = true;
	breaks(*state);
}

static void a_failed_write(void **state)
{
	writes_fail(EIO);
	breaks(*state);
}

/* A checkpoint that fails does not take back the commit before it, but there is none after it. */
static void a_failed_checkpoint(void **state)
{
	struct place *p = *state;
	struct change_list changes = { 0 }, none = { 0 };
	char *why = NULL;
	const struct store_retention retention = { 0 };
	for (int i = 0; i < 30; i++) {
		fill(&changes, store_meta(p->store).revision + 1);
		commit(p, &changes);
	}
	int64_t revision = store_meta(p->store).revision;
	sync_fails = true;
	assert_int_equal(store_tidy(p->store, &retention, 0, &why), STORE_UNKNOWN);
	free(why);
	sync_fails = false;
	ends(p, &none, STORE_UNKNOWN, "failed before");
	place_close(p);
	place_open(p, false);
	assert_int_equal(store_meta(p->store).revision, revision);
	change_list_free(&changes);
}

/* The log is moved into the database between commits and then written from its beginning. */
static void the_log_does_not_grow(void **state)
{
	struct place *p = *state;
	struct change_list changes = { 0 };
	char *wal = place_file(p, "allotd.db-wal"), *why = NULL;
	size_t size, largest = 0;
	for (int i = 0; i < 40; i++) {
		fill(&changes, store_meta(p->store).revision + 1);
		commit(p, &changes);
		assert_int_equal(store_tidy(p->store, &(struct store_retention){ 0 }, 0, &why), STORE_OK);
		free(bytes_of(wal, &size));
		largest = size > largest ? size : largest;
	}
	assert_true(largest > 1000 * 4096); /* checkpoints wait until they are worth it, and the file is kept */
	assert_true(largest < 1300 * 4096);
	assert_int_equal(size, largest);
	free(wal);
	change_list_free(&changes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_meta_row_is_written, place_new_open, place_end),
		cmocka_unit_test_setup_teardown(an_external_write, place_new_sample, place_end),
		cmocka_unit_test_setup_teardown(our_own_work_is_not_external, place_new_sample, place_end),
		cmocka_unit_test_setup_teardown(a_busy_database, place_new_sample, place_end),
		cmocka_unit_test_setup_teardown(a_constraint_in_the_middle, place_new_sample, place_end),
		cmocka_unit_test_setup_teardown(a_row_that_is_not_there, place_new_sample, place_end),
		cmocka_unit_test_setup_teardown(a_foreign_key, place_new_sample, place_end),
		cmocka_unit_test_setup_teardown(a_full_database, place_new_sample, place_end),
		cmocka_unit_test_setup_teardown(a_full_disk, place_new_sample, repair),
		cmocka_unit_test_setup_teardown(a_failed_sync, place_new_sample, repair),
		cmocka_unit_test_setup_teardown(a_failed_write, place_new_sample, repair),
		cmocka_unit_test_setup_teardown(a_failed_checkpoint, place_new_sample, repair),
		cmocka_unit_test_setup_teardown(the_log_does_not_grow, place_new_sample, place_end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

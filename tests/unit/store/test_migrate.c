/* Migrations: each earlier version is brought to the present one with all its rows, by the server or by a restore, and a process that is killed
 * anywhere on the way leaves the one version or the other. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "core/cluster.h"
#include "killer.h"
#include "sample.h"
#include "store/backup.h"
#include "store/connection.h"
#include "store/migrations.h"

/* The sample cluster in a database of an earlier version, in `p->database`: what is in the present one, without what later steps made. */
static void make_version(struct place *p, int version)
{
	sqlite3 *db = NULL;
	char *old = place_file(p, "old"), *settings, *attach;
	place_close(p);
	assert_int_equal(sqlite3_open(old, &db), SQLITE_OK);
	settings = mem_format("PRAGMA page_size = %d; PRAGMA application_id = %d; PRAGMA user_version = %d", PAGE_SIZE,
		APPLICATION_ID, version);
	hand_may(db, settings);
	for (int i = 0; i < version; i++)
		hand_may(db, migrations[i].sql);
	attach = mem_format("ATTACH '%s' AS now", p->database);
	hand_may(db, attach);
	/* In an order the guards allow: nodes, devices and locks before those who stand on them, the counters last. */
	static const char *const tables[] = { "node", "node_label", "device", "device_label", "capacity", "lock", "allocation",
		"usage", "handout", "nomination", "promised", "victim", "lapse", "refusal", "event" };
	for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
		char *copy = mem_format("INSERT INTO %s SELECT * FROM now.%s", tables[i], tables[i]);
		hand_may(db, copy);
		free(copy);
	}
	hand_may(db,
		"DROP TRIGGER meta_update; UPDATE meta SET (db_id, epoch, revision, token, now, horizon) = (SELECT db_id, "
		"epoch, revision, token, now,"
		" horizon FROM now.meta)");
	char *trigger = strstr(migrations[0].sql, "CREATE TRIGGER meta_update"), *end = strstr(trigger, "END;") + 4;
	char *sql = mem_format("%.*s", (int)(end - trigger), trigger);
	hand_may(db, sql);
	sqlite3_close(db);
	char *wal = place_file(p, "allotd.db-wal"), *shm = place_file(p, "allotd.db-shm");
	(void)unlink(wal);
	(void)unlink(shm);
	assert_int_equal(rename(old, p->database), 0);
	free(sql);
	free(attach);
	free(settings);
	free(old);
	free(wal);
	free(shm);
}

static int64_t version_of(const struct place *p)
{
	sqlite3 *db = hand_open(p);
	int64_t version = hand_number(db, "PRAGMA user_version");
	char *integrity = hand_text(db, "PRAGMA integrity_check");
	assert_string_equal(integrity, "ok");
	free(integrity);
	sqlite3_close(db);
	return version;
}

/* The sample is there, whole. */
static void assert_sample(struct place *p)
{
	struct change_list is = { 0 }, want = { 0 }, difference = { 0 };
	place_open(p, false);
	(void)load(p, &is);
	sample_cluster(&want);
	change_list_truncate(&want, is.n); /* the event comes last */
	snapshot_difference(&is, &want, &difference);
	assert_int_equal(difference.n, 0);
	change_list_free(&is);
	change_list_free(&want);
	change_list_free(&difference);
	place_close(p);
	assert_int_equal(version_of(p), n_migrations);
}

static void every_version_is_brought_to_the_present_one(void **state)
{
	struct place *p = *state;
	for (int version = 1; version <= (int)n_migrations; version++) {
		make_version(p, version);
		assert_int_equal(version_of(p), version);
		assert_sample(p);
	}
}

/* And is then, to the letter, what a new database is: a backup checks that. */
static void the_schema_is_that_of_a_new_database(void **state)
{
	struct place *p = *state;
	struct store_reader *reader = NULL;
	struct store_backup made;
	char *directory = place_file(p, "b"), *file = place_file(p, "b/x"), *sum = place_file(p, "b/x.sha256");
	const struct store_backup_options options = { .directory = directory, .name = "x" };
	make_version(p, 1);
	place_open(p, false);
	assert_null(store_reader_open(p->store, &reader));
	assert_null(store_reader_begin(reader));
	assert_null(store_backup_create(reader, &options, &made));
	store_reader_close(reader);
	(void)unlink(file);
	(void)unlink(sum);
	(void)rmdir(directory);
	free(directory);
	free(file);
	free(sum);
}

static void an_old_backup_is_restored(void **state)
{
	struct place *p = *state;
	struct store_restored restored;
	struct change_list is = { 0 };
	char *old = place_file(p, "version-1");
	make_version(p, 1);
	assert_int_equal(rename(p->database, old), 0);
	const struct store_restore_options options = {
		.from = old, .directory = p->directory, .force = true, .codec = &test_codec
	};
	struct error *e = store_restore(&options, &restored);
	if (e)
		fail_msg("%s", e->message);
	assert_int_equal(version_of(p), n_migrations);
	place_open(p, false);
	(void)load(p, &is);
	assert_true(is.n > 5);
	change_list_free(&is);
	free(old);
}

/* ---- interrupted */

static void open_and_close(void *context)
{
	struct place *p = context;
	place_open(p, false);
	place_close(p);
}

static void killed_on_the_way(void **state)
{
	struct place *p = *state;
	size_t size;
	int n = 1, old = 0;
	make_version(p, 1);
	char *before = bytes_of(p->database, &size), *highwater = place_file(p, "allotd.highwater"),
	     *wal = place_file(p, "allotd.db-wal"), *shm = place_file(p, "allotd.db-shm");
	for (;; n++) {
		(void)unlink(highwater);
		(void)unlink(wal);
		(void)unlink(shm);
		write_bytes(p->database, before, size);
		if (!killed_at(n, open_and_close, p))
			break;
		int64_t version = version_of(p);
		assert_true(version == 1 || version == (int64_t)n_migrations);
		old += version == 1;
		assert_sample(p);
	}
	print_message("# killed at %d moments: %d times the old version\n", n - 1, old);
	assert_true(old > 0 && old < n - 1);
	free(before);
	free(highwater);
	free(wal);
	free(shm);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(every_version_is_brought_to_the_present_one, place_new_sample, place_end),
		cmocka_unit_test_setup_teardown(the_schema_is_that_of_a_new_database, place_new_sample, place_end),
		cmocka_unit_test_setup_teardown(an_old_backup_is_restored, place_new_sample, place_end),
		cmocka_unit_test_setup_teardown(killed_on_the_way, place_new_sample, place_end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

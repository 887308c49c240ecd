/* Another database in the place of the present one: whatever stands in the directory after a crash, the next start has the old one or the new
 * one, and a restore that is killed anywhere leaves such a directory. */
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
#include "store/highwater.h"
#include "store/replace.h"

/* A directory whose database was in use when the process died, and a backup of an earlier moment. */
struct scene {
	char *backup;
	char *database, *wal, *highwater; /* bytes of the old database's files */
	size_t database_size, wal_size, highwater_size;
};

static char *of(const struct place *p, const char *name, size_t *size)
{
	char *path = place_file(p, name), *bytes = bytes_of(path, size);
	free(path);
	return bytes;
}

static void put(const struct place *p, const char *name, const char *bytes, size_t size)
{
	char *path = place_file(p, name);
	(void)unlink(path);
	if (bytes)
		write_bytes(path, bytes, size);
	free(path);
}

static bool there(const struct place *p, const char *name)
{
	char *path = place_file(p, name);
	bool yes = file_exists(path);
	free(path);
	return yes;
}

static void copy_file(const struct place *p, const char *from, const char *to)
{
	size_t size;
	char *bytes = of(p, from, &size);
	put(p, to, bytes, size);
	free(bytes);
}

static struct error *restore(const struct place *p, const char *from, struct store_restored *restored)
{
	const struct store_restore_options options = {
		.from = from, .directory = p->directory, .force = true, .codec = &test_codec
	};
	return store_restore(&options, restored);
}

/* A node more in the old database than in the backup, and only in its log. */
static struct scene scene_new(struct place *p)
{
	struct scene s = { .backup = place_file(p, "backup") };
	struct change_list changes = { 0 };
	place_close(p);
	copy_file(p, "allotd.db", "backup");
	place_open(p, false);
	change_list_add(&changes, RECORD_NODE, NULL,
		node_record_new(&(struct node_record){ .id = 99, .name = "later", .reason = "", .revision = 2 }));
	commit(p, &changes);
	change_list_free(&changes);
	s.database = of(p, "allotd.db", &s.database_size);
	s.wal = of(p, "allotd.db-wal", &s.wal_size);
	s.highwater = of(p, "allotd.highwater", &s.highwater_size);
	place_close(p);
	return s;
}

static void scene_free(struct scene *s)
{
	free(s->backup);
	free(s->database);
	free(s->wal);
	free(s->highwater);
}

/* As it was at the crash. */
static void set(const struct place *p, const struct scene *s)
{
	put(p, "allotd.db", s->database, s->database_size);
	put(p, "allotd.db-wal", s->wal, s->wal_size);
	put(p, "allotd.highwater", s->highwater, s->highwater_size);
	put(p, "allotd.db-shm", NULL, 0);
	put(p, "allotd.db.next", NULL, 0);
	put(p, "allotd.db.incoming", NULL, 0);
	put(p, "allotd.highwater.next", NULL, 0);
}

/* Starts and says which database that is: 1 the old one, 2 the new one. Nothing of a replacement may be left. */
static int64_t epoch_at_start(struct place *p)
{
	struct change_list is = { 0 };
	const char *alarms[STORE_ALARMS];
	place_open(p, false);
	struct store_meta meta = load(p, &is);
	bool later = false;
	for (size_t i = 0; i < is.n; i++)
		later |= is.changes[i].kind == RECORD_NODE && strcmp(record_name(RECORD_NODE, is.changes[i].after), "later") == 0;
	assert_int_equal(later, meta.epoch == 1);
	assert_int_equal(store_alarms(p->store, alarms), 0);
	change_list_free(&is);
	place_close(p);
	assert_false(there(p, "allotd.db.next"));
	assert_false(there(p, "allotd.db.incoming"));
	assert_false(there(p, "allotd.highwater.next"));
	return meta.epoch;
}

/* The files of the new database, as they are before it has the name. */
static void make_next(struct place *p, const struct scene *s)
{
	struct store_restored restored;
	set(p, s);
	assert_null(restore(p, s->backup, &restored));
	copy_file(p, "allotd.db", "new.db");
	copy_file(p, "allotd.highwater", "new.highwater");
}

static void what_was_decided_is_finished(void **state)
{
	struct place *p = *state;
	struct scene s = scene_new(p);
	make_next(p, &s);
	/* decided, nothing done */
	set(p, &s);
	copy_file(p, "new.db", "allotd.db.next");
	copy_file(p, "new.highwater", "allotd.highwater.next");
	assert_int_equal(epoch_at_start(p), 2);
	/* the old log is gone */
	set(p, &s);
	put(p, "allotd.db-wal", NULL, 0);
	copy_file(p, "new.db", "allotd.db.next");
	copy_file(p, "new.highwater", "allotd.highwater.next");
	assert_int_equal(epoch_at_start(p), 2);
	/* and the high-water record is the new one */
	set(p, &s);
	put(p, "allotd.db-wal", NULL, 0);
	copy_file(p, "new.db", "allotd.db.next");
	copy_file(p, "new.highwater", "allotd.highwater");
	assert_int_equal(epoch_at_start(p), 2);
	/* and the database too, all but synced */
	set(p, &s);
	put(p, "allotd.db-wal", NULL, 0);
	copy_file(p, "new.db", "allotd.db");
	copy_file(p, "new.highwater", "allotd.highwater");
	assert_int_equal(epoch_at_start(p), 2);
	/* into a directory where nothing was */
	set(p, &s);
	put(p, "allotd.db-wal", NULL, 0);
	put(p, "allotd.db", NULL, 0);
	put(p, "allotd.highwater", NULL, 0);
	copy_file(p, "new.db", "allotd.db.next");
	copy_file(p, "new.highwater", "allotd.highwater.next");
	assert_int_equal(epoch_at_start(p), 2);
	scene_free(&s);
}

static void what_was_not_decided_is_thrown_away(void **state)
{
	struct place *p = *state;
	struct scene s = scene_new(p);
	make_next(p, &s);
	set(p, &s);
	copy_file(p, "new.db", "allotd.db.incoming");
	assert_int_equal(epoch_at_start(p), 1);
	set(p, &s);
	copy_file(p, "new.db", "allotd.db.incoming");
	copy_file(p, "new.highwater", "allotd.highwater.next");
	assert_int_equal(epoch_at_start(p), 1);
	set(p, &s);
	put(p, "allotd.db.incoming", "half", 4);
	assert_int_equal(epoch_at_start(p), 1);
	set(p, &s);
	copy_file(p, "new.highwater", "allotd.highwater.next");
	assert_int_equal(epoch_at_start(p), 1);
	scene_free(&s);
}

struct attempt {
	struct place *place;
	const struct scene *scene;
};

static void try_restore(void *context)
{
	const struct attempt *a = context;
	struct store_restored restored;
	struct error *e = restore(a->place, a->scene->backup, &restored);
	if (e) {
		(void)fprintf(stderr, "%s\n", e->message);
		_exit(1);
	}
}

static void killed_anywhere(void **state)
{
	struct place *p = *state;
	struct scene s = scene_new(p);
	struct attempt a = { p, &s };
	int n = 1;
	for (;; n++) {
		set(p, &s);
		if (!killed_at(n, try_restore, &a))
			break;
		assert_int_equal(epoch_at_start(p), 1); /* all of SQLite's writing comes before the decision */
	}
	assert_true(n > 20);
	assert_int_equal(epoch_at_start(p), 2);
	scene_free(&s);
}

/* The high-water record alone says how far the lost database had come. */
static void counters_go_on_from_a_database_that_is_gone(void **state)
{
	struct place *p = *state;
	struct scene s = scene_new(p);
	struct store_meta far = { .db_id = "0123456789abcdef0123456789abcdef", .epoch = 7, .revision = INT64_C(5) << 41 };
	struct highwater h;
	struct store_restored restored;
	char *path = place_file(p, "allotd.highwater");
	set(p, &s);
	put(p, "allotd.db", "rubbish", 7);
	put(p, "allotd.db-wal", NULL, 0);
	assert_null(highwater_open(&h, path, &far));
	highwater_close(&h);
	assert_null(restore(p, s.backup, &restored));
	assert_int_equal(restored.now.epoch, 8);
	assert_true(restored.now.revision > far.revision + (INT64_C(1) << 41));
	assert_true(restored.now.token > far.revision - 10);
	assert_string_equal(restored.now.db_id, restored.from.db_id);
	assert_int_equal(epoch_at_start(p), 8);
	free(path);
	scene_free(&s);
}

/* 53 bits are enough for thousands of restores; after that it says so and touches nothing. */
static void restored_too_often(void **state)
{
	struct place *p = *state;
	struct scene s = scene_new(p);
	struct store_restored restored;
	int times = 0;
	set(p, &s);
	assert_null(restore(p, s.backup, &restored));
	sqlite3 *db = hand_open(p);
	hand_may(db, "UPDATE meta SET revision = 1 << 52");
	sqlite3_close(db);
	put(p, "allotd.highwater", NULL, 0);
	struct error *e = NULL;
	while (times < 10 && !(e = restore(p, s.backup, &restored))) {
		db = hand_open(p);
		hand_may(db, "UPDATE meta SET revision = revision + (1 << 49)");
		sqlite3_close(db);
		put(p, "allotd.highwater", NULL, 0);
		times++;
	}
	assert_int_equal(times, 8);
	assert_non_null(strstr(e->message, "too often"));
	error_free(e);
	place_open(p, false);
	scene_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_was_decided_is_finished, place_new_sample, place_end),
		cmocka_unit_test_setup_teardown(what_was_not_decided_is_thrown_away, place_new_sample, place_end),
		cmocka_unit_test_setup_teardown(killed_anywhere, place_new_sample, place_end),
		cmocka_unit_test_setup_teardown(counters_go_on_from_a_database_that_is_gone, place_new_sample, place_end),
		cmocka_unit_test_setup_teardown(restored_too_often, place_new_sample, place_end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

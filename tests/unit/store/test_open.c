/* Starting: a new database, the settings, what is refused with its files untouched, migrations, the lock, the high-water record. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/mem.h"
#include "sample.h"
#include "store/connection.h"
#include "store/migrations.h"

static int mode_of(const char *path)
{
	struct stat st;
	assert_int_equal(stat(path, &st), 0);
	return (int)(st.st_mode & 0777);
}

static void everything_is_private(void **state)
{
	struct place *p = *state;
	static const char *const names[] = { "allotd.db", "allotd.db-wal", "allotd.db-shm", "allotd.lock", "allotd.highwater" };
	char *below = place_file(p, "a/b/c");
	struct store_options options = options_for(p);
	mode_t old = umask(0);
	options.directory = below;
	assert_null(store_open(&options, &p->store));
	umask(old);
	assert_int_equal(mode_of(below), 0700);
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		char *path = mem_format("%s/%s", below, names[i]);
		assert_int_equal(mode_of(path), 0600);
		free(path);
	}
	place_close(p);
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		char *path = mem_format("%s/%s", below, names[i]);
		assert_int_equal(unlink(path) == 0, i == 0 || i > 2); /* a clean close leaves no log behind */
		free(path);
	}
	for (const char *const *up = (const char *const[]){ "a/b/c", "a/b", "a", NULL }; *up; up++) {
		char *path = place_file(p, *up);
		assert_int_equal(rmdir(path), 0);
		free(path);
	}
	free(below);
}

static void settings_of_the_file(void **state)
{
	sqlite3 *db = hand_open(*state);
	char *mode = hand_text(db, "PRAGMA journal_mode");
	assert_string_equal(mode, "wal");
	assert_int_equal(hand_number(db, "PRAGMA application_id"), APPLICATION_ID);
	assert_int_equal(hand_number(db, "PRAGMA user_version"), (int64_t)n_migrations);
	assert_int_equal(hand_number(db, "PRAGMA page_size"), PAGE_SIZE);
	free(mode);
	sqlite3_close(db);
}

static void settings_of_a_connection(void **state)
{
	struct place *p = *state;
	static const struct {
		const char *pragma;
		int64_t writer, reader;
	} settings[] = {
		{ "PRAGMA synchronous", 2, 2 },
		{ "PRAGMA foreign_keys", 1, 1 },
		{ "PRAGMA trusted_schema", 0, 0 },
		{ "PRAGMA cell_size_check", 1, 1 },
		{ "PRAGMA mmap_size", 0, 0 },
		{ "PRAGMA wal_autocheckpoint", 0, 0 },
		{ "PRAGMA query_only", 0, 1 },
	};
	sqlite3 *writer = NULL, *reader = NULL;
	int defensive = 0;
	assert_null(connection_open(p->database, CONNECTION_WRITER, &writer));
	assert_null(connection_open(p->database, CONNECTION_READER, &reader));
	for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
		int64_t value = -1;
		if (connection_number(writer, settings[i].pragma, &value) != SQLITE_EMPTY)
			assert_int_equal(value, settings[i].writer);
		if (connection_number(reader, settings[i].pragma, &value) != SQLITE_EMPTY)
			assert_int_equal(value, settings[i].reader);
	}
	assert_int_equal(sqlite3_db_config(writer, SQLITE_DBCONFIG_DEFENSIVE, -1, &defensive), SQLITE_OK);
	assert_int_equal(defensive, 1);
	assert_int_equal(sqlite3_db_readonly(reader, "main"), 1);
	assert_int_not_equal(connection_run(reader, "DELETE FROM node"), SQLITE_OK);
	connection_close(writer);
	connection_close(reader);
}

/* Every file of the place with its content, so that a refusal can be seen to have touched none. The lock file is left out. */
static char *fingerprint(const struct place *p)
{
	static const char *const names[] = { "allotd.db", "allotd.db-wal", "allotd.highwater" };
	struct text t = { 0 };
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		char *path = place_file(p, names[i]);
		if (file_exists(path)) {
			size_t size;
			char *bytes = bytes_of(path, &size);
			uint64_t sum = 0;
			for (size_t k = 0; k < size; k++)
				sum = sum * 31 + (unsigned char)bytes[k];
			text_printf(&t, "%s %zu %llx\n", names[i], size, (unsigned long long)sum);
			free(bytes);
		}
		free(path);
	}
	return text_take(&t);
}

static void refused_untouched(const struct place *p, int status, const char *part)
{
	char *before = fingerprint(p);
	refused(p, status, part);
	char *after = fingerprint(p);
	assert_string_equal(before, after);
	free(before);
	free(after);
}

static void not_a_database(void **state)
{
	struct place *p = *state;
	static const char text[] =
		"This is the diary of somebody, and it is longer than the hundred bytes of a header, so that it could be one. "
		"Really.";
	write_bytes(p->database, text, sizeof text);
	refused_untouched(p, EX_DATAERR, "is not a database");
	write_bytes(p->database, text, 10);
	refused_untouched(p, EX_DATAERR, "is not a database");
}

static void a_directory_in_its_place(void **state)
{
	struct place *p = *state;
	assert_int_equal(mkdir(p->database, 0700), 0);
	refused(p, EX_IOERR, "cannot be read");
	assert_int_equal(rmdir(p->database), 0);
}

static void another_application(void **state)
{
	struct place *p = *state;
	sqlite3 *db;
	assert_int_equal(sqlite3_open(p->database, &db), SQLITE_OK);
	hand_may(db, "CREATE TABLE recipe (name); PRAGMA application_id = 17");
	sqlite3_close(db);
	refused_untouched(p, EX_DATAERR, "belongs to another application (application_id 17");
}

static void a_newer_version(void **state)
{
	struct place *p = *state;
	place_close(p);
	sqlite3 *db = hand_open(p);
	hand_may(db, "PRAGMA user_version = 99");
	sqlite3_close(db);
	refused_untouched(p, EX_DATAERR, "has schema version 99");
}

/* The newer version is only in the log: the header of the file does not show it, the file must still not be touched. */
static void a_newer_version_in_the_log(void **state)
{
	struct place *p = *state;
	place_close(p);
	sqlite3 *db = hand_open(p);
	assert_int_equal(sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL), SQLITE_OK);
	hand_may(db, "PRAGMA user_version = 99");
	sqlite3_close(db);
	refused_untouched(p, EX_DATAERR, "has schema version 99");
}

/* Damages each page in turn; the start must refuse or, where nothing of ours is on it, load the same. */
static void a_damaged_page(void **state)
{
	struct place *p = *state;
	size_t size, refusals = 0;
	place_close(p);
	char *bytes = bytes_of(p->database, &size);
	for (size_t page = 0; page < size / PAGE_SIZE; page++) {
		char *damaged = mem_copy(bytes, size);
		memset(damaged + page * PAGE_SIZE + (page ? 0 : 100), 0xa5, 64);
		write_bytes(p->database, damaged, size);
		struct store_options options = options_for(p);
		struct store *store = NULL;
		struct error *e = store_open(&options, &store);
		if (e) {
			assert_int_equal(e->details[0].integer, EX_DATAERR);
			refusals++;
		}
		error_free(e);
		store_close(store);
		free(damaged);
	}
	assert_true(refusals > size / PAGE_SIZE - 4); /* all but the events and their kind */
	free(bytes);
}

static void a_log_without_its_database(void **state)
{
	struct place *p = *state;
	char *wal = place_file(p, "allotd.db-wal");
	write_bytes(wal, "x", 1);
	refused_untouched(p, EX_DATAERR, "is missing, but its write-ahead log");
	free(wal);
}

static void the_directory_is_a_file(void **state)
{
	struct place *p = *state;
	struct place below = { .store = NULL };
	(void)snprintf(below.directory, sizeof below.directory, "%s", p->directory);
	strcat(below.directory, "/file");
	write_bytes(below.directory, "", 0);
	refused(&below, EX_CANTCREAT, "is not a directory");
}

/* In another process, because flock is per open file and the message names the process. */
static void a_second_server(void **state)
{
	struct place *p = *state;
	char part[64];
	(void)snprintf(part, sizeof part, "in use by process %ld", (long)getpid());
	pid_t child = fork();
	if (child == 0) {
		struct store_options options = options_for(p);
		struct store *store = NULL;
		struct error *e = store_open(&options, &store);
		bool good = e && e->details[0].integer == EX_TEMPFAIL && strstr(e->message, part);
		error_free(e);
		_exit(good ? 0 : 1);
	}
	int status = 0;
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

/* Another process with an open write transaction: the start waits for it, and gives up. */
static void somebody_is_writing(void **state)
{
	struct place *p = *state;
	place_close(p);
	sqlite3 *db = hand_open(p);
	hand_may(db, "BEGIN IMMEDIATE; UPDATE node SET reason = 'x'");
	refused(p, EX_TEMPFAIL, "cannot be checkpointed");
	hand_may(db, "ROLLBACK");
	sqlite3_close(db);
}

static void an_empty_file_becomes_a_database(void **state)
{
	struct place *p = *state;
	write_bytes(p->database, "", 0);
	place_open(p, false);
	assert_int_equal(store_meta(p->store).epoch, 1);
}

/* A creation that was cut off leaves a file under another name, which the next start replaces. */
static void a_creation_that_was_cut_off(void **state)
{
	struct place *p = *state;
	char *half = place_file(p, "allotd.db.new");
	write_bytes(half, "half", 4);
	place_open(p, false);
	assert_false(file_exists(half));
	free(half);
}

/* ---- migrations */

static void versions_rise_without_gaps(void **state)
{
	(void)state;
	assert_true(n_migrations > 0);
	for (size_t i = 0; i < n_migrations; i++)
		assert_int_equal(migrations[i].version, i + 1);
}

/* A migration that fails leaves the version before it, whole. */
static void a_failed_migration_changes_nothing(void **state)
{
	struct place *p = *state;
	place_close(p);
	sqlite3 *db = hand_open(p);
	hand_may(db, "PRAGMA user_version = 0"); /* now migration 1 runs into tables that are there */
	sqlite3_close(db);
	refused(p, EX_SOFTWARE, "cannot be migrated to schema version 1 (initial)");
	db = hand_open(p);
	assert_int_equal(hand_number(db, "PRAGMA user_version"), 0);
	assert_int_equal(hand_number(db, "SELECT count(*) FROM allocation"), 3);
	sqlite3_close(db);
}

/* ---- the high-water record */

static bool has_alarm(const struct store *store, const char *slug)
{
	const char *alarms[STORE_ALARMS];
	size_t n = store_alarms(store, alarms);
	for (size_t i = 0; i < n; i++)
		if (strcmp(alarms[i], slug) == 0)
			return true;
	return false;
}

static size_t count_alarms(const struct store *store)
{
	const char *alarms[STORE_ALARMS];
	return store_alarms(store, alarms);
}

static void change_record(const struct place *p, size_t at, char xor, bool truncate)
{
	size_t size;
	char *path = place_file(p, "allotd.highwater"), *bytes = bytes_of(path, &size);
	assert_int_equal(size, 64);
	bytes[at] ^= xor;
	write_bytes(path, bytes, truncate ? at : size);
	free(bytes);
	free(path);
}

static void a_clean_restart_has_no_alarm(void **state)
{
	struct place *p = *state;
	assert_int_equal(count_alarms(p->store), 0);
	place_close(p);
	place_open(p, false);
	assert_int_equal(count_alarms(p->store), 0);
}

static void a_torn_record(void **state)
{
	struct place *p = *state;
	for (size_t at = 0; at < 64; at++) {
		place_close(p);
		change_record(p, at, 0x10, at % 2);
		place_open(p, false);
		assert_true(has_alarm(p->store, "highwater_torn"));
		assert_int_equal(count_alarms(p->store), 1);
	}
	place_close(p);
	place_open(p, false);
	assert_int_equal(count_alarms(p->store), 0);
}

static void an_absent_record(void **state)
{
	struct place *p = *state;
	char *path = place_file(p, "allotd.highwater");
	place_close(p);
	assert_int_equal(unlink(path), 0);
	place_open(p, false);
	assert_true(has_alarm(p->store, "highwater_absent"));
	place_close(p);
	place_open(p, false);
	assert_int_equal(count_alarms(p->store), 0);
	free(path);
}

static void the_database_is_behind(void **state)
{
	struct place *p = *state;
	size_t size;
	struct change_list changes = { 0 };
	place_close(p);
	char *old = bytes_of(p->database, &size);
	place_open(p, false);
	commit(p, &changes);
	place_close(p);
	write_bytes(p->database, old, size);
	refused_untouched(p, EX_DATAERR, "ends at revision 1 of epoch 1, but");
	refused_untouched(p, EX_DATAERR, "revision 2 of epoch 1 was committed");
	free(old);
}

/* A later epoch is ahead of an earlier one whatever its revision; an earlier one is behind. */
static void epochs_count_first(void **state)
{
	struct place *p = *state;
	size_t size;
	char *why = NULL;
	struct change_list none = { 0 };
	struct store_meta meta = store_meta(p->store);
	char *path = place_file(p, "allotd.highwater");
	char *old_record = bytes_of(path, &size);
	free(old_record);
	place_close(p);
	old_record = bytes_of(path, &size);
	char *old = bytes_of(p->database, &size);
	place_open(p, false);
	meta.epoch = 2;
	meta.revision = 0;
	assert_int_equal(store_commit(p->store, &none, &meta, &why), STORE_OK);
	place_close(p);
	char *new_record = bytes_of(path, &(size_t){ 0 });
	write_bytes(path, old_record, 64);
	place_open(p, false);
	place_close(p);
	write_bytes(path, new_record, 64);
	write_bytes(p->database, old, size);
	refused_untouched(p, EX_DATAERR, "of epoch 1, but");
	free(old_record);
	free(new_record);
	free(old);
	free(path);
}

static void another_database(void **state)
{
	struct place *p = *state, *q = NULL;
	size_t size;
	void *other = NULL;
	assert_int_equal(place_new_open(&other), 0);
	q = other;
	place_close(p);
	place_close(q);
	char *bytes = bytes_of(q->database, &size);
	write_bytes(p->database, bytes, size);
	refused_untouched(p, EX_DATAERR, "is another one");
	free(bytes);
	assert_int_equal(place_end(&other), 0);
}

static void a_record_without_database(void **state)
{
	struct place *p = *state;
	place_close(p);
	assert_int_equal(unlink(p->database), 0);
	refused_untouched(p, EX_DATAERR, "there is no database, but");
}

/* Killed after a commit, with the log not yet in the database: everything is there, and the record agrees. */
static void after_a_kill(void **state)
{
	struct place *p = *state;
	struct change_list changes = { 0 }, is = { 0 };
	place_close(p);
	pid_t child = fork();
	if (child == 0) {
		place_open(p, false);
		sample_cluster(&changes);
		change_list_truncate(&changes, changes.n - 1); /* the event has an old revision */
		struct store_meta meta = store_meta(p->store);
		char *why = NULL;
		meta.revision = 5;
		enum store_outcome outcome = store_commit(p->store, &changes, &meta, &why);
		(void)raise(outcome == STORE_OK ? SIGKILL : SIGABRT);
	}
	int status = 0;
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(WTERMSIG(status), SIGKILL);
	place_open(p, false);
	assert_int_equal(count_alarms(p->store), 0);
	assert_int_equal(load(p, &is).revision, 5);
	assert_int_equal(is.n, SAMPLE_RECORDS);
	change_list_free(&is);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(everything_is_private, place_new, place_end),
		cmocka_unit_test_setup_teardown(settings_of_the_file, place_new_open, place_end),
		cmocka_unit_test_setup_teardown(settings_of_a_connection, place_new_open, place_end),
		cmocka_unit_test_setup_teardown(not_a_database, place_new, place_end),
		cmocka_unit_test_setup_teardown(a_directory_in_its_place, place_new, place_end),
		cmocka_unit_test_setup_teardown(another_application, place_new, place_end),
		cmocka_unit_test_setup_teardown(a_newer_version, place_new_sample, place_end),
		cmocka_unit_test_setup_teardown(a_newer_version_in_the_log, place_new_sample, place_end),
		cmocka_unit_test_setup_teardown(a_damaged_page, place_new_sample, place_end),
		cmocka_unit_test_setup_teardown(a_log_without_its_database, place_new, place_end),
		cmocka_unit_test_setup_teardown(the_directory_is_a_file, place_new, place_end),
		cmocka_unit_test_setup_teardown(a_second_server, place_new_open, place_end),
		cmocka_unit_test_setup_teardown(somebody_is_writing, place_new_sample, place_end),
		cmocka_unit_test_setup_teardown(an_empty_file_becomes_a_database, place_new, place_end),
		cmocka_unit_test_setup_teardown(a_creation_that_was_cut_off, place_new, place_end),
		cmocka_unit_test(versions_rise_without_gaps),
		cmocka_unit_test_setup_teardown(a_failed_migration_changes_nothing, place_new_sample, place_end),
		cmocka_unit_test_setup_teardown(a_clean_restart_has_no_alarm, place_new_sample, place_end),
		cmocka_unit_test_setup_teardown(a_torn_record, place_new_sample, place_end),
		cmocka_unit_test_setup_teardown(an_absent_record, place_new_sample, place_end),
		cmocka_unit_test_setup_teardown(the_database_is_behind, place_new_sample, place_end),
		cmocka_unit_test_setup_teardown(epochs_count_first, place_new_sample, place_end),
		cmocka_unit_test_setup_teardown(another_database, place_new_sample, place_end),
		cmocka_unit_test_setup_teardown(a_record_without_database, place_new_sample, place_end),
		cmocka_unit_test_setup_teardown(after_a_kill, place_new_open, place_end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

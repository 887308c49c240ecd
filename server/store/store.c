/* Opening and closing. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/error.h"
#include "base/mem.h"
#include "store/migrate.h"
#include "store/replace.h"
#include "store/store_private.h"

enum { WAIT_AT_START_MS = 2000 };

/* Refuses what the high-water record contradicts; notes when there is no record to ask. `fresh`: the database does not exist yet. */
static struct error *consult_highwater(struct store *store, bool fresh)
{
	struct highwater_record record;
	enum highwater_state state = highwater_read(store->directory.highwater, &record);
	if (state == HIGHWATER_GOOD && fresh)
		return exit_error(EX_DATAERR,
			"there is no database, but %s says that revision %" PRId64 " of database %s was committed",
			store->directory.highwater, record.revision, record.db_id);
	if (state == HIGHWATER_GOOD)
		return highwater_check(store->directory.highwater, &record, &store->meta);
	if (fresh)
		return NULL;
	store->alarms |= state == HIGHWATER_ABSENT ? ALARM_HIGHWATER_ABSENT : ALARM_HIGHWATER_TORN;
	log_write(store->log, LOG_WARN, "the high-water record %s is %s: lost commits could not be noticed",
		store->directory.highwater, state == HIGHWATER_ABSENT ? "missing" : "damaged");
	return NULL;
}

/* Tables whose damage would be served. Events, by far the largest, are only added to and read back; server.check reads them too. */
static const char checked_tables[] =
	"SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND name <> 'event'";

static struct error *quick_check(const struct store *store, const char *table)
{
	char *sql = mem_format("PRAGMA quick_check(%s)", table);
	sqlite3_stmt *s = NULL;
	struct error *e = NULL;
	int rc = sqlite3_prepare_v2(store->db, sql, -1, &s, NULL);
	if (rc == SQLITE_OK)
		rc = sqlite3_step(s);
	const char *report = rc == SQLITE_ROW ? (const char *)sqlite3_column_text(s, 0) : NULL;
	int judged = rc == SQLITE_ROW ? connection_judge(report) : rc;
	if (judged == SQLITE_CORRUPT && report)
		e = exit_error(EX_DATAERR, "the database %s is damaged: %s", store->directory.database, report);
	else if (judged != SQLITE_OK)
		e = connection_error(store->db, judged, store->directory.database, "cannot be checked");
	(void)sqlite3_finalize(s);
	free(sql);
	return e;
}

static struct error *check_tables(const struct store *store)
{
	sqlite3_stmt *s = NULL;
	struct error *e = NULL;
	int rc = sqlite3_prepare_v2(store->db, checked_tables, -1, &s, NULL);
	while (rc == SQLITE_OK && !e && (rc = sqlite3_step(s)) == SQLITE_ROW) {
		e = quick_check(store, (const char *)sqlite3_column_text(s, 0));
		rc = SQLITE_OK;
	}
	(void)sqlite3_finalize(s);
	return e || rc == SQLITE_DONE ? e : connection_error(store->db, rc, store->directory.database, "cannot be checked");
}

static const char meta_of_any_version[] = "SELECT db_id, epoch, revision FROM meta";

/* What the high-water record is compared with, before the file is accepted. */
static struct error *read_identity(struct store *store)
{
	sqlite3_stmt *s = NULL;
	int rc = sqlite3_prepare_v2(store->db, meta_of_any_version, -1, &s, NULL);
	if (rc == SQLITE_OK)
		rc = sqlite3_step(s);
	if (rc == SQLITE_ROW) {
		const char *id = (const char *)sqlite3_column_text(s, 0);
		memcpy(store->meta.db_id, id, strnlen(id, sizeof store->meta.db_id - 1));
		store->meta.epoch = sqlite3_column_int64(s, 1);
		store->meta.revision = sqlite3_column_int64(s, 2);
	}
	(void)sqlite3_finalize(s);
	if (rc == SQLITE_DONE)
		return exit_error(EX_DATAERR, "the database %s has no meta row", store->directory.database);
	return rc == SQLITE_ROW ? NULL : connection_error(store->db, rc, store->directory.database, "cannot be read");
}

static struct error *use_log(struct store *store)
{
	sqlite3_stmt *s = NULL;
	int rc = sqlite3_prepare_v2(store->db, "PRAGMA journal_mode = WAL", -1, &s, NULL);
	if (rc == SQLITE_OK)
		rc = sqlite3_step(s);
	bool wal = rc == SQLITE_ROW && strcmp((const char *)sqlite3_column_text(s, 0), "wal") == 0;
	(void)sqlite3_finalize(s);
	if (wal)
		return NULL;
	return rc == SQLITE_ROW
		       ? exit_error(EX_IOERR, "the database %s cannot use a write-ahead log here", store->directory.database)
		       : connection_error(store->db, rc, store->directory.database, "cannot use a write-ahead log");
}

/* Moves the whole log into the database: after a failed sync, frames would otherwise be appended behind others that are not on the disk. */
static struct error *checkpoint_all(struct store *store)
{
	int rc = store_secure_log(store->db);
	if (rc == SQLITE_OK)
		rc = sqlite3_wal_checkpoint_v2(store->db, "main", SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
	return rc == SQLITE_OK ? NULL : connection_error(store->db, rc, store->directory.database, "cannot be checkpointed");
}

static int limit_size(sqlite3 *db, int64_t max_bytes)
{
	int64_t page = 0;
	int rc = connection_number(db, "PRAGMA page_size", &page);
	if (rc != SQLITE_OK || max_bytes <= 0)
		return rc;
	char *sql = mem_format("PRAGMA max_page_count = %" PRId64, max_bytes / page > 0 ? max_bytes / page : 1);
	rc = connection_run(db, sql);
	free(sql);
	return rc;
}

static int note_frames(void *store, sqlite3 *db, const char *name, int frames)
{
	(void)db, (void)name;
	((struct store *)store)->log_frames = frames;
	return SQLITE_OK;
}

static int make_ready(struct store *store, const struct store_options *options)
{
	(void)sqlite3_busy_timeout(store->db, WAIT_FOR_WRITER_MS);
	(void)sqlite3_wal_hook(store->db, note_frames, store);
	int rc = sqlite3_db_config(store->db, SQLITE_DBCONFIG_ENABLE_TRIGGER, options->guard, NULL);
	if (rc == SQLITE_OK)
		rc = limit_size(store->db, options->max_bytes);
	if (rc == SQLITE_OK)
		rc = store_prepare(store);
	if (rc == SQLITE_OK)
		rc = load_meta(&store->loader, &store->meta);
	return rc == SQLITE_OK ? store_read_data_version(store, &store->known_version) : rc;
}

/* Whether the file is ours, whole, and as far as it should be. Only reads. */
static struct error *judge(struct store *store, bool fresh)
{
	struct error *e = migrate_check(store->db, store->directory.database);
	if (!e)
		e = check_tables(store);
	if (!e)
		e = read_identity(store);
	return e || fresh ? e : consult_highwater(store, false);
}

/* The bytes of the log; negative when there is none. */
static int64_t log_size(const struct store *store)
{
	struct stat st;
	char *log = mem_format("%s-wal", store->directory.database);
	int64_t size = stat(log, &st) == 0 ? st.st_size : -1;
	free(log);
	return size;
}

/* SQLite makes an empty log before it reads. What was refused is left as it was found: a log of somebody else's would even be in the owner's way. */
static void remove_empty_log(const struct store *store)
{
	char *log = mem_format("%s-wal", store->directory.database), *shared = mem_format("%s-shm", store->directory.database);
	if (log_size(store) == 0) {
		(void)unlink(log);
		(void)unlink(shared);
	}
	free(log);
	free(shared);
}

static struct error *open_connection(struct store *store, const struct store_options *options, bool fresh)
{
	const char *path = store->directory.database;
	struct error *e = connection_open(path, CONNECTION_WRITER, &store->db);
	if (e)
		return e;
	(void)sqlite3_busy_timeout(store->db, WAIT_AT_START_MS);
	if (sqlite3_db_readonly(store->db, "main") == 1)
		return exit_error(EX_NOPERM, "the database %s cannot be written: no permission", path);
	e = judge(store, fresh);
	if (e)
		return e;
	(void)connection_accept(store->db);
	e = use_log(store);
	if (!e)
		e = checkpoint_all(store);
	if (!e)
		e = migrate_run(store->db, path);
	if (e)
		return e;
	int rc = make_ready(store, options);
	return rc == SQLITE_OK ? NULL : connection_error(store->db, rc, path, "cannot be used");
}

static struct error *open_database(struct store *store, const struct store_options *options, bool fresh)
{
	bool had_log = log_size(store) >= 0;
	struct error *e = open_connection(store, options, fresh);
	if (!e)
		return NULL;
	connection_close(store->db);
	store->db = NULL;
	if (!had_log)
		remove_empty_log(store);
	return e;
}

static struct error *open_in_directory(struct store *store, const struct store_options *options)
{
	bool present = false;
	struct error *e = directory_open(&store->directory, options->directory);
	if (!e)
		e = replace_finish(&store->directory);
	if (!e)
		e = migrate_inspect(store->directory.database, &present);
	if (!e && !present) {
		e = consult_highwater(store, true);
		if (!e)
			e = migrate_create(&store->directory, options->now);
	}
	if (!e)
		e = open_database(store, options, !present);
	if (!e)
		e = highwater_open(&store->highwater, store->directory.highwater, &store->meta);
	return e ? e : directory_sync(&store->directory);
}

static struct error *try_to_open(const struct store_options *options, struct store **ret)
{
	struct store *store = mem_alloc(sizeof *store);
	store->codec = options->codec;
	store->log = options->log;
	store->highwater.fd = -1;
	struct error *e = open_in_directory(store, options);
	if (e) {
		store_close(store);
		return e;
	}
	space_begin(&store->space, store->directory.path, options->log, options->max_bytes, options->ballast);
	space_measure(&store->space, store->db);
	*ret = store;
	return NULL;
}

struct error *store_open(const struct store_options *options, struct store **ret)
{
	(void)sqlite3_config(
		SQLITE_CONFIG_MEMSTATUS, 0); /* counting memory takes a lock on each allocation; refused when SQLite is in use */
	struct error *e = try_to_open(options, ret);
	if (!e || !space_make_room_in(options->directory))
		return e;
	error_free(e);
	return try_to_open(options, ret);
}

void store_close(struct store *store)
{
	if (!store)
		return;
	if (store->broken)
		(void)sqlite3_db_config(store->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
	connection_close(store->db);
	highwater_close(&store->highwater);
	space_end(&store->space);
	writer_free(&store->writer);
	directory_close(&store->directory);
	free(store);
}

struct store_meta store_meta(const struct store *store)
{
	return store->meta;
}

const char *store_shortage(const struct store *store)
{
	return store->space.shortage;
}

size_t store_alarms(const struct store *store, const char *ret[STORE_ALARMS])
{
	static const struct {
		unsigned bit;
		const char *slug;
	} names[STORE_ALARMS] = {
		{ ALARM_HIGHWATER_ABSENT, "highwater_absent" },
		{ ALARM_HIGHWATER_TORN, "highwater_torn" },
		{ ALARM_HIGHWATER_UNWRITABLE, "highwater_unwritable" },
	};
	unsigned alarms = store->alarms;
	size_t n = 0;
	for (size_t i = 0; i < STORE_ALARMS; i++)
		if (alarms & names[i].bit)
			ret[n++] = names[i].slug;
	return n;
}

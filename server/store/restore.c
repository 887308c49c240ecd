/* A database made of a backup. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/error.h"
#include "base/mem.h"
#include "core/cluster.h"
#include "store/backup_files.h"
#include "store/connection.h"
#include "store/copy.h"
#include "store/digest.h"
#include "store/migrate.h"
#include "store/reader.h"
#include "store/replace.h"
#include "store/statement.h"
#include "store/store_private.h"
#include "store/verify.h"

/* So far revision and token go on: enough for years of a lost future at any speed. Tokens begin with a block of their own, so that one of an
 * earlier epoch is known by its high bits (core/expire.c). */
#define EPOCH_BLOCK EPOCH_TOKENS
#define COUNTER_MAX (INT64_C(1) << 53) /* of the contract */

static const char settings_of_incoming[] = "PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF";

static const char count_reservations[] = "SELECT count(*) FROM allocation WHERE state = 'reserved'";
static const char count_nominations[] = "SELECT count(*) FROM nomination";

/* The triggers take along what belongs to them. */
static const char drop_promises[] =
	"DELETE FROM nomination;"
	"DELETE FROM allocation WHERE state = 'reserved';"
	"DELETE FROM device WHERE missing AND NOT cordoned AND id NOT IN (SELECT device_id FROM usage)";

static const char doubt_nodes[] = "UPDATE node SET unverified = 1, revision = :revision";

static const char begin_epoch[] =
	"UPDATE meta SET epoch = :epoch, revision = :revision, token = :token, now = :now, horizon = :horizon";

static const char note_restore[] =
	"INSERT INTO restore (epoch, at, revision, from_epoch, from_revision, source, dropped)"
	" VALUES (:epoch, :at, :revision, :from_epoch, :from_revision, :source, :dropped)";

/* One restore. */
struct restoring {
	const struct store_restore_options *options;
	struct directory directory;
	char *incoming;          /* path of the new database while it is made */
	struct store_meta floor; /* counters that must be exceeded: of what is replaced */
	struct store_restored result;
};

/* ---- what comes in */

/* The file must be what its checksum file says, when there is one. */
static struct error *check_sum(const char *path)
{
	char said[BACKUP_CHECKSUM_SIZE], is[BACKUP_CHECKSUM_SIZE];
	int64_t size;
	backup_read_checksum(AT_FDCWD, path, said);
	if (!*said)
		return NULL;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool good = fd >= 0 && digest_file(fd, NULL, is, &size);
	struct error *e = NULL;
	if (!good)
		e = exit_error(EX_NOINPUT, "the file %s cannot be read: %s", path, strerror(errno));
	else if (strcmp(said, is) != 0)
		e = exit_error(EX_DATAERR, "the file %s is damaged: its checksum is %s, %s.sha256 says %s", path, is, path, said);
	if (fd >= 0)
		(void)close(fd);
	return e;
}

static struct error *inspect(const char *path)
{
	bool present = false;
	struct error *e = migrate_inspect(path, &present);
	if (!e && !present)
		e = exit_error(EX_NOINPUT, "there is no database %s", path);
	return e ? e : check_sum(path);
}

/* Copies through SQLite: a file that was in use may have a log beside it. */
static struct error *take_in(const struct restoring *r)
{
	sqlite3 *from = NULL;
	struct error *e = connection_open(r->options->from, CONNECTION_READER, &from);
	if (!e)
		e = verify_schema(from, r->options->from);
	int rc = e ? SQLITE_OK : connection_run(from, "BEGIN");
	if (rc != SQLITE_OK)
		e = connection_error(from, rc, r->options->from, "cannot be read");
	if (!e)
		e = copy_database(from, r->incoming, NULL);
	connection_close(from);
	return e;
}

/* Brings the copy to the present schema and proves it, still as it was. */
static struct error *check(struct restoring *r, sqlite3 *db)
{
	int rc = connection_run(db, settings_of_incoming);
	struct error *e = rc == SQLITE_OK ? migrate_run(db, r->incoming)
					  : connection_error(db, rc, r->incoming, "cannot be written");
	return e ? e : verify_file(r->incoming, r->options->codec, r->options->proof, NULL, &r->result.from);
}

/* ---- what is replaced */

/* How far it had come, as far as that can be told: it may be damaged. */
static void look_at_old(struct restoring *r)
{
	struct highwater_record record;
	struct store_reader *reader = NULL;
	struct store_meta meta = { 0 };
	if (highwater_read(r->directory.highwater, &record) == HIGHWATER_GOOD) {
		r->floor.revision = record.revision;
		r->floor.epoch = record.epoch;
	}
	struct error *e = access(r->directory.database, F_OK) == 0
				  ? reader_open(r->directory.database, r->options->codec, &reader)
				  : NULL;
	if (reader && load_meta(&reader->loader, &meta) == SQLITE_OK) {
		r->floor.revision = meta.revision > r->floor.revision ? meta.revision : r->floor.revision;
		r->floor.epoch = meta.epoch > r->floor.epoch ? meta.epoch : r->floor.epoch;
		r->floor.token = meta.token;
		r->floor.now = meta.now;
	}
	store_reader_close(reader);
	error_free(e);
}

static struct error *refuse_overwriting(const struct restoring *r)
{
	char *wal = mem_format("%s-wal", r->directory.database);
	const char *const files[] = { r->directory.database, wal, r->directory.highwater };
	struct error *e = NULL;
	for (size_t i = 0; i < sizeof files / sizeof *files && !e && !r->options->force; i++)
		if (access(files[i], F_OK) == 0)
			e = exit_error(EX_CANTCREAT, "%s is there already; --force replaces the database of %s", files[i],
				r->directory.path);
	free(wal);
	return e;
}

/* ---- the new epoch */

static int64_t highest(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* The start of the first block that lies wholly beyond. */
static int64_t beyond(int64_t counter)
{
	return (counter + 2 * EPOCH_BLOCK - 1) / EPOCH_BLOCK * EPOCH_BLOCK;
}

/* No token is given without a revision, so the future that was lost has given at most as many. */
static struct error *choose_counters(struct restoring *r)
{
	const struct store_meta *from = &r->result.from;
	struct store_meta *now = &r->result.now;
	int64_t revision = highest(from->revision, r->floor.revision);
	*now = *from;
	now->epoch = highest(from->epoch, r->floor.epoch) + 1;
	now->horizon = revision + EPOCH_BLOCK;
	now->revision = now->horizon + 1;
	now->token = beyond(highest(r->floor.token, from->token + revision - from->revision));
	now->now = highest(highest(from->now, r->floor.now), r->options->now);
	if (now->revision < COUNTER_MAX - EPOCH_BLOCK && now->token < COUNTER_MAX - EPOCH_BLOCK)
		return NULL;
	return exit_error(EX_DATAERR,
		"the database was restored too often: revision %" PRId64 " and token %" PRId64 " leave no room for another epoch",
		revision, from->token);
}

static int drop(sqlite3 *db, struct store_restored *result)
{
	int rc = connection_number(db, count_reservations, &result->reservations);
	if (rc == SQLITE_OK)
		rc = connection_number(db, count_nominations, &result->nominations);
	return rc == SQLITE_OK ? connection_run(db, drop_promises) : rc;
}

static int tell(const struct restoring *r, sqlite3 *db)
{
	struct event_writer writer = { 0 };
	const struct store_meta *from = &r->result.from, *now = &r->result.now;
	char *reason = mem_format("from %s at revision %" PRId64 " of epoch %" PRId64 "; dropped %" PRId64
				  " reservations and %" PRId64 " nominations",
		r->options->from, from->revision, from->epoch, r->result.reservations, r->result.nominations);
	const struct event like = { .revision = now->revision,
		.at = now->now,
		.kind = "server.restored",
		.node = "",
		.uid = "",
		.actor = "restore",
		.reason = reason,
		.cause = "",
		.by = "",
		.subject_kind = SUBJECT_NONE };
	int rc = event_writer_prepare(&writer, db, r->options->codec);
	if (rc == SQLITE_OK)
		rc = apply_event(&writer, &like);
	text_free(&writer.data);
	free(reason);
	return rc;
}

static int write_doubt(const struct restoring *r, sqlite3 *db)
{
	struct statement s;
	int rc = statement_prepare(db, &(struct statement_source){ &s, doubt_nodes }, 1);
	if (rc != SQLITE_OK)
		return rc;
	statement_integer(&s, ":revision", r->result.now.revision);
	return statement_run(&s);
}

static int write_epoch(const struct restoring *r, sqlite3 *db)
{
	const struct store_meta *now = &r->result.now;
	struct statement s;
	int rc = statement_prepare(db, &(struct statement_source){ &s, begin_epoch }, 1);
	if (rc != SQLITE_OK)
		return rc;
	statement_integer(&s, ":epoch", now->epoch);
	statement_integer(&s, ":revision", now->revision);
	statement_integer(&s, ":token", now->token);
	statement_integer(&s, ":now", now->now);
	statement_integer(&s, ":horizon", now->horizon);
	return statement_run_on_row(&s);
}

static int write_note(const struct restoring *r, sqlite3 *db)
{
	const struct store_restored *result = &r->result;
	struct statement s;
	int rc = statement_prepare(db, &(struct statement_source){ &s, note_restore }, 1);
	if (rc != SQLITE_OK)
		return rc;
	statement_integer(&s, ":epoch", result->now.epoch);
	statement_integer(&s, ":at", result->now.now);
	statement_integer(&s, ":revision", result->now.revision);
	statement_integer(&s, ":from_epoch", result->from.epoch);
	statement_integer(&s, ":from_revision", result->from.revision);
	statement_text(&s, ":source", r->options->from);
	statement_integer(&s, ":dropped", result->reservations + result->nominations);
	return statement_run(&s);
}

/* The event comes before the counters: the schema lets nobody write events of a revision that is over. */
static int change(struct restoring *r, sqlite3 *db)
{
	int rc = connection_run(db, "BEGIN IMMEDIATE");
	if (rc == SQLITE_OK)
		rc = drop(db, &r->result);
	if (rc == SQLITE_OK)
		rc = write_doubt(r, db);
	if (rc == SQLITE_OK)
		rc = tell(r, db);
	if (rc == SQLITE_OK)
		rc = write_epoch(r, db);
	if (rc == SQLITE_OK)
		rc = write_note(r, db);
	return rc == SQLITE_OK ? connection_run(db, "COMMIT") : rc;
}

static struct error *make(struct restoring *r)
{
	sqlite3 *db = NULL;
	struct store_meta made;
	struct error *e = connection_open(r->incoming, CONNECTION_WRITER, &db);
	if (!e)
		e = check(r, db);
	if (!e)
		e = choose_counters(r);
	int rc = e ? SQLITE_OK : change(r, db);
	if (rc != SQLITE_OK)
		e = connection_error(db, rc, r->incoming, "cannot be written");
	connection_close(db);
	return e ? e : verify_file(r->incoming, r->options->codec, r->options->proof, NULL, &made);
}

static struct error *restore_into(struct restoring *r)
{
	struct error *e = directory_open(&r->directory, r->options->directory);
	if (!e)
		e = replace_finish(&r->directory);
	if (!e)
		e = refuse_overwriting(r);
	if (e)
		return e;
	r->incoming = replace_incoming(&r->directory);
	look_at_old(r);
	e = take_in(r);
	if (!e)
		e = make(r);
	if (!e)
		return replace_commit(&r->directory, &r->result.now);
	copy_remove(r->incoming);
	return e;
}

struct error *store_restore(const struct store_restore_options *options, struct store_restored *ret)
{
	struct restoring r = { .options = options, .directory = { .lock_fd = -1 } };
	struct error *e = inspect(options->from);
	if (!e)
		e = restore_into(&r);
	directory_close(&r.directory);
	free(r.incoming);
	if (!e)
		*ret = r.result;
	return e;
}

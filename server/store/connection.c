#include "store/connection.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "base/error.h"
#include "base/mem.h"

/* Settings of the connection, not of the file. The page cache is for the pages a busy turn touches, not for the database. A freed page need
 * not be overwritten with zeros. */
static const char settings_of_all[] =
	"PRAGMA mmap_size = 0;"
	"PRAGMA cell_size_check = ON;"
	"PRAGMA foreign_keys = ON;"
	"PRAGMA recursive_triggers = OFF;"
	"PRAGMA temp_store = MEMORY;"
	"PRAGMA wal_autocheckpoint = 0;"
	"PRAGMA secure_delete = OFF;";

/* The log is kept between checkpoints up to this size: overwriting needs no new blocks. */
static const char settings_of_writer[] =
	"PRAGMA synchronous = FULL;"
	"PRAGMA cache_size = -32768;"
	"PRAGMA journal_size_limit = 134217728;";

static const char settings_of_reader[] =
	"PRAGMA query_only = ON;"
	"PRAGMA cache_size = -4096;";

static int configure(sqlite3 *db, enum connection_kind kind)
{
	(void)sqlite3_extended_result_codes(db, 1);
	(void)sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	(void)sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	(void)sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
	(void)sqlite3_busy_timeout(db, WAIT_FOR_WRITER_MS);
	int rc = connection_run(db, settings_of_all);
	if (rc == SQLITE_OK)
		rc = connection_run(db, kind == CONNECTION_WRITER ? settings_of_writer : settings_of_reader);
	return rc;
}

struct error *connection_open(const char *path, enum connection_kind kind, sqlite3 **ret)
{
	int flags = (kind == CONNECTION_WRITER ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY) | SQLITE_OPEN_NOMUTEX;
	sqlite3 *db = NULL;
	int rc = sqlite3_open_v2(path, &db, flags, NULL);
	if (rc == SQLITE_OK)
		rc = configure(db, kind);
	if (rc != SQLITE_OK) {
		struct error *e = connection_error(db, rc, path, "cannot be opened");
		connection_close(db);
		return e;
	}
	*ret = db;
	return NULL;
}

int connection_accept(sqlite3 *db)
{
	return sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, NULL);
}

void connection_close(sqlite3 *db)
{
	sqlite3_stmt *s;
	while (db && (s = sqlite3_next_stmt(db, NULL)))
		(void)sqlite3_finalize(s);
	(void)sqlite3_close(db);
}

int connection_run(sqlite3 *db, const char *sql)
{
	return sqlite3_exec(db, sql, NULL, NULL, NULL);
}

int connection_number(sqlite3 *db, const char *sql, int64_t *ret)
{
	sqlite3_stmt *s;
	int rc = sqlite3_prepare_v2(db, sql, -1, &s, NULL);
	if (rc != SQLITE_OK)
		return rc;
	rc = sqlite3_step(s);
	if (rc == SQLITE_ROW)
		*ret = sqlite3_column_int64(s, 0);
	int end = sqlite3_finalize(s);
	return rc == SQLITE_ROW ? SQLITE_OK : end == SQLITE_OK ? SQLITE_EMPTY : end;
}

int connection_judge(const char *report)
{
	static const char reason[] = "error code=";
	if (!report)
		return SQLITE_NOMEM;
	if (strcmp(report, "ok") == 0)
		return SQLITE_OK;
	const char *at = strstr(report, reason);
	return at ? (int)strtol(at + sizeof reason - 1, NULL, 10) : SQLITE_CORRUPT;
}

enum store_outcome connection_outcome(int rc, bool committing)
{
	switch (rc & 0xff) {
	case SQLITE_OK:
		return STORE_OK;
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
	case SQLITE_PROTOCOL: /* somebody else held the index of the log for too long */
		return STORE_BUSY;
	case SQLITE_FULL:
		return STORE_FULL; /* the frame that commits is the last one written */
	case SQLITE_CONSTRAINT:
	case SQLITE_NOTFOUND: /* statement_run_on_row */
		return STORE_CONSTRAINT;
	case SQLITE_NOMEM:
		return committing ? STORE_UNKNOWN : STORE_NOMEM; /* the frames may be written and only the index not */
	default:
		return STORE_UNKNOWN;
	}
}

static int exit_status(int rc)
{
	switch (rc & 0xff) {
	case SQLITE_NOTADB:
	case SQLITE_CORRUPT:
	case SQLITE_CONSTRAINT:
	case SQLITE_MISMATCH:
		return EX_DATAERR;
	case SQLITE_PERM:
	case SQLITE_READONLY:
	case SQLITE_AUTH:
		return EX_NOPERM;
	case SQLITE_CANTOPEN:
		return EX_CANTCREAT;
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
	case SQLITE_PROTOCOL:
		return EX_TEMPFAIL;
	case SQLITE_FULL:
	case SQLITE_IOERR:
		return EX_IOERR;
	case SQLITE_NOMEM:
		return EX_OSERR;
	default:
		return EX_SOFTWARE;
	}
}

struct error *connection_error(sqlite3 *db, int rc, const char *path, const char *doing)
{
	const char *says = db && sqlite3_extended_errcode(db) == rc ? sqlite3_errmsg(db) : sqlite3_errstr(rc);
	return exit_error(exit_status(rc), "the database %s %s: %s", path, doing, says);
}

struct error *exit_error(int status, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	struct error *e = error_newv(ERR_INTERNAL, format, args);
	va_end(args);
	return error_with_integer(e, "exit", status);
}

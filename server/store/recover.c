/* Making sure of the log at the start.
 *
 * When a sync fails, the system may count the pages as written, show them to whoever reads, and never write them. A process that
 * starts then finds commits in the log that are not on the disk, and a later sync says nothing. If it moved them into the database and the
 * power failed, the disk would have a database with the new pages and a log that ends with the old ones, which recovery would put over
 * them. So everything in the log is written once more, and synced, before anything is built on it. */
#include <stdlib.h>

#include "base/mem.h"
#include "store/store_private.h"

enum { CHUNK = 64 * 1024 }; /* SQLite's files take less than 128 KiB at a time */

static int rewrite(sqlite3_file *log, sqlite3_int64 size)
{
	unsigned char *bytes = mem_alloc(CHUNK);
	int rc = SQLITE_OK;
	for (sqlite3_int64 at = 0; rc == SQLITE_OK && at < size; at += CHUNK) {
		int n = size - at < CHUNK ? (int)(size - at) : CHUNK;
		rc = log->pMethods->xRead(log, bytes, n, at);
		if (rc == SQLITE_OK)
			rc = log->pMethods->xWrite(log, bytes, n, at);
	}
	free(bytes);
	return rc == SQLITE_OK ? log->pMethods->xSync(log, SQLITE_SYNC_NORMAL) : rc;
}

static int rewrite_log(sqlite3 *db)
{
	sqlite3_file *log = NULL;
	sqlite3_int64 size = 0;
	int rc = sqlite3_file_control(db, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log);
	if (rc != SQLITE_OK || !log || !log->pMethods)
		return rc;
	rc = log->pMethods->xFileSize(log, &size);
	return rc != SQLITE_OK || size == 0 ? rc : rewrite(log, size);
}

int store_secure_log(sqlite3 *db)
{
	int rc = connection_run(db, "BEGIN IMMEDIATE"); /* nobody else writes into the log meanwhile */
	if (rc != SQLITE_OK)
		return rc;
	rc = rewrite_log(db);
	int end = connection_run(db, "ROLLBACK");
	return rc != SQLITE_OK ? rc : end;
}

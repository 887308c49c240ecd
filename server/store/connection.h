/* Connections to the database file and what SQLite's result codes mean to us. */
#ifndef ALLOTD_STORE_CONNECTION_H
#define ALLOTD_STORE_CONNECTION_H

#include <sqlite3.h>
#include <stdbool.h>

#include "store/store.h"

enum {
	APPLICATION_ID = 0x616c6c6f, /* "allo" in the header of the file */
	PAGE_SIZE = 4096,
	WAIT_FOR_WRITER_MS = 250, /* how long a statement waits for another process's lock */
};

/* For a connection that writes, and for one that must not. */
enum connection_kind { CONNECTION_WRITER, CONNECTION_READER };

/* Opens the file, which must exist, with the settings that every connection of ours has. A fresh writer does not checkpoint when it is
 * closed: connection_accept says that the file is ours to write. */
struct error *connection_open(const char *path, enum connection_kind kind, sqlite3 **ret) __attribute__((warn_unused_result));
int connection_accept(sqlite3 *db);

/* Finalizes every statement and closes; NULL is legal. */
void connection_close(sqlite3 *db);

/* Runs statements without parameters. */
int connection_run(sqlite3 *db, const char *sql);

/* The number that a statement without parameters yields, e.g. a pragma. */
int connection_number(sqlite3 *db, const char *sql, int64_t *ret);

/* What a line of quick_check or integrity_check means: SQLITE_OK, SQLITE_CORRUPT, or, when a page could not be read at all, which these report
 * in words like damage, the code of that failure. NULL is SQLITE_NOMEM. */
int connection_judge(const char *report);

/* How a transaction ended that failed with `rc`; `committing`: while it was being committed. */
enum store_outcome connection_outcome(int rc, bool committing);

/* An error that ends the start: the sentence, what SQLite says, and the exit status that fits `rc`. */
struct error *connection_error(sqlite3 *db, int rc, const char *path, const char *doing) __attribute__((warn_unused_result));

/* An error with an exit status of sysexits.h. */
struct error *exit_error(int status, const char *format, ...) __attribute__((format(printf, 2, 3), warn_unused_result));

#endif

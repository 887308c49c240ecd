/* Copying a database file through SQLite, page by page. */
#ifndef ALLOTD_STORE_COPY_H
#define ALLOTD_STORE_COPY_H

#include <sqlite3.h>
#include <stdatomic.h>

#include "base/error.h"

/* Copies what `from` sees into a new file at `path` (mode 0600; what was there is replaced), which needs no write-ahead log, and syncs it.
 * A transaction that is open on `from` holds the copy to its snapshot; without one, writers make it start again. On failure the file is
 * removed. ERR_UNAVAILABLE when `*stop` became true (NULL = never), else an error with an exit status. */
struct error *copy_database(sqlite3 *from, const char *path, const atomic_bool *stop) __attribute__((warn_unused_result));

/* Removes a database file and whatever SQLite may have left beside it. */
void copy_remove(const char *path);

/* The error of work that was given up. */
struct error *copy_stopped(void) __attribute__((warn_unused_result));

#endif

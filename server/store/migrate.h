/* The database file comes into being and is brought to the present schema. */
#ifndef ALLOTD_STORE_MIGRATE_H
#define ALLOTD_STORE_MIGRATE_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "store/directory.h"

/* Looks at the file's header before SQLite does, so that a file that is not ours is not touched: EX_DATAERR when it is no database, belongs to
 * another application or was written by a newer version. `*present` is false when there is none (or an empty one). */
struct error *migrate_inspect(const char *path, bool *present) __attribute__((warn_unused_result));

/* Makes a new database under another name and moves it into its place when it is complete. `now`: its first time, Unix ms. */
struct error *migrate_create(const struct directory *d, int64_t now) __attribute__((warn_unused_result));

/* The same questions asked through SQLite, which also sees what is only in the log. */
struct error *migrate_check(sqlite3 *db, const char *path) __attribute__((warn_unused_result));

/* Brings an older schema to the present one, a transaction for each step. */
struct error *migrate_run(sqlite3 *db, const char *path) __attribute__((warn_unused_result));

#endif

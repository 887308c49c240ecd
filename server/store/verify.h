/* Whether a database file that nobody uses is ours, whole and sound. */
#ifndef ALLOTD_STORE_VERIFY_H
#define ALLOTD_STORE_VERIFY_H

#include <sqlite3.h>

#include "store/backup.h"

/* Whether the schema is that of the file's own version, to the letter: nobody took a guard away. */
struct error *verify_schema(sqlite3 *db, const char *path) __attribute__((warn_unused_result));

/* Checks a file of the present version, reading only: application, schema, pages, foreign keys, the rules that only the database knows, and
 * by `proof` what its rows mean. `meta` is what it says of itself. */
struct error *verify_file(const char *path, const struct store_codec *codec, const struct store_proof *proof,
	const atomic_bool *stop, struct store_meta *meta) __attribute__((warn_unused_result));

#endif

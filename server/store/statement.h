/* Prepared statements. Parameters are `:named` and bound in the order in which they first appear in the text: the names are compared
 * when the statement runs for the first time and skipped afterwards, so that a name costs nothing where it counts.
 * Texts are bound without copying: they must live until the statement was run. Results are extended result codes of SQLite. */
#ifndef ALLOTD_STORE_STATEMENT_H
#define ALLOTD_STORE_STATEMENT_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct statement {
	sqlite3_stmt *handle; /* owned by the connection: connection_close finalizes all of them */
	int bound;            /* parameters bound since the last run */
	bool checked;         /* the names were compared */
};

/* Where a statement is kept and its text. */
struct statement_source {
	struct statement *statement;
	const char *sql;
};

/* Prepares `n` statements. */
int statement_prepare(sqlite3 *db, const struct statement_source *sources, size_t n);

/* Binds the next parameter; `name` includes the colon. statement_text takes NULL for SQL's NULL. */
void statement_integer(struct statement *s, const char *name, int64_t value);
void statement_text(struct statement *s, const char *name, const char *value);

/* Runs to the end and makes the statement ready for the next use. SQLITE_OK or what went wrong. */
int statement_run(struct statement *s);

/* The same for one that must change exactly one row; SQLITE_NOTFOUND when it did not. */
int statement_run_on_row(struct statement *s);

/* Goes to the next row: SQLITE_ROW, or, with the statement ready for the next use, SQLITE_DONE or what went wrong. */
int statement_step(struct statement *s);

/* Ends a walk over rows before its end. */
void statement_reset(struct statement *s);

/* A column of the present row. The text is never NULL and lives until the next step. */
int64_t statement_column_integer(const struct statement *s, int column);
const char *statement_column_text(const struct statement *s, int column);
bool statement_column_is_null(const struct statement *s, int column);

#endif

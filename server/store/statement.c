#include "store/statement.h"

#include <assert.h>
#include <string.h>

int statement_prepare(sqlite3 *db, const struct statement_source *sources, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct statement *s = sources[i].statement;
		*s = (struct statement){ 0 };
		int rc = sqlite3_prepare_v3(db, sources[i].sql, -1, SQLITE_PREPARE_PERSISTENT, &s->handle, NULL);
		if (rc != SQLITE_OK)
			return rc;
	}
	return SQLITE_OK;
}

/* The place of the next parameter, which must have that name. */
static int next_parameter(struct statement *s, const char *name)
{
	s->bound++;
	assert(s->checked || strcmp(sqlite3_bind_parameter_name(s->handle, s->bound), name) == 0);
	(void)name;
	return s->bound;
}

void statement_integer(struct statement *s, const char *name, int64_t value)
{
	(void)sqlite3_bind_int64(s->handle, next_parameter(s, name), value);
}

void statement_text(struct statement *s, const char *name, const char *value)
{
	(void)sqlite3_bind_text(s->handle, next_parameter(s, name), value, -1, SQLITE_STATIC);
}

/* All parameters are bound. */
static void check(struct statement *s)
{
	if (s->checked)
		return;
	assert(s->bound == sqlite3_bind_parameter_count(s->handle));
	s->checked = true;
}

int statement_step(struct statement *s)
{
	check(s);
	int rc = sqlite3_step(s->handle);
	if (rc != SQLITE_ROW)
		statement_reset(s);
	return rc;
}

int statement_run(struct statement *s)
{
	int rc = statement_step(s);
	if (rc == SQLITE_ROW)
		statement_reset(s);
	return rc == SQLITE_ROW || rc == SQLITE_DONE ? SQLITE_OK : rc;
}

int statement_run_on_row(struct statement *s)
{
	int rc = statement_run(s);
	if (rc == SQLITE_OK && sqlite3_changes(sqlite3_db_handle(s->handle)) != 1)
		return SQLITE_NOTFOUND;
	return rc;
}

void statement_reset(struct statement *s)
{
	(void)sqlite3_reset(s->handle);
	s->bound = 0;
}

int64_t statement_column_integer(const struct statement *s, int column)
{
	return sqlite3_column_int64(s->handle, column);
}

const char *statement_column_text(const struct statement *s, int column)
{
	const unsigned char *text = sqlite3_column_text(s->handle, column);
	return text ? (const char *)text : "";
}

bool statement_column_is_null(const struct statement *s, int column)
{
	return sqlite3_column_type(s->handle, column) == SQLITE_NULL;
}

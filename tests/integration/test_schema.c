/* schema/openrpc.json and schema/database.sql are what the server really has. With ALLOT_WRITE_SCHEMA=1 (make schema) the latter is
 * written instead of compared. */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/call.h"
#include "support/check.h"
#include "support/directory.h"
#include "support/server.h"

static bool updating(void)
{
	const char *update = getenv("ALLOT_WRITE_SCHEMA");
	return update && *update;
}

static void write_file(const char *path, const char *content)
{
	FILE *f = fopen(path, "w");
	if (!f || fputs(content, f) < 0 || fclose(f) != 0)
		check_failed("cannot write %s", path);
}

/* The file says what the server says. */
static void same_as_file(const char *path, const char *content)
{
	if (updating())
		write_file(path, content);
	char *committed = file_read(path);
	if (strcmp(committed, content) != 0) {
		size_t i = 0;
		while (committed[i] && committed[i] == content[i])
			i++;
		check_failed(
			"%s is not what the server has (from byte %zu: '%.60s', the server has '%.60s'); run make schema "
			"and look at the"
			" difference",
			path, i, committed + i, content + i);
	}
	free(committed);
}

/* Compared as a value: how the file is laid out is for tests/unit/methods to say. */
static void openrpc_is_what_discover_says(void **state)
{
	struct server *s = *state;
	json_t *said = call_result(s->wire, "rpc.discover", NULL), *committed = json_load_file("schema/openrpc.json", 0, NULL);
	if (!json_equal(said, committed))
		check_failed("schema/openrpc.json is not what rpc.discover says; run make schema and look at the difference");
	json_decref(said);
	json_decref(committed);
}

static char *schema_of(const char *database)
{
	sqlite3 *db;
	sqlite3_stmt *statement;
	char *all = strdup("-- The schema of the database, made from it by `make schema`. The migrations are in migrations/.\n");
	if (sqlite3_open_v2(database, &db, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK ||
		sqlite3_prepare_v2(db, "SELECT sql FROM sqlite_schema WHERE sql NOT NULL ORDER BY rowid", -1, &statement, NULL) !=
			SQLITE_OK)
		check_failed("%s: %s", database, sqlite3_errmsg(db));
	while (sqlite3_step(statement) == SQLITE_ROW) {
		char *more = NULL;
		if (asprintf(&more, "%s\n%s;\n", all, (const char *)sqlite3_column_text(statement, 0)) < 0)
			abort();
		free(all);
		all = more;
	}
	(void)sqlite3_finalize(statement);
	(void)sqlite3_close(db);
	return all;
}

static void the_database_is_what_its_schema_says(void **state)
{
	struct server *s = *state;
	char path[256];
	(void)snprintf(path, sizeof path, "%s/allotd.db", s->data);
	char *content = schema_of(path);
	same_as_file("schema/database.sql", content);
	free(content);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(openrpc_is_what_discover_says),
		cmocka_unit_test(the_database_is_what_its_schema_says),
	};
	return cmocka_run_group_tests(tests, server_setup, server_teardown);
}

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

/* Section 5 of the contract. */
static const char *const contract[] = { "node.register", "node.verify", "node.cordon", "node.uncordon", "node.remove",
	"device.update", "node.list", "device.list", "pod.filter", "pod.reserve", "pod.renew", "pod.unreserve", "pod.bind",
	"pod.release", "pod.adopt", "pod.nominate", "pod.denominate", "pod.preempt", "gang.reserve", "pod.get", "pod.list",
	"pod.explain", "plugin.pending", "plugin.allocate", "plugin.confirm", "plugin.fail", "plugin.reconcile", "lock.acquire",
	"lock.release", "lock.list", "nomination.list", "event.list", "server.info", "server.check", "backup.create",
	"backup.read", "clock.advance", "rpc.discover" };

static void every_method_of_the_contract_is_there(void **state)
{
	struct server *s = *state;
	json_t *document = call_result(s->wire, "rpc.discover", NULL), *names = json_object(), *method;
	size_t i;
	assert_int_equal(strncmp(json_string_value(json_object_get(document, "openrpc")), "1.3.", 4), 0);
	json_array_foreach (json_object_get(document, "methods"), i, method) {
		const char *name = json_string_value(json_object_get(method, "name"));
		const char *summary = json_string_value(json_object_get(method, "summary"));
		if (!summary || !*summary || !json_object_get(method, "params") || !json_object_get(method, "result"))
			check_failed("%s is not documented", name);
		json_object_set_new(names, name, json_true());
	}
	for (i = 0; i < sizeof contract / sizeof contract[0]; i++)
		if (!json_object_get(names, contract[i]))
			check_failed("there is no %s", contract[i]);
	json_decref(names);
	json_decref(document);
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
		cmocka_unit_test(every_method_of_the_contract_is_there),
		cmocka_unit_test(the_database_is_what_its_schema_says),
	};
	return cmocka_run_group_tests(tests, server_setup, server_teardown);
}

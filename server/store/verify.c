#include "store/verify.h"

#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "base/error.h"
#include "base/mem.h"
#include "store/connection.h"
#include "store/copy.h"
#include "store/migrate.h"
#include "store/migrations.h"
#include "store/reader.h"

enum { INSTRUCTIONS_PER_LOOK = 100000 };

static const char schema_text[] =
	"SELECT group_concat(line, char(10)) FROM (SELECT type || ' ' || name || ' ' || tbl_name || ' "
	"' || coalesce(sql, '') AS line"
	" FROM sqlite_schema WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY type, name)";

/* The schema as one text, owned by the caller. */
static int read_schema(sqlite3 *db, char **ret)
{
	sqlite3_stmt *s = NULL;
	int rc = sqlite3_prepare_v2(db, schema_text, -1, &s, NULL);
	if (rc == SQLITE_OK)
		rc = sqlite3_step(s);
	if (rc == SQLITE_ROW) {
		const char *text = (const char *)sqlite3_column_text(s, 0);
		*ret = mem_string(text ? text : "");
	}
	(void)sqlite3_finalize(s);
	return rc == SQLITE_ROW ? SQLITE_OK : rc;
}

/* What the schema of a version should be. */
static int make_schema(int64_t version, char **ret)
{
	sqlite3 *db = NULL;
	int rc = sqlite3_open_v2(":memory:", &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY, NULL);
	for (size_t i = 0; rc == SQLITE_OK && i < n_migrations && migrations[i].version <= version; i++)
		rc = connection_run(db, migrations[i].sql);
	if (rc == SQLITE_OK)
		rc = read_schema(db, ret);
	connection_close(db);
	return rc;
}

struct error *verify_schema(sqlite3 *db, const char *path)
{
	char *is = NULL, *should = NULL;
	int64_t version = 0;
	struct error *e = migrate_check(db, path);
	int rc = e ? SQLITE_OK : connection_number(db, "PRAGMA user_version", &version);
	if (!e && rc == SQLITE_OK)
		rc = read_schema(db, &is);
	if (!e && rc == SQLITE_OK)
		rc = make_schema(version, &should);
	if (rc != SQLITE_OK)
		e = connection_error(db, rc, path, "cannot be checked");
	else if (!e && (!is || !should || strcmp(is, should) != 0))
		e = exit_error(EX_DATAERR, "the schema of the database %s is not that of version %lld", path, (long long)version);
	free(is);
	free(should);
	return e;
}

static int look(void *stop)
{
	return *(const atomic_bool *)stop;
}

/* The first violation is enough. */
static void note(void *context, const char *sentence)
{
	char **first = context;
	if (!*first)
		*first = mem_string(sentence);
}

static struct error *check_rules(struct store_reader *reader)
{
	char *violation = NULL;
	struct error *e = store_reader_check(reader, note, &violation);
	if (!e && violation)
		e = exit_error(EX_DATAERR, "the database %s is not sound: %s", reader->path, violation);
	free(violation);
	return e;
}

static struct error *check_rows(struct store_reader *reader, const struct store_proof *proof, struct store_meta *meta)
{
	struct change_list rows = { 0 };
	struct error *e = store_reader_load(reader, &rows, meta);
	if (!e && proof)
		e = proof->prove(proof->context, &rows, meta);
	change_list_free(&rows);
	return e;
}

struct error *verify_file(const char *path, const struct store_codec *codec, const struct store_proof *proof,
	const atomic_bool *stop, struct store_meta *meta)
{
	struct store_reader *reader = NULL;
	struct error *e = reader_open(path, codec, &reader);
	if (e)
		return e;
	if (stop)
		sqlite3_progress_handler(reader->db, INSTRUCTIONS_PER_LOOK, look, (void *)(uintptr_t)stop);
	e = verify_schema(reader->db, path);
	if (!e)
		e = store_reader_begin(reader);
	if (!e)
		e = check_rules(reader);
	if (!e)
		e = check_rows(reader, proof, meta);
	store_reader_end(reader);
	store_reader_close(reader);
	if (!e || !stop || !*stop)
		return e;
	error_free(e);
	return copy_stopped();
}

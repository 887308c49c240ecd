#include "store/load.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "base/error.h"
#include "base/mem.h"
#include "store/connection.h"
#include "store/load_private.h"

static const char meta_select[] = "SELECT db_id, epoch, revision, token, now, horizon FROM meta";

int load_meta(struct loader *l, struct store_meta *ret)
{
	struct statement *s = &l->meta;
	int rc = statement_step(s);
	if (rc != SQLITE_ROW)
		return rc == SQLITE_DONE ? SQLITE_CORRUPT : rc;
	struct store_meta meta = {
		.epoch = statement_column_integer(s, 1),
		.revision = statement_column_integer(s, 2),
		.token = statement_column_integer(s, 3),
		.now = statement_column_integer(s, 4),
		.horizon = statement_column_integer(s, 5),
	};
	const char *id = statement_column_text(s, 0);
	memcpy(meta.db_id, id, strnlen(id, sizeof meta.db_id - 1));
	statement_reset(s);
	*ret = meta;
	return SQLITE_OK;
}

int loader_prepare(struct loader *l, sqlite3 *db)
{
	const struct statement_source sources[] = { { &l->meta, meta_select } };
	int rc = statement_prepare(db, sources, 1);
	if (rc == SQLITE_OK)
		rc = load_inventory_prepare(l, db);
	if (rc == SQLITE_OK)
		rc = load_pods_prepare(l, db);
	return rc == SQLITE_OK ? load_waiting_prepare(l, db) : rc;
}

struct rows rows_start(struct statement *statement)
{
	return (struct rows){ .statement = statement, .rc = statement_step(statement) };
}

bool rows_belong(const struct rows *r, int64_t owner)
{
	return r->rc == SQLITE_ROW && statement_column_integer(r->statement, 0) == owner;
}

void rows_next(struct rows *r)
{
	r->rc = statement_step(r->statement);
}

struct error *rows_end(struct loading *l, struct rows *r, const char *table)
{
	if (r->rc == SQLITE_DONE)
		return NULL;
	if (r->rc != SQLITE_ROW)
		return load_failed(l, r->rc);
	struct error *e = load_damaged(
		"a row of %s belongs to id %" PRId64 ", which is not there", table, statement_column_integer(r->statement, 0));
	statement_reset(r->statement);
	return e;
}

struct error *load_failed(struct loading *l, int rc)
{
	return connection_error(l->db, rc, sqlite3_db_filename(l->db, "main"), "cannot be read");
}

struct error *load_damaged(const char *format, ...)
{
	va_list args;
	va_start(args, format);
	char *sentence = mem_vformat(format, args);
	va_end(args);
	struct error *e = exit_error(EX_DATAERR, "the database contradicts itself: %s", sentence);
	free(sentence);
	return e;
}

static struct error *load_in_order(struct loading *l)
{
	struct error *e = load_nodes(l);
	if (!e)
		e = load_devices(l);
	if (!e)
		e = load_allocations(l);
	if (!e)
		e = load_nominations(l);
	if (!e)
		e = load_locks(l);
	if (!e)
		e = load_lapses(l);
	return e ? e : load_refusals(l);
}

/* After a failure statements may stand in the middle of their rows. */
static void reset_all(sqlite3 *db)
{
	for (sqlite3_stmt *s = sqlite3_next_stmt(db, NULL); s; s = sqlite3_next_stmt(db, s))
		if (sqlite3_stmt_busy(s) && sqlite3_column_count(s))
			(void)sqlite3_reset(s);
}

struct error *load_rows(struct loader *loader, sqlite3 *db, const struct store_codec *codec, struct change_list *ret)
{
	size_t start = ret->n;
	struct loading l = { .loader = loader, .db = db, .list = ret, .intern = intern_new(codec) };
	struct error *e = load_in_order(&l);
	if (e) {
		change_list_truncate(ret, start);
		reset_all(db);
	}
	intern_free(l.intern);
	free(l.nodes);
	free(l.devices);
	return e;
}

/* Read-only connections. */
#include "store/reader.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/mem.h"
#include "store/store_private.h"

static const char begin_deferred[] = "BEGIN";
static const char rollback_transaction[] = "ROLLBACK";

static int prepare(struct store_reader *reader)
{
	const struct statement_source sources[] = {
		{ &reader->begin, begin_deferred },
		{ &reader->rollback, rollback_transaction },
	};
	int rc = statement_prepare(reader->db, sources, sizeof sources / sizeof *sources);
	if (rc == SQLITE_OK)
		rc = loader_prepare(&reader->loader, reader->db);
	return rc == SQLITE_OK ? events_prepare(reader) : rc;
}

struct error *reader_failed(struct store_reader *reader, int rc)
{
	return connection_error(reader->db, rc, reader->path, "cannot be read");
}

struct error *reader_open(const char *path, const struct store_codec *codec, struct store_reader **ret)
{
	struct store_reader *reader = mem_alloc(sizeof *reader);
	reader->codec = codec;
	reader->path = mem_string(path);
	struct error *e = connection_open(reader->path, CONNECTION_READER, &reader->db);
	int rc = e ? SQLITE_OK : prepare(reader);
	if (rc != SQLITE_OK)
		e = reader_failed(reader, rc);
	if (e) {
		store_reader_close(reader);
		return e;
	}
	*ret = reader;
	return NULL;
}

struct error *store_reader_open(struct store *store, struct store_reader **ret)
{
	return reader_open(store->directory.database, store->codec, ret);
}

void store_reader_close(struct store_reader *reader)
{
	if (!reader)
		return;
	connection_close(reader->db);
	free(reader->path);
	free(reader);
}

/* A transaction shows what is committed when it first reads, so it reads at once. */
struct error *store_reader_begin(struct store_reader *reader)
{
	struct store_meta meta;
	int rc = statement_run(&reader->begin);
	if (rc == SQLITE_OK)
		rc = load_meta(&reader->loader, &meta);
	if (rc == SQLITE_OK)
		return NULL;
	struct error *e = reader_failed(reader, rc);
	store_reader_end(reader);
	return e;
}

void store_reader_end(struct store_reader *reader)
{
	if (!sqlite3_get_autocommit(reader->db))
		(void)statement_run(&reader->rollback);
}

struct error *store_reader_load(struct store_reader *reader, struct change_list *ret, struct store_meta *meta)
{
	int rc = load_meta(&reader->loader, meta);
	return rc == SQLITE_OK ? load_rows(&reader->loader, reader->db, reader->codec, ret) : reader_failed(reader, rc);
}

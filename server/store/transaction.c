/* Transactions of the writing connection, and what their failures mean (rules 4 and 10 of the engine). */
#include "base/error.h"
#include "base/mem.h"
#include "store/store_private.h"

static const char begin_immediate[] = "BEGIN IMMEDIATE";
static const char begin_deferred[] = "BEGIN";
static const char commit_transaction[] = "COMMIT";
static const char rollback_transaction[] = "ROLLBACK";

static const char data_version_read[] = "PRAGMA data_version";

int store_read_data_version(struct store *store, int64_t *ret)
{
	int rc = statement_step(&store->data_version);
	if (rc != SQLITE_ROW)
		return rc == SQLITE_DONE ? SQLITE_INTERNAL : rc;
	*ret = statement_column_integer(&store->data_version, 0);
	statement_reset(&store->data_version);
	return SQLITE_OK;
}

/* A full disk and an error in reading end the transaction on SQLite's side already; going on would commit statement by statement. */
static void roll_back(struct store *store)
{
	if (!sqlite3_get_autocommit(store->db))
		(void)statement_run(&store->rollback);
	if (!sqlite3_get_autocommit(store->db))
		store->broken = true;
}

static enum store_outcome fail(struct store *store, int rc, bool committing, const char *what, char **why)
{
	const char *says = rc == SQLITE_NOTFOUND ? "a row that is to be changed is not there" : sqlite3_errmsg(store->db);
	*why = mem_format("%s: %s (%d)", what, says, rc);
	enum store_outcome outcome = connection_outcome(rc, committing);
	roll_back(store);
	if (outcome == STORE_UNKNOWN)
		store->broken = true;
	return store->broken ? STORE_UNKNOWN : outcome;
}

enum store_outcome transaction_fail(struct store *store, int rc, const char *what, char **why)
{
	return fail(store, rc, false, what, why);
}

enum store_outcome transaction_begin(struct store *store, char **why)
{
	int64_t version = 0;
	*why = NULL;
	if (store->broken) {
		*why = mem_string("the disk has failed before");
		return STORE_UNKNOWN;
	}
	int rc = statement_run(&store->begin);
	if (rc == SQLITE_OK)
		rc = store_read_data_version(store, &version);
	if (rc != SQLITE_OK)
		return fail(store, rc, false, "begin", why);
	if (version == store->known_version)
		return STORE_OK;
	*why = mem_string("another process has changed the database");
	roll_back(store);
	return store->broken ? STORE_UNKNOWN : STORE_EXTERNAL;
}

enum store_outcome transaction_commit(struct store *store, char **why)
{
	int rc = statement_run(&store->commit);
	return rc == SQLITE_OK ? STORE_OK : fail(store, rc, true, "commit", why);
}

bool store_changed_outside(struct store *store)
{
	int64_t version = 0;
	return store_read_data_version(store, &version) == SQLITE_OK && version != store->known_version;
}

int transaction_prepare(struct store *store)
{
	const struct statement_source sources[] = {
		{ &store->begin, begin_immediate },
		{ &store->begin_read, begin_deferred },
		{ &store->commit, commit_transaction },
		{ &store->rollback, rollback_transaction },
		{ &store->data_version, data_version_read },
	};
	return statement_prepare(store->db, sources, sizeof sources / sizeof *sources);
}

/* Everything is read in one transaction, together with the version that says that this is all there is. */
struct error *store_load(struct store *store, struct change_list *ret, struct store_meta *meta)
{
	int64_t version = 0;
	struct store_meta read;
	struct error *e = NULL;
	int rc = statement_run(&store->begin_read);
	if (rc == SQLITE_OK)
		rc = load_meta(&store->loader, &read);
	if (rc == SQLITE_OK)
		rc = store_read_data_version(store, &version);
	if (rc == SQLITE_OK)
		e = load_rows(&store->loader, store->db, store->codec, ret);
	else
		e = connection_error(store->db, rc, store->directory.database, "cannot be read");
	roll_back(store);
	(void)sqlite3_db_release_memory(store->db);
	if (e)
		return e;
	store->known_version = version;
	*meta = store->meta = read;
	return NULL;
}

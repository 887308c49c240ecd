/* lock and lapse. */
#include "store/apply.h"

#include <string.h>

static const char lock_insert[] =
	"INSERT INTO lock (node_id, uid, token, acquired_at, expires_at, ttl) VALUES (:node, :uid, :token, :acquired_at, "
	":expires_at, :ttl)";

static int insert(struct lock_writer *w, const struct lock *lock)
{
	statement_integer(&w->insert, ":node", lock->node_id);
	statement_text(&w->insert, ":uid", lock->uid);
	statement_integer(&w->insert, ":token", lock->token);
	statement_integer(&w->insert, ":acquired_at", lock->acquired_at);
	statement_integer(&w->insert, ":expires_at", lock->expires_at);
	statement_integer(&w->insert, ":ttl", lock->ttl);
	return statement_run(&w->insert);
}

static const char lock_update[] =
	"UPDATE lock SET uid = :uid, token = :token, acquired_at = :acquired_at, expires_at = :expires_at, ttl = :ttl WHERE "
	"node_id = :node";

static int update(struct lock_writer *w, const struct lock *lock)
{
	statement_text(&w->update, ":uid", lock->uid);
	statement_integer(&w->update, ":token", lock->token);
	statement_integer(&w->update, ":acquired_at", lock->acquired_at);
	statement_integer(&w->update, ":expires_at", lock->expires_at);
	statement_integer(&w->update, ":ttl", lock->ttl);
	statement_integer(&w->update, ":node", lock->node_id);
	return statement_run_on_row(&w->update);
}

/* With the guard on, the lock may have gone with its allocation: no row is no mistake. */
static const char lock_remove[] = "DELETE FROM lock WHERE node_id = :node";

static int remove_lock(struct lock_writer *w, const struct lock *lock)
{
	statement_integer(&w->remove, ":node", lock->node_id);
	return statement_run(&w->remove);
}

int apply_lock(struct lock_writer *w, const struct lock *before, const struct lock *after)
{
	if (before && after && before->node_id == after->node_id)
		return update(w, after);
	int rc = before ? remove_lock(w, before) : SQLITE_OK;
	return rc == SQLITE_OK && after ? insert(w, after) : rc;
}

int lock_writer_prepare(struct lock_writer *w, sqlite3 *db)
{
	const struct statement_source sources[] = {
		{ &w->insert, lock_insert },
		{ &w->update, lock_update },
		{ &w->remove, lock_remove },
	};
	return statement_prepare(db, sources, sizeof sources / sizeof *sources);
}

static const char lapse_insert[] =
	"INSERT INTO lapse (node_id, uid, at, expires_at, request) VALUES (:node, :uid, :at, :expires_at, :request)";

static int insert_lapse(struct lapse_writer *w, const struct lapse *lapse)
{
	statement_integer(&w->insert, ":node", lapse->node_id);
	statement_text(&w->insert, ":uid", lapse->uid);
	statement_integer(&w->insert, ":at", lapse->at);
	statement_integer(&w->insert, ":expires_at", lapse->expires_at);
	statement_text(&w->insert, ":request", lapse->request->text);
	return statement_run(&w->insert);
}

static const char lapse_update[] =
	"UPDATE lapse SET at = :at, expires_at = :expires_at, request = :request WHERE node_id = :node AND uid = :uid";

static int update_lapse(struct lapse_writer *w, const struct lapse *lapse)
{
	statement_integer(&w->update, ":at", lapse->at);
	statement_integer(&w->update, ":expires_at", lapse->expires_at);
	statement_text(&w->update, ":request", lapse->request->text);
	statement_integer(&w->update, ":node", lapse->node_id);
	statement_text(&w->update, ":uid", lapse->uid);
	return statement_run_on_row(&w->update);
}

static const char lapse_remove[] = "DELETE FROM lapse WHERE node_id = :node AND uid = :uid";

static int remove_lapse(struct lapse_writer *w, const struct lapse *lapse)
{
	statement_integer(&w->remove, ":node", lapse->node_id);
	statement_text(&w->remove, ":uid", lapse->uid);
	return statement_run(&w->remove);
}

int apply_lapse(struct lapse_writer *w, const struct lapse *before, const struct lapse *after)
{
	if (before && after && before->node_id == after->node_id && strcmp(before->uid, after->uid) == 0)
		return update_lapse(w, after);
	int rc = before ? remove_lapse(w, before) : SQLITE_OK;
	return rc == SQLITE_OK && after ? insert_lapse(w, after) : rc;
}

int lapse_writer_prepare(struct lapse_writer *w, sqlite3 *db)
{
	const struct statement_source sources[] = {
		{ &w->insert, lapse_insert },
		{ &w->update, lapse_update },
		{ &w->remove, lapse_remove },
	};
	return statement_prepare(db, sources, sizeof sources / sizeof *sources);
}

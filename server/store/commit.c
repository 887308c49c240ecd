/* One turn becomes one transaction. */
#include <stdlib.h>

#include "base/mem.h"
#include "store/store_private.h"

static const char meta_update[] =
	"UPDATE meta SET epoch = :epoch, revision = :revision, token = :token, now = :now, horizon = max(horizon, :horizon)";

static int write_meta(struct store *store, const struct store_meta *meta)
{
	struct statement *s = &store->meta_write;
	statement_integer(s, ":epoch", meta->epoch);
	statement_integer(s, ":revision", meta->revision);
	statement_integer(s, ":token", meta->token);
	statement_integer(s, ":now", meta->now);
	statement_integer(s, ":horizon", meta->horizon);
	return statement_run_on_row(s);
}

/* Whose rows, for messages. */
static const char *const table_names[RECORD_KINDS] = { "node", "device", "allocation", "nomination", "lock", "lapse", "refusal",
	"event" };

static enum store_outcome write_changes(struct store *store, const struct change_list *changes, char **why)
{
	for (size_t i = 0; i < changes->n; i++) {
		const struct change *c = &changes->changes[i];
		int rc = apply_change(&store->writer, c);
		if (rc != SQLITE_OK)
			return transaction_fail(store, rc, table_names[c->kind], why);
	}
	return STORE_OK;
}

static int64_t count_events(const struct change_list *changes)
{
	int64_t n = 0;
	for (size_t i = 0; i < changes->n; i++)
		n += changes->changes[i].kind == RECORD_EVENT;
	return n;
}

/* After the commit nothing can undo it: what fails here is told by alarms and by the next commit. */
static void remember(struct store *store, const struct change_list *changes, const struct store_meta *meta)
{
	int64_t horizon = store->meta.horizon;
	store->meta = *meta;
	if (store->meta.horizon < horizon)
		store->meta.horizon = horizon;
	store->written_events += count_events(changes);
	if (highwater_write(&store->highwater, &store->meta))
		store->alarms &= ~(unsigned)ALARM_HIGHWATER_UNWRITABLE;
	else
		store->alarms |= ALARM_HIGHWATER_UNWRITABLE;
	space_measure(&store->space, store->db);
	if (store->log_frames >= space_log_frames(&store->space)) /* when nobody else does it in time */
		store_checkpoint(store);
}

static enum store_outcome try_to_commit(
	struct store *store, const struct change_list *changes, const struct store_meta *meta, char **why)
{
	enum store_outcome outcome = transaction_begin(store, why);
	if (outcome == STORE_OK)
		outcome = write_changes(store, changes, why);
	if (outcome != STORE_OK)
		return outcome;
	int rc = write_meta(store, meta);
	outcome = rc == SQLITE_OK ? transaction_commit(store, why) : transaction_fail(store, rc, "meta", why);
	if (outcome == STORE_OK)
		remember(store, changes, meta);
	return outcome;
}

/* A full disk has room in two places: the log, once it was moved into the database, and the ballast. */
static bool make_room(struct store *store, int attempt)
{
	if (attempt > 0 && !space_make_room(&store->space))
		return false;
	store_checkpoint(store);
	return !store->broken;
}

enum store_outcome store_commit(struct store *store, const struct change_list *changes, const struct store_meta *meta, char **why)
{
	enum store_outcome outcome = try_to_commit(store, changes, meta, why);
	for (int attempt = 0; outcome == STORE_FULL && attempt < 2 && make_room(store, attempt); attempt++) {
		free(*why);
		outcome = try_to_commit(store, changes, meta, why);
	}
	if (outcome == STORE_FULL)
		space_measure(&store->space, store->db);
	return outcome;
}

int commit_prepare(struct store *store)
{
	const struct statement_source sources[] = { { &store->meta_write, meta_update } };
	return statement_prepare(store->db, sources, 1);
}

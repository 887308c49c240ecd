/* Housekeeping: the log is moved into the database, old events are removed. The ids of events have no gaps, so they can be counted by them. */
#include <stdlib.h>

#include "base/mem.h"
#include "store/store_private.h"

enum {
	LOG_FRAMES_WORTHWHILE = 1024, /* below this a checkpoint can wait */
	CUT_AT_LEAST = 1024,          /* events that may be removed in one go */
	CUT_AT_MOST = 32768,
};

static const char event_ends[] =
	"SELECT min(id), max(id) FROM (SELECT min(id) AS id FROM event UNION ALL SELECT max(id) FROM event)";

/* The first event of the revision that has the event :id. */
static const char event_start[] = "SELECT id - n FROM event WHERE id = :id";

/* Where the events begin that stay: at the start of a revision, from :keep on, and not older than :since or at the end of what one call does. */
static const char event_stay[] =
	"SELECT id FROM event WHERE id >= :keep AND n = 0 AND (at >= :since OR id >= :most) ORDER BY id LIMIT 1";

static const char event_cut[] = "DELETE FROM event WHERE id < :id";

static const char horizon_update[] =
	"UPDATE meta SET horizon = max(horizon, coalesce((SELECT revision FROM event WHERE id < :id ORDER BY id DESC LIMIT 1), "
	"0)) RETURNING horizon";

int tidy_prepare(struct store *store)
{
	const struct statement_source sources[] = {
		{ &store->event_ends, event_ends },
		{ &store->event_start, event_start },
		{ &store->event_stay, event_stay },
		{ &store->event_cut, event_cut },
		{ &store->horizon_write, horizon_update },
	};
	return statement_prepare(store->db, sources, sizeof sources / sizeof *sources);
}

/* Runs a statement whose parameters are bound and that yields at most one number; `*ret` stays as it is when there is none. */
static int number_of(struct statement *s, int64_t *ret)
{
	int rc = statement_step(s);
	if (rc != SQLITE_ROW)
		return rc == SQLITE_DONE ? SQLITE_OK : rc;
	*ret = statement_column_integer(s, 0);
	return statement_run(s);
}

static int64_t budget(const struct store *store)
{
	int64_t n = store->written_events * 2;
	return n < CUT_AT_LEAST ? CUT_AT_LEAST : n > CUT_AT_MOST ? CUT_AT_MOST : n;
}

/* The id of the first event that stays; 0 when all do. */
static int find_cut(struct store *store, const struct store_retention *retention, int64_t now, int64_t *ret)
{
	int rc = statement_step(&store->event_ends);
	if (rc != SQLITE_ROW)
		return rc;
	int64_t first = statement_column_integer(&store->event_ends, 0), last = statement_column_integer(&store->event_ends, 1);
	statement_reset(&store->event_ends);
	*ret = 0;
	if (last == 0)
		return SQLITE_OK;
	int64_t most = first + budget(store), keep = first, stay = last + 1;
	if (retention->keep_events > 0 && last - retention->keep_events + 1 > first) {
		statement_integer(&store->event_start, ":id", last - retention->keep_events + 1);
		rc = number_of(&store->event_start, &keep);
		if (rc != SQLITE_OK)
			return rc;
	}
	statement_integer(&store->event_stay, ":keep", keep < most ? keep : most);
	statement_integer(&store->event_stay, ":since", retention->keep_ms > 0 ? now - retention->keep_ms : INT64_MIN);
	statement_integer(&store->event_stay, ":most", most);
	rc = number_of(&store->event_stay, &stay);
	*ret = stay > first ? stay : 0;
	return rc;
}

static int cut(struct store *store, int64_t stay, int64_t *horizon)
{
	statement_integer(&store->horizon_write, ":id", stay);
	int rc = number_of(&store->horizon_write, horizon);
	if (rc != SQLITE_OK)
		return rc;
	statement_integer(&store->event_cut, ":id", stay);
	return statement_run(&store->event_cut);
}

/* Removes what is beyond the limits in a transaction of its own. */
static enum store_outcome cut_events(struct store *store, int64_t stay, char **why)
{
	int64_t horizon = 0;
	enum store_outcome outcome = transaction_begin(store, why);
	if (outcome != STORE_OK)
		return outcome;
	int rc = cut(store, stay, &horizon);
	outcome = rc == SQLITE_OK ? transaction_commit(store, why) : transaction_fail(store, rc, "event", why);
	if (outcome == STORE_OK)
		store->meta.horizon = horizon;
	return outcome;
}

enum store_outcome store_tidy(struct store *store, const struct store_retention *retention, int64_t now, char **why)
{
	int64_t stay = 0;
	*why = store->broken ? mem_string("the disk has failed before") : NULL;
	if (store->broken)
		return STORE_UNKNOWN;
	int rc = find_cut(store, retention, now, &stay);
	enum store_outcome outcome = rc != SQLITE_OK ? transaction_fail(store, rc, "event", why)
				     : stay          ? cut_events(store, stay, why)
						     : STORE_OK;
	store->written_events = 0;
	if (outcome == STORE_OK && store->log_frames >= LOG_FRAMES_WORTHWHILE)
		store_checkpoint(store);
	if (outcome == STORE_OK)
		store_measure(store);
	highwater_sync(&store->highwater);
	if (outcome == STORE_OK && store->broken) {
		*why = mem_string("checkpoint failed");
		outcome = STORE_UNKNOWN;
	}
	return outcome;
}

/* History, page by page. Events are in the order of their ids, and revisions rise with them: the first event after a revision is found by
 * halving, and filters look at row after row, because indexes would cost every commit more than they would save here. */
#include <string.h>

#include "base/error.h"
#include "store/reader.h"

enum { ROWS_PER_CALL = 50000 };

static const char event_ends[] = "SELECT coalesce((SELECT min(id) FROM event), 1), coalesce((SELECT max(id) FROM event), 0)";

/* The revision of the first event from an id on. */
static const char event_at[] = "SELECT revision, id FROM event WHERE id >= :id ORDER BY id LIMIT 1";

static const char event_since[] = "SELECT at FROM event WHERE id >= :id ORDER BY id LIMIT 1";

static const char event_page[] = "SELECT revision, n, at, kind, node, uid, actor, data FROM event WHERE id >= :id ORDER BY id";

int events_prepare(struct store_reader *reader)
{
	const struct statement_source sources[] = {
		{ &reader->event_ends, event_ends },
		{ &reader->event_at, event_at },
		{ &reader->event_page, event_page },
		{ &reader->event_since, event_since },
	};
	return statement_prepare(reader->db, sources, sizeof sources / sizeof *sources);
}

/* Finds the lowest id whose event has a revision above `after`; one past the end when there is none. */
static int find_start(struct store_reader *reader, int64_t after, int64_t *ret)
{
	int rc = statement_step(&reader->event_ends);
	if (rc != SQLITE_ROW)
		return rc;
	int64_t low = statement_column_integer(&reader->event_ends, 0),
		high = statement_column_integer(&reader->event_ends, 1) + 1;
	statement_reset(&reader->event_ends);
	while (low < high) {
		int64_t middle = low + (high - low) / 2;
		statement_integer(&reader->event_at, ":id", middle);
		rc = statement_step(&reader->event_at);
		if (rc != SQLITE_ROW)
			return rc == SQLITE_DONE ? SQLITE_CORRUPT : rc;
		if (statement_column_integer(&reader->event_at, 0) > after)
			high = middle;
		else
			low = statement_column_integer(&reader->event_at, 1) + 1;
		statement_reset(&reader->event_at);
	}
	*ret = low;
	return SQLITE_OK;
}

static struct store_event present_event(const struct statement *s)
{
	return (struct store_event){
		.revision = statement_column_integer(s, 0),
		.n = statement_column_integer(s, 1),
		.at = statement_column_integer(s, 2),
		.kind = statement_column_text(s, 3),
		.node = statement_column_text(s, 4),
		.uid = statement_column_text(s, 5),
		.actor = statement_column_text(s, 6),
		.data = statement_column_text(s, 7),
	};
}

static bool matches(const struct store_event_query *query, const struct statement *s)
{
	return (!query->node || strcmp(query->node, statement_column_text(s, 4)) == 0) &&
	       (!query->uid || strcmp(query->uid, statement_column_text(s, 5)) == 0) &&
	       (!query->mention || strstr(statement_column_text(s, 7), query->mention));
}

/* Walks from `start` on. When it stops before the end of history, `*last` is the revision it has completed; otherwise it is not touched. */
static int walk(struct store_reader *reader, int64_t start, const struct store_event_query *query,
	void (*each)(void *context, const struct store_event *event), void *context, int64_t *last)
{
	struct statement *s = &reader->event_page;
	int64_t seen = 0, found = 0, revision = 0;
	int rc;
	statement_integer(s, ":id", start);
	while ((rc = statement_step(s)) == SQLITE_ROW) {
		int64_t next = statement_column_integer(s, 0);
		if (next != revision && (found >= query->limit || seen >= ROWS_PER_CALL)) {
			*last = revision;
			statement_reset(s);
			return SQLITE_OK;
		}
		revision = next;
		seen++;
		if (!matches(query, s))
			continue;
		const struct store_event event = present_event(s);
		each(context, &event);
		found++;
	}
	return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

struct error *store_reader_events(struct store_reader *reader, const struct store_event_query *query,
	void (*each)(void *context, const struct store_event *event), void *context, int64_t *last)
{
	struct store_meta meta;
	int64_t start = 0, complete;
	int rc = load_meta(&reader->loader, &meta);
	if (rc != SQLITE_OK)
		return reader_failed(reader, rc);
	if (query->after < meta.horizon) {
		struct error *e = error_new(
			ERR_COMPACTED, "the events before revision %lld are gone", (long long)meta.horizon + 1);
		return error_with_integer(error_with_integer(e, "oldest", meta.horizon + 1), "epoch", meta.epoch);
	}
	complete = meta.revision;
	rc = find_start(reader, query->after, &start);
	if (rc == SQLITE_OK)
		rc = walk(reader, start, query, each, context, &complete);
	if (rc != SQLITE_OK)
		return reader_failed(reader, rc);
	*last = complete;
	return NULL;
}

struct error *store_reader_span(struct store_reader *reader, struct store_span *ret)
{
	struct store_meta meta;
	int64_t start = 0;
	int rc = load_meta(&reader->loader, &meta);
	if (rc == SQLITE_OK)
		rc = find_start(reader, meta.horizon, &start);
	if (rc != SQLITE_OK)
		return reader_failed(reader, rc);
	*ret = (struct store_span){ .horizon = meta.horizon, .revision = meta.revision, .epoch = meta.epoch };
	statement_integer(&reader->event_since, ":id", start);
	rc = statement_step(&reader->event_since);
	if (rc == SQLITE_DONE)
		return NULL;
	if (rc != SQLITE_ROW)
		return reader_failed(reader, rc);
	ret->since = statement_column_integer(&reader->event_since, 0);
	statement_reset(&reader->event_since);
	return NULL;
}

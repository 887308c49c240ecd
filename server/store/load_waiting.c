/* lock, lapse and refusal. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "store/lines.h"
#include "store/load_private.h"

static const char locks_select[] = "SELECT node_id, uid, token, acquired_at, expires_at, ttl FROM lock ORDER BY node_id";

static struct error *add_lock(struct loading *l)
{
	const struct statement *s = &l->loader->locks;
	const struct node_record *node = loading_node(l, statement_column_integer(s, 0));
	if (!node)
		return load_damaged("a lock is on node id %" PRId64 ", which is not there", statement_column_integer(s, 0));
	const struct lock like = {
		.node_id = node->id,
		.node = node->name,
		.uid = statement_column_text(s, 1),
		.token = statement_column_integer(s, 2),
		.acquired_at = statement_column_integer(s, 3),
		.expires_at = statement_column_integer(s, 4),
		.ttl = statement_column_integer(s, 5),
	};
	change_list_add(l->list, RECORD_LOCK, NULL, lock_new(&like));
	return NULL;
}

/* Calls `add` for each row. */
static struct error *each_row(struct loading *l, struct statement *s, struct error *(*add)(struct loading *l))
{
	struct error *e = NULL;
	int rc = SQLITE_DONE;
	while (!e && (rc = statement_step(s)) == SQLITE_ROW)
		e = add(l);
	return e || rc == SQLITE_DONE ? e : load_failed(l, rc);
}

struct error *load_locks(struct loading *l)
{
	return each_row(l, &l->loader->locks, add_lock);
}

static const char lapses_select[] = "SELECT node_id, uid, request, at, expires_at FROM lapse ORDER BY node_id, uid";

static struct error *add_lapse(struct loading *l)
{
	const struct statement *s = &l->loader->lapses;
	const struct node_record *node = loading_node(l, statement_column_integer(s, 0));
	if (!node)
		return load_damaged("a lapse is on node id %" PRId64 ", which is not there", statement_column_integer(s, 0));
	struct lapse like = {
		.node_id = node->id,
		.node = node->name,
		.uid = statement_column_text(s, 1),
		.at = statement_column_integer(s, 3),
		.expires_at = statement_column_integer(s, 4),
	};
	struct error *e = intern_request(l->intern, statement_column_text(s, 2), &like.request);
	if (!e)
		change_list_add(l->list, RECORD_LAPSE, NULL, lapse_new(&like));
	return e;
}

struct error *load_lapses(struct loading *l)
{
	return each_row(l, &l->loader->lapses, add_lapse);
}

static const char refusals_select[] =
	"SELECT uid, namespace, name, gang, priority, preemptible, external, reason, message, first_at, last_at, count, "
	"expires_at, counts, nodes,"
	" request FROM refusal ORDER BY uid";

/* Texts cut up into lists. */
struct refusal_lists {
	char *counts_text, *nodes_text;
	char **lines, **nodes;
	struct slug_count *counts; /* of the lines slug=count */
	size_t n_counts, n_nodes;
};

static void lists_free(struct refusal_lists *lists)
{
	free(lists->counts_text);
	free(lists->nodes_text);
	free(lists->lines);
	free(lists->nodes);
	free(lists->counts);
}

static void split_nodes(struct refusal_lists *lists, const char *text)
{
	lists->nodes_text = mem_string(text);
	lists->n_nodes = lines_split(lists->nodes_text, &lists->nodes);
}

static bool split_counts(struct refusal_lists *lists, const char *text)
{
	lists->counts_text = mem_string(text);
	lists->n_counts = lines_split(lists->counts_text, &lists->lines);
	lists->counts = mem_array(lists->n_counts, sizeof *lists->counts);
	for (size_t i = 0; i < lists->n_counts; i++) {
		char *sign = strrchr(lists->lines[i], '=');
		if (!sign)
			return false;
		*sign = '\0';
		lists->counts[i] = (struct slug_count){ .slug = lists->lines[i], .count = strtoll(sign + 1, NULL, 10) };
	}
	return true;
}

static struct error *make_refusal(struct loading *l, const struct statement *s, const struct refusal_lists *lists)
{
	struct refusal like = {
		.pod = {
			.uid = statement_column_text(s, 0),
			.namespace = statement_column_text(s, 1),
			.name = statement_column_text(s, 2),
			.gang = statement_column_text(s, 3),
			.priority = (int32_t)statement_column_integer(s, 4),
			.preemptible = statement_column_integer(s, 5) != 0,
			.external = statement_column_integer(s, 6) != 0,
		},
		.reason = statement_column_text(s, 7),
		.message = statement_column_text(s, 8),
		.first_at = statement_column_integer(s, 9),
		.last_at = statement_column_integer(s, 10),
		.count = statement_column_integer(s, 11),
		.expires_at = statement_column_integer(s, 12),
		.counts = lists->counts,
		.n_counts = lists->n_counts,
		.nodes = (const char *const *)lists->nodes,
		.n_nodes = lists->n_nodes,
	};
	struct error *e = NULL;
	if (!statement_column_is_null(s, 15))
		e = intern_request(l->intern, statement_column_text(s, 15), &like.request);
	if (!e)
		change_list_add(l->list, RECORD_REFUSAL, NULL, refusal_new(&like));
	return e;
}

static struct error *add_refusal(struct loading *l)
{
	const struct statement *s = &l->loader->refusals;
	struct refusal_lists lists = { 0 };
	struct error *e = NULL;
	split_nodes(&lists, statement_column_text(s, 14));
	if (split_counts(&lists, statement_column_text(s, 13)))
		e = make_refusal(l, s, &lists);
	else
		e = load_damaged("the counts of the refusal of pod %s cannot be read", statement_column_text(s, 0));
	lists_free(&lists);
	return e;
}

struct error *load_refusals(struct loading *l)
{
	return each_row(l, &l->loader->refusals, add_refusal);
}

int load_waiting_prepare(struct loader *l, sqlite3 *db)
{
	const struct statement_source sources[] = {
		{ &l->locks, locks_select },
		{ &l->lapses, lapses_select },
		{ &l->refusals, refusals_select },
	};
	return statement_prepare(db, sources, sizeof sources / sizeof *sources);
}

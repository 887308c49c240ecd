/* node and node_label. */
#include "store/apply.h"

static const char node_insert[] =
	"INSERT INTO node (id, name, cordoned, unverified, reason, last_seen_at, revision)"
	" VALUES (:id, :name, :cordoned, :unverified, :reason, :last_seen_at, :revision)";

static int insert(struct node_writer *w, const struct node_record *node)
{
	struct statement *s = &w->insert;
	statement_integer(s, ":id", node->id);
	statement_text(s, ":name", node->name);
	statement_integer(s, ":cordoned", node->cordoned);
	statement_integer(s, ":unverified", node->unverified);
	statement_text(s, ":reason", node->reason);
	statement_integer(s, ":last_seen_at", node->last_seen_at);
	statement_integer(s, ":revision", node->revision);
	int rc = statement_run(s);
	return rc == SQLITE_OK ? apply_labels(&w->labels, node->id, node->labels, node->n_labels) : rc;
}

static const char node_label_insert[] = "INSERT INTO node_label (node_id, key, value) VALUES (:owner, :key, :value)";

static const char node_label_clear[] = "DELETE FROM node_label WHERE node_id = :node";

static int clear_labels(struct node_writer *w, const struct node_record *node)
{
	if (node->n_labels == 0)
		return SQLITE_OK;
	statement_integer(&w->labels.clear, ":node", node->id);
	return statement_run(&w->labels.clear);
}

static const char node_update[] =
	"UPDATE node SET cordoned = :cordoned, unverified = :unverified, reason = :reason, last_seen_at = :last_seen_at, "
	"revision = :revision"
	" WHERE id = :id";

static int update(struct node_writer *w, const struct node_record *before, const struct node_record *after)
{
	struct statement *s = &w->update;
	statement_integer(s, ":cordoned", after->cordoned);
	statement_integer(s, ":unverified", after->unverified);
	statement_text(s, ":reason", after->reason);
	statement_integer(s, ":last_seen_at", after->last_seen_at);
	statement_integer(s, ":revision", after->revision);
	statement_integer(s, ":id", after->id);
	int rc = statement_run_on_row(s);
	if (rc != SQLITE_OK || labels_same(before->labels, before->n_labels, after->labels, after->n_labels))
		return rc;
	rc = clear_labels(w, before);
	return rc == SQLITE_OK ? apply_labels(&w->labels, after->id, after->labels, after->n_labels) : rc;
}

static const char node_remove[] = "DELETE FROM node WHERE id = :id";

static int remove_node(struct node_writer *w, const struct node_record *node)
{
	int rc = clear_labels(w, node);
	if (rc != SQLITE_OK)
		return rc;
	statement_integer(&w->remove, ":id", node->id);
	return statement_run_on_row(&w->remove);
}

int apply_node(struct node_writer *w, const struct node_record *before, const struct node_record *after)
{
	if (before && after && before->id == after->id)
		return update(w, before, after);
	int rc = before ? remove_node(w, before) : SQLITE_OK;
	return rc == SQLITE_OK && after ? insert(w, after) : rc;
}

int node_writer_prepare(struct node_writer *w, sqlite3 *db)
{
	const struct statement_source sources[] = {
		{ &w->insert, node_insert },
		{ &w->update, node_update },
		{ &w->remove, node_remove },
		{ &w->labels.insert, node_label_insert },
		{ &w->labels.clear, node_label_clear },
	};
	return statement_prepare(db, sources, sizeof sources / sizeof *sources);
}

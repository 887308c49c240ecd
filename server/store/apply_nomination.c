/* nomination, promised and victim. */
#include "store/apply.h"

#include <string.h>

static const char promised_insert[] =
	"INSERT INTO promised (device_id, nomination_id, claim, resource, amount, whole, minor, place)"
	" VALUES (:device, :owner, :claim, :resource, :amount, :whole, :minor, :place)";

static const char promised_remove[] = "DELETE FROM promised WHERE device_id = :device AND nomination_id = :owner";

static const char victim_insert[] = "INSERT INTO victim (nomination_id, uid) VALUES (:nomination, :uid)";

static int insert_victims(struct nomination_writer *w, const struct nomination *n)
{
	int rc = SQLITE_OK;
	for (size_t i = 0; rc == SQLITE_OK && i < n->n_victims; i++) {
		statement_integer(&w->victim_insert, ":nomination", n->id);
		statement_text(&w->victim_insert, ":uid", n->victims[i]);
		rc = statement_run(&w->victim_insert);
	}
	return rc;
}

static const char nomination_insert[] =
	"INSERT INTO nomination (id, uid, namespace, name, gang, priority, preemptible, external, node_id, expires_at, revision, "
	"request)"
	" VALUES (:id, :uid, :namespace, :name, :gang, :priority, :preemptible, :external, :node, :expires_at, :revision, "
	":request)";

static int insert(struct nomination_writer *w, const struct nomination *n)
{
	struct statement *s = &w->insert;
	statement_integer(s, ":id", n->id);
	statement_text(s, ":uid", n->pod.uid);
	statement_text(s, ":namespace", n->pod.namespace);
	statement_text(s, ":name", n->pod.name);
	statement_text(s, ":gang", n->pod.gang);
	statement_integer(s, ":priority", n->pod.priority);
	statement_integer(s, ":preemptible", n->pod.preemptible);
	statement_integer(s, ":external", n->pod.external);
	statement_integer(s, ":node", n->node_id);
	statement_integer(s, ":expires_at", n->expires_at);
	statement_integer(s, ":revision", n->revision);
	statement_text(s, ":request", n->request->text);
	int rc = statement_run(s);
	if (rc == SQLITE_OK)
		rc = apply_shares(&w->shares, n->id, n->shares, n->n_shares);
	return rc == SQLITE_OK ? insert_victims(w, n) : rc;
}

static const char victim_clear[] = "DELETE FROM victim WHERE nomination_id = :nomination";

static int clear_victims(struct nomination_writer *w, const struct nomination *n)
{
	if (n->n_victims == 0)
		return SQLITE_OK;
	statement_integer(&w->victim_clear, ":nomination", n->id);
	return statement_run(&w->victim_clear);
}

static const char nomination_remove[] = "DELETE FROM nomination WHERE id = :id";

static int remove_nomination(struct nomination_writer *w, const struct nomination *n)
{
	statement_integer(&w->remove, ":id", n->id);
	int rc = statement_run_on_row(&w->remove);
	if (rc == SQLITE_OK)
		rc = remove_shares(&w->shares, n->id, n->shares, n->n_shares);
	return rc == SQLITE_OK ? clear_victims(w, n) : rc;
}

static bool victims_same(const struct nomination *a, const struct nomination *b)
{
	if (a->n_victims != b->n_victims)
		return false;
	for (size_t i = 0; i < a->n_victims; i++)
		if (strcmp(a->victims[i], b->victims[i]) != 0)
			return false;
	return true;
}

static const char nomination_update[] = "UPDATE nomination SET expires_at = :expires_at, revision = :revision WHERE id = :id";

/* Victims that have left are victims no more. */
static int update(struct nomination_writer *w, const struct nomination *before, const struct nomination *after)
{
	statement_integer(&w->update, ":expires_at", after->expires_at);
	statement_integer(&w->update, ":revision", after->revision);
	statement_integer(&w->update, ":id", after->id);
	int rc = statement_run_on_row(&w->update);
	if (rc != SQLITE_OK || victims_same(before, after))
		return rc;
	rc = clear_victims(w, before);
	return rc == SQLITE_OK ? insert_victims(w, after) : rc;
}

/* Whether it promises the same; if not, the row is deleted and inserted afresh. */
static bool same_promise(const struct nomination *a, const struct nomination *b)
{
	return a->id == b->id && a->node_id == b->node_id && pod_equal(&a->pod, &b->pod) &&
	       request_equal(a->request, b->request) && shares_same(a->shares, a->n_shares, b->shares, b->n_shares);
}

int apply_nomination(struct nomination_writer *w, const struct nomination *before, const struct nomination *after)
{
	if (before && after && same_promise(before, after))
		return update(w, before, after);
	int rc = before ? remove_nomination(w, before) : SQLITE_OK;
	return rc == SQLITE_OK && after ? insert(w, after) : rc;
}

int nomination_writer_prepare(struct nomination_writer *w, sqlite3 *db)
{
	const struct statement_source sources[] = {
		{ &w->insert, nomination_insert },
		{ &w->update, nomination_update },
		{ &w->remove, nomination_remove },
		{ &w->shares.insert, promised_insert },
		{ &w->shares.remove, promised_remove },
		{ &w->victim_insert, victim_insert },
		{ &w->victim_clear, victim_clear },
	};
	return statement_prepare(db, sources, sizeof sources / sizeof *sources);
}

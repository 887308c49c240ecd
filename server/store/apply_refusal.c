/* refusal. */
#include "store/apply.h"

#include <inttypes.h>
#include <string.h>

#include "store/lines.h"

/* Lines of slug=count. */
static const char *counts_of(struct text *scratch, const struct refusal *r)
{
	text_clear(scratch);
	for (size_t i = 0; i < r->n_counts; i++)
		text_printf(scratch, "%s%s=%" PRId64, i ? "\n" : "", r->counts[i].slug, r->counts[i].count);
	return text_string(scratch);
}

/* The columns of which insert and update have the same order. */
static void bind_content(struct refusal_writer *w, struct statement *s, const struct refusal *r)
{
	statement_text(s, ":namespace", r->pod.namespace);
	statement_text(s, ":name", r->pod.name);
	statement_text(s, ":gang", r->pod.gang);
	statement_integer(s, ":priority", r->pod.priority);
	statement_integer(s, ":preemptible", r->pod.preemptible);
	statement_integer(s, ":external", r->pod.external);
	statement_text(s, ":reason", r->reason);
	statement_text(s, ":message", r->message);
	statement_integer(s, ":first_at", r->first_at);
	statement_integer(s, ":last_at", r->last_at);
	statement_integer(s, ":count", r->count);
	statement_integer(s, ":expires_at", r->expires_at);
	statement_text(s, ":request", r->request ? r->request->text : NULL);
	statement_text(s, ":counts", counts_of(&w->counts, r));
	statement_text(s, ":nodes", lines_join(&w->nodes, r->nodes, r->n_nodes));
	statement_text(s, ":uid", r->pod.uid);
}

static const char refusal_insert[] =
	"INSERT INTO refusal (namespace, name, gang, priority, preemptible, external, reason, message, first_at, last_at, count, "
	"expires_at, request,"
	" counts, nodes, uid)"
	" VALUES (:namespace, :name, :gang, :priority, :preemptible, :external, :reason, :message, :first_at, :last_at, :count, "
	":expires_at,"
	" :request, :counts, :nodes, :uid)";

static const char refusal_update[] =
	"UPDATE refusal SET namespace = :namespace, name = :name, gang = :gang, priority = :priority, preemptible = :preemptible,"
	" external = :external, reason = :reason, message = :message, first_at = :first_at, last_at = :last_at, count = :count,"
	" expires_at = :expires_at, request = :request, counts = :counts, nodes = :nodes WHERE uid = :uid";

static const char refusal_remove[] = "DELETE FROM refusal WHERE uid = :uid";

static int remove_refusal(struct refusal_writer *w, const struct refusal *r)
{
	statement_text(&w->remove, ":uid", r->pod.uid);
	return statement_run(&w->remove);
}

int apply_refusal(struct refusal_writer *w, const struct refusal *before, const struct refusal *after)
{
	if (before && after && strcmp(before->pod.uid, after->pod.uid) == 0) {
		bind_content(w, &w->update, after);
		return statement_run_on_row(&w->update);
	}
	int rc = before ? remove_refusal(w, before) : SQLITE_OK;
	if (rc != SQLITE_OK || !after)
		return rc;
	bind_content(w, &w->insert, after);
	return statement_run(&w->insert);
}

int refusal_writer_prepare(struct refusal_writer *w, sqlite3 *db)
{
	const struct statement_source sources[] = {
		{ &w->insert, refusal_insert },
		{ &w->update, refusal_update },
		{ &w->remove, refusal_remove },
	};
	return statement_prepare(db, sources, sizeof sources / sizeof *sources);
}

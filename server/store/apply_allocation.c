/* allocation, usage and handout. */
#include "store/apply.h"

#include <string.h>

#include "store/lines.h"

static const char usage_insert[] =
	"INSERT INTO usage (device_id, allocation_id, claim, resource, amount, whole, minor, place)"
	" VALUES (:device, :owner, :claim, :resource, :amount, :whole, :minor, :place)";

static const char usage_remove[] = "DELETE FROM usage WHERE device_id = :device AND allocation_id = :owner";

static const char handout_insert[] =
	"INSERT INTO handout (allocation_id, container, type, call, device_ids, confirmed_at, detail)"
	" VALUES (:allocation, :container, :type, :call, :device_ids, :confirmed_at, :detail)";

static int insert_handout(
	struct allocation_writer *w, int64_t allocation, const struct group *group, const struct handout *handout)
{
	struct statement *s = &w->handout_insert;
	statement_integer(s, ":allocation", allocation);
	statement_text(s, ":container", group->container);
	statement_text(s, ":type", group->type);
	statement_text(s, ":call", handout->call);
	statement_text(s, ":device_ids", lines_join(&w->ids, handout->device_ids, handout->n_device_ids));
	statement_integer(s, ":confirmed_at", handout->confirmed_at);
	statement_text(s, ":detail", handout->detail);
	return statement_run(s);
}

static const char handout_update[] =
	"UPDATE handout SET call = :call, device_ids = :device_ids, confirmed_at = :confirmed_at, detail = :detail"
	" WHERE allocation_id = :allocation AND container = :container AND type = :type";

static int update_handout(
	struct allocation_writer *w, int64_t allocation, const struct group *group, const struct handout *handout)
{
	struct statement *s = &w->handout_update;
	statement_text(s, ":call", handout->call);
	statement_text(s, ":device_ids", lines_join(&w->ids, handout->device_ids, handout->n_device_ids));
	statement_integer(s, ":confirmed_at", handout->confirmed_at);
	statement_text(s, ":detail", handout->detail);
	statement_integer(s, ":allocation", allocation);
	statement_text(s, ":container", group->container);
	statement_text(s, ":type", group->type);
	return statement_run_on_row(s);
}

static const char handout_remove[] =
	"DELETE FROM handout WHERE allocation_id = :allocation AND container = :container AND type = :type";

static int remove_handout(struct allocation_writer *w, int64_t allocation, const struct group *group)
{
	struct statement *s = &w->handout_remove;
	statement_integer(s, ":allocation", allocation);
	statement_text(s, ":container", group->container);
	statement_text(s, ":type", group->type);
	return statement_run(s);
}

/* Handouts that are the same object are the same; another object is written even when it says the same. */
static int change_handouts(struct allocation_writer *w, const struct allocation *before, const struct allocation *after)
{
	const struct request *request = after->request;
	int rc = SQLITE_OK;
	for (size_t g = 0; rc == SQLITE_OK && g < request->n_groups; g++) {
		const struct handout *was = before ? before->handouts[g] : NULL, *is = after->handouts[g];
		if (was == is)
			continue;
		if (!was)
			rc = insert_handout(w, after->id, &request->groups[g], is);
		else if (!is)
			rc = remove_handout(w, after->id, &request->groups[g]);
		else
			rc = update_handout(w, after->id, &request->groups[g], is);
	}
	return rc;
}

static const char handout_clear[] = "DELETE FROM handout WHERE allocation_id = :allocation";

static int clear_handouts(struct allocation_writer *w, const struct allocation *allocation)
{
	for (size_t g = 0; g < allocation->request->n_groups; g++)
		if (allocation->handouts[g]) {
			statement_integer(&w->handout_clear, ":allocation", allocation->id);
			return statement_run(&w->handout_clear);
		}
	return SQLITE_OK;
}

static const char allocation_insert[] =
	"INSERT INTO allocation (id, uid, namespace, name, gang, priority, preemptible, external, over, node_id, state, "
	"handed_out, created_at,"
	" state_at, expires_at, token, revision, request)"
	" VALUES (:id, :uid, :namespace, :name, :gang, :priority, :preemptible, :external, :over, :node, :state, :handed_out, "
	":created_at,"
	" :state_at, :expires_at, :token, :revision, :request)";

static int insert(struct allocation_writer *w, const struct allocation *a)
{
	struct statement *s = &w->insert;
	statement_integer(s, ":id", a->id);
	statement_text(s, ":uid", a->pod.uid);
	statement_text(s, ":namespace", a->pod.namespace);
	statement_text(s, ":name", a->pod.name);
	statement_text(s, ":gang", a->pod.gang);
	statement_integer(s, ":priority", a->pod.priority);
	statement_integer(s, ":preemptible", a->pod.preemptible);
	statement_integer(s, ":external", a->pod.external);
	statement_integer(s, ":over", a->over);
	statement_integer(s, ":node", a->node_id);
	statement_text(s, ":state", pod_state_name(a->state));
	statement_integer(s, ":handed_out", a->handed_out);
	statement_integer(s, ":created_at", a->created_at);
	statement_integer(s, ":state_at", a->state_at);
	statement_integer(s, ":expires_at", a->expires_at);
	statement_integer(s, ":token", a->token);
	statement_integer(s, ":revision", a->revision);
	statement_text(s, ":request", a->request->text);
	int rc = statement_run(s);
	if (rc == SQLITE_OK)
		rc = apply_shares(&w->shares, a->id, a->shares, a->n_shares);
	return rc == SQLITE_OK ? change_handouts(w, NULL, a) : rc;
}

static const char allocation_update[] =
	"UPDATE allocation SET state = :state, handed_out = :handed_out, state_at = :state_at, expires_at = :expires_at, token = "
	":token,"
	" revision = :revision WHERE id = :id";

static int update(struct allocation_writer *w, const struct allocation *before, const struct allocation *after)
{
	struct statement *s = &w->update;
	statement_text(s, ":state", pod_state_name(after->state));
	statement_integer(s, ":handed_out", after->handed_out);
	statement_integer(s, ":state_at", after->state_at);
	statement_integer(s, ":expires_at", after->expires_at);
	statement_integer(s, ":token", after->token);
	statement_integer(s, ":revision", after->revision);
	statement_integer(s, ":id", after->id);
	int rc = statement_run_on_row(s);
	return rc == SQLITE_OK ? change_handouts(w, before, after) : rc;
}

static const char allocation_remove[] = "DELETE FROM allocation WHERE id = :id";

static int remove_allocation(struct allocation_writer *w, const struct allocation *a)
{
	statement_integer(&w->remove, ":id", a->id);
	int rc = statement_run_on_row(&w->remove);
	if (rc == SQLITE_OK)
		rc = remove_shares(&w->shares, a->id, a->shares, a->n_shares);
	return rc == SQLITE_OK ? clear_handouts(w, a) : rc;
}

/* Whether all that an UPDATE does not touch is as it was; if not, the row is deleted and inserted afresh. */
static bool same_but_for_life(const struct allocation *a, const struct allocation *b)
{
	return a->id == b->id && a->node_id == b->node_id && a->over == b->over && a->created_at == b->created_at &&
	       pod_equal(&a->pod, &b->pod) && request_equal(a->request, b->request) &&
	       shares_same(a->shares, a->n_shares, b->shares, b->n_shares);
}

int apply_allocation(struct allocation_writer *w, const struct allocation *before, const struct allocation *after)
{
	if (before && after && same_but_for_life(before, after))
		return update(w, before, after);
	int rc = before ? remove_allocation(w, before) : SQLITE_OK;
	return rc == SQLITE_OK && after ? insert(w, after) : rc;
}

int allocation_writer_prepare(struct allocation_writer *w, sqlite3 *db)
{
	const struct statement_source sources[] = {
		{ &w->insert, allocation_insert },
		{ &w->update, allocation_update },
		{ &w->remove, allocation_remove },
		{ &w->shares.insert, usage_insert },
		{ &w->shares.remove, usage_remove },
		{ &w->handout_insert, handout_insert },
		{ &w->handout_update, handout_update },
		{ &w->handout_remove, handout_remove },
		{ &w->handout_clear, handout_clear },
	};
	return statement_prepare(db, sources, sizeof sources / sizeof *sources);
}

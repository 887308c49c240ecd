/* plugin.confirm, plugin.fail, plugin.reconcile. */
#include "core/agent.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/text.h"
#include "core/agent_private.h"

static struct error *confirm_mismatch(const struct confirm *args, const struct allocation *a, size_t group)
{
	char *expected = mem_format(
		"pod %s (%s/%s), container %s", a->pod.uid, a->pod.namespace, a->pod.name, a->request->groups[group].container);
	char *got = args->uid ? mem_format("pod %s, container %s", args->uid, args->container)
			      : mem_format("pod %s/%s, container %s", args->namespace, args->name, args->container);
	struct error *e = error_new(
		ERR_MISMATCH, "these devices were handed out to %s, not to %s; the container must not start", expected, got);
	error_with_string(e, "expected", expected);
	error_with_string(e, "got", got);
	free(expected);
	free(got);
	return e;
}

bool confirm_matches(const struct confirm *args, const struct allocation *a, size_t group)
{
	bool pod = args->uid ? strcmp(args->uid, a->pod.uid) == 0
			     : strcmp(args->namespace, a->pod.namespace) == 0 && strcmp(args->name, a->pod.name) == 0;
	return pod && strcmp(args->container, a->request->groups[group].container) == 0;
}

struct error *agent_confirm(struct txn *txn, const struct confirm *args)
{
	const struct node *n = cluster_node(txn->cluster, args->node);
	const struct allocation *a;
	size_t group;
	if (!n)
		return not_found_error("node", args->node);
	/* the pod's own handout, if it was given these ids, whoever had them before or after */
	struct handout_query query = {
		.type = args->type, .ids = args->device_ids, .n_ids = args->n_device_ids, .confirm = args
	};
	bool own = handout_find(n, &query, &a, &group);
	query.confirm = NULL;
	if (!own && !handout_find(n, &query, &a, &group))
		return not_found_error("handout of these device ids on node", args->node);
	if (!own)
		return confirm_mismatch(args, a, group);
	const struct handout *old = a->handouts[group];
	if (old->confirmed_at && (!*args->detail || strcmp(old->detail, args->detail) == 0))
		return NULL;
	struct handout handout = *old;
	handout.confirmed_at = old->confirmed_at ? old->confirmed_at : txn->now;
	handout.detail = *args->detail ? args->detail : old->detail;
	struct allocation next = *a;
	next.handouts[group] = handout_new(&handout);
	const struct allocation *made = pod_put(txn, a, &next);
	handout_unref(next.handouts[group]);
	pod_event(txn, made, &(struct event){ .kind = "pod.confirmed" });
	return NULL;
}

static bool is_confirmed(const struct allocation *a)
{
	for (size_t g = 0; g < a->request->n_groups; g++)
		if (a->handouts[g] && a->handouts[g]->confirmed_at)
			return true;
	return false;
}

struct error *agent_fail(struct txn *txn, const char *node, const char *uid, int64_t token, const char *reason)
{
	const struct node *n = cluster_node(txn->cluster, node);
	const struct holding *h = cluster_holding(txn->cluster, uid);
	if (!n)
		return not_found_error("node", node);
	if (!h && cluster_lapse(txn->cluster, uid, node))
		return error_with_string(error_new(ERR_EXPIRED, "pod %s was bound here and its time ran out", uid), "uid", uid);
	if (!h)
		return not_found_error("pod", uid);
	const struct allocation *a = h->record;
	if (h->node != n)
		return conflict_error(a, "it is not on the node that asks");
	if (a->state == POD_RESERVED)
		return conflict_error(a, "it was not bound yet");
	if (a->token != token)
		return stale_token_error("pod", uid, token);
	if (a->state == POD_RELEASING || is_confirmed(a))
		return conflict_error(a, "it was confirmed or is being released; release it instead");
	record_ref(a);
	pod_drop(txn, h, &(struct event){ .kind = "pod.failed", .reason = reason });
	refusal_failed(txn, a, reason);
	record_unref(RECORD_ALLOCATION, a);
	return NULL;
}

static bool is_listed(const char *const *sorted, size_t n, const char *uid)
{
	return n && bsearch(&uid, sorted, n, sizeof *sorted, string_order);
}

/* Whether the node's word ends this allocation. */
static bool is_over(const struct allocation *a, const struct reconcile *args, const char *const *sorted)
{
	bool releasable = a->state == POD_ALLOCATED || a->state == POD_RELEASING;
	return releasable && !a->pod.external && a->revision <= args->as_of && !is_listed(sorted, args->n_uids, a->pod.uid);
}

static void find_released(const struct node *n, const struct reconcile *args, const char *const *sorted, struct reconciled *ret)
{
	ret->released = mem_array(n->n_holdings, sizeof *ret->released);
	for (const struct holding *h = n->holdings; h; h = h->next)
		if (is_over(h->record, args, sorted))
			ret->released[ret->n_released++] = mem_string(h->record->pod.uid);
	if (ret->n_released)
		qsort(ret->released, ret->n_released, sizeof *ret->released, string_order);
}

static void find_strangers(const struct cluster *c, const struct node *n, const struct reconcile *args, const char *const *sorted,
	struct reconciled *ret)
{
	ret->unknown = mem_array(args->n_uids, sizeof *ret->unknown);
	ret->conflicts = mem_array(args->n_uids, sizeof *ret->conflicts);
	for (size_t i = 0; i < args->n_uids; i++) {
		const char *uid = sorted[i];
		const struct holding *h = cluster_holding(c, uid);
		if (i && strcmp(sorted[i - 1], uid) == 0)
			continue;
		if (h && h->node == n)
			continue;
		if (h)
			ret->conflicts[ret->n_conflicts++] = (struct reconcile_conflict){ uid, h->record->node,
				pod_state_name(h->record->state) };
		else if (cluster_lapse(c, uid, args->node))
			ret->conflicts[ret->n_conflicts++] = (struct reconcile_conflict){ uid, NULL, "lapsed" };
		else
			ret->unknown[ret->n_unknown++] = uid;
	}
}

static const struct lapse *unlisted_lapse(const struct node *n, const struct reconcile *args, const char *const *sorted)
{
	for (const struct lapse_entry *l = n->lapses; l; l = l->next)
		if (!is_listed(sorted, args->n_uids, l->record->uid))
			return l->record;
	return NULL;
}

static void end_lapses(struct txn *txn, const struct node *n, const struct reconcile *args, const char *const *sorted)
{
	const struct lapse *l;
	while ((l = unlisted_lapse(n, args, sorted))) {
		record_ref(l);
		txn_put(txn, RECORD_LAPSE, l, NULL);
		txn_event(txn, &(struct event){ .kind = "pod.forgotten",
				       .node = l->node,
				       .uid = l->uid,
				       .cause = "reconcile",
				       .subject_kind = SUBJECT_LAPSE,
				       .subject = l });
		record_unref(RECORD_LAPSE, l);
	}
}

static void verify(struct txn *txn, const struct node *n)
{
	struct node_record next = *n->record;
	next.unverified = false;
	next.last_seen_at = txn->now;
	next.revision = txn_revision(txn);
	const struct node_record *made = node_record_new(&next);
	txn_put(txn, RECORD_NODE, n->record, made);
	txn_event(txn, &(struct event){ .kind = "node.verified",
			       .node = made->name,
			       .cause = "reconcile",
			       .subject_kind = SUBJECT_NODE,
			       .subject = made });
}

static void carry_out(struct txn *txn, const struct node *n, const struct reconcile *args, const char *const *sorted,
	const struct reconciled *found)
{
	for (size_t i = 0; i < found->n_released; i++)
		pod_drop(txn, cluster_holding(txn->cluster, found->released[i]),
			&(struct event){ .kind = "pod.released", .cause = "reconcile" });
	end_lapses(txn, n, args, sorted);
	if (n->record->unverified && !found->n_unknown && !found->n_conflicts)
		verify(txn, n);
}

struct error *agent_reconcile(struct txn *txn, const struct reconcile *args, struct reconciled *ret)
{
	const struct node *n = cluster_node(txn->cluster, args->node);
	*ret = (struct reconciled){ 0 };
	if (!n)
		return not_found_error("node", args->node);
	if (args->as_of > cluster_counters(txn->cluster)->revision)
		return error_invalid("as_of", "as_of: revision %lld does not exist yet", (long long)args->as_of);
	const char **sorted = mem_copy(args->uids, args->n_uids * sizeof *sorted);
	if (args->n_uids)
		qsort(sorted, args->n_uids, sizeof *sorted, string_order);
	find_released(n, args, sorted, ret);
	find_strangers(txn->cluster, n, args, sorted, ret);
	if (!args->dry_run)
		carry_out(txn, n, args, sorted, ret);
	free(sorted);
	return NULL;
}

void reconciled_free(struct reconciled *r)
{
	for (size_t i = 0; i < r->n_released; i++)
		free(r->released[i]);
	free(r->released);
	free(r->unknown);
	free(r->conflicts);
	*r = (struct reconciled){ 0 };
}

/* pod.reserve, pod.renew, pod.unreserve. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "core/lifecycle.h"
#include "core/nominate.h"

struct error *reserve_check_existing(const struct cluster *c, const struct reserve *args, const struct allocation **ret)
{
	const struct holding *h = cluster_holding(c, args->pod->uid);
	*ret = NULL;
	if (!h)
		return NULL;
	const struct allocation *a = h->record;
	bool same = pod_equal(&a->pod, args->pod) && request_equal(a->request, args->request) &&
		    (!args->node || strcmp(a->node, args->node) == 0);
	if (same) {
		*ret = a;
		return NULL;
	}
	if (!args->replace)
		return conflict_error(a, "it holds something else than asked for");
	if (a->state != POD_RESERVED)
		return conflict_error(a, "only what is reserved can be replaced");
	return NULL;
}

/* Takes away the reservation that another one replaces. */
static void replace_old(struct txn *txn, const char *uid)
{
	const struct holding *h = cluster_holding(txn->cluster, uid);
	if (h)
		pod_drop(txn, h, &(struct event){ .kind = "pod.unreserved", .cause = "replaced" });
}

const struct allocation *reserve_place(
	struct txn *txn, const struct reserve *args, struct node *node, const struct share *shares, size_t n)
{
	const struct allocation record = {
		.id = cluster_next_id(txn->cluster),
		.pod = *args->pod,
		.node_id = node->record->id,
		.node = node->record->name,
		.state = POD_RESERVED,
		.request = cluster_shared_request(txn->cluster, args->request),
		.created_at = txn->now,
		.state_at = txn->now,
		.expires_at = txn->now + args->ttl,
		.revision = txn_revision(txn),
		.shares = shares,
		.n_shares = n,
	};
	const struct allocation *made = allocation_new(&record);
	replace_old(txn, args->pod->uid);
	struct node *nominated = promise_end(txn, args->pod->uid, "nomination.cleared", "reserved");
	refusal_drop(txn, args->pod->uid);
	txn_put(txn, RECORD_ALLOCATION, NULL, made);
	pod_event(txn, made, &(struct event){ .kind = "pod.reserved" });
	promises_recheck(txn, node, "overridden", made->pod.uid);
	if (nominated)
		promise_ended(txn, nominated, made->pod.uid);
	return made;
}

static struct error *refuse(
	struct txn *txn, const struct reserve *args, struct fit *fit, const struct node_list *nodes, struct report *report)
{
	if (!report_ask(report, fit, nodes->nodes, nodes->names, nodes->n))
		return search_time_error();
	refusal_note(txn, args->pod, args->request, report);
	return report_error(report);
}

static struct error *reserve_on(struct txn *txn, const struct reserve *args, const struct node_list *nodes, struct report *report,
	const struct allocation **ret)
{
	const struct fit_query query = {
		.pod = args->pod, .request = args->request, .policy = args->policy, .gang_exempt = true
	};
	struct fit *fit = fit_new(txn->cluster, &query);
	struct share *shares = NULL;
	struct node *node = NULL;
	struct error *error = NULL;
	size_t n = 0;
	enum fit_verdict verdict = fit_best(fit, nodes->nodes, nodes->n, &node);
	if (verdict == FIT_YES)
		verdict = fit_assign(fit, node, &shares, &n);
	if (verdict == FIT_YES)
		*ret = reserve_place(txn, args, node, shares, n);
	else
		error = verdict == FIT_NO ? refuse(txn, args, fit, nodes, report) : search_time_error();
	free(shares);
	fit_free(fit);
	return error;
}

struct error *pod_reserve(
	struct txn *txn, const struct reserve *args, struct report *report, const struct allocation **ret, bool *existing)
{
	struct node_list nodes;
	struct error *error = reserve_check_existing(txn->cluster, args, ret);
	*existing = *ret;
	if (error || *existing)
		return error;
	error = node_list_make(txn->cluster, args->node, args->names, args->n_names, &nodes);
	if (error)
		return error;
	error = reserve_on(txn, args, &nodes, report, ret);
	node_list_free(&nodes);
	return error;
}

static const struct allocation *renew_reserved(struct txn *txn, const struct allocation *a, int64_t until)
{
	struct allocation next = *a;
	next.expires_at = until;
	return pod_put(txn, a, &next);
}

static const struct allocation *renew_bound(struct txn *txn, const struct holding *h, int64_t until)
{
	struct lock lock = *h->node->lock->record;
	lock.expires_at = until;
	txn_put(txn, RECORD_LOCK, h->node->lock->record, lock_new(&lock));
	return renew_reserved(txn, h->record, until);
}

static void renew_nomination(struct txn *txn, const struct promise *p, int64_t until)
{
	struct nomination next = *p->record;
	next.expires_at = until;
	next.revision = txn_revision(txn);
	const struct nomination *made = nomination_new(&next);
	txn_put(txn, RECORD_NOMINATION, p->record, made);
	txn_event(txn, &(struct event){ .kind = "pod.renewed",
			       .node = made->node,
			       .uid = made->pod.uid,
			       .subject_kind = SUBJECT_NOMINATION,
			       .subject = made });
}

struct error *pod_renew(
	struct txn *txn, const char *uid, int64_t ttl, const struct allocation **allocation, const struct nomination **nomination)
{
	const struct holding *h = cluster_holding(txn->cluster, uid);
	const struct promise *p = cluster_promise(txn->cluster, uid);
	int64_t until = txn->now + ttl;
	*allocation = NULL;
	*nomination = NULL;
	if (!h && !p)
		return not_found_error("pod", uid);
	if (h && h->record->state != POD_RESERVED && h->record->state != POD_BOUND)
		return conflict_error(h->record, "nothing of it expires");
	if (h && until > h->record->expires_at) {
		const struct allocation *made = h->record->state == POD_BOUND ? renew_bound(txn, h, until)
									      : renew_reserved(txn, h->record, until);
		pod_event(txn, made, &(struct event){ .kind = "pod.renewed" });
	}
	if (!h && until > p->record->expires_at)
		renew_nomination(txn, p, until);
	h = cluster_holding(txn->cluster, uid);
	*allocation = h ? h->record : NULL;
	*nomination = h ? NULL : cluster_promise(txn->cluster, uid)->record;
	return NULL;
}

static struct error *check_unreserve(const struct allocation *a, const struct unreserve *args)
{
	bool bound = a->state == POD_BOUND;
	if (a->state != POD_RESERVED && !bound)
		return conflict_error(a, "it can only be released");
	if (bound && args->token < 0)
		return conflict_error(a, "taking it back needs the token of its bind");
	if (args->token >= 0 && args->token != a->token)
		return stale_token_error("pod", a->pod.uid, args->token);
	if (bound && a->handed_out)
		return conflict_error(a, "some of its devices were handed out");
	return NULL;
}

/* A nomination on what the pod held; on other devices of the node if these do not serve any more; none if it has no others. */
static void renominate(struct txn *txn, const struct allocation *a, struct node *n, int64_t ttl)
{
	const struct nominate args = { .pod = &a->pod, .node = a->node, .request = a->request, .ttl = ttl };
	const struct fit_query query = { .pod = &a->pod, .request = a->request };
	struct fit *fit = fit_new(txn->cluster, &query);
	struct share *others = NULL;
	size_t n_others = 0;
	bool holds = fit_holds(fit, n, a->shares, a->n_shares);
	bool movable = !holds && fit_node(fit, n, NULL) == FIT_YES && fit_assign(fit, n, &others, &n_others) == FIT_YES;
	fit_free(fit);
	if (holds)
		(void)nominate_place(txn, &args, n, a->shares, a->n_shares);
	else if (movable)
		(void)nominate_place(txn, &args, n, others, n_others);
	free(others);
}

struct error *pod_unreserve(struct txn *txn, const struct unreserve *args, bool *released, const struct nomination **nomination)
{
	const struct holding *h = cluster_holding(txn->cluster, args->uid);
	const struct promise *p = cluster_promise(txn->cluster, args->uid);
	struct error *error = NULL;
	*released = false;
	*nomination = NULL;
	if ((h || p) && (error = check_revision(args->revision, h ? h->record->revision : p->record->revision)))
		return error;
	if (h && (error = check_unreserve(h->record, args)))
		return error;
	promise_drop(txn, args->uid, "nomination.cleared", "unreserved");
	if (!h)
		return NULL;
	const struct allocation *a = record_ref(h->record);
	struct node *n = h->node;
	pod_give_way(txn, h, &(struct event){ .kind = "pod.unreserved" });
	if (args->renominate)
		renominate(txn, a, n, args->ttl);
	missing_sweep(txn, n);
	record_unref(RECORD_ALLOCATION, a);
	p = cluster_promise(txn->cluster, args->uid);
	*released = true;
	*nomination = p ? p->record : NULL;
	return NULL;
}

#include "core/nominate.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/text.h"

static void take_away(struct txn *txn, const struct nomination *r, const struct event *why)
{
	struct event e = *why;
	record_ref(r);
	txn_put(txn, RECORD_NOMINATION, r, NULL);
	e.node = r->node;
	e.uid = r->pod.uid;
	e.subject_kind = SUBJECT_NOMINATION;
	e.subject = r;
	txn_event(txn, &e);
	record_unref(RECORD_NOMINATION, r);
}

struct node *promise_end(struct txn *txn, const char *uid, const char *kind, const char *cause)
{
	const struct promise *p = cluster_promise(txn->cluster, uid);
	if (!p)
		return NULL;
	struct node *n = p->node;
	take_away(txn, p->record, &(struct event){ .kind = kind, .cause = cause });
	return n;
}

void promise_ended(struct txn *txn, struct node *n, const char *by)
{
	promises_recheck(txn, n, "victims_stay", by);
	missing_sweep(txn, n);
}

bool promise_drop(struct txn *txn, const char *uid, const char *kind, const char *cause)
{
	struct node *n = promise_end(txn, uid, kind, cause);
	if (n)
		promise_ended(txn, n, uid);
	return n;
}

static void promise_moved(
	struct txn *txn, const struct nomination *old, const struct share *shares, size_t n, const char *cause, const char *by)
{
	struct nomination next = *old;
	next.shares = shares;
	next.n_shares = n;
	next.revision = txn_revision(txn);
	const struct nomination *made = nomination_new(&next);
	txn_put(txn, RECORD_NOMINATION, old, made);
	txn_event(txn, &(struct event){ .kind = "nomination.moved",
			       .node = made->node,
			       .uid = made->pod.uid,
			       .cause = cause,
			       .by = by,
			       .subject_kind = SUBJECT_NOMINATION,
			       .subject = made });
}

/* Everybody who leaves before the nomination is used: its victims and those of the nominations that count for it. */
static const char **leaving_before(const struct node *n, const struct nomination *r, size_t *count)
{
	const char **uids = NULL;
	size_t room = 0;
	*count = 0;
	for (const struct promise *p = n->promises; p; p = p->next)
		for (size_t i = 0; i < p->record->n_victims && p->record->pod.priority >= r->pod.priority; i++) {
			uids = mem_grow(uids, *count, &room, sizeof *uids);
			uids[(*count)++] = p->record->victims[i];
		}
	return uids;
}

static bool types_hold(const struct node *n, const struct nomination *r)
{
	for (size_t i = 0; i < r->n_shares; i++) {
		const struct device *d = node_device(n, r->shares[i].device_id);
		if (!d || strcmp(d->record->type, r->request->claims[r->shares[i].claim].type) != 0)
			return false;
	}
	return true;
}

/* Whether a nomination still stands as it is: invariant 4 of the contract, where of two equally important ones the older goes first.
 * That victims of others still hold what it waits for is no harm. */
static bool stands(struct txn *txn, const struct node *n, const struct nomination *r)
{
	size_t count;
	const char **leaving = leaving_before(n, r, &count);
	const struct fit_query query = {
		.pod = &r->pod, .request = r->request, .without = leaving, .n_without = count, .above = r
	};
	struct fit *fit = fit_new(txn->cluster, &query);
	bool holds = types_hold(n, r) && fit_holds(fit, n, r->shares, r->n_shares);
	fit_free(fit);
	free(leaving);
	return holds;
}

/* Moves a nomination that does not stand any more on its node, or drops it. Returns whether victims of it stay. */
static bool replace(struct txn *txn, struct node *n, const struct nomination *r, const char *cause, const char *by)
{
	const struct fit_query query = {
		.pod = &r->pod, .request = r->request, .without = r->victims, .n_without = r->n_victims
	};
	struct fit *fit = fit_new(txn->cluster, &query);
	struct share *shares = NULL;
	size_t n_shares = 0;
	bool movable = fit_node(fit, n, NULL) == FIT_YES && fit_assign(fit, n, &shares, &n_shares) == FIT_YES;
	fit_free(fit);
	if (movable)
		promise_moved(txn, r, shares, n_shares, cause, by);
	else
		take_away(txn, r, &(struct event){ .kind = "nomination.invalidated", .cause = cause, .by = by });
	free(shares);
	return !movable && r->n_victims;
}

/* Goes once through the nominations of the node; true when some victims stay that others counted on. */
static bool recheck_all(struct txn *txn, struct node *n, const char *cause, const char *by)
{
	size_t count = n->n_promises, i = 0;
	const struct nomination **list = mem_array(count, sizeof(struct nomination *));
	bool victims_stay = false;
	for (const struct promise *p = n->promises; p; p = p->next)
		list[i++] = record_ref(p->record);
	for (i = 0; i < count; i++) {
		if (!stands(txn, n, list[i]))
			victims_stay |= replace(txn, n, list[i], cause, by);
		record_unref(RECORD_NOMINATION, list[i]);
	}
	free(list);
	return victims_stay;
}

void promises_recheck(struct txn *txn, struct node *n, const char *cause, const char *by)
{
	if (!n->n_promises)
		return;
	while (recheck_all(txn, n, cause, by))
		continue;
	missing_sweep(txn, n);
}

/* Splits the victims into those that hold something on the node and the others. Room for all in both lists. */
static struct error *sort_victims(const struct cluster *c, const struct node *n, const struct nominate *args, const char **real,
	size_t *n_real, const char **ignored, size_t *n_ignored)
{
	*n_real = *n_ignored = 0;
	for (size_t i = 0; i < args->n_victims; i++) {
		const char *uid = args->victims[i];
		const struct holding *h = cluster_holding(c, uid);
		if (!h || h->node != n || strcmp(uid, args->pod->uid) == 0) {
			ignored[(*n_ignored)++] = uid;
			continue;
		}
		if (h->record->pod.priority >= args->pod->priority)
			return conflict_error(h->record, "a pod of equal or higher priority cannot be a victim");
		real[(*n_real)++] = uid;
	}
	return NULL;
}

/* Sorts and drops repetitions. */
static size_t unique(const char **list, size_t n)
{
	size_t kept = 0;
	if (n)
		qsort(list, n, sizeof *list, string_order);
	for (size_t i = 0; i < n; i++)
		if (!kept || strcmp(list[kept - 1], list[i]) != 0)
			list[kept++] = list[i];
	return kept;
}

static void tell_victims(struct txn *txn, const struct nomination *made)
{
	for (size_t i = 0; i < made->n_victims; i++) {
		const struct holding *h = cluster_holding(txn->cluster, made->victims[i]);
		if (h)
			pod_event(txn, h->record, &(struct event){ .kind = "pod.preempted", .by = made->pod.uid });
	}
}

const struct nomination *nominate_place(
	struct txn *txn, const struct nominate *args, struct node *node, const struct share *shares, size_t n)
{
	const struct nomination record = {
		.id = cluster_next_id(txn->cluster),
		.pod = *args->pod,
		.node_id = node->record->id,
		.node = node->record->name,
		.request = args->request,
		.expires_at = txn->now + args->ttl,
		.revision = txn_revision(txn),
		.shares = shares,
		.n_shares = n,
		.victims = args->victims,
		.n_victims = args->n_victims,
	};
	const struct nomination *made = nomination_new(&record);
	struct node *before = promise_end(txn, made->pod.uid, "nomination.cleared", "renominated");
	txn_put(txn, RECORD_NOMINATION, NULL, made);
	txn_event(txn, &(struct event){ .kind = "nomination.set",
			       .node = made->node,
			       .uid = made->pod.uid,
			       .subject_kind = SUBJECT_NOMINATION,
			       .subject = made });
	tell_victims(txn, made);
	promises_recheck(txn, node, "overridden", made->pod.uid);
	if (before)
		promise_ended(txn, before, made->pod.uid);
	return made;
}

static struct error *nominate_on(
	struct txn *txn, const struct nominate *args, struct node *n, struct report *report, const struct nomination **ret)
{
	const struct fit_query query = {
		.pod = args->pod, .request = args->request, .victims = args->victims, .n_victims = args->n_victims
	};
	struct fit *fit = fit_new(txn->cluster, &query);
	struct share *shares = NULL;
	struct reason why;
	struct error *error = NULL;
	size_t n_shares = 0;
	enum fit_verdict verdict = fit_node(fit, n, &why);
	if (verdict == FIT_YES)
		verdict = fit_assign(fit, n, &shares, &n_shares);
	if (verdict == FIT_YES) {
		*ret = nominate_place(txn, args, n, shares, n_shares);
	} else if (verdict == FIT_NO) {
		report_refused(report, fit, n, n->record->name, &why);
		error = report_error(report);
	} else {
		error = search_time_error();
	}
	free(shares);
	fit_free(fit);
	return error;
}

struct error *pod_nominate(struct txn *txn, const struct nominate *args, struct report *report, const struct nomination **ret,
	const char ***ignored, size_t *n_ignored)
{
	struct node *n = cluster_node(txn->cluster, args->node);
	const struct holding *h = cluster_holding(txn->cluster, args->pod->uid);
	struct nominate real = *args;
	if (!n)
		return not_found_error("node", args->node);
	if (h)
		return conflict_error(h->record, "a pod that holds devices cannot be nominated");
	const char **victims = mem_array(args->n_victims, sizeof *victims);
	*ignored = mem_array(args->n_victims, sizeof **ignored);
	struct error *error = sort_victims(txn->cluster, n, args, victims, &real.n_victims, *ignored, n_ignored);
	if (!error) {
		real.n_victims = unique(victims, real.n_victims);
		*n_ignored = unique(*ignored, *n_ignored);
		real.victims = victims;
		error = nominate_on(txn, &real, n, report, ret);
	}
	free(victims);
	if (error) {
		free(*ignored);
		*ignored = NULL;
		*n_ignored = 0;
	}
	return error;
}

struct error *pod_denominate(struct txn *txn, const char *uid, int64_t revision, bool *cleared)
{
	const struct promise *p = cluster_promise(txn->cluster, uid);
	struct error *error = p ? check_revision(revision, p->record->revision) : NULL;
	if (error)
		return error;
	*cleared = promise_drop(txn, uid, "nomination.cleared", "denominated");
	return NULL;
}

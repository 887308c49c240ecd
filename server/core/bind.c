/* pod.bind and pod.release. */
#include <string.h>

#include "base/error.h"
#include "core/lifecycle.h"
#include "core/locks.h"
#include "core/shares.h"

/* The first device of the claim, its own or one it uses again, that cannot be used; NULL when all can. */
static const struct device *unusable_device(const struct allocation *a, const struct node *n, size_t claim)
{
	const struct share *shares[CLAIM_COUNT];
	size_t count = claim_shares(a->request, a->shares, a->n_shares, claim, shares);
	for (size_t i = 0; i < count; i++) {
		const struct device *d = node_device(n, shares[i]->device_id);
		if (!d->record->healthy || d->record->missing)
			return d;
	}
	return NULL;
}

struct error *check_devices_usable(const struct allocation *a, const struct node *n, uint32_t mask, struct report *report)
{
	for (size_t i = 0; i < a->request->n_claims; i++) {
		const struct claim *c = &a->request->claims[i];
		const struct device *d = mask & (UINT32_C(1) << i) ? unusable_device(a, n, i) : NULL;
		if (!d)
			continue;
		const struct reason why = {
			.slug = SLUG_UNHEALTHY, .claim = i, .type = c->type, .need = c->count, .have = c->count - 1
		};
		report_refused(report, NULL, n, n->record->name, &why);
		return error_new(ERR_INSUFFICIENT, "device %s of pod %s is %s", d->record->uuid, a->pod.uid,
			d->record->missing ? "missing" : "unhealthy");
	}
	return NULL;
}

static struct error *expired_error(const char *uid, const char *sentence)
{
	return error_with_string(error_new(ERR_EXPIRED, "pod %s %s", uid, sentence), "uid", uid);
}

static const struct allocation *bind_locked(struct txn *txn, const struct holding *h, int64_t ttl)
{
	const struct lock *lock = lock_take(txn, h->node, h->record->pod.uid, ttl);
	struct allocation next = *h->record;
	next.token = lock->token;
	next.expires_at = lock->expires_at;
	const struct allocation *made = pod_move(txn, h->record, &next, POD_BOUND);
	pod_event(txn, made, &(struct event){ .kind = "pod.bound" });
	return made;
}

/* No node agent hands anything out: nothing to lock for. */
static const struct allocation *bind_unattended(struct txn *txn, const struct holding *h)
{
	struct allocation next = *h->record;
	next.expires_at = 0;
	const struct allocation *made = pod_move(txn, h->record, &next, POD_ALLOCATED);
	pod_event(txn, made, &(struct event){ .kind = "pod.allocated" });
	return made;
}

struct error *pod_bind(struct txn *txn, const char *uid, const char *node, int64_t ttl, int64_t revision, struct report *report,
	const struct allocation **ret)
{
	const struct holding *h = cluster_holding(txn->cluster, uid);
	struct error *error;
	if (!h && cluster_lapse(txn->cluster, uid, node))
		return expired_error(uid, "was bound here before and its time ran out; reserve it again");
	if (!h)
		return not_found_error("pod", uid);
	const struct allocation *a = h->record;
	if (strcmp(a->node, node) != 0)
		return conflict_error(a, "it can be bound only to the node it was reserved on");
	if (a->state == POD_RELEASING)
		return expired_error(uid, "is being released");
	if ((error = check_revision(revision, a->revision)))
		return error;
	if (a->state != POD_RESERVED) {
		*ret = a;
		return NULL;
	}
	if ((error = check_devices_usable(a, h->node, UINT32_MAX, report)))
		return error;
	if (a->request->n_groups && h->node->lock && strcmp(h->node->lock->record->uid, uid) != 0)
		return locked_error(h->node->lock->record);
	lapse_drop(txn, uid, node);
	*ret = a->request->n_groups ? bind_locked(txn, h, ttl) : bind_unattended(txn, h);
	return NULL;
}

/* The locks a pod took by hand. */
static bool locks_drop(struct txn *txn, const char *uid)
{
	struct lock_entry *e;
	bool any = false;
	while ((e = cluster_lock_from(txn->cluster, uid)) && strcmp(e->record->uid, uid) == 0) {
		const struct lock *l = record_ref(e->record);
		txn_put(txn, RECORD_LOCK, l, NULL);
		txn_event(txn, &(struct event){ .kind = "lock.released",
				       .node = l->node,
				       .uid = l->uid,
				       .cause = "released",
				       .subject_kind = SUBJECT_LOCK,
				       .subject = l });
		record_unref(RECORD_LOCK, l);
		any = true;
	}
	return any;
}

/* Everything a pod has beside its allocation. */
static void forget(struct txn *txn, const char *uid)
{
	promise_drop(txn, uid, "nomination.cleared", "released");
	locks_drop(txn, uid);
	bool lapses = lapses_drop(txn, uid);
	bool refusal = refusal_drop(txn, uid);
	if ((lapses || refusal) && !txn->events)
		txn_event(txn, &(struct event){ .kind = "pod.forgotten", .uid = uid });
}

static void wait_for_node(struct txn *txn, const struct holding *h, const char *reason)
{
	struct allocation next = *h->record;
	next.expires_at = 0;
	const struct allocation *made = pod_move(txn, h->record, &next, POD_RELEASING);
	lock_drop(txn, h->node, made->pod.uid);
	pod_event(txn, made, &(struct event){ .kind = "pod.releasing", .reason = reason });
}

struct error *pod_release(struct txn *txn, const struct release *args, bool *released, enum pod_state *state)
{
	const struct holding *h = cluster_holding(txn->cluster, args->uid);
	const struct promise *p = cluster_promise(txn->cluster, args->uid);
	struct error *error = NULL;
	if (h || p)
		error = check_revision(args->revision, h ? h->record->revision : p->record->revision);
	if (error)
		return error;
	*state = h ? h->record->state : POD_NONE;
	*released = h && (!args->node_confirms || *state == POD_RESERVED);
	if (h && !*released && *state != POD_RELEASING)
		wait_for_node(txn, h, args->reason);
	if (*released)
		pod_drop(txn, h, &(struct event){ .kind = "pod.released", .reason = args->reason });
	if (!h || *released)
		forget(txn, args->uid);
	return NULL;
}

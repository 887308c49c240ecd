#include "core/expire.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

#include "core/pods.h"

#define ENTRY(deadline_pointer, type) ((type *)(void *)((char *)(deadline_pointer)-offsetof(type, deadline)))

static struct deadline *first(const struct cluster *c)
{
	struct deadline_tree *tree = (struct deadline_tree *)(uintptr_t)&c->deadlines;
	return RB_MIN(deadline_tree, tree);
}

int64_t expire_next(const struct cluster *c)
{
	const struct deadline *d = first(c);
	return d ? d->due : INT64_MAX;
}

/* The bind ran out before anything was handed out: a late call of the agent must be refused, not served from another pod. */
static void lapse(struct txn *txn, const struct holding *h)
{
	const struct allocation *a = h->record;
	const struct lapse_entry *old = cluster_lapse(txn->cluster, a->pod.uid, a->node);
	const struct lapse record = {
		.node_id = a->node_id,
		.node = a->node,
		.uid = a->pod.uid,
		.request = a->request,
		.at = txn->now,
		.expires_at = txn->now + DAY,
	};
	txn_put(txn, RECORD_LAPSE, old ? old->record : NULL, lapse_new(&record));
	pod_drop(txn, h, &(struct event){ .kind = "pod.lapsed" });
}

/* Part of it may be running: it keeps everything. */
static void keep_partly(struct txn *txn, const struct holding *h, int64_t unclaimed)
{
	struct allocation next = *h->record;
	next.expires_at = 0;
	const struct allocation *made = pod_move(txn, h->record, &next, POD_ALLOCATED);
	lock_drop(txn, h->node, made->pod.uid);
	pod_event(txn, made, &(struct event){ .kind = "pod.allocated", .cause = "expired", .unclaimed = unclaimed });
}

static int64_t open_groups(const struct allocation *a)
{
	int64_t open = 0;
	for (size_t g = 0; g < a->request->n_groups; g++)
		open += !(a->handed_out & (UINT32_C(1) << g));
	return open;
}

/* Whether it was bound before the last restore, which began a new block of tokens (store/restore.c). What the node agent got afterwards was
 * lost with that future. */
static bool bound_in_another_epoch(const struct cluster *c, const struct allocation *a)
{
	return a->token / EPOCH_TOKENS < c->counters.token / EPOCH_TOKENS;
}

static void expire_lock(struct txn *txn, const struct lock_entry *e)
{
	const struct holding *h = cluster_holding(txn->cluster, e->record->uid);
	if (h && h->node == e->node && h->record->state == POD_BOUND) {
		if (h->record->handed_out || bound_in_another_epoch(txn->cluster, h->record))
			keep_partly(txn, h, open_groups(h->record));
		else
			lapse(txn, h);
		return;
	}
	const struct lock *l = record_ref(e->record);
	txn_put(txn, RECORD_LOCK, l, NULL);
	txn_event(txn,
		&(struct event){
			.kind = "lock.expired", .node = l->node, .uid = l->uid, .subject_kind = SUBJECT_LOCK, .subject = l });
	record_unref(RECORD_LOCK, l);
}

static void expire_lapse(struct txn *txn, const struct lapse *l)
{
	record_ref(l);
	txn_put(txn, RECORD_LAPSE, l, NULL);
	txn_event(txn,
		&(struct event){
			.kind = "pod.forgotten", .node = l->node, .uid = l->uid, .subject_kind = SUBJECT_LAPSE, .subject = l });
	record_unref(RECORD_LAPSE, l);
}

static void expire_refusal(struct txn *txn, const struct refusal *r)
{
	record_ref(r);
	txn_put(txn, RECORD_REFUSAL, r, NULL);
	txn_event(txn,
		&(struct event){ .kind = "pod.forgotten", .uid = r->pod.uid, .subject_kind = SUBJECT_REFUSAL, .subject = r });
	record_unref(RECORD_REFUSAL, r);
}

static void expire(struct txn *txn, struct deadline *d)
{
	switch (d->kind) {
	case DEADLINE_RESERVATION:
		pod_drop(txn, ENTRY(d, struct holding), &(struct event){ .kind = "pod.expired" });
		break;
	case DEADLINE_LOCK:
		expire_lock(txn, ENTRY(d, struct lock_entry));
		break;
	case DEADLINE_NOMINATION:
		promise_drop(txn, ENTRY(d, struct promise)->record->pod.uid, "nomination.expired", "expired");
		break;
	case DEADLINE_LAPSE:
		expire_lapse(txn, ENTRY(d, struct lapse_entry)->record);
		break;
	case DEADLINE_REFUSAL:
		expire_refusal(txn, ENTRY(d, struct refusal_entry)->record);
		break;
	}
}

bool expire_one(struct cluster *c, struct txn *txn)
{
	struct deadline *d = first(c);
	int64_t now = txn->now;
	assert(txn->cluster == c);
	if (!d || d->due > now)
		return false;
	txn->now = d->at; /* it ended then, whenever we come to it */
	expire(txn, d);
	txn->now = now;
	return true;
}

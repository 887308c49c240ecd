#include "core/locks.h"

#include <assert.h>
#include <string.h>

#include "base/error.h"

struct error *locked_error(const struct lock *l)
{
	struct error *e = error_new(ERR_LOCKED, "node %s is locked by pod %s", l->node, l->uid);
	error_with_string(e, "node", l->node);
	error_with_string(e, "holder", l->uid);
	return error_with_integer(e, "expires_at", l->expires_at);
}

const struct lock *lock_take(struct txn *txn, const struct node *n, const char *uid, int64_t ttl)
{
	const struct lock *held = n->lock ? n->lock->record : NULL;
	struct lock next = held ? *held
				: (struct lock){
					  .node_id = n->record->id, .node = n->record->name, .uid = uid, .acquired_at = txn->now
				  };
	assert(!held || strcmp(held->uid, uid) == 0);
	if (held && held->expires_at >= txn->now + ttl)
		return held;
	if (!held)
		next.token = ++cluster_counters(txn->cluster)->token;
	next.expires_at = txn->now + ttl;
	next.ttl = ttl;
	const struct lock *made = lock_new(&next);
	txn_put(txn, RECORD_LOCK, held, made);
	return made;
}

/* The pod that is bound under the lock expires with it. */
static void renew_bound(struct txn *txn, const struct node *n, const struct lock *l)
{
	const struct holding *h = cluster_holding(txn->cluster, l->uid);
	if (!h || h->node != n || h->record->state != POD_BOUND)
		return;
	struct allocation next = *h->record;
	next.expires_at = l->expires_at;
	pod_put(txn, h->record, &next);
}

struct error *lock_acquire(struct txn *txn, const char *node, const char *uid, int64_t ttl, const struct lock **ret)
{
	const struct node *n = cluster_node(txn->cluster, node);
	if (!n)
		return not_found_error("node", node);
	const struct lock *held = n->lock ? n->lock->record : NULL;
	if (held && strcmp(held->uid, uid) != 0)
		return locked_error(held);
	*ret = lock_take(txn, n, uid, ttl);
	if (*ret == held)
		return NULL;
	renew_bound(txn, n, *ret);
	txn_event(
		txn, &(struct event){
			     .kind = "lock.acquired", .node = node, .uid = uid, .subject_kind = SUBJECT_LOCK, .subject = *ret });
	return NULL;
}

struct error *lock_release(struct txn *txn, const char *node, int64_t token)
{
	const struct node *n = cluster_node(txn->cluster, node);
	if (!n)
		return not_found_error("node", node);
	if (!n->lock || n->lock->record->token != token)
		return stale_token_error("node", node, token);
	const struct lock *l = n->lock->record;
	const struct holding *h = cluster_holding(txn->cluster, l->uid);
	if (h && h->node == n && h->record->state == POD_BOUND)
		return conflict_error(h->record, "its lock ends with the bind");
	record_ref(l);
	txn_put(txn, RECORD_LOCK, l, NULL);
	txn_event(txn,
		&(struct event){
			.kind = "lock.released", .node = l->node, .uid = l->uid, .subject_kind = SUBJECT_LOCK, .subject = l });
	record_unref(RECORD_LOCK, l);
	return NULL;
}

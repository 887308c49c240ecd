/* Node locks taken by hand: lock.acquire and lock.release. The lock of a bind is taken by pod_bind. */
#ifndef ALLOTD_CORE_LOCKS_H
#define ALLOTD_CORE_LOCKS_H

#include "core/pods.h"

/* Re-entrant for the same uid, never shortened. ERR_NOT_FOUND, ERR_LOCKED. */
struct error *lock_acquire(struct txn *txn, const char *node, const char *uid, int64_t ttl, const struct lock **ret)
	__attribute__((warn_unused_result));

/* ERR_NOT_FOUND, ERR_STALE_TOKEN, ERR_CONFLICT while the holder is bound there. */
struct error *lock_release(struct txn *txn, const char *node, int64_t token) __attribute__((warn_unused_result));

/* Takes the lock of the node for the pod, or keeps it and makes it last at least `ttl` ms from now. The lock must be free or the uid's (assert). */
const struct lock *lock_take(struct txn *txn, const struct node *n, const char *uid, int64_t ttl);

/* ERR_LOCKED naming node, holder and expires_at. */
struct error *locked_error(const struct lock *l) __attribute__((warn_unused_result));

#endif

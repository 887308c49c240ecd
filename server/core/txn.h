/* The working of one call on the cluster: each change is applied to memory at once and kept in the turn's list, so
 * later steps see earlier ones, and everything can be taken back. One call makes at most one revision.
 *
 *   txn = txn_begin(cluster, list, now, actor)
 *   txn_put(&txn, RECORD_..., before, after) ...    what a decision does
 *   txn_event(&txn, ...)                            what it tells
 *   txn_undo(&txn)                                  a refusal: nothing of the call remains
 */
#ifndef ALLOTD_CORE_TXN_H
#define ALLOTD_CORE_TXN_H

#include "core/change.h"

struct cluster;

/* One call at work. */
struct txn {
	struct cluster *cluster;
	struct change_list *list; /* of the turn */
	size_t start;             /* where this call's changes begin */
	int64_t now;              /* Unix ms, the same for the whole turn */
	const char *actor;        /* who asks, for the events */
	int64_t revision;         /* of this call; 0 until something changed */
	int64_t events;           /* made so far */
};

/* Begins a call whose changes are appended to `list`; nothing is released at its end. */
struct txn txn_begin(struct cluster *cluster, struct change_list *list, int64_t now, const char *actor);

/* The revision of this call; the first use takes the next one from the cluster. Never handed out twice, even when the call is undone. */
int64_t txn_revision(struct txn *txn);

/* Applies a change and keeps it. `before` is what the cluster holds now (NULL for a new one); `after_take` is a fresh
 * record whose reference is taken over, or NULL to delete. */
void txn_put(struct txn *txn, enum record_kind kind, const void *before, const void *after_take);

/* Tells what happened. `like` names kind, node, uid, reason, cause, by, unclaimed and the subject (strings may be NULL for "");
 * revision, n, actor and, where it is 0, `at` are filled in here. */
void txn_event(struct txn *txn, const struct event *like);

/* Takes back everything this call did, in reverse order. Revision and tokens stay used. */
void txn_undo(struct txn *txn);

/* The same for a try that nobody has heard of: its revision is given back too. Only while no later one was handed out (assert). */
void txn_abandon(struct txn *txn);

#endif

/* Steps shared by the decisions: putting, moving and dropping what pods have, so that everything that hangs together goes together.
 * Each works inside a txn and cannot fail. */
#ifndef ALLOTD_CORE_PODS_H
#define ALLOTD_CORE_PODS_H

#include "core/report.h"
#include "core/txn.h"

struct error;

enum {
	SECOND = 1000,
	DAY = 24 * 3600 * SECOND,
	RESERVATION_TTL = 600 * SECOND, /* defaults, ms */
	LOCK_TTL = 300 * SECOND,
	NOMINATION_TTL = 600 * SECOND
};

/* ERR_CONFLICT telling the present state, node and revision of an allocation. */
struct error *conflict_error(const struct allocation *a, const char *sentence) __attribute__((warn_unused_result));

/* ERR_NOT_FOUND with kind and name. */
struct error *not_found_error(const char *kind, const char *name) __attribute__((warn_unused_result));

/* ERR_STALE_TOKEN: the pod was not bound, or the node is not locked, under that token. `kind` is "pod" or "node". */
struct error *stale_token_error(const char *kind, const char *name, int64_t token) __attribute__((warn_unused_result));

/* NULL, or ERR_CONFLICT when `wanted` (negative: not given) is not the record's revision. */
struct error *check_revision(int64_t wanted, int64_t revision) __attribute__((warn_unused_result));

/* Moves an allocation to another state along the table of allowed moves (assert) and dates it. `next` is a flat copy of the present
 * record with whatever else changes already in it; revision and state_at are filled in. POD_NONE is not for this: see pod_drop. */
const struct allocation *pod_move(struct txn *txn, const struct allocation *now, struct allocation *next, enum pod_state state);

/* Replaces an allocation without a change of state; the revision is filled in. */
const struct allocation *pod_put(struct txn *txn, const struct allocation *now, struct allocation *next);

/* Takes an allocation away: its devices, its lock, its place among victims, and devices that were only kept for it.
 * `why` is the event (kind, cause, reason, at ...); node, uid and subject are filled in. */
void pod_drop(struct txn *txn, const struct holding *h, const struct event *why);

/* As pod_drop, but missing devices stay, for what takes its place; missing_sweep of the node comes later. */
void pod_give_way(struct txn *txn, const struct holding *h, const struct event *why);

/* A victim that left is one no more: a later pod of that uid must not be taken for it. Looks through the nominations of the node. */
void victim_forget(struct txn *txn, const struct node *n, const char *uid);

/* Tells an event about an allocation; node, uid and subject are filled in. */
void pod_event(struct txn *txn, const struct allocation *a, const struct event *like);

/* Frees the node's lock if the uid holds it. */
void lock_drop(struct txn *txn, const struct node *n, const char *uid);

/* Ends a lapse of (uid, node), if there is one; all lapses of the uid. Returns whether there were any. */
bool lapse_drop(struct txn *txn, const char *uid, const char *node);
bool lapses_drop(struct txn *txn, const char *uid);

/* Ends a pod's nomination, if it has one, with an event of `kind` and `cause`. Returns whether it had one. */
bool promise_drop(struct txn *txn, const char *uid, const char *kind, const char *cause);

/* The two halves of promise_drop, when something takes its place in between: promise_end returns the node it was on (NULL: there was none), for
 * promise_ended, which looks after the nominations that counted on its victims and the devices that were kept for it. */
struct node *promise_end(struct txn *txn, const char *uid, const char *kind, const char *cause);
void promise_ended(struct txn *txn, struct node *n, const char *by);

/* Re-checks the nominations of a node, important ones first: what no longer holds is moved or dropped. `cause` and `by` (a uid or
 * NULL) name what broke them. */
void promises_recheck(struct txn *txn, struct node *n, const char *cause, const char *by);

/* Removes devices of the node that are missing and that nothing keeps any longer. */
void missing_sweep(struct txn *txn, struct node *n);

/* Ends the refusal of a uid, if there is one. */
bool refusal_drop(struct txn *txn, const char *uid);

/* Remembers that a pod was refused: durable when new or when the set of slugs changed, else only counted (a change without a revision). */
void refusal_note(struct txn *txn, const struct pod *pod, const struct request *request, const struct report *report);

/* Remembers that the node agent failed a pod. */
void refusal_failed(struct txn *txn, const struct allocation *a, const char *message);

/* The nodes a call is about. */
struct node_list {
	struct node **nodes;      /* NULL = unknown */
	const char *const *names; /* as given, or NULL when all nodes were meant */
	size_t n;
};

/* One node (`node` not NULL), those of `names`, or all (names NULL). Unknown single node: ERR_NOT_FOUND. Ended with node_list_free. */
struct error *node_list_make(struct cluster *c, const char *node, const char *const *names, size_t n, struct node_list *ret)
	__attribute__((warn_unused_result));
void node_list_free(struct node_list *list);

#endif

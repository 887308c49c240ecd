/* What the node agent does: hand out the devices of a pod group by group, confirm, fail, reconcile.
 * The kubelet does not say which pod it allocates for, so an anonymous call is served only when there is no doubt. */
#ifndef ALLOTD_CORE_AGENT_H
#define ALLOTD_CORE_AGENT_H

#include "core/pods.h"

/* The bound pod of a node; NULL when there is none. */
const struct allocation *agent_pending(const struct node *n);

/* The params of plugin.allocate: which group of which pod. */
struct allocate {
	const char *node;
	const char *type; /* NULL = not given, also below */
	const char *uid;
	const char *container;
	const char *call;
	int64_t count;                 /* 0 = not given */
	int64_t token;                 /* negative = not given */
	const char *const *device_ids; /* sorted */
	size_t n_device_ids;           /* 0 = not given */
};

/* *ret is the pod after the call and *group the index of the group that was handed out (now or before).
 * ERR_NOT_FOUND, ERR_AMBIGUOUS, ERR_EXPIRED, ERR_MISMATCH, ERR_EXHAUSTED, ERR_STALE_TOKEN, ERR_CONFLICT, ERR_INSUFFICIENT (report). */
struct error *agent_allocate(struct txn *txn, const struct allocate *args, struct report *report, const struct allocation **ret,
	size_t *group) __attribute__((warn_unused_result));

/* The params of plugin.confirm: a container that is about to start with these devices. */
struct confirm {
	const char *node;
	const char *type;
	const char *container;
	const char *uid; /* NULL = not given; then namespace and name */
	const char *namespace;
	const char *name;
	const char *const *device_ids; /* sorted, at least one */
	size_t n_device_ids;
	const char *detail; /* JSON text, "" = none */
};

/* Notes that the devices reached their pod. ERR_NOT_FOUND; ERR_MISMATCH: they are another pod's and the container must not start. */
struct error *agent_confirm(struct txn *txn, const struct confirm *args) __attribute__((warn_unused_result));

/* The agent gives up a pod that was not confirmed: its devices and the lock are free. ERR_NOT_FOUND, ERR_EXPIRED, ERR_CONFLICT (elsewhere, or its state),
 * ERR_STALE_TOKEN. */
struct error *agent_fail(struct txn *txn, const char *node, const char *uid, int64_t token, const char *reason)
	__attribute__((warn_unused_result));

/* What runs on a node, as its agent sees it. */
struct reconcile {
	const char *node;
	const char *const *uids;
	size_t n_uids;
	int64_t as_of;
	bool dry_run;
};

/* A listed pod that is recorded elsewhere, or whose bind lapsed here. */
struct reconcile_conflict {
	const char *uid;
	const char *node; /* NULL when it lapsed here */
	const char *state;
};

/* All arrays are owned, sorted by uid; `released` owns its strings, the others are the caller's or the cluster's. */
struct reconciled {
	char **released;
	size_t n_released;
	const char **unknown;
	size_t n_unknown;
	struct reconcile_conflict *conflicts;
	size_t n_conflicts;
};

/* Releases the pods of the node that do not run any more. With `dry_run` nothing changes. ERR_NOT_FOUND, ERR_INVALID_PARAMS (`as_of` in the future). */
struct error *agent_reconcile(struct txn *txn, const struct reconcile *args, struct reconciled *ret)
	__attribute__((warn_unused_result));
void reconciled_free(struct reconciled *r);

/* Groups that are not handed out yet. */
size_t groups_open(const struct allocation *a);

#endif

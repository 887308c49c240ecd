/* What the scheduler does with a pod: reserve, renew, unreserve, bind, release; and pod.adopt, which takes over what already runs.
 * Decisions: each works in a txn, answers with records of the cluster (borrowed, valid until the next change) and on an error leaves
 * nothing behind but, where the contract says so, a refusal. Times are ms. */
#ifndef ALLOTD_CORE_LIFECYCLE_H
#define ALLOTD_CORE_LIFECYCLE_H

#include "core/pods.h"

struct reserve {
	const struct pod *pod;
	const struct request *request;
	const char *node;         /* NULL = any of the list */
	const char *const *names; /* NULL = all nodes */
	size_t n_names;
	enum policy policy;
	int64_t ttl;
	bool replace; /* a reservation of the same uid gives way */
};

/* ERR_CONFLICT, ERR_NOT_FOUND (node), ERR_INSUFFICIENT (report filled; the refusal is noted), ERR_OVERLOADED. */
struct error *pod_reserve(struct txn *txn, const struct reserve *args, struct report *report, const struct allocation **ret,
	bool *existing) __attribute__((warn_unused_result));

/* Reserves shares that were found by fit_assign on the node; used by pod_reserve and by gangs. A present reservation of the uid
 * gives way. */
const struct allocation *reserve_place(
	struct txn *txn, const struct reserve *args, struct node *node, const struct share *shares, size_t n);

/* NULL and *ret set when the uid holds just this already; NULL and *ret NULL when it may be reserved; else ERR_CONFLICT. */
struct error *reserve_check_existing(const struct cluster *c, const struct reserve *args, const struct allocation **ret)
	__attribute__((warn_unused_result));

/* Exactly one of *allocation and *nomination is set. ERR_NOT_FOUND, ERR_CONFLICT when nothing of it expires. */
struct error *pod_renew(struct txn *txn, const char *uid, int64_t ttl, const struct allocation **allocation,
	const struct nomination **nomination) __attribute__((warn_unused_result));

struct unreserve {
	const char *uid;
	int64_t token; /* negative = not given */
	bool renominate;
	int64_t ttl;      /* of the nomination */
	int64_t revision; /* negative = not given */
};

/* *nomination is NULL when there is none (not asked for, or its devices do not serve any more). */
struct error *pod_unreserve(struct txn *txn, const struct unreserve *args, bool *released, const struct nomination **nomination)
	__attribute__((warn_unused_result));

/* ERR_NOT_FOUND, ERR_EXPIRED, ERR_CONFLICT, ERR_LOCKED, ERR_INSUFFICIENT (report filled). */
struct error *pod_bind(struct txn *txn, const char *uid, const char *node, int64_t ttl, int64_t revision, struct report *report,
	const struct allocation **ret) __attribute__((warn_unused_result));

struct release {
	const char *uid;
	bool node_confirms; /* devices stay held until the node says so */
	const char *reason; /* "" = none */
	int64_t revision;   /* negative = not given */
};

/* *state is the state before; POD_NONE when the uid held nothing. */
struct error *pod_release(struct txn *txn, const struct release *args, bool *released, enum pod_state *state)
	__attribute__((warn_unused_result));

/* One device that a running pod uses. */
struct adopt_device {
	const char *uuid;
	size_t claim; /* index into the request that describes what runs */
};

struct adopt {
	const struct pod *pod;
	const struct request *request; /* made from the devices; needs are what is used */
	const char *node;
	const struct adopt_device *devices; /* by claim */
	size_t n_devices;
	bool force;
};

/* ERR_NOT_FOUND (node, device), ERR_CONFLICT (on another node), ERR_INSUFFICIENT (report filled). */
struct error *pod_adopt(struct txn *txn, const struct adopt *args, struct report *report, const struct allocation **ret)
	__attribute__((warn_unused_result));

/* NULL, or ERR_INSUFFICIENT with the reason in the report: one of the claims in `mask` holds a device that is unhealthy or missing. */
struct error *check_devices_usable(const struct allocation *a, const struct node *n, uint32_t mask, struct report *report)
	__attribute__((warn_unused_result));

#endif

/* Nominations: promises of devices to pods that wait, usually for victims to leave. */
#ifndef ALLOTD_CORE_NOMINATE_H
#define ALLOTD_CORE_NOMINATE_H

#include "core/pods.h"

/* The params of pod.nominate. */
struct nominate {
	const struct pod *pod;
	const char *node;
	const struct request *request;
	const char *const *victims; /* uids */
	size_t n_victims;
	int64_t ttl; /* ms */
};

/* Picked as if the victims were gone. `*ignored` (an array to free(), strings of the caller) are the victims that hold nothing there.
 * ERR_NOT_FOUND, ERR_CONFLICT (the pod holds devices; a victim is as important), ERR_INSUFFICIENT (report filled; an earlier
 * nomination stays), ERR_OVERLOADED. */
struct error *pod_nominate(struct txn *txn, const struct nominate *args, struct report *report, const struct nomination **ret,
	const char ***ignored, size_t *n_ignored) __attribute__((warn_unused_result));

/* Ends the pod's nomination; `*cleared` tells whether it had one. `revision` >= 0: only if the record is at it, else ERR_CONFLICT. */
struct error *pod_denominate(struct txn *txn, const char *uid, int64_t revision, bool *cleared)
	__attribute__((warn_unused_result));

/* Puts a nomination on shares that were found already, in place of an earlier one of the pod; tells the victims and re-checks the
 * node's other nominations. */
const struct nomination *nominate_place(
	struct txn *txn, const struct nominate *args, struct node *node, const struct share *shares, size_t n);

#endif

/* pod.preempt: finds who must leave so that a pod fits, where it matters least, and nominates the pod there in the same step. */
#ifndef ALLOTD_CORE_PREEMPT_H
#define ALLOTD_CORE_PREEMPT_H

#include "core/pods.h"

struct preempt {
	const struct pod *pod;
	const struct request *request;
	const char *const *names; /* candidate nodes; NULL = all */
	size_t n_names;
	const char *const *protect; /* uids that should rather stay */
	size_t n_protect;
	int64_t ttl;  /* of the nomination, ms */
	bool dry_run; /* only says what it would do */
};

/* The answer. Pointers into the cluster are valid until its next change; ended with preempted_free. */
struct preempted {
	const char *node;
	const struct holding **victims; /* by uid; owned */
	size_t n_victims;
	const struct share *shares; /* what is promised, or would be */
	size_t n_shares;
	bool nominated;
	struct share *own_shares; /* owned; NULL when they are the nomination's */
};
void preempted_free(struct preempted *p);

/* A nomination of the pod over victims that are still there, for the same request and on one of the nodes, is answered again and
 * renewed. ERR_CONFLICT (the pod holds devices), ERR_INSUFFICIENT (report filled), ERR_OVERLOADED. */
struct error *pod_preempt(struct txn *txn, const struct preempt *args, struct report *report, struct preempted *ret)
	__attribute__((warn_unused_result));

#endif

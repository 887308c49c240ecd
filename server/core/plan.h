/* Planning a preemption: who would have to leave where, so that a request fits. Reads the cluster; changes nothing.
 * What a plan points to belongs to the cluster and is valid until its next change. */
#ifndef ALLOTD_CORE_PLAN_H
#define ALLOTD_CORE_PLAN_H

#include "core/fit.h"

enum { PLAN_VICTIMS = 256 }; /* more than these are no plan */

/* Ended with plan_free. The members after `n_victims` are the ranks by which plans are compared, most important first. */
struct plan {
	struct node *node;              /* NULL: no plan */
	const struct holding **victims; /* owned; by uid */
	size_t n_victims;
	size_t n_protected; /* of the victims */
	int32_t highest;    /* priority among the victims; INT32_MIN without any */
	int64_t sum;        /* of their priorities */
	int64_t started;    /* when the oldest of the most important victims was reserved; Unix ms */
};
void plan_free(struct plan *plan);

/* Pods that are given back first, found once for all nodes. Ended with protected_free. */
struct protected
{
	const struct holding **list; /* by address */
	size_t n;
};
struct protected protected_new(const struct cluster *c, const char *const *uids, size_t n);
void protected_free(struct protected *p);

/* The best plan over the nodes (NULLs are skipped), without victims where it fits as it is. FIT_NO: there is none. */
enum fit_verdict plan_best(
	struct fit *fit, struct node *const *nodes, size_t n, const struct protected *protected, struct plan *ret);

#endif

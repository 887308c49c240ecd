/* The contract's sentences on availability and choice, said once more as plainly as possible: every assignment is tried in the order of
 * the contract and checked from the records alone. Slow, so for a handful of devices. */
#ifndef ALLOTD_TESTS_ORACLE_H
#define ALLOTD_TESTS_ORACLE_H

#include "core/fit.h"

enum { ORACLE_PICKS = 64 }; /* devices of all claims together, at most */

/* Shares held by pods that are not in the cluster: those of a gang that were placed already. */
struct oracle_extra {
	const struct node *node;
	const struct device *device;
	const struct claim *claim;
};

struct oracle {
	const struct cluster *cluster;
	const struct node *node;
	const struct pod *pod;
	const struct request *request;
	enum policy policy;
	bool gang_exempt;
	bool ignore_promises;
	const char *const *gone; /* uids as if they held nothing */
	size_t n_gone;
	const char *const *wanted; /* victims: their devices come first; NULL = those of the pod's own nomination */
	size_t n_wanted;
	const struct oracle_extra *extra;
	size_t n_extra;
};

/* An assignment: a device for each pick, claim by claim. */
struct oracle_picks {
	const struct device *devices[ORACLE_PICKS];
	size_t n;
};

/* Calls `each` for every assignment that fits, in the order of the contract, until it returns true; whether it did. */
bool oracle_search(const struct oracle *q, bool (*each)(void *context, const struct oracle_picks *picks), void *context);

/* Whether there is one; the first. */
bool oracle_fits(const struct oracle *q);
bool oracle_first(const struct oracle *q, struct oracle_picks *ret);

/* Whether these shares serve the request beside what others hold and were promised. */
bool oracle_serves(const struct oracle *q, const struct share *shares, size_t n);

#endif

/* Between gang.c, which reserves in the order given, and gang_search.c, which looks for another placement. */
#ifndef ALLOTD_CORE_GANG_PRIVATE_H
#define ALLOTD_CORE_GANG_PRIVATE_H

#include "core/gang.h"

/* A pod of the gang that has to be reserved. */
struct gang_member {
	const struct reserve *args;
	struct gang_answer *answer;
	struct node_list nodes;
	struct fit_query query; /* of its fits */
};

struct gang {
	struct gang_member *members;
	size_t n;
};

/* The fit of a member as the cluster is now. */
struct fit *member_fit(const struct cluster *c, const struct gang_member *m);

/* Reserves a member on its best node. */
enum fit_verdict member_place_best(struct txn *txn, struct gang_member *m, struct fit *fit);

/* Finds a placement of all members (at most GANG_SEARCHED) if there is one, and reserves it; otherwise nothing changes. */
enum fit_verdict gang_search(struct txn *txn, struct gang *gang);

#endif

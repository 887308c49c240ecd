/* Between agent_allocate.c and agent.c. */
#ifndef ALLOTD_CORE_AGENT_PRIVATE_H
#define ALLOTD_CORE_AGENT_PRIVATE_H

#include "core/agent.h"

/* Which handout is meant. */
struct handout_query {
	const char *type;       /* NULL = any */
	const char *const *ids; /* sorted; none: nothing is found */
	size_t n_ids;
	const struct confirm *confirm; /* only of the pod and container that it names; NULL = of any */
};

/* Finds the group on the node that was handed out as these ids. The kubelet uses ids again once a pod is gone, which we may not know yet: of
 * several the pod that was bound last is meant. */
bool handout_find(const struct node *n, const struct handout_query *query, const struct allocation **ret, size_t *group);

/* Whether the group is of the pod and container that the confirmation names. */
bool confirm_matches(const struct confirm *args, const struct allocation *a, size_t group);

#endif

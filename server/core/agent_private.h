/* Between agent_allocate.c and agent.c. */
#ifndef ALLOTD_CORE_AGENT_PRIVATE_H
#define ALLOTD_CORE_AGENT_PRIVATE_H

#include "core/state.h"

/* Whether a handout was made for just these ids (sorted, at least one). */
bool ids_equal(const struct handout *h, const char *const *ids, size_t n);

/* Finds the group on the node that was handed out as these ids; `type` NULL = any. */
bool handout_find(const struct node *n, const char *type, const char *const *ids, size_t n_ids, const struct allocation **ret, size_t *group);

#endif

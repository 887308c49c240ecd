/* Proving that the cluster in memory is what the contract promises (section 6) and what state.h says of itself. For server.check and tests. */
#ifndef ALLOTD_CORE_CHECK_H
#define ALLOTD_CORE_CHECK_H

struct cluster;

/* Calls `violation` with one sentence for each invariant that does not hold; the sentence lives until it returns. Counts everything afresh
 * and shares no code with the decisions. That more is held than there is may have been legal when it came about (the capacity shrank
 * afterwards); it is reported only where it is certain that it was not. */
void cluster_check(const struct cluster *c, void (*violation)(void *context, const char *sentence), void *context);

#endif

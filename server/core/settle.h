/* What decisions always see to, but a hand in the database does not. */
#ifndef ALLOTD_CORE_SETTLE_H
#define ALLOTD_CORE_SETTLE_H

#include "core/txn.h"

/* Makes the cluster what it would be had a decision made the changes that it holds: victims that hold nothing any more are forgotten,
 * nominations that do not stand are moved or dropped, devices go that were only kept for something. Does nothing when nothing is wrong. */
void cluster_settle(struct txn *txn);

#endif

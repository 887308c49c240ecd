/* What ends by itself: reservations, locks (and what is bound under them), nominations, lapses, refusals. */
#ifndef ALLOTD_CORE_EXPIRE_H
#define ALLOTD_CORE_EXPIRE_H

#include "core/txn.h"

/* When the next thing ends, Unix ms; INT64_MAX when nothing does. */
int64_t expire_next(const struct cluster *c);

/* If something is due at txn->now, ends the earliest as one revision, dated at its own time, and returns true. */
bool expire_one(struct cluster *c, struct txn *txn);

#endif

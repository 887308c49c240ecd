/* Random histories: one decision after the other, with arguments that are likely to meet what is there. The same numbers on clusters that say
 * the same lead to the same decision. */
#ifndef ALLOTD_TESTS_HISTORY_H
#define ALLOTD_TESTS_HISTORY_H

#include "core/cluster.h"
#include "core/txn.h"
#include "property/random.h"

struct error;

/* What happened in one step. */
struct step {
	const char *name;    /* of the decision, a constant */
	struct error *error; /* owned; NULL = it was carried out */
	bool may_exceed;     /* it may lead to more being held than there is: the capacity changed, or it was forced */
	bool may_note;       /* a refusal may be left behind although it failed */
};

/* Makes one decision in the txn. */
struct step history_step(struct random *random, struct txn *txn);

/* How far to move the time before the next decision, ms; mostly little. */
int64_t history_pause(struct random *random);

/* What two clusters hold and what they differ in, as one line; NULL when they say the same. To be freed. */
char *history_difference(const struct change_list *a, const struct change_list *b);

/* A cluster made of the snapshot's records, those of one kind in random order, with these counters. */
struct cluster *history_rebuild(struct random *random, const struct change_list *snapshot, const struct counters *counters);

#endif

/* Random records that fit together, and random changes of them, all of which the guards allow. */
#ifndef TESTS_UNIT_STORE_WORLD_H
#define TESTS_UNIT_STORE_WORLD_H

#include "core/change.h"

enum { WORLD_ROOM = 256 };

struct world {
	uint64_t random;
	int64_t id, token, revision;
	/* The present records of each kind, up to RECORD_REFUSAL. */
	const void *records[RECORD_EVENT][WORLD_ROOM];
	size_t n[RECORD_EVENT];
};

void world_init(struct world *w, uint64_t seed);
void world_free(struct world *w);

/* Does one random thing; appends what it changed. */
void world_step(struct world *w, struct change_list *changes);

/* All records as inserts, taking references. */
void world_snapshot(const struct world *w, struct change_list *ret);

#endif

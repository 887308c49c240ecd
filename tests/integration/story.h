/* A random history of a small cluster, told to a server call by call: n1 and n2 with four GPUs each, n3 with two. Every kind of change
 * of who holds what happens in it. The same seed tells the same story to servers with the manual clock. */
#ifndef TESTS_INTEGRATION_STORY_H
#define TESTS_INTEGRATION_STORY_H

#include <jansson.h>

#include "support/wire.h"

enum { STORY_NODES = 3, STORY_PODS = 24 };

struct story {
	uint64_t random;
	int64_t refused, done; /* calls */
};

/* Registers the nodes. */
void story_begin(struct story *t, struct wire *w, uint64_t seed);

/* Makes one call that changes something, or is refused. */
void story_step(struct story *t, struct wire *w);

/* A number below `n`. */
int story_chance(struct story *t, int n);

/* All rows of a list method (pod.list, device.list ...): the array `key` of its only page. Owned by the caller. */
json_t *story_list(struct wire *w, const char *method, const char *key);

#endif

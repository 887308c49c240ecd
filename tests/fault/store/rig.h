/* Three directories: a database to begin with, the one that a history is played on, and one for what an outage leaves. */
#ifndef TESTS_FAULT_STORE_RIG_H
#define TESTS_FAULT_STORE_RIG_H

#include "disk.h"
#include "story.h"

struct rig {
	struct disk *disk;
	struct story *story;
	size_t begun; /* chapters that the database in `base` holds */
	char *base, *live, *left;
	/* figures, over everything that was tried */
	long points, states;
};

/* A history of `chapters` commits of which `begun` are on disk already. */
struct rig *rig_new(size_t chapters, size_t begun);
void rig_free(struct rig *rig); /* NULL is legal */

/* Makes `live` what it was at the beginning (or empty), and closed. */
void rig_begin(struct rig *rig, bool empty);

/* A number from the environment, or `otherwise`. */
long number_from(const char *variable, long otherwise);

#endif

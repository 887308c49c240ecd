/* Playing a history on something that fails at one point: what must hold whatever fails. */
#ifndef TESTS_FAULT_STORE_FAULTS_H
#define TESTS_FAULT_STORE_FAULTS_H

#include "rig.h"

/* Plays the rest of the history from a fresh copy of the beginning, with loads, readers, housekeeping and a close in between; `arm` lets the
 * fault begin when everything is in place, `disarm` ends it. Demands that each answer was right, that nothing took long, and that
 * afterwards everything that was reported as done is there. Returns how far it came.
 *
 * Whatever is told to be without effect is tried again; what keeps failing ends the play. After an unknown outcome the store must
 * refuse everything. */
struct fault_hooks {
	void (*arm)(void *context);
	void (*disarm)(void *context);
	void *context;
	bool syncs_fail; /* then a commit that was hit must have an unknown outcome */
};

enum { FAULT_CHAPTERS = 18, FAULT_BEGUN = 8 };

size_t faults_play(struct rig *rig, const struct fault_hooks *hooks, const char *where);

#endif

/* Which known names are close to one that was mistyped. */
#ifndef ALLOTCTL_NEAREST_H
#define ALLOTCTL_NEAREST_H

#include <stddef.h>

enum { NEAREST_NAMES = 3 };

/* The closest names offered so far, closest first. Strings are borrowed. */
struct nearest {
	const char *typed;
	const char *names[NEAREST_NAMES];
	size_t distances[NEAREST_NAMES];
	size_t n;
};

/* Nothing offered yet. `typed` is borrowed. */
struct nearest nearest_to(const char *typed);

/* Considers a name: kept when it is close enough (few edits for its length, or one begins with the other). */
void nearest_offer(struct nearest *near, const char *name);

/* "; did you mean a, b or c?" or "" when nothing is close; new memory. */
char *nearest_question(const struct nearest *near);

#endif

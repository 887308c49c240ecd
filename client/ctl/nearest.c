/* Close names by edit distance; see nearest.h. */
#include "ctl/nearest.h"

#include <stdlib.h>
#include <string.h>

#include "ctl/mem.h"

enum { LONGEST = 64 };

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Insertions, deletions, changes and swaps of neighbours that make `b` of `a`. */
static size_t distance(const char *a, const char *b)
{
	size_t rows[3][LONGEST + 1], n = strlen(a), m = strlen(b), i, j;
	size_t *before = rows[0], *above = rows[1], *row = rows[2], *spare;

	if (n > LONGEST || m > LONGEST) {
		return LONGEST;
	}
	for (j = 0; j <= m; j++) {
		above[j] = j;
		before[j] = j;
	}
	for (i = 1; i <= n; i++) {
		row[0] = i;
		for (j = 1; j <= m; j++) {
			row[j] = least(least(row[j - 1], above[j]) + 1, above[j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
				row[j] = least(row[j], before[j - 2] + 1);
			}
		}
		spare = before;
		before = above;
		above = row;
		row = spare;
	}
	return above[m];
}

struct nearest nearest_to(const char *typed)
{
	return (struct nearest){ .typed = typed };
}

/* The distance under which a name counts, or LONGEST when it is too far. */
static size_t rank(const char *typed, const char *name)
{
	size_t d = distance(typed, name), typed_length = strlen(typed);

	if (typed_length >= 2 && strncmp(typed, name, typed_length) == 0) {
		return least(d, 1);
	}
	return d <= 1 + least(typed_length, strlen(name)) / 4 ? d : LONGEST;
}

void nearest_offer(struct nearest *near, const char *name)
{
	size_t d = rank(near->typed, name), at = near->n;

	if (d >= LONGEST) {
		return;
	}
	while (at > 0 && near->distances[at - 1] > d) {
		at--;
	}
	if (at == NEAREST_NAMES) {
		return;
	}
	if (near->n < NEAREST_NAMES) {
		near->n++;
	}
	memmove(&near->names[at + 1], &near->names[at], (near->n - at - 1) * sizeof(near->names[0]));
	memmove(&near->distances[at + 1], &near->distances[at], (near->n - at - 1) * sizeof(near->distances[0]));
	near->names[at] = name;
	near->distances[at] = d;
}

char *nearest_question(const struct nearest *near)
{
	switch (near->n) {
	case 0:
		return mem_string("");
	case 1:
		return mem_format("; did you mean %s?", near->names[0]);
	case 2:
		return mem_format("; did you mean %s or %s?", near->names[0], near->names[1]);
	default:
		return mem_format("; did you mean %s, %s or %s?", near->names[0], near->names[1], near->names[2]);
	}
}

/* A file that only takes up room. When the disk is full it is removed, and what it took lets through what frees things: a release needs a few
 * pages too. It holds bytes that no file system makes smaller, and is written anew when there is plenty of room again.
 *
 * It is never read; a wrong size means that writing it was interrupted, and then it counts as missing. */
#ifndef ALLOTD_STORE_BALLAST_H
#define ALLOTD_STORE_BALLAST_H

#include <stdbool.h>
#include <stdint.h>

struct ballast {
	char *path;   /* owned */
	int64_t size; /* bytes, 0 = none is wanted */
	bool present; /* it is there, of that size */
};

/* Finds out whether it is there. Ended with ballast_end, which leaves the file. */
void ballast_begin(struct ballast *b, const char *directory, int64_t size);
void ballast_end(struct ballast *b);

/* Writes it if it is missing. What cannot be written whole is removed again. */
void ballast_fill(struct ballast *b);

/* Removes it; whether that gave any room. */
bool ballast_give_up(struct ballast *b);

#endif

/* What a disk has of one file: the bytes that a sync has made sure of, and, in order, the writes and truncations since then. After a power
 * failure the file is the former and any part of the latter, sector by sector, in any order.
 *
 * A write spoils nothing beside itself (SQLite calls that "powersafe overwrite" and its unix layer counts on it): a torn sector
 * holds some of the new bytes or none of them, and around them what was there. */
#ifndef TESTS_FAULT_STORE_IMAGE_H
#define TESTS_FAULT_STORE_IMAGE_H

#include <stdbool.h>
#include <stddef.h>

#include "property/random.h"

struct bytes {
	unsigned char *data;
	size_t n;
};

/* One write, or with `data` NULL a truncation to `at`. */
struct pending {
	size_t at;
	struct bytes bytes;
};

struct image {
	char *name;
	struct bytes durable;
	struct pending *pending;
	size_t n_pending, room;
	bool gone;          /* was deleted, and no sync of the directory has made sure of that */
	struct image *next; /* for the owner */
};

/* How a power failure deals with what is pending. */
struct outage {
	size_t sector; /* bytes; writes are cut at multiples of it */
	int percent;   /* of the pieces that reach the disk: 0 = none, 100 = all */
	bool in_order; /* those that do come in the order of the writes, otherwise in any */
};

/* An image whose durable content is `n` bytes, taken over. */
struct image *image_new(const char *name, unsigned char *data_take, size_t n);
void image_free(struct image *image); /* NULL is legal */

/* The same for a list; a copy of a list. */
void images_free(struct image *first);
struct image *images_copy(const struct image *first);

void image_write(struct image *image, size_t at, const void *data, size_t n);
void image_truncate(struct image *image, size_t to);

/* Everything pending is durable. */
void image_sync(struct image *image);

/* A sync has failed: the system counts what was pending as written from now on, shows it to readers, and never writes it. */
void image_drop(struct image *image);

/* What the outage leaves; the data is the caller's. */
struct bytes image_after(const struct image *image, const struct outage *outage, struct random *random);

#endif

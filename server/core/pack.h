/* Packing a record into one block: the same function is run twice, first to measure (with no block), then to copy.
 * Alignment is kept because arrays are packed rounded up to 8 bytes. */
#ifndef ALLOTD_CORE_PACK_H
#define ALLOTD_CORE_PACK_H

#include <stddef.h>

#include "core/record.h"

struct pack {
	char *at;    /* where the next piece goes; NULL while measuring */
	size_t size; /* bytes packed so far */
};

/* Packs `size` bytes; returns the copy, or `from` itself while measuring. */
const void *pack_bytes(struct pack *p, const void *from, size_t size);

/* Packs a string; NULL becomes "". */
const char *pack_string(struct pack *p, const char *from);

/* Packs a list of strings. */
const char *const *pack_strings(struct pack *p, const char *const *from, size_t n);

/* Deep copies of what records are made of. */
const struct amount *pack_amounts(struct pack *p, const struct amount *from, size_t n);
const struct label *pack_labels(struct pack *p, const struct label *from, size_t n);
const struct share *pack_shares(struct pack *p, const struct share *from, size_t n);
void pack_pod(struct pack *p, struct pod *to, const struct pod *from);

#endif

/* Prints JSON into a text, front to back, without building a tree. Commas and keys are taken care of; whether objects and
 * arrays are closed in order is asserted. Compact: no spaces. Nothing is allocated but the text itself.
 *
 * Every function takes the key of the member it writes; inside an array and at the top the key is NULL. Keys and strings are
 * valid UTF-8 and are escaped as needed. A writer belongs to one thread at a time. */
#ifndef ALLOTD_RPC_JSON_OUT_H
#define ALLOTD_RPC_JSON_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

struct json_out {
	struct text *text; /* where it goes; borrowed */
	unsigned depth;    /* open objects and arrays, at most 63 */
	uint64_t filled;   /* bit d: the container at depth d has a member already */
	uint64_t objects;  /* bit d: the container at depth d is an object */
};

/* A writer that appends one JSON value to `text`. */
struct json_out json_out_start(struct text *text);

void out_object(struct json_out *o, const char *key); /* opens an object */
void out_array(struct json_out *o, const char *key);  /* opens an array */
void out_end(struct json_out *o);                     /* closes what was opened last */

/* Single values. `key` is NULL in an array. */
void out_string(struct json_out *o, const char *key, const char *value);
void out_bytes(struct json_out *o, const char *key, const char *value, size_t length);  /* a string of that length */
void out_base64(struct json_out *o, const char *key, const void *bytes, size_t length); /* a string: RFC 4648 with padding */
void out_int(struct json_out *o, const char *key, int64_t value);
void out_bool(struct json_out *o, const char *key, bool value);
void out_null(struct json_out *o, const char *key);
void out_raw(struct json_out *o, const char *key, const char *json); /* the text of one JSON value, as it is */

/* An array of strings. */
void out_strings(struct json_out *o, const char *key, const char *const *values, size_t count);

/* Writes the member only if there is something to say: absent results are omitted. */
void out_string_if(struct json_out *o, const char *key, const char *value); /* not NULL and not "" */
void out_int_if(struct json_out *o, const char *key, int64_t value);        /* not 0 */

#endif

/* The JSON-RPC envelope of one call. Private to rpc/. */
#ifndef ALLOTD_RPC_ENVELOPE_H
#define ALLOTD_RPC_ENVELOPE_H

#include <jansson.h>
#include <stdbool.h>

#include "base/arena.h"
#include "base/error.h"

struct envelope {
	bool notification;  /* no id: not to be answered. False for whatever is not a proper call: that is answered */
	const char *id;     /* as JSON text, in the arena or a constant; "null" when it could not be read */
	const char *method; /* borrowed from the JSON value */
	json_t *params;     /* borrowed; NULL = omitted; an object or an array */
};

/* Reads the envelope. On ERR_INVALID_REQUEST `ret` still says how to answer. */
struct error *envelope_read(json_t *json, struct arena *arena, struct envelope *ret) __attribute__((warn_unused_result));

#endif

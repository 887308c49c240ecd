/* What pod.history and device.history share. */
#ifndef ALLOTD_METHODS_HISTORY_H
#define ALLOTD_METHODS_HISTORY_H

#include "methods/world.h"
#include "rpc/field.h"
#include "rpc/json_out.h"

/* Where a page begins: `after` if it was given (>= 0), otherwise where history does. */
int64_t history_start(const struct world_span *span, int64_t after);

/* From when on history is known. */
void history_since(struct json_out *o, const struct world_span *span);

/* ERR_COMPACTED: what is asked for lies before the beginning of history. */
struct error *history_compacted(const struct world_span *span) __attribute__((warn_unused_result));

#define HISTORY_SINCE_MEMBERS                                                                         \
	{ "since", "integer", "The first revision that history still has." },                         \
	{                                                                                             \
		"since_at", "integer?", "When that was, Unix ms; absent when nothing happened since." \
	}

#define FIELD_HISTORY_AFTER(type) \
	OPTIONAL(type, after, "Go on after this: the `last` of the page before.", RANGE(0, RPC_INTEGER_MAX), DEFAULT(-1))

#endif

/* Where the decoder is: a chain of frames on the stack, turned into text only when something is refused. Private to rpc/. */
#ifndef ALLOTD_RPC_PLACE_H
#define ALLOTD_RPC_PLACE_H

#include <stddef.h>

#include "base/error.h"

struct place {
	const struct place *up; /* NULL = this is a member of the outermost object or array */
	const char *key;        /* the member; NULL = it is an array's element */
	size_t index;           /* the element */
};

/* ERR_INVALID_PARAMS: the sentence "`path` ...", and the path; `at` NULL is the outermost value. */
struct error *place_refuse(const struct place *at, const char *format, ...)
	__attribute__((format(printf, 2, 3), warn_unused_result));

/* Puts the place before the path of an error that was made below it. Returns the error; NULL stays NULL. */
struct error *place_below(const struct place *at, struct error *e);

#endif

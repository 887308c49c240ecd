/* Decoding by field tables. Private to rpc/; the public part is rpc/field.h. */
#ifndef ALLOTD_RPC_DECODE_H
#define ALLOTD_RPC_DECODE_H

#include <jansson.h>

#include "base/arena.h"
#include "base/error.h"
#include "rpc/field.h"
#include "rpc/place.h"

/* Decodes an object into a new struct in the arena. `json` may be NULL: no members at all. */
struct error *rpc_decode(const struct rpc_shape *shape, json_t *json, struct arena *arena, void **ret)
	__attribute__((warn_unused_result));

/* Decodes an object into `to`, which is zeroed. `at` NULL = the outermost object. */
struct error *decode_object(const struct rpc_shape *shape, json_t *json, const struct place *at, struct arena *arena, void *to)
	__attribute__((warn_unused_result));

/* One string by the rules of a field; `ret` lives in the arena. */
struct error *decode_string(const struct rpc_field *f, json_t *json, const struct place *at, struct arena *arena,
	const char **ret) __attribute__((warn_unused_result));

/* One integer in a range. */
struct error *decode_integer(json_t *json, int64_t min, int64_t max, const struct place *at, int64_t *ret)
	__attribute__((warn_unused_result));

/* Whether a string obeys the rules of a field; NULL, or the rule it breaks ("must be ..."). */
const char *string_rule_broken(const struct rpc_field *f, const char *s, size_t length);

/* Arrays and maps: `to` is the member. */
struct error *decode_collection(const struct rpc_field *f, json_t *json, const struct place *at, struct arena *arena, void *to)
	__attribute__((warn_unused_result));

/* The range of a field, with the defaults of its type where the table says nothing. */
int64_t field_min(const struct rpc_field *f);
int64_t field_max(const struct rpc_field *f);

#endif

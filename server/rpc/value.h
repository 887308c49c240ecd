/* A JSON value as received, for the rare member whose form no field table can describe (struct rpc_custom in rpc/field.h).
 * Borrowed from the decoder: it ends when the decode function returns. Also texts of our own that are read back. */
#ifndef ALLOTD_RPC_VALUE_H
#define ALLOTD_RPC_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rpc_value;

enum rpc_value_kind { VALUE_NULL, VALUE_BOOL, VALUE_INTEGER, VALUE_REAL, VALUE_STRING, VALUE_ARRAY, VALUE_OBJECT };

/* The value of a text that we printed; NULL when it is none. Released with rpc_value_free (NULL is legal). */
struct rpc_value *rpc_value_parse(const char *text);
void rpc_value_free(struct rpc_value *v);

/* What it is. */
enum rpc_value_kind rpc_value_kind(const struct rpc_value *v);

/* Its content; it must be an integer (assert). */
int64_t rpc_value_integer(const struct rpc_value *v);

/* The number of elements or members, 0 for everything else. */
size_t rpc_value_count(const struct rpc_value *v);

/* Element i of an array / the member of an object; NULL when there is none. */
const struct rpc_value *rpc_value_element(const struct rpc_value *v, size_t i);
const struct rpc_value *rpc_value_member(const struct rpc_value *v, const char *key);

/* The member of an object if it is a string, otherwise ""; if it is true. `v` may be NULL. */
const char *rpc_value_text(const struct rpc_value *v, const char *key);
bool rpc_value_true(const struct rpc_value *v, const char *key);

/* The names of an object's members in the order received: pass NULL for the first; NULL after the last. */
const char *rpc_value_next_key(const struct rpc_value *v, const char *key);

#endif

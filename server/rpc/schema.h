/* JSON Schema of parameters and results, for the OpenRPC document. Private to rpc/. */
#ifndef ALLOTD_RPC_SCHEMA_H
#define ALLOTD_RPC_SCHEMA_H

#include "rpc/field.h"
#include "rpc/json_out.h"
#include "rpc/server.h"

enum { SHAPES_MAX = 128 }; /* named shapes of one server */

/* Writes the member "$ref" to a schema of that name. */
void schema_reference(const char *name, size_t length, struct json_out *o);

/* The schema of one field as the member `key`; named shapes are referred to. */
void schema_field(const struct rpc_field *f, struct json_out *o, const char *key);

/* The schema of an object, spelled out. */
void schema_shape(const struct rpc_shape *shape, struct json_out *o, const char *key);

/* The schema of a table of result members. */
void schema_members(const struct rpc_member *members, const char *doc, struct json_out *o, const char *key);

/* Checks the type of a result member (the language of struct rpc_member). NULL, or a sentence to be freed. Names must be result
 * types of the server or shapes its methods use. */
char *type_check(const struct rpc_server *server, const char *type);

/* The named shapes that the methods' parameters use, each once, in the order of first use. Returns how many there are; writes
 * at most `most`. */
size_t server_shapes(const struct rpc_server *server, const struct rpc_shape **ret, size_t most);

/* The OpenRPC document on one line. */
void openrpc_compact(const struct rpc_server *server, struct text *out);

#endif

/* Field tables: the members of a JSON object and the C struct they become, said once. The same table decodes, refuses, prints
 * the canonical text, and documents (OpenRPC).
 *
 *	struct bind_params { const char *uid; const char *node; int64_t ttl; struct rpc_strings nodes; };
 *	static const struct rpc_field bind_fields[] = {
 *		REQUIRED(struct bind_params, uid, "The pod."),
 *		OPTIONAL(struct bind_params, node, "Where; absent = NULL."),
 *		OPTIONAL(struct bind_params, ttl, "Seconds until it ends.", RANGE(1, 86400), DEFAULT(300)),
 *		OPTIONAL(struct bind_params, nodes, "Only these.", ITEMS(0, 16)),
 *	};
 *	static const struct rpc_shape bind_shape = { SHAPE_OF(struct bind_params, bind_fields) };
 *
 * _Generic on the struct member derives the form on the wire, so table and struct cannot disagree:
 *
 *	int64_t, int32_t      integer in RANGE (default: what the wire can carry, +-2^53, or the type); absent: DEFAULT, which may
 *	                      lie outside the range (-1 = absent)
 *	bool                  absent: DEFAULT
 *	struct rpc_maybe      boolean that may be absent
 *	const char *          NAME: 1-253 bytes without control characters; or TEXT(max bytes); absent: DEFAULT_TEXT, else NULL.
 *	                      The default is always a legal value, so DEFAULT_TEXT("") allows "".
 *	an enum               one of NAMES(table); absent: DEFAULT, which may be a value without a name
 *	struct rpc_strings    array of strings, each by the rules of a string; ITEMS
 *	struct rpc_list       array of objects of SHAPE; ITEMS
 *	struct rpc_amounts    object, name to integer in RANGE (default 0-2^50); ITEMS; sorted by name
 *	struct rpc_portions   object, name to integer in RANGE (default 1-2^50) or "N%" (1-100); ITEMS; sorted by name
 *	struct rpc_labels     object, name to string of up to 253 bytes or TEXT(max); ITEMS; sorted by key
 *	struct rpc_json       any object, kept as compact text with sorted keys of at most TEXT(max) bytes; absent: NULL
 *	any other struct      object of SHAPE; when optional, the shape's first field must be a required string: NULL = absent
 *	CUSTOM                whatever its functions say
 *
 * Collections are empty when absent (their `items` are NULL then, and only then); ITEMS with a minimum refuses an empty one
 * that was sent (and omits it when encoding). Strict: unknown members, null, wrong types and values out of range are
 * ERR_INVALID_PARAMS with a sentence and `path`. */
#ifndef ALLOTD_RPC_FIELD_H
#define ALLOTD_RPC_FIELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "rpc/json_out.h"

struct rpc_value;

#define RPC_INTEGER_MAX (INT64_C(1) << 53) /* integers on the wire lie within +- this */
#define RPC_AMOUNT_MAX (INT64_C(1) << 50)

enum { RPC_NAME_MAX = 253, RPC_TEXT_MAX = 1024 };

struct rpc_maybe {
	bool given, value;
};

struct rpc_strings {
	const char *const *items;
	size_t n;
};

/* Decoded objects, one after the other; their type is that of the shape. */
struct rpc_list {
	const void *items;
	size_t n;
};

struct rpc_amount {
	const char *name;
	int64_t value;
};

struct rpc_amounts {
	const struct rpc_amount *items;
	size_t n;
};

struct rpc_portion {
	const char *name;
	int64_t amount;  /* > 0, or 0 when it is a percentage */
	int64_t percent; /* 1-100, or 0 */
};

struct rpc_portions {
	const struct rpc_portion *items;
	size_t n;
};

struct rpc_label {
	const char *key, *value;
};

struct rpc_labels {
	const struct rpc_label *items;
	size_t n;
};

struct rpc_json {
	const char *text; /* NULL = absent */
};

enum rpc_wire {
	WIRE_INT64,
	WIRE_INT32,
	WIRE_BOOL,
	WIRE_MAYBE,
	WIRE_STRING,
	WIRE_ENUM,
	WIRE_STRINGS,
	WIRE_LIST,
	WIRE_AMOUNTS,
	WIRE_PORTIONS,
	WIRE_LABELS,
	WIRE_JSON,
	WIRE_OBJECT
};

/* A value of an enum and its name on the wire; tables end with { NULL, 0 }. */
struct rpc_name {
	const char *name;
	unsigned value;
};

/* A member that decodes itself. */
struct rpc_custom {
	/* Fills `member`, which is zero. `value` may be of any kind, null too; a member that was not sent stays zero. On refusal:
	 * error_invalid with a path relative to the member ("" = the member itself). */
	struct error *(*decode)(const struct rpc_value *value, struct arena *arena, void *member);
	void (*encode)(const void *member, struct json_out *o, const char *key); /* NULL if it is never encoded */
	const char *schema;                                                      /* JSON Schema text for the documentation */
};

struct rpc_field {
	const char *name;    /* of the member, in JSON and in the struct */
	size_t offset, size; /* of the member in the struct */
	enum rpc_wire wire;
	bool required;
	const char *doc;                 /* a sentence for people */
	int64_t min, max;                /* integers: range; both 0 = that of the type */
	int64_t otherwise;               /* integers, bools, enums: the value when absent */
	size_t max_bytes;                /* strings: TEXT of at most so many bytes; 0 = NAME */
	const char *text;                /* strings: the value when absent; NULL = none */
	const struct rpc_name *names;    /* enums */
	size_t min_items, max_items;     /* collections; a max of 0 = no limit of its own */
	const struct rpc_shape *shape;   /* objects, and elements of lists */
	const struct rpc_custom *custom; /* decides instead of `wire` */
};

/* What an object looks like. */
struct rpc_shape {
	const char *name; /* of its schema in the OpenRPC document; NULL: spelled out where it is used */
	const char *doc;
	size_t size; /* of the struct */
	const struct rpc_field *fields;
	size_t n_fields;
	/* What the fields cannot say: cross checks and derived values, once all fields are decoded; NULL for most. On refusal:
	 * error_invalid with a path relative to the object. */
	struct error *(*finish)(void *object, struct arena *arena);
};

/* clang-format off */
#define RPC_WIRE(member) _Generic((member), \
	int64_t: WIRE_INT64, int32_t: WIRE_INT32, bool: WIRE_BOOL, struct rpc_maybe: WIRE_MAYBE, \
	const char *: WIRE_STRING, unsigned: WIRE_ENUM, struct rpc_strings: WIRE_STRINGS, struct rpc_list: WIRE_LIST, \
	struct rpc_amounts: WIRE_AMOUNTS, struct rpc_portions: WIRE_PORTIONS, struct rpc_labels: WIRE_LABELS, \
	struct rpc_json: WIRE_JSON, default: WIRE_OBJECT)
#define RPC_FIELD(type, member) .name = #member, .offset = offsetof(type, member), \
	.size = sizeof(((type *)0)->member), .wire = RPC_WIRE(((type *)0)->member)

/* REQUIRED(struct type, member, "Sentence.", rules...) and the same for OPTIONAL. */
#define REQUIRED(type, member, ...) { RPC_FIELD(type, member), .required = true, .doc = __VA_ARGS__ }
#define OPTIONAL(type, member, ...) { RPC_FIELD(type, member), .required = false, .doc = __VA_ARGS__ }

#define RANGE(least, most) .min = (least), .max = (most)
#define DEFAULT(value) .otherwise = (value)
#define TEXT(bytes) .max_bytes = (bytes)
#define DEFAULT_TEXT(string) .text = (string)
#define NAMES(table) .names = (table)
#define ITEMS(least, most) .min_items = (least), .max_items = (most)
#define SHAPE(of) .shape = (of)
#define CUSTOM(functions) .custom = (functions)

#define SHAPE_OF(type, table) .size = sizeof(type), .fields = (table), .n_fields = sizeof(table) / sizeof((table)[0])
/* clang-format on */

/* Puts `prefix` before the error's path: "request" and "[0].count" become "request[0].count", "pod" and "uid" "pod.uid".
 * An error without a path is left as it is. Returns the error. */
struct error *rpc_path_below(const char *prefix, struct error *e);

/* Decodes one JSON text by a shape, as stored by rpc_encode. The struct and all it points to live in the arena. */
struct error *rpc_decode_text(const struct rpc_shape *shape, const char *text, struct arena *arena, void **ret)
	__attribute__((warn_unused_result));

/* The same for an array of objects. */
struct error *rpc_decode_list_text(const struct rpc_shape *shape, const char *text, struct arena *arena, struct rpc_list *ret)
	__attribute__((warn_unused_result));

/* Prints a decoded struct: members in the order of the table, defaults written out, so equal structs give equal texts. Members
 * that were absent and have no legal default are omitted. */
void rpc_encode(const struct rpc_shape *shape, const void *object, struct json_out *o, const char *key);
void rpc_encode_list(const struct rpc_shape *shape, const struct rpc_list *list, struct json_out *o, const char *key);

/* Checks that a table makes sense (names unique, shapes given and of the member's size, defaults legal ...). NULL, or a
 * sentence that says what is wrong with it (free()). */
char *rpc_shape_check(const struct rpc_shape *shape);

#endif

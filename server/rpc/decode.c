/* Objects and single values. Outputs are touched only on success, except the struct being filled, which the caller drops. */
#include "rpc/decode.h"

#include <assert.h>
#include <string.h>

#include "rpc/parse.h"
#include "rpc/value.h"

int64_t field_min(const struct rpc_field *f)
{
	if (f->min || f->max)
		return f->min;
	switch (f->wire) {
	case WIRE_INT32:
		return INT32_MIN;
	case WIRE_AMOUNTS:
		return 0;
	case WIRE_PORTIONS:
		return 1;
	default:
		return -RPC_INTEGER_MAX;
	}
}

int64_t field_max(const struct rpc_field *f)
{
	if (f->min || f->max)
		return f->max;
	switch (f->wire) {
	case WIRE_INT32:
		return INT32_MAX;
	case WIRE_AMOUNTS:
	case WIRE_PORTIONS:
		return RPC_AMOUNT_MAX;
	default:
		return RPC_INTEGER_MAX;
	}
}

struct error *decode_integer(json_t *json, int64_t min, int64_t max, const struct place *at, int64_t *ret)
{
	if (!json_is_integer(json))
		return place_refuse(at, "must be an integer");
	int64_t value = json_integer_value(json);
	if (value < min || value > max)
		return place_refuse(at, "must be an integer from %lld to %lld", (long long)min, (long long)max);
	*ret = value;
	return NULL;
}

/* C0, DEL, and C1 in its UTF-8 form. */
static bool has_control(const char *s, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		unsigned char c = (unsigned char)s[i];
		if (c < 0x20 || c == 0x7f)
			return true;
		if (c == 0xc2 && i + 1 < length && (unsigned char)s[i + 1] < 0xa0)
			return true;
	}
	return false;
}

const char *string_rule_broken(const struct rpc_field *f, const char *s, size_t length)
{
	if (f->text && strcmp(f->text, s) == 0)
		return NULL;
	if (f->max_bytes)
		return length > f->max_bytes ? "is too long" : NULL;
	if (!length)
		return "must not be empty";
	if (length > RPC_NAME_MAX)
		return "must be at most 253 bytes long";
	return has_control(s, length) ? "must not contain control characters" : NULL;
}

struct error *decode_string(
	const struct rpc_field *f, json_t *json, const struct place *at, struct arena *arena, const char **ret)
{
	if (!json_is_string(json))
		return place_refuse(at, "must be a string");
	const char *s = json_string_value(json);
	size_t length = json_string_length(json);
	const char *broken = string_rule_broken(f, s, length);
	if (broken && f->max_bytes)
		return place_refuse(at, "must be at most %zu bytes long", f->max_bytes);
	if (broken)
		return place_refuse(at, "%s", broken);
	*ret = arena_string(arena, s, length);
	return NULL;
}

static struct error *decode_bool(json_t *json, const struct place *at, bool *ret)
{
	if (!json_is_boolean(json))
		return place_refuse(at, "must be true or false");
	*ret = json_is_true(json);
	return NULL;
}

static struct error *decode_enum(const struct rpc_field *f, json_t *json, const struct place *at, unsigned *ret)
{
	const char *s = json_string_value(json);
	for (const struct rpc_name *n = f->names; s && n->name; n++) {
		if (strcmp(n->name, s) == 0) {
			*ret = n->value;
			return NULL;
		}
	}

	struct text names = { 0 };
	for (const struct rpc_name *n = f->names; n->name; n++)
		text_printf(&names, "%s\"%s\"", n == f->names ? "" : n[1].name ? ", " : " or ", n->name);
	struct error *e = place_refuse(at, "must be %s", text_string(&names));
	text_free(&names);
	return e;
}

static struct error *decode_raw(
	const struct rpc_field *f, json_t *json, const struct place *at, struct arena *arena, struct rpc_json *ret)
{
	const size_t flags = JSON_COMPACT | JSON_SORT_KEYS;
	size_t most = f->max_bytes ? f->max_bytes : RPC_TEXT_MAX;

	if (!json_is_object(json))
		return place_refuse(at, "must be an object");
	size_t length = json_dumpb(json, NULL, 0, flags);
	if (!length || length > most)
		return place_refuse(at, "must be at most %zu bytes long", most);
	char *text = arena_alloc(arena, length + 1);
	json_dumpb(json, text, length, flags);
	ret->text = text;
	return NULL;
}

static struct error *decode_int32(const struct rpc_field *f, json_t *json, const struct place *at, int32_t *ret)
{
	int64_t value;
	struct error *e = decode_integer(json, field_min(f), field_max(f), at, &value);
	if (!e)
		*ret = (int32_t)value;
	return e;
}

static struct error *decode_maybe(json_t *json, const struct place *at, struct rpc_maybe *ret)
{
	struct error *e = decode_bool(json, at, &ret->value);
	ret->given = !e;
	return e;
}

static struct error *decode_member(const struct rpc_field *f, json_t *json, const struct place *at, struct arena *arena, void *to)
{
	if (json_is_null(json) && !f->custom)
		return place_refuse(at, f->required ? "must not be null" : "must not be null; leave it out instead");
	if (f->custom)
		return place_below(at, f->custom->decode((const struct rpc_value *)json, arena, to));

	switch (f->wire) {
	case WIRE_INT64:
		return decode_integer(json, field_min(f), field_max(f), at, to);
	case WIRE_INT32:
		return decode_int32(f, json, at, to);
	case WIRE_BOOL:
		return decode_bool(json, at, to);
	case WIRE_MAYBE:
		return decode_maybe(json, at, to);
	case WIRE_STRING:
		return decode_string(f, json, at, arena, to);
	case WIRE_ENUM:
		return decode_enum(f, json, at, to);
	case WIRE_JSON:
		return decode_raw(f, json, at, arena, to);
	case WIRE_OBJECT:
		return decode_object(f->shape, json, at, arena, to);
	case WIRE_STRINGS:
	case WIRE_LIST:
	case WIRE_AMOUNTS:
	case WIRE_PORTIONS:
	case WIRE_LABELS:
		break;
	}
	return decode_collection(f, json, at, arena, to);
}

/* What a member is when it was not sent; everything not named here is zero. */
static void set_default(const struct rpc_field *f, void *to)
{
	if (f->custom)
		return;
	switch (f->wire) {
	case WIRE_INT64:
		*(int64_t *)to = f->otherwise;
		break;
	case WIRE_INT32:
		*(int32_t *)to = (int32_t)f->otherwise;
		break;
	case WIRE_BOOL:
		*(bool *)to = f->otherwise != 0;
		break;
	case WIRE_ENUM:
		*(unsigned *)to = (unsigned)f->otherwise;
		break;
	case WIRE_STRING:
		*(const char **)to = f->text;
		break;
	default:
		break;
	}
}

/* The field of that name. Members mostly come in the order of the table, so the search begins after the last one found. */
static size_t find_field(const struct rpc_shape *shape, const char *key, size_t from)
{
	for (size_t k = 0; k < shape->n_fields; k++) {
		size_t i = from + k < shape->n_fields ? from + k : from + k - shape->n_fields;
		if (strcmp(shape->fields[i].name, key) == 0)
			return i;
	}
	return shape->n_fields;
}

struct error *decode_object(const struct rpc_shape *shape, json_t *json, const struct place *at, struct arena *arena, void *to)
{
	uint64_t seen = 0;
	size_t next = 0;
	const char *key;
	json_t *value;

	if (json && !json_is_object(json))
		return place_refuse(at, "must be an object");
	json_object_foreach (json, key, value) {
		const struct place here = { .up = at, .key = key };
		size_t i = find_field(shape, key, next);
		if (i == shape->n_fields)
			return place_refuse(&here, "is not a known member");
		const struct rpc_field *f = &shape->fields[i];
		struct error *e = decode_member(f, value, &here, arena, (char *)to + f->offset);
		if (e)
			return e;
		seen |= UINT64_C(1) << i;
		next = i + 1;
	}

	for (size_t i = 0; i < shape->n_fields; i++) {
		const struct rpc_field *f = &shape->fields[i];
		const struct place here = { .up = at, .key = f->name };
		if (seen >> i & 1)
			continue;
		if (f->required)
			return place_refuse(&here, "is missing");
		set_default(f, (char *)to + f->offset);
	}
	return shape->finish ? place_below(at, shape->finish(to, arena)) : NULL;
}

struct error *rpc_decode(const struct rpc_shape *shape, json_t *json, struct arena *arena, void **ret)
{
	void *to = arena_alloc(arena, shape->size);
	struct error *e = decode_object(shape, json, NULL, arena, to);
	if (!e)
		*ret = to;
	return e;
}

struct error *rpc_decode_text(const struct rpc_shape *shape, const char *text, struct arena *arena, void **ret)
{
	json_t *json;
	struct error *e = rpc_parse(text, strlen(text), &json);
	if (e)
		return e;
	e = rpc_decode(shape, json, arena, ret);
	json_decref(json);
	return e;
}

struct error *rpc_decode_list_text(const struct rpc_shape *shape, const char *text, struct arena *arena, struct rpc_list *ret)
{
	const struct rpc_field f = { .name = "", .wire = WIRE_LIST, .shape = shape };
	json_t *json;
	struct error *e = rpc_parse(text, strlen(text), &json);
	if (e)
		return e;
	struct rpc_list list = { 0 };
	e = decode_collection(&f, json, NULL, arena, &list);
	json_decref(json);
	if (!e)
		*ret = list;
	return e;
}

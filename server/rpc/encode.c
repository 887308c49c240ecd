/* The reverse of decoding: a struct printed by the table that decoded it. */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "rpc/decode.h"
#include "rpc/field.h"

static void encode_integer(const struct rpc_field *f, int64_t value, struct json_out *o)
{
	bool absent = !f->required && value == f->otherwise && (value < field_min(f) || value > field_max(f));
	if (!absent)
		out_int(o, f->name, value);
}

static void encode_enum(const struct rpc_field *f, unsigned value, struct json_out *o)
{
	for (const struct rpc_name *n = f->names; n->name; n++) {
		if (n->value == value) {
			out_string(o, f->name, n->name);
			return;
		}
	}
}

/* Whether an empty collection means "absent": that it could not have been sent. */
static bool omitted(const struct rpc_field *f, size_t n)
{
	return n == 0 && f->min_items > 0;
}

static void encode_amounts(const struct rpc_field *f, const struct rpc_amounts *a, struct json_out *o)
{
	if (omitted(f, a->n))
		return;
	out_object(o, f->name);
	for (size_t i = 0; i < a->n; i++)
		out_int(o, a->items[i].name, a->items[i].value);
	out_end(o);
}

static void encode_portions(const struct rpc_field *f, const struct rpc_portions *p, struct json_out *o)
{
	char percent[8];

	if (omitted(f, p->n))
		return;
	out_object(o, f->name);
	for (size_t i = 0; i < p->n; i++) {
		const struct rpc_portion *item = &p->items[i];
		if (item->percent) {
			(void)snprintf(percent, sizeof percent, "%u%%", (unsigned)item->percent);
			out_string(o, item->name, percent);
		} else {
			out_int(o, item->name, item->amount);
		}
	}
	out_end(o);
}

static void encode_labels(const struct rpc_field *f, const struct rpc_labels *l, struct json_out *o)
{
	if (omitted(f, l->n))
		return;
	out_object(o, f->name);
	for (size_t i = 0; i < l->n; i++)
		out_string(o, l->items[i].key, l->items[i].value);
	out_end(o);
}

static void encode_strings(const struct rpc_field *f, const struct rpc_strings *s, struct json_out *o)
{
	if (!omitted(f, s->n))
		out_strings(o, f->name, s->items, s->n);
}

static void encode_objects(const struct rpc_field *f, const struct rpc_list *l, struct json_out *o)
{
	if (!omitted(f, l->n))
		rpc_encode_list(f->shape, l, o, f->name);
}

/* An optional object is absent when its first member, a required string, is NULL. */
static void encode_nested(const struct rpc_field *f, const void *object, struct json_out *o)
{
	const char *first = NULL;

	if (!f->required)
		memcpy(&first, (const char *)object + f->shape->fields[0].offset, sizeof first);
	if (f->required || first)
		rpc_encode(f->shape, object, o, f->name);
}

static void encode_maybe(const struct rpc_field *f, const struct rpc_maybe *m, struct json_out *o)
{
	if (m->given)
		out_bool(o, f->name, m->value);
}

static void encode_text(const struct rpc_field *f, const char *s, struct json_out *o)
{
	if (s)
		out_string(o, f->name, s);
}

static void encode_raw(const struct rpc_field *f, const struct rpc_json *j, struct json_out *o)
{
	if (j->text)
		out_raw(o, f->name, j->text);
}

static void encode_custom(const struct rpc_field *f, const void *member, struct json_out *o)
{
	if (f->custom->encode)
		f->custom->encode(member, o, f->name);
}

static void encode_member(const struct rpc_field *f, const void *member, struct json_out *o)
{
	if (f->custom) {
		encode_custom(f, member, o);
		return;
	}
	switch (f->wire) {
	case WIRE_INT64:
		encode_integer(f, *(const int64_t *)member, o);
		break;
	case WIRE_INT32:
		encode_integer(f, *(const int32_t *)member, o);
		break;
	case WIRE_BOOL:
		out_bool(o, f->name, *(const bool *)member);
		break;
	case WIRE_MAYBE:
		encode_maybe(f, member, o);
		break;
	case WIRE_STRING:
		encode_text(f, *(const char *const *)member, o);
		break;
	case WIRE_ENUM:
		encode_enum(f, *(const unsigned *)member, o);
		break;
	case WIRE_STRINGS:
		encode_strings(f, member, o);
		break;
	case WIRE_LIST:
		encode_objects(f, member, o);
		break;
	case WIRE_AMOUNTS:
		encode_amounts(f, member, o);
		break;
	case WIRE_PORTIONS:
		encode_portions(f, member, o);
		break;
	case WIRE_LABELS:
		encode_labels(f, member, o);
		break;
	case WIRE_JSON:
		encode_raw(f, member, o);
		break;
	case WIRE_OBJECT:
		encode_nested(f, member, o);
		break;
	}
}

void rpc_encode(const struct rpc_shape *shape, const void *object, struct json_out *o, const char *key)
{
	out_object(o, key);
	for (size_t i = 0; i < shape->n_fields; i++)
		encode_member(&shape->fields[i], (const char *)object + shape->fields[i].offset, o);
	out_end(o);
}

void rpc_encode_list(const struct rpc_shape *shape, const struct rpc_list *list, struct json_out *o, const char *key)
{
	out_array(o, key);
	for (size_t i = 0; i < list->n; i++)
		rpc_encode(shape, (const char *)list->items + i * shape->size, o, NULL);
	out_end(o);
}

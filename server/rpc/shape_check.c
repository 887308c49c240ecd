/* Mistakes in field tables that the compiler cannot see, found when the server starts. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "rpc/decode.h"
#include "rpc/field.h"

enum { FIELDS_MAX = 64 }; /* the decoder keeps what it has seen in 64 bits */

static bool names_value(const struct rpc_field *f, int64_t value)
{
	for (const struct rpc_name *n = f->names; n->name; n++)
		if ((int64_t)n->value == value)
			return true;
	return false;
}

static bool first_is_identity(const struct rpc_shape *shape)
{
	const struct rpc_field *first = shape->fields;
	return shape->n_fields && first->wire == WIRE_STRING && first->required && !first->custom;
}

/* What is wrong with one field, or NULL. */
static const char *field_mistake(const struct rpc_field *f)
{
	bool collection = f->wire >= WIRE_STRINGS && f->wire <= WIRE_LABELS;
	bool nested = f->wire == WIRE_OBJECT || f->wire == WIRE_LIST;

	if (!f->name || !*f->name || !f->doc || !*f->doc)
		return "has no name or no sentence";
	if (f->custom)
		return f->custom->decode && f->custom->schema ? NULL : "lacks a decode function or a schema";
	if (f->wire != WIRE_ENUM && f->names)
		return "has names but is no enum";
	if (f->wire == WIRE_ENUM && (!f->names || !f->names->name))
		return "is an enum without names";
	if (nested != (f->shape != NULL))
		return nested ? "needs a SHAPE, or is of a type no form is known for" : "has a shape but is no object";
	if (f->wire == WIRE_OBJECT && f->shape->size != f->size)
		return "has a shape of another size than the member";
	if (f->min > f->max)
		return "has an empty range";
	if (f->wire == WIRE_INT32 && (field_min(f) < INT32_MIN || field_max(f) > INT32_MAX))
		return "has a range beyond its type";
	if ((f->wire == WIRE_INT64 || f->wire == WIRE_AMOUNTS || f->wire == WIRE_PORTIONS) &&
		(field_min(f) < -RPC_INTEGER_MAX || field_max(f) > RPC_INTEGER_MAX))
		return "has a range beyond the wire";
	if (!collection && (f->min_items || f->max_items))
		return "counts items but is no collection";
	if (f->max_items && f->min_items > f->max_items)
		return "wants more items than it allows";
	if (f->required && (f->text || f->otherwise))
		return "is required and has a default";
	if (f->text && f->wire != WIRE_STRING)
		return "has a text but is no string";
	if (f->wire == WIRE_OBJECT && !f->required && !first_is_identity(f->shape))
		return "is optional, so its first member must be a required string";
	return NULL;
}

static bool default_documented(const struct rpc_field *f)
{
	if (f->custom || f->required || f->wire != WIRE_ENUM || names_value(f, f->otherwise))
		return true;
	return f->otherwise >= 0; /* a value without a name stands for "absent" */
}

char *rpc_shape_check(const struct rpc_shape *shape)
{
	const char *name = shape->name ? shape->name : "a shape";

	if (shape->n_fields > FIELDS_MAX)
		return mem_format("%s has more than %d fields", name, FIELDS_MAX);
	for (size_t i = 0; i < shape->n_fields; i++) {
		const struct rpc_field *f = &shape->fields[i];
		const char *mistake = field_mistake(f);
		if (!mistake && !default_documented(f))
			mistake = "has an impossible default";
		if (mistake)
			return mem_format("%s: field %s %s", name, f->name ? f->name : "?", mistake);
		for (size_t k = 0; k < i; k++)
			if (strcmp(shape->fields[k].name, f->name) == 0)
				return mem_format("%s: two fields are named %s", name, f->name);
		char *below = f->shape && !f->custom ? rpc_shape_check(f->shape) : NULL;
		if (below)
			return below;
	}
	return NULL;
}

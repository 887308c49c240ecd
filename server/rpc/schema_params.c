/* JSON Schema of what methods take: from field tables. */
#include "rpc/schema.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "rpc/decode.h"

void schema_reference(const char *name, size_t length, struct json_out *o)
{
	char *path = mem_format("#/components/schemas/%.*s", (int)length, name);
	out_string(o, "$ref", path);
	free(path);
}

static void integer_schema(const struct rpc_field *f, struct json_out *o)
{
	out_string(o, "type", "integer");
	out_int(o, "minimum", field_min(f));
	out_int(o, "maximum", field_max(f));
}

static void integer_default(const struct rpc_field *f, struct json_out *o)
{
	if (!f->required && f->otherwise >= field_min(f) && f->otherwise <= field_max(f))
		out_int(o, "default", f->otherwise);
}

/* Lengths in JSON Schema count characters, ours bytes; the byte limit is also one of characters, and the exact rule is in words. */
static void string_schema(const struct rpc_field *f, struct json_out *o)
{
	out_string(o, "type", "string");
	if (!f->max_bytes && !f->text)
		out_int(o, "minLength", 1);
	out_int(o, "maxLength", f->max_bytes ? (int64_t)f->max_bytes : RPC_NAME_MAX);
	if (!f->max_bytes)
		out_string(o, "pattern", "^[^\\u0000-\\u001f\\u007f-\\u009f]*$");
}

static void enum_schema(const struct rpc_field *f, struct json_out *o)
{
	const char *otherwise = NULL;

	out_string(o, "type", "string");
	out_array(o, "enum");
	for (const struct rpc_name *n = f->names; n->name; n++) {
		out_string(o, NULL, n->name);
		if ((int64_t)n->value == f->otherwise)
			otherwise = n->name;
	}
	out_end(o);
	if (!f->required && otherwise)
		out_string(o, "default", otherwise);
}

static void count_limits(const struct rpc_field *f, struct json_out *o, const char *min, const char *max)
{
	out_int_if(o, min, (int64_t)f->min_items);
	out_int_if(o, max, (int64_t)f->max_items);
}

/* The schema of a shape where it is used; `doc` says what for. */
static void shape_use(const struct rpc_shape *shape, const char *doc, struct json_out *o, const char *key)
{
	if (!shape->name) {
		schema_shape(shape, o, key);
		return;
	}
	out_object(o, key);
	out_string_if(o, "description", doc);
	schema_reference(shape->name, strlen(shape->name), o);
	out_end(o);
}

static void array_schema(const struct rpc_field *f, struct json_out *o)
{
	out_string(o, "type", "array");
	if (f->wire == WIRE_LIST) {
		shape_use(f->shape, NULL, o, "items");
	} else {
		out_object(o, "items");
		string_schema(f, o);
		out_end(o);
	}
	count_limits(f, o, "minItems", "maxItems");
}

static void portion_schema(const struct rpc_field *f, struct json_out *o)
{
	out_array(o, "oneOf");
	out_object(o, NULL);
	integer_schema(f, o);
	out_end(o);
	out_object(o, NULL);
	out_string(o, "type", "string");
	out_string(o, "pattern", "^([1-9][0-9]?|100)%$");
	out_end(o);
	out_end(o);
}

static void label_schema(const struct rpc_field *f, struct json_out *o)
{
	out_string(o, "type", "string");
	out_int(o, "maxLength", f->max_bytes ? (int64_t)f->max_bytes : RPC_NAME_MAX);
}

static void map_schema(const struct rpc_field *f, struct json_out *o)
{
	static const struct rpc_field key = { .name = "key" };

	out_string(o, "type", "object");
	out_object(o, "propertyNames");
	string_schema(&key, o);
	out_end(o);
	out_object(o, "additionalProperties");
	if (f->wire == WIRE_AMOUNTS)
		integer_schema(f, o);
	else if (f->wire == WIRE_PORTIONS)
		portion_schema(f, o);
	else
		label_schema(f, o);
	out_end(o);
	count_limits(f, o, "minProperties", "maxProperties");
}

static void raw_schema(const struct rpc_field *f, struct json_out *o)
{
	char *comment = mem_format("At most %zu bytes as compact JSON.", f->max_bytes ? f->max_bytes : (size_t)RPC_TEXT_MAX);
	out_string(o, "type", "object");
	out_string(o, "$comment", comment);
	free(comment);
}

static void field_body(const struct rpc_field *f, struct json_out *o)
{
	switch (f->wire) {
	case WIRE_INT64:
	case WIRE_INT32:
		integer_schema(f, o);
		integer_default(f, o);
		break;
	case WIRE_BOOL:
		out_string(o, "type", "boolean");
		if (!f->required)
			out_bool(o, "default", f->otherwise != 0);
		break;
	case WIRE_MAYBE:
		out_string(o, "type", "boolean");
		break;
	case WIRE_STRING:
		string_schema(f, o);
		if (f->text)
			out_string(o, "default", f->text);
		break;
	case WIRE_ENUM:
		enum_schema(f, o);
		break;
	case WIRE_STRINGS:
	case WIRE_LIST:
		array_schema(f, o);
		break;
	case WIRE_AMOUNTS:
	case WIRE_PORTIONS:
	case WIRE_LABELS:
		map_schema(f, o);
		break;
	case WIRE_JSON:
		raw_schema(f, o);
		break;
	case WIRE_OBJECT:
		break;
	}
}

void schema_field(const struct rpc_field *f, struct json_out *o, const char *key)
{
	if (f->custom) {
		out_raw(o, key, f->custom->schema);
	} else if (f->wire == WIRE_OBJECT) {
		shape_use(f->shape, f->doc, o, key);
	} else {
		out_object(o, key);
		out_string(o, "description", f->doc);
		field_body(f, o);
		out_end(o);
	}
}

void schema_shape(const struct rpc_shape *shape, struct json_out *o, const char *key)
{
	out_object(o, key);
	out_string(o, "type", "object");
	out_string_if(o, "description", shape->doc);
	out_object(o, "properties");
	for (size_t i = 0; i < shape->n_fields; i++)
		schema_field(&shape->fields[i], o, shape->fields[i].name);
	out_end(o);
	out_array(o, "required");
	for (size_t i = 0; i < shape->n_fields; i++)
		if (shape->fields[i].required)
			out_string(o, NULL, shape->fields[i].name);
	out_end(o);
	out_bool(o, "additionalProperties", false);
	out_end(o);
}

static bool add_shape(const struct rpc_shape *shape, const struct rpc_shape **list, size_t n, size_t most)
{
	for (size_t i = 0; i < n; i++)
		if (list[i] == shape)
			return false;
	assert(n < most);
	list[n] = shape;
	return true;
}

/* Adds the named shapes below `shape`, itself included, depth first. */
static size_t collect_shapes(const struct rpc_shape *shape, const struct rpc_shape **list, size_t n, size_t most)
{
	if (shape->name && add_shape(shape, list, n, most))
		n++;
	for (size_t i = 0; i < shape->n_fields; i++)
		if (shape->fields[i].shape)
			n = collect_shapes(shape->fields[i].shape, list, n, most);
	return n;
}

size_t server_shapes(const struct rpc_server *server, const struct rpc_shape **ret, size_t most)
{
	size_t n = 0;
	for (size_t i = 0; i < server->n_methods; i++)
		if (server->methods[i]->params)
			n = collect_shapes(server->methods[i]->params, ret, n, most);
	return n;
}

/* Looking things up in an OpenRPC document; see schema.h. */
#include "ctl/schema.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/human.h"
#include "ctl/mem.h"

/* Made by client/embed. */
extern const unsigned char openrpc_json[];
extern const unsigned long openrpc_json_size;

static const json_int_t wire_limit = INT64_C(1) << 50;

enum { DEEPEST = 16 }; /* references and alternatives followed before giving up */

json_t *schema_load(void)
{
	return mem_must(json_loadb((const char *)openrpc_json, openrpc_json_size, 0, NULL));
}

const json_t *schema_method(const json_t *doc, const char *name)
{
	const json_t *method;
	size_t i;

	json_array_foreach (json_object_get(doc, "methods"), i, method) {
		if (strcmp(get_string(method, "name"), name) == 0) {
			return method;
		}
	}
	return NULL;
}

/* The value at a reference of the form #/components/schemas/Pod. */
static const json_t *at(const json_t *doc, const char *reference)
{
	if (*reference++ != '#') {
		return NULL;
	}
	while (doc && *reference == '/') {
		size_t length = strcspn(reference + 1, "/");
		char *key = mem_prefix(reference + 1, length);

		doc = json_object_get(doc, key);
		free(key);
		reference += 1 + length;
	}
	return doc;
}

const json_t *schema_resolve(const json_t *doc, const json_t *schema)
{
	int steps;

	for (steps = 0; schema && steps < DEEPEST; steps++) {
		const char *reference = json_string_value(json_object_get(schema, "$ref"));

		if (!reference) {
			return schema;
		}
		schema = at(doc, reference);
	}
	return NULL;
}

const json_t *schema_param(const json_t *doc, const json_t *method, const char *name)
{
	const json_t *param;
	size_t i;

	json_array_foreach (json_object_get(method, "params"), i, param) {
		param = schema_resolve(doc, param);
		if (strcmp(get_string(param, "name"), name) == 0) {
			return param;
		}
	}
	return NULL;
}

/* The alternatives of a schema; NULL when it has none. */
static const json_t *alternatives(const json_t *schema)
{
	const json_t *list = json_object_get(schema, "oneOf");

	return list ? list : json_object_get(schema, "anyOf");
}

static bool allows(const json_t *doc, const json_t *schema, const char *type, int depth)
{
	const json_t *types, *option, *list;
	size_t i;

	schema = schema_resolve(doc, schema);
	types = json_object_get(schema, "type");
	list = alternatives(schema);
	if (depth == DEEPEST || (!types && !list && !json_object_get(schema, "enum"))) {
		return !json_is_false(schema);
	}
	if (json_is_string(types)) {
		return strcmp(json_string_value(types), type) == 0;
	}
	json_array_foreach ((json_t *)types, i, option) {
		if (strcmp(json_string_value(option), type) == 0) {
			return true;
		}
	}
	json_array_foreach ((json_t *)list, i, option) {
		if (allows(doc, option, type, depth + 1)) {
			return true;
		}
	}
	return !types && !list && strcmp(type, "string") == 0;
}

bool schema_allows(const json_t *doc, const json_t *schema, const char *type)
{
	return allows(doc, schema, type, 0);
}

/* The schema itself or the first of its alternatives that describes an object or an array. */
static const json_t *composite(const json_t *doc, const json_t *schema)
{
	const json_t *option;
	size_t i;

	schema = schema_resolve(doc, schema);
	json_array_foreach ((json_t *)alternatives(schema), i, option) {
		option = schema_resolve(doc, option);
		if (json_object_get(option, "properties") || json_object_get(option, "items") ||
			json_object_get(option, "additionalProperties")) {
			return option;
		}
	}
	return schema;
}

const json_t *schema_properties(const json_t *doc, const json_t *schema)
{
	return json_object_get(composite(doc, schema), "properties");
}

const json_t *schema_member(const json_t *doc, const json_t *schema, const char *key)
{
	const json_t *whole = composite(doc, schema), *found;

	if (!key) {
		return schema_resolve(doc, json_object_get(whole, "items"));
	}
	found = json_object_get(json_object_get(whole, "properties"), key);
	if (!found) {
		found = json_object_get(whole, "additionalProperties");
	}
	return json_is_false(found) ? NULL : schema_resolve(doc, found);
}

bool schema_requires(const json_t *doc, const json_t *schema, const char *key)
{
	const json_t *name;
	size_t i;

	json_array_foreach (json_object_get(composite(doc, schema), "required"), i, name) {
		if (strcmp(json_string_value(name), key) == 0) {
			return true;
		}
	}
	return false;
}

const char *schema_doc(const json_t *doc, const json_t *described)
{
	static const char *const members[] = { "description", "summary", "title" };
	size_t i;

	for (i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
		const char *text = get_string(described, members[i]);

		if (*text) {
			return text;
		}
	}
	described = schema_resolve(doc, json_object_get(described, "schema"));
	return described ? schema_doc(doc, described) : "";
}

static void print_type(const json_t *doc, const json_t *schema, FILE *out, int depth);

/* Limits that only say what the wire or the type can carry are left out. */
static void print_range(const json_t *schema, FILE *out)
{
	const json_t *least = json_object_get(schema, "minimum"), *most = json_object_get(schema, "maximum");

	if (json_integer_value(least) <= -wire_limit || json_integer_value(least) == INT32_MIN) {
		least = NULL;
	}
	if (json_integer_value(most) >= wire_limit || json_integer_value(most) == INT32_MAX) {
		most = NULL;
	}
	if (least && most) {
		fprintf(out, " %" PRId64 "..%" PRId64, (int64_t)json_integer_value(least), (int64_t)json_integer_value(most));
	} else if (least) {
		fprintf(out, " >= %" PRId64, (int64_t)json_integer_value(least));
	} else if (most) {
		fprintf(out, " <= %" PRId64, (int64_t)json_integer_value(most));
	}
}

static void print_choices(const json_t *doc, const json_t *list, FILE *out, int depth)
{
	const json_t *option;
	size_t i;

	json_array_foreach ((json_t *)list, i, option) {
		fputs(i ? "|" : "", out);
		if (json_is_object(option)) {
			print_type(doc, option, out, depth + 1);
		} else if (json_is_string(option)) {
			fputs(json_string_value(option), out);
		} else {
			json_dumpf(option, out, JSON_ENCODE_ANY);
		}
	}
}

/* A reference is shown by its name, an array by its elements, an object without named members by its values. */
static void print_type(const json_t *doc, const json_t *schema, FILE *out, int depth)
{
	const char *reference = json_string_value(json_object_get(schema, "$ref")), *type = get_string(schema, "type");
	const json_t *values = json_object_get(schema, "additionalProperties");

	if (reference) {
		const char *name = strrchr(reference, '/');

		fputs(name ? name + 1 : reference, out);
	} else if (depth == DEEPEST) {
		fputs("...", out);
	} else if (alternatives(schema)) {
		print_choices(doc, alternatives(schema), out, depth);
	} else if (json_object_get(schema, "enum")) {
		print_choices(doc, json_object_get(schema, "enum"), out, depth);
	} else if (strcmp(type, "array") == 0) {
		putc('[', out);
		print_type(doc, json_object_get(schema, "items"), out, depth + 1);
		putc(']', out);
	} else if (json_is_object(values)) {
		fputs("{name: ", out);
		print_type(doc, values, out, depth + 1);
		putc('}', out);
	} else {
		fputs(*type ? type : "any", out);
		print_range(schema, out);
	}
}

char *schema_text(const json_t *doc, const json_t *schema)
{
	size_t size;
	char *text;
	FILE *out = mem_must(open_memstream(&text, &size));

	print_type(doc, schema, out, 0);
	fclose(out);
	return text;
}

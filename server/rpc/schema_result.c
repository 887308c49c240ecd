/* JSON Schema of what methods answer. The types of result members are a small language (struct rpc_member):
 * type = one { "|" one }; one = word | "string" in quotes | [type] | {type}. */
#include "rpc/schema.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static bool is_word(const char *s, size_t length, const char *word)
{
	return strlen(word) == length && memcmp(s, word, length) == 0;
}

static bool plain_word(const char *s, size_t length)
{
	return is_word(s, length, "integer") || is_word(s, length, "string") || is_word(s, length, "boolean") ||
	       is_word(s, length, "object") || is_word(s, length, "null") || is_word(s, length, "number");
}

/* The length of the first alternative: up to a "|" outside brackets. */
static size_t first_alternative(const char *type, size_t length)
{
	size_t depth = 0, i;
	for (i = 0; i < length && (depth || type[i] != '|'); i++) {
		if (type[i] == '[' || type[i] == '{')
			depth++;
		else if ((type[i] == ']' || type[i] == '}') && depth)
			depth--;
	}
	return i;
}

static bool bracketed(const char *type, size_t length, char open, char close)
{
	return length > 2 && type[0] == open && type[length - 1] == close;
}

/* Whether a named type or shape exists. */
static bool type_known(const struct rpc_server *server, const char *name, size_t length)
{
	const struct rpc_shape *shapes[SHAPES_MAX];
	size_t n;

	if (plain_word(name, length) || server_type(server, name, length))
		return true;
	n = server_shapes(server, shapes, SHAPES_MAX);
	for (size_t i = 0; i < n; i++)
		if (is_word(name, length, shapes[i]->name))
			return true;
	return false;
}

static bool type_good(const struct rpc_server *server, const char *type, size_t length)
{
	if (!length)
		return false;
	for (size_t at = 0; at < length;) {
		size_t n = first_alternative(type + at, length - at);
		const char *one = type + at;
		bool good = bracketed(one, n, '"', '"') || (bracketed(one, n, '[', ']') && type_good(server, one + 1, n - 2)) ||
			    (bracketed(one, n, '{', '}') && type_good(server, one + 1, n - 2)) || type_known(server, one, n);
		if (!good)
			return false;
		at += n + 1;
	}
	return true;
}

/* The length without the final "?". */
static size_t type_length(const char *type)
{
	size_t length = strlen(type);
	return length && type[length - 1] == '?' ? length - 1 : length;
}

char *type_check(const struct rpc_server *server, const char *type)
{
	if (type && type_good(server, type, type_length(type)))
		return NULL;
	return mem_format("\"%s\" is not a type of results", type ? type : "(none)");
}

static void type_schema(const char *type, size_t length, const char *doc, struct json_out *o, const char *key);

/* One alternative, inside an object that is open already. */
static void one_body(const char *one, size_t length, struct json_out *o)
{
	if (bracketed(one, length, '[', ']')) {
		out_string(o, "type", "array");
		type_schema(one + 1, length - 2, NULL, o, "items");
	} else if (bracketed(one, length, '{', '}')) {
		out_string(o, "type", "object");
		type_schema(one + 1, length - 2, NULL, o, "additionalProperties");
	} else if (plain_word(one, length)) {
		out_bytes(o, "type", one, length);
	} else {
		schema_reference(one, length, o);
	}
}

static void quoted_body(const char *type, size_t length, struct json_out *o)
{
	out_string(o, "type", "string");
	out_array(o, "enum");
	for (size_t at = 0; at < length;) {
		size_t n = first_alternative(type + at, length - at);
		out_bytes(o, NULL, type + at + 1, n - 2);
		at += n + 1;
	}
	out_end(o);
}

static void alternatives_body(const char *type, size_t length, struct json_out *o)
{
	out_array(o, "oneOf");
	for (size_t at = 0; at < length;) {
		size_t n = first_alternative(type + at, length - at);
		type_schema(type + at, n, NULL, o, NULL);
		at += n + 1;
	}
	out_end(o);
}

static void type_schema(const char *type, size_t length, const char *doc, struct json_out *o, const char *key)
{
	out_object(o, key);
	out_string_if(o, "description", doc);
	if (type[0] == '"')
		quoted_body(type, length, o);
	else if (first_alternative(type, length) < length)
		alternatives_body(type, length, o);
	else
		one_body(type, length, o);
	out_end(o);
}

void schema_members(const struct rpc_member *members, const char *doc, struct json_out *o, const char *key)
{
	out_object(o, key);
	out_string(o, "type", "object");
	out_string_if(o, "description", doc);
	out_object(o, "properties");
	for (const struct rpc_member *m = members; m && m->name; m++)
		type_schema(m->type, type_length(m->type), m->doc, o, m->name);
	out_end(o);
	out_array(o, "required");
	for (const struct rpc_member *m = members; m && m->name; m++)
		if (m->type[type_length(m->type)] != '?')
			out_string(o, NULL, m->name);
	out_end(o);
	out_end(o);
}

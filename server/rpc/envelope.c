#include "rpc/envelope.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "rpc/field.h"
#include "rpc/json_out.h"
#include "rpc/parse.h"

enum { ID_MAX = 256, KEY_SHOWN = 64 };

static struct error *invalid(const char *path, const char *sentence)
{
	struct error *e = error_new(ERR_INVALID_REQUEST, "%s", sentence);
	return *path ? error_with_string(e, "path", path) : e;
}

static const char *string_id(json_t *id, struct arena *arena)
{
	struct text text = { 0 };
	struct json_out o = json_out_start(&text);

	if (json_string_length(id) > ID_MAX)
		return NULL;
	out_bytes(&o, NULL, json_string_value(id), json_string_length(id));
	char *copy = arena_string(arena, text.bytes, text.length);
	text_free(&text);
	return copy;
}

static const char *integer_id(json_t *id, struct arena *arena)
{
	char digits[24];
	int64_t value = json_integer_value(id);

	if (value < -RPC_INTEGER_MAX || value > RPC_INTEGER_MAX)
		return NULL;
	int length = snprintf(digits, sizeof digits, "%lld", (long long)value);
	return arena_string(arena, digits, (size_t)length);
}

/* The id as JSON text, or NULL when it is none. */
static const char *id_text(json_t *id, struct arena *arena)
{
	if (json_is_null(id))
		return "null";
	if (json_is_integer(id))
		return integer_id(id, arena);
	return json_is_string(id) ? string_id(id, arena) : NULL;
}

static struct error *unknown_member(const char *key)
{
	size_t shown = rpc_cut(key, KEY_SHOWN);
	struct error *e = error_new(
		ERR_INVALID_REQUEST, "a call has no member \"%.*s\"%s", (int)shown, key, key[shown] ? " (shortened)" : "");
	char path[KEY_SHOWN + 1] = { 0 };
	memcpy(path, key, shown);
	return error_with_string(e, "path", path);
}

static struct error *read_members(json_t *json, struct envelope *ret)
{
	json_t *version = NULL, *method = NULL, *value;
	const char *key;

	json_object_foreach (json, key, value) {
		if (strcmp(key, "jsonrpc") == 0)
			version = value;
		else if (strcmp(key, "method") == 0)
			method = value;
		else if (strcmp(key, "params") == 0)
			ret->params = value;
		else if (strcmp(key, "id") != 0)
			return unknown_member(key);
	}
	if (!json_is_string(version) || strcmp(json_string_value(version), "2.0") != 0)
		return invalid("jsonrpc", "jsonrpc must be \"2.0\"");
	if (!json_is_string(method))
		return invalid("method", "method must be a string");
	if (ret->params && !json_is_object(ret->params) && !json_is_array(ret->params))
		return invalid("params", "params must be an object");
	ret->method = json_string_value(method);
	return NULL;
}

struct error *envelope_read(json_t *json, struct arena *arena, struct envelope *ret)
{
	*ret = (struct envelope){ .id = "null" };
	if (!json_is_object(json))
		return invalid("", "a call must be an object");

	json_t *id = json_object_get(json, "id");
	const char *text = id ? id_text(id, arena) : NULL;
	if (id && !text)
		return invalid("id", "id must be a string of at most 256 bytes, an integer within 53 bits, or null");
	if (text)
		ret->id = text;

	struct error *e = read_members(json, ret);
	if (e)
		return e;
	ret->notification = !id;
	return NULL;
}

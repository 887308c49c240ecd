/* A struct rpc_value is a json_t; methods are given the former so that they need not know jansson. */
#include "rpc/value.h"

#include <assert.h>
#include <jansson.h>

/* Reading changes nothing, but jansson's iteration asks for a non-const object. */
static json_t *json_of(const struct rpc_value *v)
{
	return (json_t *)(uintptr_t)v;
}

static const struct rpc_value *value_of(const json_t *j)
{
	return (const struct rpc_value *)j;
}

struct rpc_value *rpc_value_parse(const char *text)
{
	return (struct rpc_value *)json_loads(text, JSON_DECODE_ANY, NULL);
}

void rpc_value_free(struct rpc_value *v)
{
	json_decref((json_t *)v);
}

enum rpc_value_kind rpc_value_kind(const struct rpc_value *v)
{
	switch (json_typeof(json_of(v))) {
	case JSON_OBJECT:
		return VALUE_OBJECT;
	case JSON_ARRAY:
		return VALUE_ARRAY;
	case JSON_STRING:
		return VALUE_STRING;
	case JSON_INTEGER:
		return VALUE_INTEGER;
	case JSON_REAL:
		return VALUE_REAL;
	case JSON_TRUE:
	case JSON_FALSE:
		return VALUE_BOOL;
	case JSON_NULL:
		break;
	}
	return VALUE_NULL;
}

int64_t rpc_value_integer(const struct rpc_value *v)
{
	assert(json_is_integer(json_of(v)));
	return json_integer_value(json_of(v));
}

size_t rpc_value_count(const struct rpc_value *v)
{
	return json_is_object(json_of(v)) ? json_object_size(json_of(v)) : json_array_size(json_of(v));
}

const struct rpc_value *rpc_value_element(const struct rpc_value *v, size_t i)
{
	return value_of(json_array_get(json_of(v), i));
}

const struct rpc_value *rpc_value_member(const struct rpc_value *v, const char *key)
{
	return value_of(json_object_get(json_of(v), key));
}

const char *rpc_value_text(const struct rpc_value *v, const char *key)
{
	const char *text = json_string_value(json_object_get(json_of(v), key));
	return text ? text : "";
}

bool rpc_value_true(const struct rpc_value *v, const char *key)
{
	return json_is_true(json_object_get(json_of(v), key));
}

const char *rpc_value_next_key(const struct rpc_value *v, const char *key)
{
	json_t *object = json_of(v);
	void *iter = key ? json_object_iter_next(object, json_object_key_to_iter(key)) : json_object_iter(object);
	return iter ? json_object_iter_key(iter) : NULL;
}

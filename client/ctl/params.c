/* key=value words become JSON typed by the method's schema; see params.h. */
#include "ctl/params.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/human.h"
#include "ctl/mem.h"
#include "ctl/nearest.h"
#include "ctl/schema.h"

/* One word taken apart: the path is a copy, cut at the dots while it is followed. */
struct word {
	const char *key; /* as typed, for messages; not terminated: key_length */
	int key_length;
	char *path;
	const char *value;
	bool raw; /* := */
};

static bool take_apart(const char *text, struct word *ret)
{
	const char *equals = strchr(text, '=');
	bool raw = equals && equals > text && equals[-1] == ':';
	size_t length = equals ? (size_t)(equals - text) - raw : 0;

	if (length == 0) {
		return false;
	}
	*ret = (struct word){
		.key = text,
		.key_length = (int)length,
		.path = mem_prefix(text, length),
		.value = equals + 1,
		.raw = raw,
	};
	return true;
}

static json_t *integer_of(const char *text)
{
	char *end;
	long long value;

	errno = 0;
	value = strtoll(text, &end, 10);
	return errno || end == text || *end || isspace((unsigned char)*text) ? NULL : json_integer(value);
}

static json_t *typed(const json_t *doc, const json_t *schema, const char *text);

/* A list written with commas; "" is the empty list. */
static json_t *list_of(const json_t *doc, const json_t *items, const char *text)
{
	json_t *list = mem_must(json_array());

	while (*text) {
		size_t length = strcspn(text, ",");
		char *one = mem_prefix(text, length);
		json_t *value = typed(doc, items, one);

		free(one);
		if (!value || json_array_append_new(list, value) < 0) {
			json_decref(list);
			return NULL;
		}
		text += length + (text[length] == ',');
	}
	return list;
}

/* The value that the schema allows and the text can be read as; NULL when there is none. */
static json_t *typed(const json_t *doc, const json_t *schema, const char *text)
{
	json_t *value = NULL;

	if (!schema) {
		return json_string(text);
	}
	if (schema_allows(doc, schema, "integer")) {
		value = integer_of(text);
	}
	if (!value && schema_allows(doc, schema, "boolean") && (strcmp(text, "true") == 0 || strcmp(text, "false") == 0)) {
		value = json_boolean(*text == 't');
	}
	if (!value && schema_allows(doc, schema, "string")) {
		value = json_string(text);
	}
	if (!value && schema_allows(doc, schema, "array")) {
		value = list_of(doc, schema_member(doc, schema, NULL), text);
	}
	return value;
}

static json_t *value_of(const json_t *doc, const json_t *schema, const struct word *word, char **error)
{
	json_error_t where;
	json_t *value = word->raw ? json_loads(word->value, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, &where)
				  : typed(doc, schema, word->value);
	char *text;

	if (value) {
		return value;
	}
	if (word->raw) {
		*error = mem_format("%.*s is not JSON: %s", word->key_length, word->key, where.text);
		return NULL;
	}
	text = schema_text(doc, schema);
	*error = mem_format("%.*s is %s, not \"%s\"; %.*s:=... takes JSON", word->key_length, word->key, text, word->value,
		word->key_length, word->key);
	free(text);
	return NULL;
}

static void offer_members(struct nearest *near, const json_t *names)
{
	const char *key;
	const json_t *ignored;

	json_object_foreach ((json_t *)names, key, ignored) {
		nearest_offer(near, key);
	}
}

static char *unknown(const struct word *word, const char *step, const struct nearest *near, const char *help)
{
	char *question = nearest_question(near), *sentence;

	sentence = mem_format("%.*s: there is no parameter %s%s%s%s", word->key_length, word->key, step, question,
		near->n ? "" : "; see allotctl help ", near->n ? "" : help);
	free(question);
	return sentence;
}

/* Where a path leads: the container that will hold the value, and the key or index in it. */
struct place {
	json_t *container;
	const char *key;      /* in an object */
	size_t index;         /* in an array */
	const json_t *schema; /* of the value; NULL = anything */
};

static json_t *look(const struct place *p)
{
	return json_is_array(p->container) ? json_array_get(p->container, p->index) : json_object_get(p->container, p->key);
}

static void put(const struct place *p, json_t *value_take)
{
	if (!json_is_array(p->container)) {
		json_object_set_new(p->container, p->key, value_take);
	} else if (p->index < json_array_size(p->container)) {
		json_array_set_new(p->container, p->index, value_take);
	} else {
		json_array_append_new(p->container, value_take);
	}
}

/* Goes one step down: `step` is a member, or an index, of the value at the place. */
static char *descend(const json_t *doc, const json_t *method, const struct word *word, struct place *p, const char *step)
{
	const json_t *schema = p->schema, *element;
	json_t *value = look(p), *index = integer_of(step);
	bool array = value ? json_is_array(value) : index && schema && schema_allows(doc, schema, "array");
	size_t at = (size_t)json_integer_value(index);
	struct nearest near = nearest_to(step);

	json_decref(index);
	if (!value) {
		value = mem_must(array ? json_array() : json_object());
		put(p, value);
	}
	if (array ? !index || at > json_array_size(value) : !json_is_object(value)) {
		return mem_format("%.*s: %s cannot stand here%s", word->key_length, word->key, step,
			array ? " (elements are counted from 0, without gaps)" : "");
	}
	element = schema ? schema_member(doc, schema, array ? NULL : step) : NULL;
	if (schema && !element) {
		offer_members(&near, schema_properties(doc, schema));
		return unknown(word, step, &near, get_string(method, "name"));
	}
	*p = (struct place){ .container = value, .key = step, .index = at, .schema = element };
	return NULL;
}

static char *find_param(const json_t *doc, const json_t *method, const struct word *word, struct place *p)
{
	const json_t *param = schema_param(doc, method, p->key);
	struct nearest near = nearest_to(p->key);
	size_t i;

	if (param) {
		p->schema = json_object_get(param, "schema");
		return NULL;
	}
	json_array_foreach (json_object_get(method, "params"), i, param) {
		nearest_offer(&near, get_string(schema_resolve(doc, param), "name"));
	}
	return unknown(word, p->key, &near, get_string(method, "name"));
}

/* Puts one word's value where its key says. */
static char *add(const json_t *doc, const json_t *method, json_t *params, struct word *word)
{
	char *rest = word->path, *error;
	struct place place = { .container = params, .key = strsep(&rest, ".") };
	json_t *value;

	error = find_param(doc, method, word, &place);
	while (!error && rest) {
		error = descend(doc, method, word, &place, strsep(&rest, "."));
	}
	if (!error && look(&place)) {
		error = mem_format("%.*s is given twice", word->key_length, word->key);
	}
	if (error) {
		return error;
	}
	value = value_of(doc, place.schema, word, &error);
	if (value) {
		put(&place, value);
	}
	return error;
}

static char *missing(const json_t *doc, const json_t *method, const json_t *params)
{
	const json_t *param;
	size_t i;

	json_array_foreach (json_object_get(method, "params"), i, param) {
		param = schema_resolve(doc, param);
		if (get_bool(param, "required") && !json_object_get(params, get_string(param, "name"))) {
			return mem_format("%s needs %s; see allotctl help %s", get_string(method, "name"),
				get_string(param, "name"), get_string(method, "name"));
		}
	}
	return NULL;
}

json_t *params_build(const json_t *doc, const json_t *method, char **words, int n, char **error)
{
	json_t *params = mem_must(json_object());
	int i;

	*error = NULL;
	for (i = 0; i < n && !*error; i++) {
		struct word word;

		if (!take_apart(words[i], &word)) {
			*error = mem_format("%s is neither key=value nor key:=json", words[i]);
			break;
		}
		*error = add(doc, method, params, &word);
		free(word.path);
	}
	if (!*error) {
		*error = missing(doc, method, params);
	}
	if (!*error) {
		return params;
	}
	json_decref(params);
	return NULL;
}

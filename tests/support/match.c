#include "support/match.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *match_at(const char *path, const json_t *want, const json_t *got);

static char *differ(const char *path, const char *sentence, const json_t *want, const json_t *got)
{
	char *w = want ? json_dumps(want, JSON_ENCODE_ANY | JSON_SORT_KEYS) : NULL;
	char *g = got ? json_dumps(got, JSON_ENCODE_ANY | JSON_SORT_KEYS) : NULL;
	char *all = NULL;
	if (asprintf(&all, "%s: want %s%s%s, got %.3000s", *path ? path : "/", sentence, *sentence && w ? " " : "", w ? w : "",
		    g ? g : "nothing") < 0)
		abort();
	free(w);
	free(g);
	return all;
}

static char *match_set(const char *path, const json_t *set, const json_t *got)
{
	size_t n = json_array_size(set);
	if (!json_is_array(got) || json_array_size(got) != n)
		return differ(path, "the set", set, got);
	bool *taken = calloc(n + 1, sizeof *taken);
	char *why = NULL;
	for (size_t i = 0; i < n && !why; i++) {
		size_t j = 0;
		for (; j < n; j++) {
			if (taken[j])
				continue;
			char *no = match_at(path, json_array_get(set, i), json_array_get(got, j));
			if (!no)
				break;
			free(no);
		}
		if (j < n)
			taken[j] = true;
		else
			why = differ(path, "somewhere", json_array_get(set, i), got);
	}
	free(taken);
	return why;
}

static size_t elements(const json_t *value)
{
	return json_is_object(value) ? json_object_size(value) : json_array_size(value);
}

static bool is_absent_wish(const json_t *want)
{
	return json_object_get(want, "$absent") != NULL;
}

static char *match_members(const char *path, const json_t *want, const json_t *got)
{
	const char *key;
	json_t *wish;
	if (!json_is_object(got))
		return differ(path, "an object", want, got);
	json_object_foreach ((json_t *)(uintptr_t)want, key, wish) {
		const json_t *value = json_object_get(got, key);
		char *where = NULL, *why = NULL;
		if (asprintf(&where, "%s/%s", path, key) < 0)
			abort();
		if (is_absent_wish(wish)) {
			if (value && !json_is_null(value))
				why = differ(where, "it absent", NULL, value);
		} else if (!value) {
			why = differ(where, "", wish, NULL);
		} else {
			why = match_at(where, wish, value);
		}
		free(where);
		if (why)
			return why;
	}
	return NULL;
}

static char *match_object(const char *path, const json_t *want, const json_t *got)
{
	const json_t *set = json_object_get(want, "$set"), *count = json_object_get(want, "$count");
	const json_t *above = json_object_get(want, "$above");
	if (is_absent_wish(want))
		return differ(path, "it absent", NULL, got);
	if (set)
		return match_set(path, set, got);
	if (count) {
		bool fits = (json_is_array(got) || json_is_object(got)) && elements(got) == (size_t)json_integer_value(count);
		return fits ? NULL : differ(path, "this number of elements:", count, got);
	}
	if (above)
		return json_is_number(got) && json_number_value(got) > json_number_value(above)
			       ? NULL
			       : differ(path, "more than", above, got);
	return match_members(path, want, got);
}

static char *match_array(const char *path, const json_t *want, const json_t *got)
{
	if (!json_is_array(got) || json_array_size(got) != json_array_size(want))
		return differ(path, "", want, got);
	for (size_t i = 0; i < json_array_size(want); i++) {
		char *where = NULL;
		if (asprintf(&where, "%s/%zu", path, i) < 0)
			abort();
		char *why = match_at(where, json_array_get(want, i), json_array_get(got, i));
		free(where);
		if (why)
			return why;
	}
	return NULL;
}

static char *match_at(const char *path, const json_t *want, const json_t *got)
{
	if (json_is_object(want))
		return match_object(path, want, got);
	if (json_is_array(want))
		return match_array(path, want, got);
	return json_equal(want, got) ? NULL : differ(path, "", want, got);
}

char *match(const json_t *want, const json_t *got)
{
	return match_at("", want, got);
}

/* Numbers and JSON members as people read them; see human.h. */
#include "ctl/human.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ctl/mem.h"

struct short_text human_duration(int64_t ms)
{
	int64_t s = ms < 0 ? 0 : ms / 1000, m = s / 60, h = m / 60, d = h / 24;
	struct short_text t;

	if (s < 120) {
		snprintf(t.text, sizeof(t.text), "%" PRId64 "s", s);
	} else if (m < 10 && s % 60) {
		snprintf(t.text, sizeof(t.text), "%" PRId64 "m%" PRId64 "s", m, s % 60);
	} else if (h < 3) {
		snprintf(t.text, sizeof(t.text), "%" PRId64 "m", m);
	} else if (h < 8 && m % 60) {
		snprintf(t.text, sizeof(t.text), "%" PRId64 "h%" PRId64 "m", h, m % 60);
	} else if (h < 48) {
		snprintf(t.text, sizeof(t.text), "%" PRId64 "h", h);
	} else if (d < 8 && h % 24) {
		snprintf(t.text, sizeof(t.text), "%" PRId64 "d%" PRId64 "h", d, h % 24);
	} else {
		snprintf(t.text, sizeof(t.text), "%" PRId64 "d", d);
	}
	return t;
}

struct short_text human_time(int64_t ms)
{
	time_t seconds = (time_t)(ms / 1000);
	struct short_text t = { "" };
	struct tm broken;
	size_t n;

	if (ms == 0 || !localtime_r(&seconds, &broken)) {
		return t;
	}
	n = strftime(t.text, sizeof(t.text), "%Y-%m-%d %H:%M:%S", &broken);
	snprintf(t.text + n, sizeof(t.text) - n, ".%03d", (int)(ms % 1000));
	return t;
}

struct short_text human_usage(int64_t used, int64_t total)
{
	struct short_text t;

	snprintf(t.text, sizeof(t.text), "%" PRId64 "/%" PRId64, used, total);
	return t;
}

struct short_text human_usage_percent(int64_t used, int64_t total)
{
	struct short_text t = human_usage(used, total);
	size_t n = strlen(t.text);

	if (total > 0) {
		snprintf(t.text + n, sizeof(t.text) - n, " (%.0f%%)", 100.0 * (double)used / (double)total);
	}
	return t;
}

const char *get_string(const json_t *object, const char *key)
{
	const char *value = json_string_value(json_object_get(object, key));

	return value ? value : "";
}

int64_t get_integer(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

bool get_bool(const json_t *object, const char *key)
{
	return json_is_true(json_object_get(object, key));
}

char *pod_name(const json_t *pod)
{
	const char *namespace = get_string(pod, "namespace"), *name = get_string(pod, "name"), *uid = get_string(pod, "uid");

	return mem_format("%s/%s", *namespace ? namespace : "default", *name ? name : uid);
}

char *join_strings(const json_t *array, const char *separator, size_t most)
{
	size_t n = json_array_size(array), i, size;
	char *joined;
	FILE *out = mem_must(open_memstream(&joined, &size));

	for (i = 0; i < n && i < most; i++) {
		const char *item = json_string_value(json_array_get(array, i));

		fprintf(out, "%s%s", i ? separator : "", item ? item : "?");
	}
	if (n > most) {
		fprintf(out, "%s+%zu", most ? separator : "", n - most);
	}
	fclose(out);
	return joined;
}

char *join_members(const json_t *object)
{
	const char *key, *separator = "";
	const json_t *value;
	size_t size;
	char *joined;
	FILE *out = mem_must(open_memstream(&joined, &size));

	json_object_foreach ((json_t *)object, key, value) {
		if (json_is_string(value)) {
			fprintf(out, "%s%s=%s", separator, key, json_string_value(value));
		} else {
			fprintf(out, "%s%s=%" JSON_INTEGER_FORMAT, separator, key, json_integer_value(value));
		}
		separator = ",";
	}
	fclose(out);
	return joined;
}

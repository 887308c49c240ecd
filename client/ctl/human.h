/* Numbers and JSON members as people read them. */
#ifndef ALLOTCTL_HUMAN_H
#define ALLOTCTL_HUMAN_H

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

/* Short texts by value, so that several fit into one printf. */
struct short_text {
	char text[48];
};

/* A duration in ms as kubectl writes ages: 45s, 12m, 3h7m, 2d5h, 84d. Negative ones count as 0. */
struct short_text human_duration(int64_t ms);

/* A time in Unix ms in the local time zone: 2026-03-01 14:05:09.123; "" for 0. */
struct short_text human_time(int64_t ms);

/* used/total, and with its share: 1460/2000 (73%). */
struct short_text human_usage(int64_t used, int64_t total);
struct short_text human_usage_percent(int64_t used, int64_t total);

/* Members of an object; absent or of another type: "", 0, false. */
const char *get_string(const json_t *object, const char *key);
int64_t get_integer(const json_t *object, const char *key);
bool get_bool(const json_t *object, const char *key);

/* "namespace/name" of a Pod object; new memory. */
char *pod_name(const json_t *pod);

/* The strings of an array joined by `separator`, at most `most` of them and "+N" for the rest; new memory. */
char *join_strings(const json_t *array, const char *separator, size_t most);

/* "core=50,memory=20" of an object of integers or strings; new memory. */
char *join_members(const json_t *object);

#endif

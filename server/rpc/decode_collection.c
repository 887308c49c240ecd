/* Arrays and maps. Maps are sorted by key, so that equal ones look equal. */
#include "rpc/decode.h"

#include <stdlib.h>
#include <string.h>

/* The rules of map keys: those of a NAME. */
static const struct rpc_field key_rules = { .name = "key" };

/* The rules of label values that have none of their own. */
static const struct rpc_field value_rules = { .name = "value", .max_bytes = RPC_NAME_MAX };

static struct error *check_count(const struct rpc_field *f, size_t n, const struct place *at)
{
	if (n < f->min_items)
		return place_refuse(at, "must have at least %zu member%s", f->min_items, f->min_items == 1 ? "" : "s");
	if (f->max_items && n > f->max_items)
		return place_refuse(at, "must have at most %zu members, not %zu", f->max_items, n);
	return NULL;
}

static struct error *decode_strings(
	const struct rpc_field *f, json_t *json, const struct place *at, struct arena *arena, struct rpc_strings *ret)
{
	size_t n = json_array_size(json);
	const char **items = arena_alloc(arena, n * sizeof *items);

	for (size_t i = 0; i < n; i++) {
		const struct place here = { .up = at, .index = i };
		struct error *e = decode_string(f, json_array_get(json, i), &here, arena, &items[i]);
		if (e)
			return e;
	}
	*ret = (struct rpc_strings){ .items = items, .n = n };
	return NULL;
}

static struct error *decode_list(
	const struct rpc_field *f, json_t *json, const struct place *at, struct arena *arena, struct rpc_list *ret)
{
	size_t n = json_array_size(json);
	char *items = arena_alloc(arena, n * f->shape->size);

	for (size_t i = 0; i < n; i++) {
		const struct place here = { .up = at, .index = i };
		struct error *e = decode_object(f->shape, json_array_get(json, i), &here, arena, items + i * f->shape->size);
		if (e)
			return e;
	}
	*ret = (struct rpc_list){ .items = items, .n = n };
	return NULL;
}

/* All three kinds of map begin their items with the key. */
/* The items of all maps begin with their key. */
_Static_assert(
	offsetof(struct rpc_amount, name) == 0 && offsetof(struct rpc_portion, name) == 0 && offsetof(struct rpc_label, key) == 0,
	"the key comes first");

static int compare_keys(const void *a, const void *b)
{
	const char *const *x = a, *const *y = b;
	return strcmp(*x, *y);
}

static struct error *decode_key(const char *key, const struct place *at, struct arena *arena, const char **ret)
{
	size_t length = strlen(key);
	const char *broken = string_rule_broken(&key_rules, key, length);
	if (broken)
		return place_refuse(at, "%s", broken);
	*ret = arena_string(arena, key, length);
	return NULL;
}

/* The value of a member of a map, into `item`. */
typedef struct error *decode_value(
	const struct rpc_field *f, json_t *json, const struct place *at, struct arena *arena, void *item);

/* The members of an object as an array in the arena, sorted by key: items of `size` bytes that begin with the key. */
static struct error *decode_map(const struct rpc_field *f, json_t *json, const struct place *at, struct arena *arena, size_t size,
	decode_value *decode, void **ret)
{
	size_t count = json_object_size(json);
	char *items = arena_alloc(arena, count * size), *item = items;
	const char *key;
	json_t *value;

	json_object_foreach (json, key, value) {
		const struct place here = { .up = at, .key = key };
		struct error *e = decode_key(key, &here, arena, (const char **)(void *)item);
		if (!e)
			e = decode(f, value, &here, arena, item);
		if (e)
			return e;
		item += size;
	}
	if (count > 1)
		qsort(items, count, size, compare_keys);
	*ret = items;
	return NULL;
}

static struct error *decode_amount(
	const struct rpc_field *f, json_t *json, const struct place *at, struct arena *arena, void *item)
{
	(void)arena;
	return decode_integer(json, field_min(f), field_max(f), at, &((struct rpc_amount *)item)->value);
}

static struct error *decode_amounts(
	const struct rpc_field *f, json_t *json, const struct place *at, struct arena *arena, struct rpc_amounts *ret)
{
	void *items = NULL;
	struct error *e = decode_map(f, json, at, arena, sizeof *ret->items, decode_amount, &items);
	if (!e)
		*ret = (struct rpc_amounts){ .items = items, .n = json_object_size(json) };
	return e;
}

/* The percentage of "N%", 1-100; 0 when it is not one. */
static int64_t percent_parse(const char *s)
{
	int64_t value = 0;
	const char *p = s;

	if (*p == '0')
		return 0;
	for (; *p >= '0' && *p <= '9' && value <= 100; p++)
		value = value * 10 + (*p - '0');
	return strcmp(p, "%") == 0 && value <= 100 ? value : 0;
}

static struct error *decode_portion(
	const struct rpc_field *f, json_t *json, const struct place *at, struct arena *arena, void *item)
{
	struct rpc_portion *ret = item;
	(void)arena;
	if (json_is_integer(json))
		return decode_integer(json, field_min(f), field_max(f), at, &ret->amount);
	if (json_is_string(json))
		ret->percent = percent_parse(json_string_value(json));
	if (!ret->percent)
		return place_refuse(at, "must be an integer from %lld to %lld, or \"N%%\" with N from 1 to 100",
			(long long)field_min(f), (long long)field_max(f));
	return NULL;
}

static struct error *decode_portions(
	const struct rpc_field *f, json_t *json, const struct place *at, struct arena *arena, struct rpc_portions *ret)
{
	void *items = NULL;
	struct error *e = decode_map(f, json, at, arena, sizeof *ret->items, decode_portion, &items);
	if (!e)
		*ret = (struct rpc_portions){ .items = items, .n = json_object_size(json) };
	return e;
}

static struct error *decode_label(
	const struct rpc_field *f, json_t *json, const struct place *at, struct arena *arena, void *item)
{
	return decode_string(f->max_bytes ? f : &value_rules, json, at, arena, &((struct rpc_label *)item)->value);
}

static struct error *decode_labels(
	const struct rpc_field *f, json_t *json, const struct place *at, struct arena *arena, struct rpc_labels *ret)
{
	void *items = NULL;
	struct error *e = decode_map(f, json, at, arena, sizeof *ret->items, decode_label, &items);
	if (!e)
		*ret = (struct rpc_labels){ .items = items, .n = json_object_size(json) };
	return e;
}

struct error *decode_collection(const struct rpc_field *f, json_t *json, const struct place *at, struct arena *arena, void *to)
{
	bool array = f->wire == WIRE_STRINGS || f->wire == WIRE_LIST;
	struct error *e;

	if (array ? !json_is_array(json) : !json_is_object(json))
		return place_refuse(at, array ? "must be an array" : "must be an object");
	e = check_count(f, array ? json_array_size(json) : json_object_size(json), at);
	if (e)
		return e;

	switch (f->wire) {
	case WIRE_STRINGS:
		return decode_strings(f, json, at, arena, to);
	case WIRE_LIST:
		return decode_list(f, json, at, arena, to);
	case WIRE_AMOUNTS:
		return decode_amounts(f, json, at, arena, to);
	case WIRE_PORTIONS:
		return decode_portions(f, json, at, arena, to);
	default:
		return decode_labels(f, json, at, arena, to);
	}
}

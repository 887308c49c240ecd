/* Field tables: what each kind of member accepts, what it refuses and where, and the canonical text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/text.h"
#include "rpc/field.h"
#include "rpc/value.h"

enum colour { COLOUR_NONE, COLOUR_RED, COLOUR_BLUE };

static const struct rpc_name colours[] = { { "red", COLOUR_RED }, { "blue", COLOUR_BLUE }, { NULL, 0 } };

struct owner {
	const char *uid;
	const char *gang;
	int32_t priority;
	bool nice;
};

static const struct rpc_field owner_fields[] = {
	REQUIRED(struct owner, uid, "Who."),
	OPTIONAL(struct owner, gang, "With whom.", DEFAULT_TEXT("")),
	OPTIONAL(struct owner, priority, "How important."),
	OPTIONAL(struct owner, nice, "Whether it yields.", DEFAULT(true)),
};
static const struct rpc_shape owner_shape = { SHAPE_OF(struct owner, owner_fields), .name = "Owner" };

struct item {
	const char *type;
	int64_t count;
	enum colour colour;
	struct rpc_portions resources;
	struct rpc_strings models;
	struct rpc_labels labels;
};

static const struct rpc_field item_fields[] = {
	REQUIRED(struct item, type, "What."),
	OPTIONAL(struct item, count, "How many.", RANGE(1, 64), DEFAULT(1)),
	OPTIONAL(struct item, colour, "Which.", NAMES(colours), DEFAULT(COLOUR_NONE)),
	OPTIONAL(struct item, resources, "How much.", ITEMS(1, 3)),
	OPTIONAL(struct item, models, "Any of these.", ITEMS(0, 2)),
	OPTIONAL(struct item, labels, "All of these."),
};

static struct error *item_finish(void *object, struct arena *arena)
{
	struct item *item = object;
	(void)arena;
	if (strcmp(item->type, "cursed") == 0)
		return error_invalid("type", "Nobody may have this.");
	if (item->count == 13)
		return error_invalid("", "Not thirteen.");
	return NULL;
}

static const struct rpc_shape item_shape = { SHAPE_OF(struct item, item_fields), .finish = item_finish };

static struct error *parity_decode(const struct rpc_value *value, struct arena *arena, void *member)
{
	(void)arena;
	if (rpc_value_kind(value) != VALUE_ARRAY)
		return error_invalid("", "An array, please.");
	for (size_t i = 0; i < rpc_value_count(value); i++)
		if (rpc_value_kind(rpc_value_element(value, i)) != VALUE_INTEGER)
			return error_invalid("[0]", "Integers, please.");
	*(double *)member = (double)rpc_value_count(value);
	return NULL;
}

static void parity_encode(const void *member, struct json_out *o, const char *key)
{
	out_array(o, key);
	for (int i = 0; i < (int)*(const double *)member; i++)
		out_int(o, NULL, 0);
	out_end(o);
}

static const struct rpc_custom parity = { parity_decode, parity_encode, "{\"type\":\"array\"}" };

struct all {
	const char *name;
	const char *text;
	const char *word;
	int64_t number;
	int32_t small;
	bool flag;
	struct rpc_maybe maybe;
	enum colour colour;
	enum colour must;
	struct rpc_strings names;
	struct rpc_strings texts;
	struct rpc_list items;
	struct rpc_amounts amounts;
	struct rpc_labels labels;
	struct rpc_json detail;
	struct owner owner;
	struct owner other;
	double custom;
};

static const struct rpc_field all_fields[] = {
	OPTIONAL(struct all, name, "A name."),
	OPTIONAL(struct all, text, "A text.", TEXT(10)),
	OPTIONAL(struct all, word, "A word.", DEFAULT_TEXT("default")),
	OPTIONAL(struct all, number, "A number.", RANGE(0, 10), DEFAULT(-1)),
	OPTIONAL(struct all, small, "A small number."),
	OPTIONAL(struct all, flag, "A flag."),
	OPTIONAL(struct all, maybe, "A flag or nothing."),
	OPTIONAL(struct all, colour, "A colour.", NAMES(colours), DEFAULT(COLOUR_BLUE)),
	REQUIRED(struct all, must, "A colour.", NAMES(colours)),
	OPTIONAL(struct all, names, "Names.", ITEMS(1, 3)),
	OPTIONAL(struct all, texts, "Texts.", TEXT(4)),
	OPTIONAL(struct all, items, "Items.", SHAPE(&item_shape), ITEMS(0, 2)),
	OPTIONAL(struct all, amounts, "Amounts.", ITEMS(0, 3)),
	OPTIONAL(struct all, labels, "Labels.", ITEMS(0, 3), TEXT(5)),
	OPTIONAL(struct all, detail, "Anything.", TEXT(24)),
	REQUIRED(struct all, owner, "Whose.", SHAPE(&owner_shape)),
	OPTIONAL(struct all, other, "Whose else.", SHAPE(&owner_shape)),
	OPTIONAL(struct all, custom, "As you like.", CUSTOM(&parity)),
};
static const struct rpc_shape all_shape = { SHAPE_OF(struct all, all_fields), .name = "All" };

#define LEAST "\"must\":\"red\",\"owner\":{\"uid\":\"u\"}"

static const struct all *decoded(struct arena *arena, const char *text)
{
	void *all = NULL;
	struct error *e = rpc_decode_text(&all_shape, text, arena, &all);
	if (e)
		print_error("%s\n", e->message);
	assert_null(e);
	return all;
}

static void least_gives_defaults(void **state)
{
	struct arena *arena = arena_new();
	const struct all *a = decoded(arena, "{" LEAST "}");

	(void)state;
	assert_null(a->name);
	assert_null(a->text);
	assert_string_equal(a->word, "default");
	assert_int_equal(a->number, -1);
	assert_int_equal(a->small, 0);
	assert_false(a->flag);
	assert_false(a->maybe.given);
	assert_int_equal(a->colour, COLOUR_BLUE);
	assert_int_equal(a->must, COLOUR_RED);
	assert_int_equal(a->names.n + a->texts.n + a->items.n + a->amounts.n + a->labels.n, 0);
	assert_null(a->detail.text);
	assert_string_equal(a->owner.uid, "u");
	assert_string_equal(a->owner.gang, "");
	assert_true(a->owner.nice);
	assert_null(a->other.uid);
	arena_free(arena);
}

static const char everything[] =
	"{\"custom\":[1,2],\"other\":{\"uid\":\"o\",\"gang\":\"g\",\"priority\":-2147483648,\"nice\":false},"
	"\"owner\":{\"uid\":\"u\",\"gang\":\"\",\"priority\":2147483647},\"detail\":{\"b\": [1.5, null], \"a\": \"\"},"
	"\"labels\":{\"z\":\"\",\"a.b/c\":\"\\n\"},\"amounts\":{\"memory\":1125899906842624,\"core\":0},"
	"\"items\":[{\"type\":\"gpu\",\"count\":64,\"resources\":{\"memory\":\"100%\",\"core\":7,\"vf\":\"1%\"},\"colour\":"
	"\"red\",\"models\":[\"b\",\"a\"],"
	"\"labels\":{\"k\":\"v\"}},{\"type\":\"nic\"}],\"texts\":[\"\",\"a\\nb\"],\"names\":[\"z\",\"y\"],\"must\":\"blue\","
	"\"colour\":\"red\","
	"\"maybe\":false,\"flag\":true,\"small\":-5,\"number\":10,\"word\":\"w\",\"text\":\"\\u0001\",\"name\":\"\xc3\xa9\"}";

static void everything_is_decoded(void **state)
{
	struct arena *arena = arena_new();
	const struct all *a = decoded(arena, everything);
	const struct item *items = a->items.items;

	(void)state;
	assert_string_equal(a->name, "\xc3\xa9");
	assert_string_equal(a->text, "\x01");
	assert_string_equal(a->word, "w");
	assert_int_equal(a->number, 10);
	assert_int_equal(a->small, -5);
	assert_true(a->flag);
	assert_true(a->maybe.given && !a->maybe.value);
	assert_int_equal(a->colour, COLOUR_RED);
	assert_int_equal(a->must, COLOUR_BLUE);
	assert_int_equal(a->names.n, 2);
	assert_string_equal(a->names.items[0], "z");
	assert_string_equal(a->texts.items[1], "a\nb");
	assert_int_equal(a->items.n, 2);
	assert_int_equal(items[0].count, 64);
	assert_int_equal(items[0].resources.n, 3);
	assert_string_equal(items[0].resources.items[0].name, "core");
	assert_int_equal(items[0].resources.items[0].amount, 7);
	assert_int_equal(items[0].resources.items[0].percent, 0);
	assert_string_equal(items[0].resources.items[1].name, "memory");
	assert_int_equal(items[0].resources.items[1].percent, 100);
	assert_int_equal(items[0].resources.items[2].percent, 1);
	assert_int_equal(items[1].count, 1);
	assert_int_equal(items[1].colour, COLOUR_NONE);
	assert_int_equal(a->amounts.n, 2);
	assert_string_equal(a->amounts.items[0].name, "core");
	assert_int_equal(a->amounts.items[1].value, RPC_AMOUNT_MAX);
	assert_string_equal(a->labels.items[0].key, "a.b/c");
	assert_string_equal(a->labels.items[1].value, "");
	assert_string_equal(a->detail.text, "{\"a\":\"\",\"b\":[1.5,null]}");
	assert_int_equal(a->owner.priority, INT32_MAX);
	assert_int_equal(a->other.priority, INT32_MIN);
	assert_false(a->other.nice);
	assert_true(a->custom > 1.5 && a->custom < 2.5);
	arena_free(arena);
}

/* An empty collection that was sent can be told from one that was not; both are printed alike. */
static void empty_is_not_absent(void **state)
{
	static const char empty[] = "{" LEAST ",\"texts\":[],\"items\":[],\"amounts\":{},\"labels\":{}}";
	struct arena *arena = arena_new();
	const struct all *sent = decoded(arena, empty), *absent = decoded(arena, "{" LEAST "}");

	(void)state;
	assert_int_equal(sent->texts.n + sent->items.n + sent->amounts.n + sent->labels.n, 0);
	assert_true(sent->texts.items && sent->items.items && sent->amounts.items && sent->labels.items);
	assert_false(absent->texts.items || absent->items.items || absent->amounts.items || absent->labels.items);
	arena_free(arena);
}

static char *encoded(const struct rpc_shape *shape, const void *object)
{
	struct text text = { 0 };
	struct json_out o = json_out_start(&text);
	rpc_encode(shape, object, &o, NULL);
	return text_take(&text);
}

/* Encoding gives one text for whatever means the same, and it decodes to itself. */
static void assert_canonical(const char *sent, const char *canonical)
{
	struct arena *arena = arena_new();
	char *first = encoded(&all_shape, decoded(arena, sent));
	char *second = encoded(&all_shape, decoded(arena, first));

	assert_string_equal(first, canonical);
	assert_string_equal(second, canonical);
	free(first);
	free(second);
	arena_free(arena);
}

static void canonical_text(void **state)
{
	(void)state;
	assert_canonical("{" LEAST "}",
		"{\"word\":\"default\",\"small\":0,\"flag\":false,\"colour\":\"blue\",\"must\":\"red\",\"texts\":[],\"items\":[],"
		"\"amounts\":{},\"labels\":{},\"owner\":{\"uid\":\"u\",\"gang\":\"\",\"priority\":0,\"nice\":true},\"custom\":[]"
		"}");
	assert_canonical(everything,
		"{\"name\":\"\xc3\xa9\",\"text\":\"\\u0001\",\"word\":\"w\",\"number\":10,\"small\":-5,\"flag\":true,\"maybe\":"
		"false,\"colour\":\"red\","
		"\"must\":\"blue\",\"names\":[\"z\",\"y\"],\"texts\":[\"\",\"a\\nb\"],\"items\":[{\"type\":\"gpu\",\"count\":64,"
		"\"colour\":\"red\","
		"\"resources\":{\"core\":7,\"memory\":\"100%\",\"vf\":\"1%\"},\"models\":[\"b\",\"a\"],\"labels\":{\"k\":\"v\"}},"
		"{\"type\":\"nic\",\"count\":1,\"models\":[],\"labels\":{}}],\"amounts\":{\"core\":0,\"memory\":1125899906842624}"
		","
		"\"labels\":{\"a.b/c\":\"\\n\",\"z\":\"\"},\"detail\":{\"a\":\"\",\"b\":[1.5,null]},"
		"\"owner\":{\"uid\":\"u\",\"gang\":\"\",\"priority\":2147483647,\"nice\":true},"
		"\"other\":{\"uid\":\"o\",\"gang\":\"g\",\"priority\":-2147483648,\"nice\":false},\"custom\":[0,0]}");
}

struct refusal {
	const char *members; /* beside LEAST */
	const char *path;
};

static const struct refusal refusals[] = {
	{ "\"unknown\":1", "unknown" },
	{ "\"Name\":\"x\"", "Name" },
	{ "\"name\":null", "name" },
	{ "\"name\":1", "name" },
	{ "\"name\":\"\"", "name" },
	{ "\"name\":\"a\\tb\"", "name" },
	{ "\"name\":\"a\\u007f\"", "name" },
	{ "\"name\":\"\\u009f\"", "name" },
	{ "\"text\":\"12345678901\"", "text" },
	{ "\"text\":\"123456789\xc3\xa9\"", "text" },
	{ "\"text\":[]", "text" },
	{ "\"word\":\"\"", "word" },
	{ "\"number\":-1", "number" },
	{ "\"number\":11", "number" },
	{ "\"number\":1.0", "number" },
	{ "\"number\":\"1\"", "number" },
	{ "\"number\":true", "number" },
	{ "\"number\":null", "number" },
	{ "\"small\":2147483648", "small" },
	{ "\"small\":-2147483649", "small" },
	{ "\"small\":1e3", "small" },
	{ "\"flag\":0", "flag" },
	{ "\"flag\":\"true\"", "flag" },
	{ "\"flag\":null", "flag" },
	{ "\"maybe\":null", "maybe" },
	{ "\"maybe\":1", "maybe" },
	{ "\"colour\":\"Red\"", "colour" },
	{ "\"colour\":\"\"", "colour" },
	{ "\"colour\":1", "colour" },
	{ "\"names\":\"a\"", "names" },
	{ "\"names\":{}", "names" },
	{ "\"names\":[]", "names" },
	{ "\"names\":[\"a\",\"b\",\"c\",\"d\"]", "names" },
	{ "\"names\":[\"a\",1]", "names[1]" },
	{ "\"names\":[\"a\",\"b\",\"\"]", "names[2]" },
	{ "\"names\":[null]", "names[0]" },
	{ "\"texts\":[\"1234\",\"12345\"]", "texts[1]" },
	{ "\"items\":{}", "items" },
	{ "\"items\":[1]", "items[0]" },
	{ "\"items\":[null]", "items[0]" },
	{ "\"items\":[{\"type\":\"a\"},{\"type\":\"a\"},{\"type\":\"a\"}]", "items" },
	{ "\"items\":[{\"type\":\"a\"},{}]", "items[1].type" },
	{ "\"items\":[{\"type\":\"a\",\"x\":1}]", "items[0].x" },
	{ "\"items\":[{\"type\":\"a\",\"count\":0}]", "items[0].count" },
	{ "\"items\":[{\"type\":\"a\",\"count\":65}]", "items[0].count" },
	{ "\"items\":[{\"type\":\"a\",\"colour\":\"green\"}]", "items[0].colour" },
	{ "\"items\":[{\"type\":\"a\",\"resources\":[]}]", "items[0].resources" },
	{ "\"items\":[{\"type\":\"a\",\"resources\":{}}]", "items[0].resources" },
	{ "\"items\":[{\"type\":\"a\",\"resources\":{\"a\":1,\"b\":1,\"c\":1,\"d\":1}}]", "items[0].resources" },
	{ "\"items\":[{\"type\":\"a\",\"resources\":{\"core\":0}}]", "items[0].resources.core" },
	{ "\"items\":[{\"type\":\"a\",\"resources\":{\"core\":-1}}]", "items[0].resources.core" },
	{ "\"items\":[{\"type\":\"a\",\"resources\":{\"core\":1125899906842625}}]", "items[0].resources.core" },
	{ "\"items\":[{\"type\":\"a\",\"resources\":{\"core\":1.5}}]", "items[0].resources.core" },
	{ "\"items\":[{\"type\":\"a\",\"resources\":{\"core\":\"0%\"}}]", "items[0].resources.core" },
	{ "\"items\":[{\"type\":\"a\",\"resources\":{\"core\":\"101%\"}}]", "items[0].resources.core" },
	{ "\"items\":[{\"type\":\"a\",\"resources\":{\"core\":\"05%\"}}]", "items[0].resources.core" },
	{ "\"items\":[{\"type\":\"a\",\"resources\":{\"core\":\"5 %\"}}]", "items[0].resources.core" },
	{ "\"items\":[{\"type\":\"a\",\"resources\":{\"core\":\"5\"}}]", "items[0].resources.core" },
	{ "\"items\":[{\"type\":\"a\",\"resources\":{\"core\":\"%\"}}]", "items[0].resources.core" },
	{ "\"items\":[{\"type\":\"a\",\"resources\":{\"core\":\"-5%\"}}]", "items[0].resources.core" },
	{ "\"items\":[{\"type\":\"a\",\"resources\":{\"core\":\"99999999999999999999%\"}}]", "items[0].resources.core" },
	{ "\"items\":[{\"type\":\"a\",\"resources\":{\"core\":null}}]", "items[0].resources.core" },
	{ "\"items\":[{\"type\":\"a\",\"resources\":{\"\":1}}]", "items[0].resources." },
	{ "\"items\":[{\"type\":\"a\",\"labels\":{\"k\":1}}]", "items[0].labels.k" },
	{ "\"items\":[{\"type\":\"cursed\"}]", "items[0].type" },
	{ "\"items\":[{\"type\":\"a\"},{\"type\":\"a\",\"count\":13}]", "items[1]" },
	{ "\"amounts\":[]", "amounts" },
	{ "\"amounts\":{\"a\":1,\"b\":1,\"c\":1,\"d\":1}", "amounts" },
	{ "\"amounts\":{\"a\":-1}", "amounts.a" },
	{ "\"amounts\":{\"a\":1125899906842625}", "amounts.a" },
	{ "\"amounts\":{\"a\":\"5%\"}", "amounts.a" },
	{ "\"labels\":{\"a\":\"123456\"}", "labels.a" },
	{ "\"labels\":{\"a\\nb\":\"x\"}", "labels.a\nb" },
	{ "\"detail\":[]", "detail" },
	{ "\"detail\":\"{}\"", "detail" },
	{ "\"detail\":null", "detail" },
	{ "\"detail\":{\"a\":\"12345678901234567\"}", "detail" },
	{ "\"other\":null", "other" },
	{ "\"other\":{}", "other.uid" },
	{ "\"other\":[]", "other" },
	{ "\"other\":{\"uid\":\"u\",\"priority\":\"high\"}", "other.priority" },
	{ "\"other\":{\"uid\":\"u\",\"gang\":null}", "other.gang" },
	{ "\"custom\":null", "custom" },
	{ "\"custom\":[1,\"2\"]", "custom[0]" },
};

static void assert_refused(const struct rpc_shape *shape, const char *text, const char *path)
{
	struct arena *arena = arena_new();
	void *untouched = arena, *ret = arena;
	struct error *e = rpc_decode_text(shape, text, arena, &ret);

	assert_non_null(e);
	assert_int_equal(e->code, ERR_INVALID_PARAMS);
	assert_int_equal(e->n_details, 1);
	assert_string_equal(e->details[0].key, "path");
	assert_string_equal(e->details[0].string, path);
	assert_ptr_equal(ret, untouched);
	error_free(e);
	arena_free(arena);
}

static void refused_with_their_path(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
		char text[1024];
		snprintf(text, sizeof text, "{" LEAST ",%s}", refusals[i].members);
		assert_refused(&all_shape, text, refusals[i].path);
	}
	assert_refused(&all_shape, "{}", "must");
	assert_refused(&all_shape, "{\"must\":\"red\"}", "owner");
	assert_refused(&all_shape, "{\"must\":null,\"owner\":{\"uid\":\"u\"}}", "must");
	assert_refused(&all_shape, "{\"must\":\"red\",\"owner\":{}}", "owner.uid");
	assert_refused(&all_shape, "[]", "");
	assert_refused(&all_shape, "3", "");
}

static void limits_of_names(void **state)
{
	char text[400], name[300];
	struct arena *arena = arena_new();

	(void)state;
	memset(name, 'n', sizeof name);
	name[253] = '\0';
	snprintf(text, sizeof text, "{" LEAST ",\"name\":\"%s\"}", name);
	assert_int_equal(strlen(decoded(arena, text)->name), 253);
	name[253] = 'n';
	name[254] = '\0';
	snprintf(text, sizeof text, "{" LEAST ",\"name\":\"%s\"}", name);
	assert_refused(&all_shape, text, "name");
	snprintf(text, sizeof text, "{" LEAST ",\"amounts\":{\"%s\":1}}", name);
	char path[320];
	snprintf(path, sizeof path, "amounts.%s", name);
	assert_refused(&all_shape, text, path);
	arena_free(arena);
}

static void sentences_name_the_member(void **state)
{
	struct arena *arena = arena_new();
	void *ret;
	struct error *e = rpc_decode_text(&all_shape, "{" LEAST ",\"number\":99}", arena, &ret);

	(void)state;
	assert_string_equal(e->message, "number must be an integer from 0 to 10");
	error_free(e);
	e = rpc_decode_text(&all_shape, "{" LEAST ",\"colour\":\"x\"}", arena, &ret);
	assert_string_equal(e->message, "colour must be \"red\" or \"blue\"");
	error_free(e);
	arena_free(arena);
}

static void lists_of_objects(void **state)
{
	static const char text[] =
		"[{\"type\":\"gpu\",\"count\":2,\"models\":[],\"labels\":{}},{\"type\":\"nic\",\"count\":1,"
		"\"models\":[],\"labels\":{}}]";
	struct arena *arena = arena_new();
	struct rpc_list list = { 0 };
	struct text printed = { 0 };

	(void)state;
	assert_null(rpc_decode_list_text(&item_shape, text, arena, &list));
	assert_int_equal(list.n, 2);
	assert_string_equal(((const struct item *)list.items)[1].type, "nic");
	struct json_out o = json_out_start(&printed);
	rpc_encode_list(&item_shape, &list, &o, NULL);
	assert_string_equal(printed.bytes, text);

	struct error *e = rpc_decode_list_text(&item_shape, "[{\"type\":\"a\"},{\"type\":1}]", arena, &list);
	assert_int_equal(e->code, ERR_INVALID_PARAMS);
	assert_string_equal(e->details[0].string, "[1].type");
	error_free(e);
	e = rpc_decode_list_text(&item_shape, "[{\"type\":\"a\"}", arena, &list);
	assert_int_equal(e->code, ERR_PARSE);
	error_free(e);
	e = rpc_decode_list_text(&item_shape, "{}", arena, &list);
	assert_int_equal(e->code, ERR_INVALID_PARAMS);
	error_free(e);
	assert_int_equal(list.n, 2);
	text_free(&printed);
	arena_free(arena);
}

static void paths_below(void **state)
{
	static const char *const cases[][3] = {
		{ "request", "[0].count", "request[0].count" },
		{ "pod", "uid", "pod.uid" },
		{ "pod", "", "pod" },
		{ "", "uid", "uid" },
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct error *e = rpc_path_below(cases[i][0], error_invalid(cases[i][1], "No."));
		assert_string_equal(e->details[0].string, cases[i][2]);
		error_free(e);
	}
	struct error *e = rpc_path_below("x", error_new(ERR_CONFLICT, "No."));
	assert_int_equal(e->n_details, 0);
	error_free(e);
}

struct bad {
	const char *name;
	int64_t number;
	enum colour colour;
	struct owner owner;
	struct item item;
	double real;
};

static void assert_mistake(struct rpc_field field, const char *part)
{
	const struct rpc_shape shape = { .size = sizeof(struct bad), .fields = &field, .n_fields = 1, .name = "Bad" };
	char *mistake = rpc_shape_check(&shape);
	assert_non_null(mistake);
	if (!strstr(mistake, part))
		print_error("%s\n", mistake);
	assert_non_null(strstr(mistake, part));
	free(mistake);
}

static void mistakes_in_tables_are_found(void **state)
{
	static const struct rpc_field twice[] = { REQUIRED(struct bad, name, "x"), OPTIONAL(struct bad, name, "y") };
	static const struct rpc_shape twice_shape = { SHAPE_OF(struct bad, twice) };
	static const struct rpc_custom no_functions = { NULL, NULL, NULL };

	(void)state;
	assert_null(rpc_shape_check(&all_shape));
	char *mistake = rpc_shape_check(&twice_shape);
	assert_non_null(strstr(mistake, "two fields"));
	free(mistake);
	assert_mistake((struct rpc_field)REQUIRED(struct bad, name, ""), "no sentence");
	assert_mistake((struct rpc_field)REQUIRED(struct bad, name, "x", DEFAULT_TEXT("y")), "default");
	assert_mistake((struct rpc_field)REQUIRED(struct bad, name, "x", ITEMS(0, 2)), "no collection");
	assert_mistake((struct rpc_field)REQUIRED(struct bad, number, "x", RANGE(3, 2)), "empty range");
	assert_mistake((struct rpc_field)REQUIRED(struct bad, number, "x", RANGE(0, INT64_MAX)), "beyond the wire");
	assert_mistake((struct rpc_field)REQUIRED(struct bad, number, "x", NAMES(colours)), "no enum");
	assert_mistake((struct rpc_field)REQUIRED(struct bad, colour, "x"), "without names");
	assert_mistake((struct rpc_field)REQUIRED(struct bad, owner, "x"), "SHAPE");
	assert_mistake((struct rpc_field)REQUIRED(struct bad, real, "x"), "SHAPE");
	assert_mistake((struct rpc_field)REQUIRED(struct bad, real, "x", CUSTOM(&no_functions)), "decode");
	assert_mistake((struct rpc_field)REQUIRED(struct bad, item, "x", SHAPE(&owner_shape)), "size");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(least_gives_defaults),
		cmocka_unit_test(everything_is_decoded),
		cmocka_unit_test(empty_is_not_absent),
		cmocka_unit_test(canonical_text),
		cmocka_unit_test(refused_with_their_path),
		cmocka_unit_test(limits_of_names),
		cmocka_unit_test(sentences_name_the_member),
		cmocka_unit_test(lists_of_objects),
		cmocka_unit_test(paths_below),
		cmocka_unit_test(mistakes_in_tables_are_found),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

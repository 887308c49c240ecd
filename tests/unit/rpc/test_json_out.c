/* The writer: commas, escapes, numbers, nesting. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "rpc/json_out.h"

static void commas_and_nesting(void **state)
{
	static const char *const names[] = { "x", "y" };
	struct text text = { 0 };
	struct json_out o = json_out_start(&text);

	(void)state;
	out_object(&o, NULL);
	out_array(&o, "empty");
	out_end(&o);
	out_array(&o, "list");
	out_int(&o, NULL, 1);
	out_object(&o, NULL);
	out_end(&o);
	out_object(&o, NULL);
	out_bool(&o, "t", true);
	out_bool(&o, "f", false);
	out_null(&o, "n");
	out_end(&o);
	out_strings(&o, NULL, names, 2);
	out_end(&o);
	out_strings(&o, "none", NULL, 0);
	out_raw(&o, "raw", "{\"a\":[1]}");
	out_string_if(&o, "absent", NULL);
	out_string_if(&o, "absent", "");
	out_string_if(&o, "present", "p");
	out_int_if(&o, "absent", 0);
	out_int_if(&o, "seven", 7);
	out_end(&o);
	assert_string_equal(text.bytes,
		"{\"empty\":[],\"list\":[1,{},{\"t\":true,\"f\":false,\"n\":null},[\"x\",\"y\"]],\"none\":[],\"raw\":{\"a\":[1]},"
		"\"present\":\"p\",\"seven\":7}");
	assert_int_equal(text.length, strlen(text.bytes));
	text_free(&text);
}

static void assert_string_printed(const char *value, size_t length, const char *expected)
{
	struct text text = { 0 };
	struct json_out o = json_out_start(&text);
	out_bytes(&o, NULL, value, length);
	assert_string_equal(text.bytes, expected);
	text_free(&text);
}

static void escapes(void **state)
{
	(void)state;
	assert_string_printed("", 0, "\"\"");
	assert_string_printed("plain", 5, "\"plain\"");
	assert_string_printed("plain", 3, "\"pla\"");
	assert_string_printed("a\"b\\c/d", 7, "\"a\\\"b\\\\c/d\"");
	assert_string_printed("\b\t\n\f\r\v", 6, "\"\\b\\t\\n\\f\\r\\u000b\"");
	assert_string_printed("\0\x01\x1f\x7f", 4, "\"\\u0000\\u0001\\u001f\x7f\"");
	assert_string_printed("\xc3\xa9\xf0\x9f\x98\x80", 6, "\"\xc3\xa9\xf0\x9f\x98\x80\"");
}

/* Every character comes back from a parser as it was, as value and as key. */
static void parser_agrees(void **state)
{
	(void)state;
	for (int c = 1; c < 0x80; c++) {
		char s[4] = { 'a', (char)c, 'z', 0 };
		struct text text = { 0 };
		struct json_out o = json_out_start(&text);
		out_object(&o, NULL);
		out_string(&o, s, s);
		out_end(&o);
		json_t *json = json_loadb(text.bytes, text.length, 0, NULL);
		assert_non_null(json);
		assert_string_equal(json_string_value(json_object_get(json, s)), s);
		json_decref(json);
		text_free(&text);
	}
}

static void integers(void **state)
{
	static const int64_t values[] = { 0, 1, -1, 9, 10, -10, 1234567890, 9007199254740992, -9007199254740992, INT64_MAX,
		INT64_MIN };

	(void)state;
	for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
		struct text text = { 0 };
		struct json_out o = json_out_start(&text);
		char expected[32];
		snprintf(expected, sizeof expected, "%lld", (long long)values[i]);
		out_int(&o, NULL, values[i]);
		assert_string_equal(text.bytes, expected);
		text_free(&text);
	}
}

static void appends_to_what_is_there(void **state)
{
	struct text text = { 0 };
	(void)state;
	text_puts(&text, "before ");
	struct json_out o = json_out_start(&text);
	out_string(&o, NULL, "x");
	o = json_out_start(&text);
	out_int(&o, NULL, 2);
	assert_string_equal(text.bytes, "before \"x\"2");
	text_free(&text);
}

static void deep(void **state)
{
	struct text text = { 0 };
	struct json_out o = json_out_start(&text);

	(void)state;
	for (int i = 0; i < 60; i++)
		out_array(&o, NULL);
	for (int i = 0; i < 60; i++) {
		out_end(&o);
		if (i < 59)
			out_int(&o, NULL, i);
	}
	json_t *json = json_loadb(text.bytes, text.length, 0, NULL);
	assert_non_null(json);
	json_decref(json);
	text_free(&text);
}

/* RFC 4648, section 10, and every byte. */
static void base64(void **state)
{
	static const char *const pairs[][2] = { { "", "\"\"" }, { "f", "\"Zg==\"" }, { "fo", "\"Zm8=\"" }, { "foo", "\"Zm9v\"" },
		{ "foob", "\"Zm9vYg==\"" }, { "fooba", "\"Zm9vYmE=\"" }, { "foobar", "\"Zm9vYmFy\"" } };
	(void)state;
	for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
		struct text text = { 0 };
		struct json_out o = json_out_start(&text);
		out_base64(&o, NULL, pairs[i][0], strlen(pairs[i][0]));
		assert_string_equal(text_string(&text), pairs[i][1]);
		text_free(&text);
	}
	unsigned char all[256];
	struct text text = { 0 };
	struct json_out o = json_out_start(&text);
	for (int i = 0; i < 256; i++)
		all[i] = (unsigned char)(255 - i);
	out_base64(&o, NULL, all, sizeof all);
	assert_int_equal(text.length, 2 + 344);
	assert_memory_equal(text.bytes, "\"//79/Pv6+fj39vX08/Lx8O/u7ezr6uno", 33);
	assert_memory_equal(text.bytes + text.length - 9, "AwIBAA==\"", 9);
	text_free(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(commas_and_nesting),
		cmocka_unit_test(escapes),
		cmocka_unit_test(parser_agrees),
		cmocka_unit_test(integers),
		cmocka_unit_test(appends_to_what_is_there),
		cmocka_unit_test(deep),
		cmocka_unit_test(base64),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

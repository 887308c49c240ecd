/* Tables, terminal text, durations, and close names. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/human.h"
#include "ctl/nearest.h"
#include "ctl/table.h"
#include "fake.h"

static void width_counts_columns(void **state)
{
	assert_int_equal(text_width("abc"), 3);
	assert_int_equal(text_width(""), 0);
	assert_int_equal(text_width("n\xc3\xb6"
				    "de"),
		4);                                                  /* ö */
	assert_int_equal(text_width("e\xcc\x81"), 1);                /* e and a combining accent */
	assert_int_equal(text_width("\xe8\x8a\x82\xe7\x82\xb9"), 4); /* two Chinese characters */
	assert_int_equal(text_width("a\xff"
				    "b"),
		3); /* no UTF-8 */
}

static void clean_text_reaches_the_terminal(void **state)
{
	static const char *const cases[][2] = {
		{ "plain", "plain" },
		{ "n\xc3\xb6"
		  "de",
			"n\xc3\xb6"
			"de" },
		{ "\033[31mred\033[0m", "?[31mred?[0m" },
		{ "two\nlines\t", "two?lines?" },
		{ "c1:\xc2\x9b!", "c1:?!" },
		{ "cut \xe2\x82", "cut ??" },
		{ "\xe2\x80\xae"
		  "evil",
			"?evil" },
		{ "\xed\xa0\x80", "???" },
	};
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *text = strdup(cases[i][0]);

		assert_string_equal(text_clean(text), cases[i][1]);
		free(text);
	}
}

static char *printed(const struct table *table, bool colour)
{
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	table_print(table, out, colour);
	fclose(out);
	return text;
}

static void table_aligns(void **state)
{
	struct table *table = table_new();
	char *text;

	table_column(table, "NAME", TABLE_LEFT);
	table_column(table, "COUNT", TABLE_RIGHT);
	table_column(table, "NEVER", TABLE_OPTIONAL);
	table_column(table, "NOTE", TABLE_OPTIONAL);
	table_row(table);
	table_cell(table,
		"n\xc3\xb6"
		"de-1");
	table_cell(table, "%d", 7);
	table_cell(table, "%s", "");
	table_cell(table, "x");
	table_row(table);
	table_cell(table, "a");
	table_cell(table, "%d", 12345678);
	text = printed(table, false);
	assert_string_equal(text,
		"NAME        COUNT   NOTE\n"
		"n\xc3\xb6"
		"de-1          7   x\n"
		"a        12345678   -\n");
	free(text);
	assert_int_equal(table_rows(table), 2);
	table_free(table);
	table_free(NULL);
}

static void colours_only_when_asked(void **state)
{
	struct table *table = table_new();
	char *text;

	table_column(table, "A", TABLE_LEFT);
	table_row(table);
	table_cell(table, "bad");
	table_style(table, STYLE_BAD);
	text = printed(table, true);
	assert_string_equal(text, "\033[1mA\033[0m\n\033[31mbad\033[0m\n");
	free(text);
	table_free(table);
}

static void durations_read_like_kubectl(void **state)
{
	static const struct {
		int64_t ms;
		const char *text;
	} cases[] = {
		{ -5, "0s" },
		{ 0, "0s" },
		{ 999, "0s" },
		{ 119000, "119s" },
		{ 120000, "2m" },
		{ 190000, "3m10s" },
		{ 900000, "15m" },
		{ 7200000, "120m" },
		{ 4 * 3600000LL, "4h" },
		{ 4 * 3600000LL + 60000, "4h1m" },
		{ 47 * 3600000LL, "47h" },
		{ 50 * 3600000LL, "2d2h" },
		{ 84 * 86400000LL, "84d" },
	};
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_string_equal(human_duration(cases[i].ms).text, cases[i].text);
	}
}

static void times_and_shares(void **state)
{
	setenv("TZ", "UTC", 1);
	assert_string_equal(human_time(1772373909123).text, "2026-03-01 14:05:09.123");
	assert_string_equal(human_time(0).text, "");
	assert_string_equal(human_usage_percent(1460, 2000).text, "1460/2000 (73%)");
	assert_string_equal(human_usage_percent(0, 0).text, "0/0");
}

static void lists_are_joined(void **state)
{
	json_t *names = fake_json("['a','b','c']"), *members = fake_json("{'core':50,'mode':'x'}");
	char *text = join_strings(names, ", ", 2);

	assert_string_equal(text, "a, b, +1");
	free(text);
	text = join_strings(NULL, ", ", 2);
	assert_string_equal(text, "");
	free(text);
	text = join_members(members);
	assert_string_equal(text, "core=50,mode=x");
	free(text);
	json_decref(names);
	json_decref(members);
}

static void question_is(const char *typed, const char *expected)
{
	static const char *const names[] = { "pods", "nodes", "pod.reserve", "pod.release", "priority", "uid", "gang" };
	struct nearest near = nearest_to(typed);
	char *question;
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		nearest_offer(&near, names[i]);
	}
	question = nearest_question(&near);
	assert_string_equal(question, expected);
	free(question);
}

static void near_names_are_proposed(void **state)
{
	question_is("pod", "; did you mean pods, pod.reserve or pod.release?");
	question_is("nods", "; did you mean pods or nodes?");
	question_is("prioritty", "; did you mean priority?");
	question_is("udi", "; did you mean uid?");
	question_is("zzz", "");
	question_is("", "");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(width_counts_columns),
		cmocka_unit_test(clean_text_reaches_the_terminal),
		cmocka_unit_test(table_aligns),
		cmocka_unit_test(colours_only_when_asked),
		cmocka_unit_test(durations_read_like_kubectl),
		cmocka_unit_test(times_and_shares),
		cmocka_unit_test(lists_are_joined),
		cmocka_unit_test(near_names_are_proposed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* The options of the command line, and what is said of wrong ones. */
#include <stdlib.h>
#include <string.h>

#include "ctl/options.h"
#include "fake.h"

enum { WORDS = 16 };

/* Parses the words after the program's name; *error is new memory or NULL. */
static int parse(struct options *o, const char *const *words, char **error)
{
	char *argv[WORDS + 1] = { strdup("allotctl") };
	int argc = 1, first, i;

	for (; words[argc - 1]; argc++) {
		argv[argc] = (char *)words[argc - 1];
	}
	*error = NULL;
	first = options_parse(o, argc, argv, error);
	for (i = first; first > 0 && i < argc; i++) {
		assert_non_null(argv[i]);
	}
	free(argv[0]);
	return first < 0 ? -1 : argc - first;
}

#define W(...) ((const char *const[]){ __VA_ARGS__, NULL })

static void refused(const char *const *words, const char *sentence)
{
	struct options o;
	char *error;

	assert_int_equal(parse(&o, words, &error), -1);
	assert_string_equal(error, sentence);
	free(error);
}

static void values_arrive(void **state)
{
	struct options o;
	char *error;

	assert_int_equal(parse(&o, W("pods", "-s", "s.sock", "--timeout", "0.5", "--node", "n1", "-o", "wide"), &error), 1);
	assert_string_equal(o.socket, "s.sock");
	assert_null(o.server);
	assert_int_equal(o.timeout, 500);
	assert_string_equal(o.node, "n1");
	assert_int_equal(o.format, FORMAT_WIDE);
	assert_int_equal(parse(&o, W("--server", "[::1]:7070", "--policy", "spread", "--timeout", "0"), &error), 0);
	assert_string_equal(o.server, "[::1]:7070");
	assert_string_equal(o.policy, "spread");
	assert_int_equal(o.timeout, -1);
}

static void mistakes_say_what_is_expected(void **state)
{
	refused(W("--timeout", "x"), "--timeout is a number of seconds, at most 86400 (0 = for ever), not \"x\"");
	refused(W("--policy", "foo"), "--policy is binpack or spread, not \"foo\"");
	refused(W("--server", "/tmp/s.sock"), "--server is HOST:PORT or [ADDRESS]:PORT, not \"/tmp/s.sock\"");
	refused(W("--server", "localhost"), "--server is HOST:PORT or [ADDRESS]:PORT, not \"localhost\"");
	refused(W("--server", "unix:7070"), "--server is HOST:PORT or [ADDRESS]:PORT, not \"unix:7070\"");
	refused(W("--connections", "0"), "--connections is a whole number from 1 to 256, not \"0\"");
	refused(W("--node", ""), "--node is a text that is not empty, not \"\"");
	refused(W("--last"), "--last needs a value (N)");
	refused(W("--nodee", "n1"), "there is no option --nodee; did you mean --node?");
	refused(W("-s", "a", "--server", "b:1"), "--socket and --server exclude each other");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_arrive),
		cmocka_unit_test(mistakes_say_what_is_expected),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

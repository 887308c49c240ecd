/* Where the socket is when nobody says. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "fake.h"
#include "paths.h"

static void path_is(const char *expected)
{
	char *path = allot_default_socket();

	assert_string_equal(path, expected);
	free(path);
}

static void the_first_rule_that_applies(void **state)
{
	setenv("ALLOTD_SOCKET", "/x/s.sock", 1);
	setenv("XDG_RUNTIME_DIR", "/run/user/5", 1);
	setenv("HOME", "/home/ada", 1);
	path_is("/x/s.sock");
	setenv("ALLOTD_SOCKET", "s.sock", 1);
	path_is("./s.sock");
	setenv("ALLOTD_SOCKET", "", 1);
	path_is("/run/user/5/allotd/allotd.sock");
	setenv("XDG_RUNTIME_DIR", "", 1);
	path_is(geteuid() == 0 ? "/run/allotd/allotd.sock" : "/home/ada/.local/state/allotd/allotd.sock");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_rule_that_applies),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* How allotctl finds its server: which option is a path and which an address, and patience with a server that is just being started. */
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ctl/ctl.h"
#include "fake.h"

struct world {
	struct fake *fake;
	struct ctl ctl;
	char *err;
	size_t err_size;
	char hidden[PATH_MAX]; /* where the socket is meanwhile */
};

static char *answer(void *context, const json_t *call)
{
	return fake_result(call, json_object());
}

static void begin(struct world *w)
{
	*w = (struct world){ .fake = fake_listen(answer, NULL) };
	w->ctl.err = open_memstream(&w->err, &w->err_size);
	w->ctl.options.timeout = 20000;
	snprintf(w->hidden, sizeof(w->hidden), "%s.hidden", fake_path(w->fake));
}

static void end(struct world *w)
{
	fclose(w->ctl.err);
	free(w->err);
	allot_close(w->ctl.conn);
	fake_stop(w->fake);
}

static void a_socket_is_a_path_without_a_slash_too(void **state)
{
	struct world w;
	char before[PATH_MAX], *directory;

	begin(&w);
	assert_non_null(getcwd(before, sizeof(before)));
	directory = strndup(fake_path(w.fake), (size_t)(strrchr(fake_path(w.fake), '/') - fake_path(w.fake)));
	assert_int_equal(chdir(directory), 0);
	w.ctl.options.socket = "s.sock";
	assert_int_equal(ctl_connected(&w.ctl), CTL_OK);
	allot_close(w.ctl.conn);
	w.ctl.conn = NULL;
	w.ctl.options.socket = NULL;
	setenv("ALLOTD_SOCKET", "s.sock", 1);
	assert_int_equal(ctl_connected(&w.ctl), CTL_OK);
	unsetenv("ALLOTD_SOCKET");
	assert_int_equal(chdir(before), 0);
	free(directory);
	end(&w);
}

static void *appear(void *context)
{
	const struct world *w = context;

	usleep(150000);
	assert_int_equal(rename(w->hidden, fake_path(w->fake)), 0);
	return NULL;
}

static void waits_for_a_socket_that_comes_late(void **state)
{
	struct world w;
	pthread_t thread;

	begin(&w);
	w.ctl.options.socket = fake_path(w.fake);
	assert_int_equal(rename(fake_path(w.fake), w.hidden), 0);
	pthread_create(&thread, NULL, appear, &w);
	assert_int_equal(ctl_connected(&w.ctl), CTL_OK);
	pthread_join(thread, NULL);
	end(&w);
}

static void patience_ends_with_the_timeout(void **state)
{
	struct world w;

	begin(&w);
	w.ctl.options.socket = w.hidden;
	w.ctl.options.timeout = 60;
	assert_int_equal(ctl_connected(&w.ctl), CTL_UNREACHABLE);
	fflush(w.ctl.err);
	assert_non_null(strstr(w.err, "No such file or directory; is allotd running there?\n"));
	end(&w);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_socket_is_a_path_without_a_slash_too),
		cmocka_unit_test(waits_for_a_socket_that_comes_late),
		cmocka_unit_test(patience_ends_with_the_timeout),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* The disk fails under the running server: a sync or a write of the log returns EIO while many clients write. From then on nobody is told that
 * something was done, the calls of the failed commit are answered `outcome_unknown`, the server ends by itself with EX_IOERR, and after a
 * start on the mended disk everything that was answered is there, and everything else wholly there or wholly absent. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <sysexits.h>

#include "bad_disk.h"
#include "client.h"
#include "support/call.h"
#include "support/check.h"
#include "support/cluster.h"
#include "support/directory.h"
#include "support/server.h"

enum { CLIENTS = 12, WINDOW = 4 };

struct failure {
	struct bad_disk *disk;
	struct server *server;
	struct client *clients[CLIENTS];
	size_t answered, unknown, unavailable; /* over all failures */
	int64_t revision;
};

static int setup(void **state)
{
	struct failure *f = calloc(1, sizeof *f);
	if (!f)
		abort();
	*state = f;
	f->disk = bad_disk_new("/data/");
	f->server = server_start(NULL);
	for (int i = 0; i < CLIENTS; i++) {
		char node[16];
		(void)snprintf(node, sizeof node, "c%d", i);
		register_gpus(f->server->wire, node, CLIENT_DEVICES);
		f->clients[i] = client_new(i, (unsigned)i + 1);
		f->clients[i]->may_fail = true;
	}
	return 0;
}

static int teardown(void **state)
{
	struct failure *f = *state;
	for (int i = 0; i < CLIENTS; i++)
		client_free(f->clients[i]);
	bad_disk_mend(f->disk);
	server_stop(f->server);
	bad_disk_free(f->disk);
	free(f);
	return 0;
}

/* Everybody works until the server has closed all connections. */
static void work_until_the_end(struct failure *f)
{
	int64_t end = check_now() + check_patience();
	bool open[CLIENTS];
	memset(open, true, sizeof open);
	for (size_t n = CLIENTS; n > 0;) {
		if (check_now() > end)
			check_failed("the server goes on");
		for (size_t i = 0; i < CLIENTS; i++) {
			if (!open[i])
				continue;
			(void)client_send(f->clients[i], WINDOW);
			open[i] = client_receive(f->clients[i]);
			n -= !open[i];
		}
		check_sleep(1);
	}
}

static void expect_clean_failure(struct failure *f)
{
	int status = server_end(f->server, 0); /* ends by itself */
	char *log = file_read(f->server->log);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != EX_IOERR)
		check_failed("the server %s:\n%.2000s", status_words(status), log);
	if (!strstr(log, "the disk failed"))
		check_failed("the log does not say why:\n%.2000s", log);
	free(log);
}

static void verify(struct failure *f)
{
	struct wire *w = f->server->wire;
	int64_t revision = revision_of(w);
	if (revision < f->revision)
		check_failed("the revision went back from %lld to %lld", (long long)f->revision, (long long)revision);
	for (int i = 0; i < CLIENTS; i++) {
		struct client *c = f->clients[i];
		f->answered += c->answered;
		f->unknown += c->unknown;
		f->unavailable += c->unavailable;
		if (c->max_revision > revision)
			check_failed("revision %lld was answered, the server is at %lld", (long long)c->max_revision,
				(long long)revision);
		client_verify(c, w);
	}
	expect(w, "server.check", NULL, json_of("{'ok': true}"));
	f->revision = revision;
}

static void fail_under_load(struct failure *f, enum bad_operation operation, int error, long nth)
{
	size_t unknown = f->unknown;
	for (int i = 0; i < CLIENTS; i++)
		client_connect(f->clients[i], f->server->socket);
	bad_disk_fail(f->disk, operation, error, nth);
	work_until_the_end(f);
	expect_clean_failure(f);
	assert_true(f->disk->struck > 0);
	bad_disk_mend(f->disk);
	server_continue(f->server);
	verify(f);
	if (f->unknown == unknown)
		check_failed("nobody was told that the outcome is unknown");
}

static void a_sync_fails(void **state)
{
	static const long nth[] = { 1, 2, 5, 12, 40 };
	struct failure *f = *state;
	for (size_t i = 0; i < sizeof nth / sizeof *nth; i++) {
		fail_under_load(f, BAD_SYNC, EIO, nth[i]);
		fail_under_load(f, BAD_SYNC, ENOSPC, nth[i] + 1);
	}
	print_message("# %zu answered, %zu unknown, %zu not tried\n", f->answered, f->unknown, f->unavailable);
	assert_true(f->answered > 0);
}

static void a_write_fails(void **state)
{
	static const long nth[] = { 1, 2, 3, 17, 100 };
	struct failure *f = *state;
	for (size_t i = 0; i < sizeof nth / sizeof *nth; i++)
		fail_under_load(f, BAD_WRITE, EIO, nth[i]);
	print_message("# %zu answered, %zu unknown, %zu not tried\n", f->answered, f->unknown, f->unavailable);
}

/* Waits until the server has ended or answers; whether it has ended. */
static bool start_ends(struct server *s, int *status)
{
	int64_t end = check_now() + check_patience();
	while (check_now() < end) {
		if (waitpid(s->pid, status, WNOHANG) == s->pid) {
			s->pid = 0;
			return true;
		}
		wire_close(s->wire);
		if ((s->wire = wire_try_open(s->socket)))
			return false;
		check_sleep(1);
	}
	check_failed("the server neither starts nor ends");
}

/* The start itself fails, says so by its status, and nothing is lost. */
static void the_start_fails(void **state)
{
	struct failure *f = *state;
	long nth = 1;
	for (;; nth++) {
		int status = 0;
		char node[32];
		(void)snprintf(node, sizeof node, "s%ld", nth);
		register_gpus(f->server->wire, node, 1); /* so that there is a log to be checkpointed */
		f->revision = revision_of(f->server->wire);
		(void)server_end(f->server, SIGKILL);
		bad_disk_fail(f->disk, BAD_SYNC, EIO, nth);
		server_launch(f->server);
		if (!start_ends(f->server, &status))
			break; /* a start has not that many syncs */
		if (!WIFEXITED(status) || WEXITSTATUS(status) != EX_IOERR)
			check_failed("sync %ld of the start: the server %s", nth, status_words(status));
		bad_disk_mend(f->disk);
		server_continue(f->server);
		verify(f);
	}
	print_message("# a start has %ld syncs\n", nth - 1);
	assert_true(nth > 2);
	bad_disk_mend(f->disk);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_sync_fails, setup, teardown),
		cmocka_unit_test_setup_teardown(a_write_fails, setup, teardown),
		cmocka_unit_test_setup_teardown(the_start_fails, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

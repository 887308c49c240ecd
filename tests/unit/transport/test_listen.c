/* Listeners: modes and stale socket files, chosen ports, peers, the cap on connections, shortage of descriptors, cost of idle ones. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/error.h"
#include "base/mem.h"
#include "rig.h"

struct place {
	char directory[64];
	char path[96];
};

static int make_place(void **state)
{
	struct place *p = mem_alloc(sizeof *p);
	(void)snprintf(p->directory, sizeof p->directory, "/tmp/allot-listen-XXXXXX");
	if (!mkdtemp(p->directory))
		return -1;
	(void)snprintf(p->path, sizeof p->path, "%s/socket", p->directory);
	*state = p;
	return 0;
}

/* The transport must have removed its socket: rmdir fails otherwise. */
static int remove_place(void **state)
{
	struct place *p = *state;
	int failed = rmdir(p->directory);
	free(p);
	return failed;
}

static void listen_unix(struct rig *rig, const char *path)
{
	struct error *e = transport_listen_unix(rig->transport, path, 0600);
	if (e)
		fail_msg("%s", e->message);
}

/* The error's exit status; 0 for success. */
static int64_t refused(struct error *e)
{
	int64_t status = 0;
	if (e) {
		assert_int_equal(e->n_details, 1);
		assert_string_equal(e->details[0].key, "exit");
		status = e->details[0].integer;
	}
	error_free(e);
	return status;
}

static int connect_unix(const char *path)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	memcpy(to.sun_path, path, strlen(path) + 1);
	if (connect(fd, (const struct sockaddr *)&to, sizeof to) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

static int connect_tcp(uint16_t port)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(connect(fd, (const struct sockaddr *)&to, sizeof to), 0);
	(void)fcntl(fd, F_SETFL, O_NONBLOCK);
	return fd;
}

static void test_unix(void **state)
{
	struct place *p = *state;
	struct rig *rig = rig_new((struct transport_limits){ 0 });
	struct text got = { 0 };
	struct stat file;
	char peer[64];
	mode_t old = umask(0);
	listen_unix(rig, p->path);
	(void)umask(old);
	assert_int_equal(stat(p->path, &file), 0);
	assert_int_equal(file.st_mode & 07777, 0600);
	int fd = connect_unix(p->path);
	rig->echo = true;
	peer_puts(rig, fd, "hello\n");
	assert_false(peer_read(rig, fd, &got));
	assert_string_equal(text_string(&got), "hello\n");
	(void)snprintf(peer, sizeof peer, "unix:uid=%u,pid=%d", (unsigned)getuid(), (int)getpid());
	assert_string_equal(rig->peer, peer);
	text_free(&got);
	close(fd);
	rig_free(rig);
}

static void test_mode_is_exact(void **state)
{
	struct place *p = *state;
	struct rig *rig = rig_new((struct transport_limits){ 0 });
	struct stat file;
	mode_t old = umask(077);
	assert_null(transport_listen_unix(rig->transport, p->path, 0660));
	(void)umask(old);
	assert_int_equal(stat(p->path, &file), 0);
	assert_int_equal(file.st_mode & 07777, 0660);
	rig_free(rig);
}

/* A listening socket of somebody else. */
static int foreign_socket(const char *path)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	memcpy(at.sun_path, path, strlen(path) + 1);
	assert_int_equal(bind(fd, (const struct sockaddr *)&at, sizeof at), 0);
	assert_int_equal(listen(fd, 5), 0);
	return fd;
}

static void test_stale_socket_is_replaced(void **state)
{
	struct place *p = *state;
	struct rig *rig = rig_new((struct transport_limits){ 0 });
	close(foreign_socket(p->path));
	listen_unix(rig, p->path);
	rig_free(rig);
}

static void test_living_socket_is_left_alone(void **state)
{
	struct place *p = *state;
	struct rig *rig = rig_new((struct transport_limits){ 0 });
	int foreign = foreign_socket(p->path);
	assert_int_equal(refused(transport_listen_unix(rig->transport, p->path, 0600)), 69);
	rig_free(rig);
	int fd = connect_unix(p->path);
	assert_true(fd >= 0);
	close(fd);
	close(foreign);
	assert_int_equal(unlink(p->path), 0);
}

static void test_other_files_are_left_alone(void **state)
{
	struct place *p = *state;
	struct rig *rig = rig_new((struct transport_limits){ 0 });
	char longer[200];
	int fd = open(p->path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	close(fd);
	assert_int_equal(refused(transport_listen_unix(rig->transport, p->path, 0600)), 73);
	assert_int_equal(unlink(p->path), 0);
	memset(longer, 'x', sizeof longer - 1);
	longer[sizeof longer - 1] = '\0';
	assert_int_equal(refused(transport_listen_unix(rig->transport, longer, 0600)), 64);
	assert_int_equal(refused(transport_listen_unix(rig->transport, "/nonexistent/socket", 0600)), 69);
	rig_free(rig);
}

/* Somebody removed our socket and made another: that one is not ours to remove. */
static void test_only_our_own_socket_is_removed(void **state)
{
	struct place *p = *state;
	struct rig *rig = rig_new((struct transport_limits){ 0 });
	listen_unix(rig, p->path);
	assert_int_equal(unlink(p->path), 0);
	int foreign = foreign_socket(p->path);
	rig_free(rig);
	assert_int_equal(unlink(p->path), 0);
	close(foreign);
}

static void test_tcp_with_a_chosen_port(void **state)
{
	struct rig *rig = rig_new((struct transport_limits){ 0 });
	struct text got = { 0 };
	char *bound = NULL;
	(void)state;
	assert_null(transport_listen_tcp(rig->transport, "127.0.0.1:0", &bound));
	assert_memory_equal(bound, "127.0.0.1:", 10);
	unsigned long port = strtoul(bound + 10, NULL, 10);
	assert_in_range(port, 1, 65535);
	rig->echo = true;
	int fd = connect_tcp((uint16_t)port);
	peer_puts(rig, fd, "hello\n");
	rig_run_for(rig, 20);
	assert_false(peer_read(rig, fd, &got));
	assert_string_equal(text_string(&got), "hello\n");
	assert_memory_equal(rig->peer, "tcp:127.0.0.1:", 14);
	assert_int_equal(refused(transport_listen_tcp(rig->transport, bound, NULL)), 69); /* in use */
	text_free(&got);
	free(bound);
	close(fd);
	rig_free(rig);
}

static void test_bad_addresses(void **state)
{
	static const char *const bad[] = { "", "localhost", ":80", "127.0.0.1:", "::1:80", "[]:80" };
	struct rig *rig = rig_new((struct transport_limits){ 0 });
	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_int_equal(refused(transport_listen_tcp(rig->transport, bad[i], NULL)), 64);
	assert_int_equal(refused(transport_listen_tcp(rig->transport, "127.0.0.1:http-no", NULL)), 68);
	rig_free(rig);
}

static void test_cap_on_connections(void **state)
{
	struct place *p = *state;
	struct rig *rig = rig_new((struct transport_limits){ .connections = 3 });
	int fds[5];
	listen_unix(rig, p->path);
	for (int i = 0; i < 5; i++)
		fds[i] = connect_unix(p->path);
	rig_run(rig);
	assert_int_equal(rig->opened, 3);
	assert_int_equal(transport_connections(rig->transport), 3);
	transport_once(rig->transport, 30); /* waits: the others do not make it spin */
	close(fds[0]);
	close(fds[1]);
	rig_run(rig);
	assert_int_equal(rig->opened, 5);
	for (int i = 2; i < 5; i++)
		close(fds[i]);
	rig_run(rig);
	assert_int_equal(transport_connections(rig->transport), 0);
	rig_free(rig);
}

/* No descriptors left: the loop rests, and goes on when there are some again. */
static void test_out_of_descriptors(void **state)
{
	struct place *p = *state;
	struct rig *rig = rig_new((struct transport_limits){ .connections = 16 });
	struct rlimit before, none;
	const char *instrumented = getenv("ALLOT_SANITIZE");
	if (instrumented && strcmp(instrumented, "valgrind") == 0) {
		rig_free(rig); /* valgrind keeps descriptors of its own and gives them away */
		return;
	}
	listen_unix(rig, p->path);
	int fd = connect_unix(p->path);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = before;
	none.rlim_cur = (rlim_t)fd + 1;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	int passes = 0;
	for (; passes < 3; passes++)
		transport_once(rig->transport, 40);
	assert_int_equal(rig->opened, 0);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	rig_run_for(rig, 300);
	assert_int_equal(rig->opened, 1);
	close(fd);
	rig_free(rig);
}

static long resident_kb(void)
{
	char line[256] = "", *rest = line;
	FILE *f = fopen("/proc/self/statm", "re");
	assert_non_null(f);
	assert_non_null(fgets(line, sizeof line, f));
	(void)fclose(f);
	(void)strtol(rest, &rest, 10); /* the size */
	return strtol(rest, NULL, 10) * (sysconf(_SC_PAGESIZE) / 1024);
}

/* 500 connections that have spoken and are idle. */
static void test_idle_connections_are_cheap(void **state)
{
	enum { MANY = 500 };
	struct rig *rig = rig_new((struct transport_limits){ 0 });
	struct text got = { 0 };
	int fds[MANY];
	(void)state;
	rig->echo = true;
	struct text line = { 0 };
	for (int i = 0; i < 20000; i++)
		text_puts(&line, "x");
	text_puts(&line, "\n");
	long before = resident_kb();
	for (int i = 0; i < MANY; i++) {
		fds[i] = rig_connect(rig);
		text_clear(&got);
		assert_int_equal(peer_write(rig, fds[i], line.bytes, line.length), line.length);
		assert_false(peer_read(rig, fds[i], &got));
		assert_int_equal(got.length, line.length);
	}
	long each = (resident_kb() - before) * 1024 / MANY;
	const char *instrumented = getenv("ALLOT_SANITIZE");
	if (!instrumented || !*instrumented)
		assert_true(each < 30 * 1024);
	for (int i = 0; i < MANY; i++)
		close(fds[i]);
	text_free(&got);
	text_free(&line);
	rig_free(rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_unix, make_place, remove_place),
		cmocka_unit_test_setup_teardown(test_mode_is_exact, make_place, remove_place),
		cmocka_unit_test_setup_teardown(test_stale_socket_is_replaced, make_place, remove_place),
		cmocka_unit_test_setup_teardown(test_living_socket_is_left_alone, make_place, remove_place),
		cmocka_unit_test_setup_teardown(test_other_files_are_left_alone, make_place, remove_place),
		cmocka_unit_test_setup_teardown(test_only_our_own_socket_is_removed, make_place, remove_place),
		cmocka_unit_test(test_tcp_with_a_chosen_port),
		cmocka_unit_test(test_bad_addresses),
		cmocka_unit_test_setup_teardown(test_cap_on_connections, make_place, remove_place),
		cmocka_unit_test_setup_teardown(test_out_of_descriptors, make_place, remove_place),
		cmocka_unit_test(test_idle_connections_are_cheap),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

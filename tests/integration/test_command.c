/* The command line of the server: options, exit statuses, who owns the data directory, signals, sockets, default places. */
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <unistd.h>

#include "support/call.h"
#include "support/check.h"
#include "support/cluster.h"
#include "support/directory.h"
#include "support/program.h"
#include "support/server.h"

/* Runs the server binary to its end with the words of one line as arguments. */
static struct outcome allotd(const char *format, ...) __attribute__((format(printf, 1, 2)));
static struct outcome allotd(const char *format, ...)
{
	char line[2048], *arguments[16] = { NULL }, *place = NULL;
	size_t n = 0;
	va_list args;
	va_start(args, format);
	(void)vsnprintf(line, sizeof line, format, args);
	va_end(args);
	for (char *word = strtok_r(line, " ", &place); word && n < 15; word = strtok_r(NULL, " ", &place))
		arguments[n++] = word;
	char **words = server_command(arguments);
	struct outcome o = program_run(words);
	free(words);
	return o;
}

static void help_goes_to_standard_output(void **state)
{
	static const char *const options[] = { "--data-dir", "--socket", "--listen", "--clock", "--log-level", "--version",
		"--help" };
	struct outcome o = allotd("--help");
	assert_int_equal(o.status, 0);
	assert_string_equal(o.err, "");
	for (size_t i = 0; i < sizeof options / sizeof options[0]; i++)
		if (!strstr(o.out, options[i]))
			check_failed("--help does not mention %s", options[i]);
	outcome_free(&o);
}

static void version_is_one_line(void **state)
{
	struct outcome o = allotd("--version");
	assert_int_equal(o.status, 0);
	assert_int_equal(strncmp(o.out, "allotd ", 7), 0);
	assert_ptr_equal(strchr(o.out, '\n'), o.out + strlen(o.out) - 1);
	outcome_free(&o);
}

static void bad_usage_ends_with_64_and_a_sentence(void **state)
{
	static const char *const lines[] = { "--nonsense", "--clock=sundial", "--clock", "--log-level=loud", "--log-level",
		"--data-dir", "--socket", "extra", "--listen=nowhere", "--listen=127.0.0.1:99999", "--keep-events=many" };
	char *directory = directory_new();
	for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
		struct outcome o = allotd("--data-dir %s/data --socket %s/s %s", directory, directory, lines[i]);
		if (o.status != EX_USAGE || !*o.err || *o.out)
			check_failed("allotd %s: status %d, stderr '%s', stdout '%s'", lines[i], o.status, o.err, o.out);
		outcome_free(&o);
	}
	directory_remove(directory);
}

static void a_second_server_on_the_data_says_who_holds_it(void **state)
{
	struct server *s = server_start(NULL);
	char pid[16];
	struct outcome o = allotd("--data-dir %s --socket %s/other.sock", s->data, s->directory);
	(void)snprintf(pid, sizeof pid, "%d", (int)s->pid);
	if (o.status != EX_TEMPFAIL || !strstr(o.err, pid) || !strstr(o.err, s->data))
		check_failed("status %d: %s", o.status, o.err);
	json_decref(call_result(s->wire, "server.info", NULL));
	outcome_free(&o);
	server_stop(s);
}

static void a_socket_somebody_serves_is_not_taken(void **state)
{
	struct server *s = server_start(NULL);
	struct outcome o = allotd("--data-dir %s/other --socket %s", s->directory, s->socket);
	if (o.status == 0 || !strstr(o.err, s->socket))
		check_failed("status %d: %s", o.status, o.err);
	json_decref(call_result(s->wire, "server.info", NULL));
	struct wire *w = wire_open(s->socket);
	json_decref(call_result(w, "server.info", NULL));
	wire_close(w);
	outcome_free(&o);
	server_stop(s);
}

static void the_socket_is_for_its_owner_and_goes_with_the_server(void **state)
{
	struct server *s = server_start(NULL);
	struct stat found;
	assert_int_equal(stat(s->socket, &found), 0);
	assert_true(S_ISSOCK(found.st_mode));
	assert_int_equal(found.st_mode & 07777, 0600);
	assert_int_equal(stat(s->data, &found), 0);
	assert_int_equal(found.st_mode & 07777, 0700);
	assert_int_equal(server_end(s, SIGTERM), 0);
	assert_int_not_equal(stat(s->socket, &found), 0);
	server_stop(s);
}

static void a_stale_socket_is_replaced(void **state)
{
	struct server *s = server_start(NULL);
	struct stat found;
	(void)server_end(s, SIGKILL);
	assert_int_equal(stat(s->socket, &found), 0);
	server_continue(s);
	server_stop(s);
}

static void a_file_that_is_no_socket_is_left_alone(void **state)
{
	char *directory = directory_new();
	struct outcome o = shell("echo precious > %s/file", directory);
	outcome_free(&o);
	o = allotd("--data-dir %s/data --socket %s/file", directory, directory);
	assert_int_not_equal(o.status, 0);
	assert_non_null(strstr(o.err, "/file"));
	outcome_free(&o);
	o = shell("cat %s/file", directory);
	assert_string_equal(o.out, "precious\n");
	outcome_free(&o);
	directory_remove(directory);
}

static void a_socket_path_that_is_too_long_is_refused(void **state)
{
	char *directory = directory_new(), name[130];
	memset(name, 'x', sizeof name - 1);
	name[sizeof name - 1] = '\0';
	struct outcome o = allotd("--data-dir %s/data --socket %s/%s", directory, directory, name);
	if (o.status == 0 || o.status > 127 || !strstr(o.err, name))
		check_failed("status %d: %s", o.status, o.err);
	outcome_free(&o);
	directory_remove(directory);
}

static void data_that_is_not_a_directory(void **state)
{
	char *directory = directory_new();
	struct outcome o = shell("echo precious > %s/file", directory);
	outcome_free(&o);
	o = allotd("--data-dir %s/file --socket %s/s", directory, directory);
	if (o.status == 0 || o.status > 127 || !strstr(o.err, "/file"))
		check_failed("status %d: %s", o.status, o.err);
	outcome_free(&o);
	directory_remove(directory);
}

static void one_line_when_ready(void **state)
{
	struct server *s = server_start(NULL);
	char *log = file_read(s->log), *line = NULL;
	for (char *place = log; (line = strsep(&place, "\n"));)
		if (strstr(line, s->socket))
			break;
	if (!line)
		check_failed("no line names %s", s->socket);
	free(log);
	server_stop(s);
}

static void either_signal_ends_with_0(void **state)
{
	struct server *s = server_start(NULL);
	assert_int_equal(server_end(s, SIGTERM), 0);
	server_continue(s);
	assert_int_equal(server_end(s, SIGINT), 0);
	server_continue(s);
	server_stop(s);
}

/* Everything answered is there after the start, and nothing else; no answer is cut in the middle. */
static void what_is_in_flight_at_the_end_is_answered(void **state)
{
	enum { CALLS = 200 };
	struct server *s = server_start(NULL);
	bool answered[CALLS] = { false };
	register_gpus(s->wire, "n1", 4);
	struct wire *w = wire_open(s->socket);
	for (int i = 0; i < CALLS; i++)
		(void)call_send(w, "pod.reserve",
			json_of("{'pod': {'uid': 'p%d'}, 'request': [{'type': 'gpu', 'resources': {'core': 1}}]}", i));
	json_decref(call_receive(w, 1));
	answered[0] = true;
	assert_int_equal(kill(s->pid, SIGTERM), 0);
	for (char *line; (line = wire_line(w)); free(line)) {
		json_t *answer = json_loads(line, 0, NULL);
		json_int_t id = json_integer_value(json_object_get(answer, "id"));
		assert_true(id >= 1 && id <= CALLS);
		assert_string_equal(answer_reason(answer), "ok");
		answered[id - 1] = true;
		json_decref(answer);
	}
	wire_close(w);
	assert_int_equal(server_end(s, 0), 0); /* it ends already */
	server_continue(s);
	for (int i = 0; i < CALLS; i++) {
		json_t *pod = call_result(s->wire, "pod.get", json_of("{'uid': 'p%d'}", i));
		assert_int_equal(json_object_get(pod, "allocation") != NULL, answered[i]);
		json_decref(pod);
	}
	server_stop(s);
}

static void idle_connections_do_not_keep_it_from_ending(void **state)
{
	struct server *s = server_start(NULL);
	struct wire *idle = wire_open(s->socket), *half = wire_open(s->socket);
	json_decref(call_result(idle, "server.info", NULL));
	assert_true(wire_send(half, "{\"jsonrpc\":", 11));
	int64_t start = check_now();
	assert_int_equal(server_end(s, SIGTERM), 0);
	assert_true(check_now() - start < 5000 || check_instrumented());
	wire_close(idle);
	wire_close(half);
	server_stop(s);
}

static int free_port(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	socklen_t length = sizeof address;
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (bind(fd, (const struct sockaddr *)&address, sizeof address) != 0 ||
		getsockname(fd, (struct sockaddr *)&address, &length) != 0)
		check_failed("no free port");
	(void)close(fd);
	return ntohs(address.sin_port);
}

static void tcp_is_served_too(void **state)
{
	char listen[64];
	int port = free_port();
	(void)snprintf(listen, sizeof listen, "--listen=127.0.0.1:%d", port);
	char *const arguments[] = { listen, NULL };
	struct server *s = server_start(arguments);
	struct wire *w = wire_open_tcp(port);
	register_gpus(w, "n1", 1);
	json_decref(call_result(w, "pod.reserve", whole_gpus("a", "n1", 1)));
	expect(s->wire, "pod.list", NULL, json_of("{'pods': [{'pod': {'uid': 'a'}}]}"));
	wire_close(w);
	server_stop(s);
}

static void the_system_clock_cannot_be_moved(void **state)
{
	char clock[] = "--clock=system";
	char *const arguments[] = { clock, NULL };
	struct server *s = server_start(arguments);
	json_t *answer = call(s->wire, "clock.advance", json_of("{'seconds': 10}"));
	assert_string_not_equal(answer_reason(answer), "ok");
	json_decref(answer);
	register_gpus(s->wire, "n1", 1);
	json_t *params = whole_gpus("a", "n1", 1);
	json_object_set_new(params, "ttl", json_integer(1));
	json_decref(call_result(s->wire, "pod.reserve", params));
	expect(s->wire, "pod.get", json_of("{'uid': 'a'}"), json_of("{'allocation': {'state': 'reserved'}}"));
	server_stop(s);
}

/* Without any option: data and socket below the user's directories, the line that says so, and a client that finds it. */
static void defaults_just_work(void **state)
{
	char *directory = directory_new();
	struct outcome o = shell(
		"d=%s; export HOME=$d XDG_RUNTIME_DIR=$d/run XDG_STATE_HOME=$d/state; unset ALLOTD_SOCKET\n"
		"mkdir -p $XDG_RUNTIME_DIR\n"
		"$ALLOTD > $d/out 2> $d/err & pid=$!\n"
		"n=0; until grep -q sock $d/out || [ $n -ge 200 ]; do sleep 0.05; n=$((n+1)); done\n"
		"cat $d/out; $ALLOTCTL info > $d/info; echo \"client $?\"\n"
		"kill -TERM $pid; wait $pid; echo \"server $?\"\n"
		"ls $d/state/allotd; cat $d/err >&2",
		directory);
	if (!strstr(o.out, "client 0") || !strstr(o.out, "server 0") || !strstr(o.out, "allotd.db") || !strstr(o.out, directory))
		check_failed("%s\n%s", o.out, o.err);
	outcome_free(&o);
	directory_remove(directory);
}

/* `script` makes the database $db; the server must refuse it with this status and leave it as it is. */
static void refuses_the_database(const char *script, int status)
{
	char *directory = directory_new();
	struct outcome made = shell(
		"umask 077; d=%s; mkdir $d/data; db=$d/data/allotd.db; %s; sha256sum < $db", directory, script);
	struct outcome run = allotd("--data-dir %s/data --socket %s/s", directory, directory);
	struct outcome now = shell("sha256sum < %s/data/allotd.db", directory);
	if (run.status != status || !*run.err || strcmp(now.out, made.out) != 0)
		check_failed("%s: status %d, %s", script, run.status, run.err);
	outcome_free(&made);
	outcome_free(&run);
	outcome_free(&now);
	directory_remove(directory);
}

static void what_is_no_database_of_ours_is_refused_and_untouched(void **state)
{
	refuses_the_database("head -c 8192 /dev/zero | tr '\\0' x > $db", EX_DATAERR);
	refuses_the_database("sqlite3 $db 'create table t (a); pragma application_id = 77'", EX_DATAERR);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(help_goes_to_standard_output),
		cmocka_unit_test(version_is_one_line),
		cmocka_unit_test(bad_usage_ends_with_64_and_a_sentence),
		cmocka_unit_test(a_second_server_on_the_data_says_who_holds_it),
		cmocka_unit_test(a_socket_somebody_serves_is_not_taken),
		cmocka_unit_test(the_socket_is_for_its_owner_and_goes_with_the_server),
		cmocka_unit_test(a_stale_socket_is_replaced),
		cmocka_unit_test(a_file_that_is_no_socket_is_left_alone),
		cmocka_unit_test(a_socket_path_that_is_too_long_is_refused),
		cmocka_unit_test(data_that_is_not_a_directory),
		cmocka_unit_test(one_line_when_ready),
		cmocka_unit_test(either_signal_ends_with_0),
		cmocka_unit_test(what_is_in_flight_at_the_end_is_answered),
		cmocka_unit_test(idle_connections_do_not_keep_it_from_ending),
		cmocka_unit_test(tcp_is_served_too),
		cmocka_unit_test(the_system_clock_cannot_be_moved),
		cmocka_unit_test(defaults_just_work),
		cmocka_unit_test(what_is_no_database_of_ours_is_refused_and_untouched),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

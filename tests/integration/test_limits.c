/* Limits that need many connections or much memory: idle connections, the connection cap, a client that does not read, and the limits
 * of requests that are too long for a scenario file. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/call.h"
#include "support/check.h"
#include "support/cluster.h"
#include "support/directory.h"
#include "support/server.h"

/* A number of /proc/PID/status, in the unit it has there. */
static long status_of(const struct server *s, const char *name)
{
	char path[64];
	(void)snprintf(path, sizeof path, "/proc/%d/status", (int)s->pid);
	char *text = file_read(path), *line = strstr(text, name);
	long value = line ? strtol(line + strlen(name), NULL, 10) : -1;
	free(text);
	return value;
}

/* Processor time the server has used, in clock ticks. */
static long ticks_of(const struct server *s)
{
	char path[64];
	(void)snprintf(path, sizeof path, "/proc/%d/stat", (int)s->pid);
	char *text = file_read(path), *rest = strrchr(text, ')'), *place = NULL;
	long ticks = 0;
	int field = 2;
	for (char *word = strtok_r(rest, " ", &place); word; word = strtok_r(NULL, " ", &place), field++)
		if (field == 14 || field == 15)
			ticks += strtol(word, NULL, 10);
	free(text);
	return ticks;
}

static void raise_file_limit(void)
{
	struct rlimit limit;
	(void)getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = limit.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &limit);
}

static void a_thousand_idle_connections_cost_under_30_mb(void **state)
{
	enum { CONNECTIONS = 1000 };
	struct server *s = *state;
	struct wire *wires[CONNECTIONS];
	long before = status_of(s, "VmRSS:");
	for (int i = 0; i < CONNECTIONS; i++) {
		wires[i] = wire_open(s->socket);
		json_decref(call_result(wires[i], "server.info", NULL));
	}
	long after = status_of(s, "VmRSS:");
	long ticks = ticks_of(s);
	check_sleep(300);
	if (!check_instrumented()) {
		print_message("# 1000 idle connections: %ld kB\n", after - before);
		assert_true(after - before < 30 * 1024);
		assert_true(ticks_of(s) - ticks <= 5);
	}
	for (int i = 0; i < CONNECTIONS; i++)
		wire_close(wires[i]);
}

/* Sends lines until the server takes no more, for `ms`; the number of bytes sent. */
static size_t push(struct wire *w, const char *line, int ms)
{
	size_t length = strlen(line), sent = 0, at = 0;
	for (;;) {
		struct pollfd ready = { .fd = w->fd, .events = POLLOUT };
		if (poll(&ready, 1, ms) == 0)
			return sent;
		ssize_t n = send(w->fd, line + at, length - at, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n < 0 && errno == EAGAIN)
			continue;
		if (n < 0 || sent > 64 << 20)
			return sent;
		sent += (size_t)n;
		at = (at + (size_t)n) % length;
	}
}

static void a_client_that_does_not_read_costs_little(void **state)
{
	struct server *s = *state;
	struct wire *w = wire_open(s->socket);
	long before = status_of(s, "VmRSS:");
	(void)push(w, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"rpc.discover\"}\n", 1000);
	long after = status_of(s, "VmRSS:");
	if (!check_instrumented()) {
		print_message("# a client that does not read: %ld kB\n", after - before);
		assert_true(after - before < 64 * 1024);
	}
	int64_t start = check_now();
	json_decref(call_result(s->wire, "server.info", NULL));
	assert_true(check_now() - start < 2000 || check_instrumented());
	wire_close(w);
	json_decref(call_result(s->wire, "server.info", NULL));
}

/* A hundred descriptors are not enough for 150 connections: those beyond wait, the server neither spins nor fails, and when others
 * leave the waiting ones are served. */
static void beyond_the_cap_connections_wait(void **state)
{
	enum { CONNECTIONS = 150 };
	struct wire *wires[CONNECTIONS];
	const char *wrap = getenv("ALLOTD_WRAP");
	if (wrap && *wrap)
		skip();
	assert_int_equal(setenv("ALLOTD_WRAP", "prlimit --nofile=100:100", 1), 0);
	struct server *s = server_start(NULL);
	assert_int_equal(unsetenv("ALLOTD_WRAP"), 0);
	int served = 0;
	for (int i = 0; i < CONNECTIONS; i++) {
		wires[i] = wire_open(s->socket);
		(void)call_send(wires[i], "server.info", NULL);
	}
	check_sleep(300);
	for (int i = 0; i < CONNECTIONS && !wire_silent(wires[i], 0); i++)
		served++;
	assert_true(served > 20 && served < 100);
	long ticks = ticks_of(s);
	check_sleep(500);
	assert_true(ticks_of(s) - ticks <= 10 || check_instrumented());
	json_decref(call_result(s->wire, "server.info", NULL));
	for (int i = 0; i < CONNECTIONS; i++) {
		json_decref(call_receive(wires[i], 1));
		wire_close(wires[i]);
	}
	server_stop(s);
	(void)state;
}

static json_t *node_of(int devices)
{
	json_t *list = json_array();
	for (int i = 0; i < devices; i++)
		json_array_append_new(list, json_of("{'uuid': 'big-%d', 'type': 'gpu', 'minor': %d}", i, i));
	return json_pack("{s:s, s:o}", "node", "big", "devices", list);
}

static void a_node_has_at_most_1024_devices(void **state)
{
	struct server *s = *state;
	refused(s->wire, "node.register", node_of(1025), "invalid_params", json_of("{'path': 'devices'}"));
	expect(s->wire, "node.register", node_of(1024), json_of("{'added': 1024}"));
	expect(s->wire, "device.list", json_of("{'node': 'big', 'limit': 5000}"), json_of("{'devices': {'$count': 1024}}"));
	expect(s->wire, "device.list", json_of("{'node': 'big'}"), json_of("{'devices': {'$count': 1000}}"));
}

static json_t *names(const char *prefix, int n)
{
	json_t *list = json_array();
	for (int i = 0; i < n; i++)
		json_array_append_new(list, json_sprintf("%s%d", prefix, i));
	return list;
}

static void uids_and_ids_are_limited(void **state)
{
	struct server *s = *state;
	register_gpus(s->wire, "n1", 1);
	refused(s->wire, "plugin.reconcile", json_pack("{s:s, s:o, s:i}", "node", "n1", "uids", names("u", 4097), "as_of", 0),
		"invalid_params", json_of("{'path': 'uids'}"));
	expect(s->wire, "plugin.reconcile", json_pack("{s:s, s:o, s:i}", "node", "n1", "uids", names("u", 4096), "as_of", 0),
		json_of("{'unknown': {'$count': 4096}}"));
	refused(s->wire, "plugin.allocate", json_pack("{s:s, s:o}", "node", "n1", "device_ids", names("k", 4097)),
		"invalid_params", json_of("{'path': 'device_ids'}"));
	refused(s->wire, "plugin.allocate", json_pack("{s:s, s:o}", "node", "n1", "device_ids", names("k", 4096)), "not_found",
		NULL);
	json_t *nomination = whole_gpus("v", "n1", 1);
	json_object_set_new(nomination, "victims", names("v", 257));
	refused(s->wire, "pod.nominate", nomination, "invalid_params", json_of("{'path': 'victims'}"));
}

static void a_gang_has_at_most_512_pods(void **state)
{
	struct server *s = *state;
	json_t *pods = json_array();
	for (int i = 0; i < 513; i++)
		json_array_append_new(pods, json_of("{'pod': {'uid': 'g%d'}, 'request': [{'type': 'gpu'}]}", i));
	refused(s->wire, "gang.reserve", json_pack("{s:o}", "pods", pods), "invalid_params", json_of("{'path': 'pods'}"));
	refused(s->wire, "gang.reserve", json_of("{'pods': []}"), "invalid_params", json_of("{'path': 'pods'}"));
}

static void texts_are_limited(void **state)
{
	struct server *s = *state;
	char reason[1026];
	memset(reason, 'r', 1025);
	reason[1025] = '\0';
	refused(s->wire, "node.cordon", json_pack("{s:s, s:s}", "node", "n1", "reason", reason), "invalid_params",
		json_of("{'path': 'reason'}"));
	reason[1024] = '\0';
	expect(s->wire, "node.cordon", json_pack("{s:s, s:s}", "node", "n1", "reason", reason), json_of("{'cordoned': true}"));
}

static int setup(void **state)
{
	raise_file_limit();
	return server_setup(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_thousand_idle_connections_cost_under_30_mb),
		cmocka_unit_test(a_client_that_does_not_read_costs_little),
		cmocka_unit_test(beyond_the_cap_connections_wait),
		cmocka_unit_test(a_node_has_at_most_1024_devices),
		cmocka_unit_test(uids_and_ids_are_limited),
		cmocka_unit_test(a_gang_has_at_most_512_pods),
		cmocka_unit_test(texts_are_limited),
	};
	return cmocka_run_group_tests(tests, setup, server_teardown);
}

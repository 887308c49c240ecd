/* The main measurement of the load generator: many connections on one thread, with as little work of its own as possible, since it
 * shares the machine with the server. Requests are printed into a small buffer, answers are only searched for "error". */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "load.h"

enum { STEPS = 4, ANSWER = 4096, EVENTS = 64 };

struct client {
	int fd;
	unsigned step; /* of the cycle: which call is on its way */
	size_t node;
	unsigned long round; /* makes the uids */
	int64_t sent;
	size_t used;
	char answer[ANSWER];
};

struct cycle {
	struct client *clients;
	size_t n;
	int epoll;
	int64_t *samples; /* ns */
	size_t n_samples, room;
};

static int connect_raw(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (strlen(path) >= sizeof(address.sun_path)) {
		load_die("the socket's path is too long: %s", path);
	}
	memcpy(address.sun_path, path, strlen(path));
	if (fd < 0 || connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0) {
		load_die("cannot connect to %s: %s", path, strerror(errno));
	}
	return fd;
}

static void send_next(struct client *c)
{
	static const char *const formats[STEPS] = {
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"pod.reserve\",\"params\":{\"pod\":{\"uid\":\"cycle-%zu-%lu\"},"
		"\"node\":\"load-%05zu\","
		"\"request\":[{\"type\":\"gpu\",\"container\":\"main\",\"resources\":{\"core\":10,\"memory\":10}}]}}\n",
		"{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"pod.bind\",\"params\":{\"uid\":\"cycle-%zu-%lu\",\"node\":\"load-%"
		"05zu\"}}\n",
		"{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"plugin.allocate\",\"params\":{\"uid\":\"cycle-%zu-%lu\",\"node\":"
		"\"load-%05zu\"}}\n",
		"{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"pod.release\",\"params\":{\"uid\":\"cycle-%zu-%lu\"}}\n",
	};
	char text[512];
	int length = snprintf(text, sizeof(text), formats[c->step], c->node, c->round, c->node);

	c->sent = load_now();
	if (send(c->fd, text, (size_t)length, MSG_NOSIGNAL) != length) {
		load_die("cannot send: %s", strerror(errno));
	}
}

static void keep(struct cycle *cycle, int64_t sample)
{
	if (cycle->n_samples == cycle->room) {
		cycle->room = cycle->room ? cycle->room * 2 : 1 << 16;
		cycle->samples = reallocarray(cycle->samples, cycle->room, sizeof(*cycle->samples));
	}
	cycle->samples[cycle->n_samples++] = sample;
}

/* Reads what came; true when the answer to the call on its way is complete. */
static int answered(struct client *c)
{
	ssize_t n = recv(c->fd, c->answer + c->used, ANSWER - c->used, 0);

	if (n <= 0) {
		load_die("the server closed a connection");
	}
	c->used += (size_t)n;
	if (c->answer[c->used - 1] != '\n') {
		return 0;
	}
	if (memmem(c->answer, c->used, "\"error\":", 8)) {
		load_die("refused: %.*s", (int)c->used, c->answer);
	}
	c->used = 0;
	return 1;
}

static void advance(struct cycle *cycle, struct client *c)
{
	if (!answered(c)) {
		return;
	}
	keep(cycle, load_now() - c->sent);
	c->step = (c->step + 1) % STEPS;
	c->round += c->step == 0;
	send_next(c);
}

static void open_all(struct cycle *cycle, const struct load *load)
{
	size_t i;

	cycle->n = load->connections;
	cycle->clients = calloc(cycle->n, sizeof(*cycle->clients));
	cycle->epoll = epoll_create1(EPOLL_CLOEXEC);
	for (i = 0; i < cycle->n; i++) {
		struct client *c = &cycle->clients[i];
		struct epoll_event event = { .events = EPOLLIN, .data.ptr = c };

		*c = (struct client){
			.fd = connect_raw(load->socket), .node = load->first + i, .round = (unsigned long)load_now()
		};
		epoll_ctl(cycle->epoll, EPOLL_CTL_ADD, c->fd, &event);
	}
}

/* Runs until `end` (ns). */
static void run(struct cycle *cycle, int64_t end)
{
	struct epoll_event events[EVENTS];

	while (load_now() < end) {
		int n = epoll_wait(cycle->epoll, events, EVENTS, 100), i;

		for (i = 0; i < n; i++) {
			advance(cycle, events[i].data.ptr);
		}
	}
}

/* Lets the calls on their way end and releases what the clients hold, so that the next measurement finds the cluster as it was. */
static void close_all(struct cycle *cycle)
{
	size_t i;

	for (i = 0; i < cycle->n; i++) {
		struct client *c = &cycle->clients[i];

		while (!answered(c)) {
		}
		if (c->step < STEPS - 1) {
			c->step = STEPS - 1;
			send_next(c);
			while (!answered(c)) {
			}
		}
		close(c->fd);
	}
	close(cycle->epoll);
	free(cycle->clients);
}

struct counts {
	int64_t commits, operations;
};

static struct counts counts_of(struct allot_conn *conn)
{
	json_t *info = load_call(conn, "server.info", NULL);
	const json_t *counts = json_object_get(info, "counts");
	struct counts c = { json_integer_value(json_object_get(counts, "commits")),
		json_integer_value(json_object_get(counts, "operations")) };

	json_decref(info);
	return c;
}

static int by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

static double percentile(const struct cycle *cycle, double part)
{
	size_t at = (size_t)((double)cycle->n_samples * part);

	return cycle->n_samples ? (double)cycle->samples[at < cycle->n_samples ? at : cycle->n_samples - 1] / 1e6 : 0;
}

void load_cycle(const struct load *load)
{
	struct allot_conn *conn = load_connect(load);
	struct cycle cycle = { 0 };
	struct counts before, after;
	int64_t start;
	double seconds, operations, commits;
	size_t i;

	open_all(&cycle, load);
	for (i = 0; i < cycle.n; i++) {
		send_next(&cycle.clients[i]);
	}
	run(&cycle, load_now() + 300000000); /* warm up */
	cycle.n_samples = 0;
	before = counts_of(conn);
	start = load_now();
	run(&cycle, start + (int64_t)(load->seconds * 1e9));
	seconds = (double)(load_now() - start) / 1e9;
	operations = (double)cycle.n_samples;
	after = counts_of(conn);
	close_all(&cycle);
	qsort(cycle.samples, cycle.n_samples, sizeof(*cycle.samples), by_value);
	commits = (double)(after.commits - before.commits);
	printf("cycle connections=%zu operations=%zu seconds=%.2f ops=%.0f p50_ms=%.3f p99_ms=%.3f commits=%.0f "
	       "per_commit=%.1f\n",
		load->connections, cycle.n_samples, seconds, operations / seconds, percentile(&cycle, 0.5),
		percentile(&cycle, 0.99), commits, commits > 0 ? (double)(after.operations - before.operations) / commits : 0);
	free(cycle.samples);
	allot_close(conn);
}

/* Crashes: clients drive the server with all their might, SIGKILL comes at a random moment, and after the start everything that was
 * answered is there, everything else wholly there or wholly absent, no revision or token goes back, and server.check is ok.
 *
 * ALLOT_KILLS says how often (20), ALLOT_SEED where the random numbers begin (different each time, printed). */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "client.h"
#include "support/call.h"
#include "support/check.h"
#include "support/cluster.h"
#include "support/server.h"

enum { CLIENTS = 24, WINDOW = 6 };

/* One run over many crashes. */
struct crashes {
	struct server *server;
	struct client *clients[CLIENTS];
	unsigned random;
	int64_t revision; /* the last one the server was seen at */
	size_t answered;  /* calls, over all rounds */
	size_t open;      /* calls without an answer at a crash */
};

static long number_from(const char *variable, long otherwise)
{
	const char *value = getenv(variable);
	return value && *value ? strtol(value, NULL, 10) : otherwise;
}

static unsigned chance(struct crashes *c, unsigned below)
{
	return (unsigned)rand_r(&c->random) % below;
}

static int setup(void **state)
{
	struct crashes *c = calloc(1, sizeof *c);
	if (!c)
		abort();
	*state = c;
	c->random = (unsigned)number_from("ALLOT_SEED", (long)time(NULL) ^ getpid());
	print_message("# ALLOT_SEED=%u\n", c->random);
	c->server = server_start(NULL);
	for (int i = 0; i < CLIENTS; i++) {
		char node[16];
		(void)snprintf(node, sizeof node, "c%d", i);
		register_gpus(c->server->wire, node, CLIENT_DEVICES);
		c->clients[i] = client_new(i, (unsigned)rand_r(&c->random));
	}
	return 0;
}

static int teardown(void **state)
{
	struct crashes *c = *state;
	for (int i = 0; i < CLIENTS; i++)
		client_free(c->clients[i]);
	server_stop(c->server);
	free(c);
	return 0;
}

/* Waits until an answer is here, at most `ms`. */
static void wait_for_answers(const struct crashes *c, int ms)
{
	struct pollfd ready[CLIENTS];
	for (int i = 0; i < CLIENTS; i++)
		ready[i] = (struct pollfd){ .fd = c->clients[i]->wire->fd, .events = POLLIN };
	(void)poll(ready, CLIENTS, ms);
}

/* All clients work for `ms`, then the server is killed, and the answers that had left it are still taken. */
static void work_and_crash(struct crashes *c, int ms)
{
	int64_t end = check_now() + ms;
	for (int i = 0; i < CLIENTS; i++)
		client_connect(c->clients[i], c->server->socket);
	while (check_now() < end) {
		for (int i = 0; i < CLIENTS; i++)
			if (!client_receive(c->clients[i]) || !client_send(c->clients[i], WINDOW))
				check_failed("the server closed the connection of client %d", i);
		wait_for_answers(c, 5);
	}
	(void)server_end(c->server, SIGKILL);
	for (int i = 0; i < CLIENTS; i++) {
		while (client_receive(c->clients[i]))
			check_sleep(1);
		c->answered += c->clients[i]->answered;
		c->open += c->clients[i]->sent - c->clients[i]->answered;
	}
}

/* Starts the server and kills it again before it is ready. */
static void crash_in_the_start(struct crashes *c)
{
	server_launch(c->server);
	check_sleep((int)chance(c, 30));
	(void)server_end(c->server, SIGKILL);
}

/* A lock on a node of its own shows the next token. */
static int64_t fresh_token(struct crashes *c)
{
	register_gpus(c->server->wire, "tokens", 1);
	json_t *lock = call_result(c->server->wire, "lock.acquire", json_of("{'node': 'tokens', 'uid': 'probe'}"));
	int64_t token = json_integer_value(json_object_get(lock, "token"));
	json_decref(lock);
	json_decref(call_result(c->server->wire, "lock.release", json_of("{'node': 'tokens', 'token': %lld}", (long long)token)));
	return token;
}

static void verify(struct crashes *c)
{
	struct wire *w = c->server->wire;
	int64_t revision = revision_of(w);
	for (int i = 0; i < CLIENTS; i++) {
		client_verify(c->clients[i], w);
		if (c->clients[i]->max_revision > revision)
			check_failed("revision %lld was answered, the server is at %lld", (long long)c->clients[i]->max_revision,
				(long long)revision);
	}
	if (revision < c->revision)
		check_failed("the revision went back from %lld to %lld", (long long)c->revision, (long long)revision);
	expect(w, "server.check", NULL, json_of("{'ok': true}"));
	int64_t token = fresh_token(c);
	for (int i = 0; i < CLIENTS; i++)
		if (c->clients[i]->max_token >= token)
			check_failed("token %lld was answered, the next one is %lld", (long long)c->clients[i]->max_token,
				(long long)token);
	c->revision = revision_of(w);
}

static void nothing_answered_is_lost(void **state)
{
	struct crashes *c = *state;
	long kills = number_from("ALLOT_KILLS", check_instrumented() ? 8 : 20);
	for (long i = 0; i < kills; i++) {
		work_and_crash(c, 5 + (int)chance(c, 150));
		while (chance(c, 3) == 0)
			crash_in_the_start(c);
		server_continue(c->server);
		verify(c);
	}
	print_message("# %ld crashes, %zu answered calls, %zu unanswered at a crash\n", kills, c->answered, c->open);
	assert_true(c->answered > (size_t)kills);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(nothing_answered_is_lost, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

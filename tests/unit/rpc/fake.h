/* A server with a few small methods, and short ways to play texts to it. */
#ifndef ALLOTD_TESTS_RPC_FAKE_H
#define ALLOTD_TESTS_RPC_FAKE_H

#include <stddef.h>
#include <stdint.h>

#include "rpc/exchange.h"
#include "rpc/method.h"

/* What the methods of the fake server work on. */
struct fake_world {
	int64_t counter; /* "count" adds to it */
	int runs;        /* handlers run */
	int works;       /* works run */
	int ended;       /* states released */
};

/* subtract {minuend, subtrahend}; sum {a, b, c}; update, notify_hello, get_data as in the specification of JSON-RPC; count {by
 * = 1} changes the world; big {bytes} answers so much; refuse {} refuses after half a result; later {x, early = false} answers
 * in work (or at once); order {reason?} for admins, plug {} for plugins; pod.renew, event.list, rpc.discover as in the
 * contract. */
struct rpc_server *fake_server(void);

/* The answer to a text of an admin, "" when none is due; every call is run, and worked, once. Owned by the caller. */
char *fake_answer(const struct rpc_server *server, const char *text, size_t length, struct fake_world *world);

/* The same for a peer with these roles. */
char *fake_answer_to(const struct rpc_server *server, unsigned roles, const char *text, size_t length, struct fake_world *world);

/* Runs and works every call of an exchange, as its owner would. */
void fake_run(struct rpc_exchange *exchange, struct fake_world *world);

/* Asserts that the answer of an admin's text is exactly `expected`. */
void assert_answer(const struct rpc_server *server, const char *text, const char *expected);

/* Asserts that an answer is an error response with this id (JSON text), code and reason, and data.path unless `path` is NULL. */
void assert_error(const char *answer, const char *id, int code, const char *reason, const char *path);

#endif

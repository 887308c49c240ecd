/* A server that says what the test wants it to say, on a thread of its own. */
#ifndef TESTS_CLIENT_FAKE_H
#define TESTS_CLIENT_FAKE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "allot.h"

/* Answers one call: the bytes to send (new memory, freed by the fake), NULL for no answer. Runs on the fake's threads, one call at a
 * time. Returning FAKE_CLOSE ends the connection. */
typedef char *fake_answer(void *context, const json_t *call);

extern char *const FAKE_CLOSE;

/* A fake with one connection, the other end of which fake_conn hands out. */
struct fake *fake_start(fake_answer *answer, void *context);

/* A fake that listens on a unix socket in a directory of its own and takes any number of connections. */
struct fake *fake_listen(fake_answer *answer, void *context);

/* The client's end as a connection; owned by the caller, once. */
struct allot_conn *fake_conn(struct fake *fake);

/* The client's end as a descriptor; owned by the caller, once. */
int fake_descriptor(struct fake *fake);

const char *fake_path(const struct fake *fake);

/* Ends the threads (after the clients have closed their ends or not) and removes the socket. */
void fake_stop(struct fake *fake);

/* The bytes of an answer to `call`: {"result": ...} or {"error": ...} of the value, which is taken over. */
char *fake_result(const json_t *call, json_t *result_take);
char *fake_error(const json_t *call, int code, const char *reason, const char *message, json_t *data_take);

/* JSON text in which ' stands for ". */
json_t *fake_json(const char *text);

#endif

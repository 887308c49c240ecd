/* liballot: a client of allotd over its unix or TCP socket (newline-delimited JSON-RPC 2.0).
 *
 * A connection is a value: there is no state outside it, and one connection is used by one thread at a time.
 * Calls are answered in the order in which they were sent. There are three ways to use a connection:
 *
 *   allot_call                              one call, wait for its answer;
 *   allot_send ... allot_receive ...        many calls on the way, the answers received in order, blocking;
 *   allot_send, allot_interest, allot_process, allot_take
 *                                           the same without blocking, inside a poll loop of the caller.
 *
 * Functions return 0 for success and -1 for failure unless said otherwise, and then fill `error` (NULL is legal: not wanted).
 * Strings are UTF-8. Times in parameters and results are Unix milliseconds, timeouts here are milliseconds. */
#ifndef ALLOT_H
#define ALLOT_H

#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* What went wrong, from the caller's point of view. */
enum allot_kind {
	ALLOT_OK,
	ALLOT_REFUSED,     /* the server answered with an error; nothing was changed; the connection is usable */
	ALLOT_TIMED_OUT,   /* no answer in time; the server may still carry the call out; the connection is usable */
	ALLOT_UNREACHABLE, /* no connection, or it was lost: the outcome of unanswered calls is unknown */
	ALLOT_PROTOCOL,    /* the peer does not speak the protocol; the connection is unusable */
	ALLOT_INVALID      /* the caller's mistake (bad address, unprintable parameters, no memory); nothing was sent */
};

/* The newest failure. The caller owns it, starts with ALLOT_ERROR_INIT, and ends it with allot_error_clear.
 * Functions that fail release what it held before. */
struct allot_error {
	enum allot_kind kind;
	int code;        /* JSON-RPC code (-32001 ...), 0 unless ALLOT_REFUSED */
	char reason[48]; /* the slug programs look at ("insufficient"), "" unless ALLOT_REFUSED; may be unknown to this version */
	char message[1024]; /* a sentence for people, cut at a character when longer; never empty after a failure */
	json_t *data;       /* the error's data object, owned; NULL when there is none */
};

#define ALLOT_ERROR_INIT                  \
	{                                 \
		ALLOT_OK, 0, "", "", NULL \
	}

/* Releases what the error holds and makes it ALLOT_OK; may be called any number of times. */
void allot_error_clear(struct allot_error *error);

struct allot_conn;

/* Connects to a unix socket (a path: anything with a '/', or "unix:PATH") or to "HOST:PORT" ("[::1]:7070" for IPv6).
 * Waits at most `timeout` ms (< 0: for ever) for the connection, not counting a look-up of the host's name; the same
 * timeout then holds for each blocking operation (allot_set_timeout). NULL on failure; when a
 * unix socket could not be reached errno says why. Ended with allot_close. */
struct allot_conn *allot_connect(const char *address, int timeout, struct allot_error *error);

/* The path of the socket on which a server listens by default, for allot_connect: $ALLOTD_SOCKET, else
 * $XDG_RUNTIME_DIR/allotd/allotd.sock, else /run/allotd/allotd.sock for root, else ~/.local/state/allotd/allotd.sock.
 * It always has a '/'. New memory (free()); NULL when memory is short or no home directory is known. */
char *allot_default_socket(void);

/* Makes a connection of a connected stream socket, which is taken over (also on failure). The timeout is unlimited.
 * NULL when memory is short. */
struct allot_conn *allot_attach(int descriptor_take);

/* Closes the connection; unanswered calls may or may not be carried out. NULL is legal. */
void allot_close(struct allot_conn *conn);

/* How long a blocking operation may wait, in ms; < 0: for ever. */
void allot_set_timeout(struct allot_conn *conn, int timeout);

/* Calls `method` and waits for the answer. `params` is an object or NULL (none); it is taken over, also on failure.
 * *result is a new reference, untouched on failure; `result` may be NULL. Fails with ALLOT_INVALID while answers to
 * allot_send are outstanding. */
int allot_call(struct allot_conn *conn, const char *method, json_t *params, json_t **result, struct allot_error *error);

/* Sends a call without waiting for its answer. `params` as in allot_call. *id (NULL is legal) is the number by which
 * the answer is recognised; numbers rise by one per call. Small calls are collected and leave with the next blocking
 * operation; when much has piled up, waits until the server has taken some, taking in answers meanwhile. */
int allot_send(struct allot_conn *conn, const char *method, json_t *params, int64_t *id, struct allot_error *error);

/* Waits for the answer to the oldest unanswered call. *id and *result (either may be NULL) as above. A refusal is a failure of
 * kind ALLOT_REFUSED with *id set. Fails with ALLOT_INVALID when no call is unanswered. After ALLOT_TIMED_OUT the call is
 * still unanswered and may be waited for again. */
int allot_receive(struct allot_conn *conn, int64_t *id, json_t **result, struct allot_error *error);

/* Waits until everything sent has left for the server. */
int allot_flush(struct allot_conn *conn, struct allot_error *error);

/* The number of calls sent by allot_send and not yet received. */
size_t allot_unanswered(const struct allot_conn *conn);

/* For a poll loop: the descriptor, and the events (POLLIN, POLLOUT) it should be polled for. */
int allot_descriptor(const struct allot_conn *conn);
short allot_interest(const struct allot_conn *conn);

/* Reads and writes what is possible without waiting. */
int allot_process(struct allot_conn *conn, struct allot_error *error);

/* Takes the next answer that has arrived completely: 1 when there was one, 0 when there is none yet, -1 when the connection
 * is unusable. For 1: *id is set, and either *result is a new reference and `error` is ALLOT_OK, or *result is NULL and
 * `error` is the refusal; neither pointer may be NULL. */
int allot_take(struct allot_conn *conn, int64_t *id, json_t **result, struct allot_error *error);

#ifdef __cplusplus
}
#endif

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#endif

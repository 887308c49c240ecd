/* Connections and the event loop: the only module that knows libevent. It carries lines of text and knows nothing of what
 * they mean. Everything runs on one thread, the loop thread. A connection is known by a number that is never used again, so
 * nobody outside can hold on to one that has gone: calls about a closed connection do nothing.
 *
 *	struct transport *t = transport_new(&options);
 *	transport_listen_unix(t, path, 0600);
 *	transport_watch(t, engine_descriptor(engine), collect, engine);
 *	while (!stopping) {
 *		transport_once(t, engine_timeout(engine)); -- on_text: submit calls; engine full: transport_pause
 *		engine_pass(engine);                       -- answers: transport_send, then transport_done
 *	}
 *	transport_stop(t);                                 -- no new connections, no further texts
 *	engine_stop(engine);                               -- the last answers are queued
 *	while (!transport_drained(t) && before(deadline))
 *		transport_once(t, 100);
 *	transport_free(t);
 *
 * The framing: one text per line, ended by \n or \r\n; blank lines are skipped; an unterminated last line is dropped. The end of
 * input is a half-close: what was received is worked off and answered, then the connection ends. */
#ifndef ALLOTD_TRANSPORT_TRANSPORT_H
#define ALLOTD_TRANSPORT_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/log.h"

struct error;
struct transport;

/* What happens on connections. All are called from within transport_once, on_close also from transport_free. They may call
 * every function below except transport_once, transport_free and transport_new. */
struct transport_handlers {
	/* A connection came. `peer` is "unix:uid=1000,pid=12" or "tcp:127.0.0.1:5555" and lives until on_close. */
	void (*on_open)(void *context, uint64_t conn, const char *peer);
	/* One text, in order of arrival. It is followed by a NUL, may contain NULs, and lives until the handler returns. Each on_text is
	 * to be followed, then or later, by exactly one transport_done. */
	void (*on_text)(void *context, uint64_t conn, const char *text, size_t length);
	/* A line is longer than limits.request_bytes; all earlier texts are done. The handler may send a last answer; the connection ends
	 * after it. */
	void (*on_overlong)(void *context, uint64_t conn);
	/* The connection is gone, for whatever reason; texts that are not done yet have nobody to answer to. Once for each on_open. */
	void (*on_close)(void *context, uint64_t conn);
	/* SIGTERM or SIGINT came. */
	void (*on_signal)(void *context, int signal);
	void *context;
};

/* Everything has a limit; 0 takes the default in brackets. */
struct transport_limits {
	size_t connections;   /* accepted at the same time; more wait in the kernel [1024] */
	size_t request_bytes; /* longest line without its end [1 MiB] */
	size_t output_bytes;  /* queued for one connection; a peer that lets more than that lie is cut off [16 MiB] */
	size_t output_total;  /* queued for all connections; whoever would exceed it is cut off [256 MiB] */
	size_t pass_texts;    /* texts of one connection in one pass [256] */
	size_t open_texts;    /* texts of one connection that are not done [1024] */
	int64_t request_ms;   /* from the first byte of a line to its end [60 s]; idle connections live for ever */
	int64_t drain_ms;     /* without the peer taking any of its output [60 s] */
};

struct transport_options {
	struct transport_handlers handlers;
	struct transport_limits limits;
	const struct log *log; /* outlives the transport */
};

/* The kinds of listeners. LISTEN_HTTP is reserved: its connections will end in the same on_text. */
enum transport_kind { LISTEN_UNIX, LISTEN_TCP, LISTEN_HTTP };

/* A loop without listeners. Ignores SIGPIPE, catches SIGTERM and SIGINT, and raises the soft limit of open files as far as
 * limits.connections needs; where the hard limit is too low, fewer connections are accepted. */
struct transport *transport_new(const struct transport_options *options);

/* Closes everything without waiting and removes the unix sockets it made; NULL is legal. */
void transport_free(struct transport *t);

/* Listens on a unix stream socket; the file gets exactly `mode` from the start. A socket file that nobody answers on is replaced;
 * anything else at that path is left alone. An error carries the sysexits status in its detail "exit". */
struct error *transport_listen_unix(struct transport *t, const char *path, unsigned mode) __attribute__((warn_unused_result));

/* Listens on "HOST:PORT", "[IPV6]:PORT"; port 0 lets the system choose. `*bound` (if not NULL) becomes the address really used,
 * for the caller to free. Errors as above. */
struct error *transport_listen_tcp(struct transport *t, const char *address, char **bound) __attribute__((warn_unused_result));

/* Whether an address is one that could be listened on: NULL or the error (EX_USAGE in "exit"), without listening. */
struct error *transport_check_tcp(const char *address) __attribute__((warn_unused_result));

/* Takes over a connected stream socket as if it had been accepted, and returns its number (tests, socket activation). 0 when there is no
 * room; the descriptor is closed then. */
uint64_t transport_adopt(struct transport *t, int fd_take);

/* Calls `ready` in each pass in which the descriptor is readable, until transport_free. */
void transport_watch(struct transport *t, int fd, void (*ready)(void *context), void *context);

/* Writes what was queued, waits for something to happen, at most `timeout_ms` (-1 = for ever), and handles everything that is ready. */
void transport_once(struct transport *t, int64_t timeout_ms);

/* Queues bytes for the peer; they are copied and leave, with all others of this pass, in one write. Never waits. */
void transport_send(struct transport *t, uint64_t conn, const char *bytes, size_t length);

/* One text of this connection is dealt with: its answer, if any, was sent. */
void transport_done(struct transport *t, uint64_t conn);

/* Starts no further text of this connection, which ends when the texts begun are done and their answers are written. */
void transport_close_after_flush(struct transport *t, uint64_t conn);

/* A barrier: starts no further text of this connection until it is released. Holds are not counted. */
void transport_hold(struct transport *t, uint64_t conn);
void transport_release(struct transport *t, uint64_t conn);

/* Starts no further text of any connection, from the next line on, and leaves bytes unread; accepting goes on. Not counted. */
void transport_pause(struct transport *t);
void transport_resume(struct transport *t);

/* Ends accepting (the unix sockets are removed) and starts no further text, for good. */
void transport_stop(struct transport *t);

/* Whether every text begun is done and every answer was handed to the kernel. */
bool transport_drained(const struct transport *t);

/* Connections at the moment. */
size_t transport_connections(const struct transport *t);

#endif

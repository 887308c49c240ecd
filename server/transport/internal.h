/* What the files of the transport share. Not for others.
 *
 * Invariants:
 * 1. A connection lives in its slot from accept until the pass after the one in which it was killed; `dead` ones get no more
 *    callbacks, enter no more lists, and are released when the lists they may still be in have been gone through.
 * 2. Bytes of the input before `scanned` hold no line end. `scanned == in.length` means: no whole line is waiting.
 * 3. A read event is removed only when it fires and the connection may not start a text, and it is added again when it may:
 *    a connection that is served at once costs no epoll_ctl. A write event exists only after the kernel took less than all. */
#ifndef ALLOTD_TRANSPORT_INTERNAL_H
#define ALLOTD_TRANSPORT_INTERNAL_H

#include <event2/event.h>
#include <event2/event_struct.h>
#include <sys/types.h>

#include "base/text.h"
#include "transport/transport.h"

enum {
	READ_CHUNK = 64 * 1024,     /* bytes read from one connection in one pass */
	KEEP_ROOM = 4096,           /* buffers up to this size are kept by an idle connection */
	OUTPUT_HEAVY = 1024 * 1024, /* with more than that queued a connection starts no further text */
	LINGER_MS = 2000,           /* how long input is thrown away so that the peer can read the last answer */
	RESERVED_FDS = 64,          /* descriptors that connections never take: the database, its journals, listeners */
	ACCEPT_BURST = 64,          /* connections accepted from one listener in one pass */
	ACCEPT_PAUSE_MS = 100,      /* without accepting when the process is out of descriptors */
	PEER_LENGTH = 80
};

struct conn {
	struct transport *transport;
	uint64_t id;
	int fd;
	struct event read, write;
	struct text in;    /* what was read and not yet handed on */
	size_t scanned;    /* see invariant 2 */
	struct text out;   /* what was queued */
	size_t sent;       /* bytes of it that the kernel has */
	size_t open_texts; /* handed on and not done */
	size_t pass_texts; /* handed on in pass number `pass` */
	uint64_t pass;
	int64_t line_since; /* when the unfinished line in `in` began (monotonic ms) */
	int64_t moved_at;   /* when the peer last took output, or lingering began */
	struct conn *next;  /* in transport.ready */
	struct conn *next_dirty;
	struct conn *next_resting;
	bool reading, writing; /* whether the events are added */
	bool queued;           /* in transport.ready */
	bool dirty;            /* in transport.dirty */
	bool timed;            /* counted in transport.timed */
	bool spoken;           /* a first line came */
	bool held;
	bool eof;       /* the peer will send no more */
	bool closing;   /* no further text; ends when all is answered */
	bool overlong;  /* a line was too long; on_overlong is due when open_texts is 0 */
	bool lingering; /* all is said; waiting for the peer to go */
	bool running;   /* its lines are being handed on; conn_settle waits for the end of that */
	bool dead;
	char peer[PEER_LENGTH];
};

/* Something that waits for connections. */
struct listener {
	struct transport *transport;
	enum transport_kind kind;
	int fd;
	struct event event;
	bool added;
	char *path; /* LISTEN_UNIX: the socket file, */
	dev_t dev;  /* and which file it is, so that only our own is removed */
	ino_t ino;
	struct listener *next;
};

struct watch {
	struct event event;
	void (*ready)(void *context);
	void *context;
	struct watch *next;
};

struct transport {
	struct transport_handlers handlers;
	struct transport_limits limits;
	const struct log *log;
	struct event_base *base;
	struct event timer, term, interrupt;
	struct listener *listeners;
	struct watch *watches;
	struct conn **slots; /* limits.connections of them; id % that number is the slot */
	size_t *free_slots;  /* a stack */
	size_t n_free;
	uint64_t serial;
	struct conn *ready, **ready_end; /* may have whole lines and no event to say so */
	struct conn *dirty;              /* have output that was not offered to the kernel */
	struct conn *resting;            /* dead, released in the next pass */
	size_t timed;                    /* connections that a deadline runs for */
	size_t queued_bytes;             /* output of all connections */
	uint64_t pass;
	int64_t now;          /* monotonic ms, at the start of the pass */
	int64_t swept_at;     /* when the deadlines were last looked at */
	int64_t accept_after; /* no accepting before; 0 = not waiting */
	bool paused, stopped;
	char chunk[READ_CHUNK]; /* where every connection is read into */
};

/* connection.c: takes over the socket; NULL when there is no room (the socket is closed). */
struct conn *conn_new(struct transport *t, int fd_take);

/* Ends the connection at once: the socket is closed in the next pass. */
void conn_kill(struct conn *c);

/* Releases what conn_kill left. */
void conn_free(struct conn *c);

/* Works off the lines that are buffered. */
void conn_run(struct conn *c);

/* Something that held the connection back may have gone: runs it in the next pass or reads on. */
void conn_wake(struct conn *c);

/* Draws the consequences of a change: the overlong answer, the end of the connection, its deadlines. */
void conn_settle(struct conn *c);

/* Ends the connection if a deadline has passed. */
void conn_check_deadline(struct conn *c);

/* output.c: bytes that the kernel does not have yet. */
size_t conn_unsent(const struct conn *c);

/* Queues bytes; kills the connection when that is too much. */
void conn_queue(struct conn *c, const char *bytes, size_t length);

/* Offers the queued bytes to the kernel. */
void conn_flush(struct conn *c);

/* The write event's callback. */
void conn_writable(evutil_socket_t fd, short what, void *context);

/* Forgets the queued bytes. */
void conn_drop_output(struct conn *c);

/* listen.c: accepts or stops accepting, as the number of connections, pauses and transport_stop demand. */
void listeners_update(struct transport *t);

/* Closes all listeners and removes their socket files. */
void listeners_free(struct transport *t);

#endif

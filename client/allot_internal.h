/* What the files of liballot share; not installed.
 *
 * A connection has two buffers. `out` holds requests not yet written, `in` holds bytes not yet taken as answers.
 * Invariants:
 *   1. taken <= sent: ids 1 .. taken were received (or given up), taken+1 .. sent are on their way.
 *   2. The peer answers in order, so the next answer has id taken + 1; anything else breaks the connection.
 *   3. Once `broken` is not ALLOT_OK every operation fails with it. */
#ifndef ALLOT_INTERNAL_H
#define ALLOT_INTERNAL_H

#include <stdbool.h>

#include "allot.h"

enum {
	ALLOT_OUT_HIGH = 256 * 1024,        /* bytes waiting to be written before allot_send waits */
	ALLOT_IN_STEP = 64 * 1024,          /* bytes read at once */
	ALLOT_KEEP = 256 * 1024,            /* an empty buffer larger than this gives its memory back */
	ALLOT_ANSWER_MAX = 16 * 1024 * 1024 /* longest answer; the server's limit is 8 MiB */
};

/* Bytes between `start` and `end` are in use. */
struct allot_buffer {
	char *bytes;
	size_t start;
	size_t end;
	size_t room;
};

struct allot_conn {
	int fd;
	int timeout; /* ms per blocking operation, < 0 = for ever */
	struct allot_buffer out;
	struct allot_buffer in;
	size_t scanned;         /* bytes of `in` known to hold no newline */
	int64_t sent;           /* id of the newest call */
	int64_t taken;          /* id of the newest answer taken */
	int64_t given_up;       /* answers up to this id are dropped: nobody waits for them */
	enum allot_kind broken; /* why the connection is unusable; ALLOT_OK = usable */
	char broken_message[256];
};

/* Everything below is hidden in the shared library. */
#pragma GCC visibility push(hidden)

/* Makes room for `size` more bytes after `end`; false when memory is short. */
bool allot_buffer_reserve(struct allot_buffer *b, size_t size);
bool allot_buffer_add(struct allot_buffer *b, const char *bytes, size_t size);
/* Drops `size` bytes from the front. */
void allot_buffer_drop(struct allot_buffer *b, size_t size);
size_t allot_buffer_used(const struct allot_buffer *b);
void allot_buffer_free(struct allot_buffer *b);

/* Fills `error` (NULL is legal) with a sentence; always -1. */
int allot_fail(struct allot_error *error, enum allot_kind kind, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Fills `error` from the error member of an answer; always -1. */
int allot_refused(struct allot_error *error, const json_t *refusal);

/* Makes the connection unusable; always -1. */
int allot_break(struct allot_conn *conn, struct allot_error *error, enum allot_kind kind, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* -1 with the reason when the connection is unusable, else 0. */
int allot_usable(const struct allot_conn *conn, struct allot_error *error);

/* Monotonic time, ms. */
int64_t allot_now(void);

/* Waits until the socket can be read or written (or is closed) and does so; fails with ALLOT_TIMED_OUT at `deadline` (by allot_now, < 0: never). */
int allot_wait(struct allot_conn *conn, int64_t deadline, struct allot_error *error);

#pragma GCC visibility pop

#endif

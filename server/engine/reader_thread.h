/* A reader: a thread with a read-only connection of its own that does the work of one call at a time on a snapshot.
 *
 *	FREE ──reader_reserve──▶ RESERVED ──reader_begin──▶ WORKING ──▶ DONE ──reader_collect──▶ FREE
 *	                            │ reader_cancel (the turn was not written) ▲
 *	                            └──────────────────────────────────────────┘ FREE
 * The loop thread reserves, cancels and collects, the storage thread begins, the reader's own thread works. */
#ifndef ALLOTD_ENGINE_READER_THREAD_H
#define ALLOTD_ENGINE_READER_THREAD_H

#include <stdbool.h>

#include "store/store.h"

struct engine_call;
struct reader;

/* Starts the thread; its connection is opened when it is first needed. `notify` is raised when a work has ended. */
struct reader *reader_start(struct store *store, int notify);

/* Ends the thread, which must be free. */
void reader_stop(struct reader *r);

/* Loop thread: whether it can be reserved, and reserving it for a call. */
bool reader_is_free(struct reader *r);
void reader_reserve(struct reader *r, struct engine_call *call);
void reader_cancel(struct reader *r);

/* Storage thread: begins the snapshot and starts the work. Without a snapshot the call fails. */
void reader_begin(struct reader *r);

/* Loop thread: the call whose work has ended, NULL when there is none. `*failure` says why it was not done, NULL when it was; it stays the
 * reader's and lives until reader_free_again, which must follow. */
struct engine_call *reader_collect(struct reader *r, const struct error **failure);
void reader_free_again(struct reader *r);

#endif

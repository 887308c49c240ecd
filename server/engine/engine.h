/* Turns: everything that is ready is decided on the loop thread, written by the storage thread in one transaction, and answered
 * after its commit. The engine knows neither JSON nor sockets: a call is an object with three functions. */
#ifndef ALLOTD_ENGINE_ENGINE_H
#define ALLOTD_ENGINE_ENGINE_H

#include <stdbool.h>

#include "base/clock.h"
#include "base/log.h"
#include "core/cluster.h"
#include "core/txn.h"
#include "store/store.h"

struct engine;
struct engine_call;

/* What the engine does with a call. All but `work` run on the loop thread. */
struct engine_call_class {
	/* Decides on the cluster by `txn` and keeps the answer. May be run again: when the turn's commit failed, everything the call did was
	 * undone and it decides afresh. A refusal has undone its changes (txn_undo). Must not fail. */
	void (*decide)(struct engine_call *call, struct txn *txn);
	/* NULL for most. Runs on the reader thread, after the commit of the call's turn, on a snapshot of the database that shows exactly
	 * that turn (nothing of later ones). */
	void (*work)(struct engine_call *call, struct store_reader *reader);
	/* What decide said is durable; or `failure` (owned by the engine) says why it is not, and is to be answered instead. The call is the
	 * caller's again. Called exactly once, in the order of submission except for calls with work. */
	void (*release)(struct engine_call *call, const struct error *failure);
};

/* The head of every call; the owner embeds it, set to zero but for class and actor. */
struct engine_call {
	const struct engine_call_class *class;
	const char *actor; /* for the events; outlives the call */
	bool frees;        /* it gives things back: it is tried even while the disk is full (others are answered `read_only`) */
	bool slow;         /* its work may take long: one such works at a time, and no other call waits for it */
	bool no_work;      /* decide may set it: the answer is complete, `work` is not needed. Cleared before decide */
	size_t size; /* bytes that the call and its answer hold, roughly; set before engine_submit and by decide. Bounds the turn */

	/* The engine's. */
	struct engine_call *next;
	const struct error *failure; /* what release is told */
	bool changed;                /* decide changed something */
};

struct engine_options {
	struct cluster *cluster; /* loaded; belongs to the loop thread */
	struct store *store;     /* open and loaded; belongs to the engine until engine_stop returns */
	struct store_meta meta;  /* as loaded */
	struct clock *clock;
	const struct log *log;
	int64_t restart_grace;  /* ms after the start in which nothing expires that was there before */
	int64_t flush_interval; /* ms after which changes without a revision are written (counters at leisure) */
	int64_t busy_patience;  /* ms for which a turn waits while another writer holds the database; 0 = 5 s */
	struct store_retention retention;
	/* Called on the loop thread when there is room again after engine_full. */
	void (*on_room)(void *context);
	/* Called once when the engine cannot go on (outcome unknown): answers were sent, the process must end with a failure. */
	void (*on_broken)(void *context);
	void *context;
};

/* Starts the threads. Ended with engine_stop and engine_free. */
struct engine *engine_new(const struct engine_options *options);

/* Hands in a call; it is decided in this turn. Only on the loop thread, not from within decide. */
void engine_submit(struct engine *engine, struct engine_call *call);

/* Whether as much waits as may wait (1,024 calls or 4 MiB): whoever feeds the engine stops until on_room. */
bool engine_full(const struct engine *engine);

/* Descriptor that becomes readable when a commit or a work has ended; then engine_collect is due. */
int engine_descriptor(const struct engine *engine);
void engine_collect(struct engine *engine);

/* The end of one pass of the loop: hands the open turn to the storage thread when that is free. */
void engine_pass(struct engine *engine);

/* Milliseconds until engine_pass wants to be called again although nothing came in (next expiry, flush, poll); -1 = never. */
int64_t engine_timeout(const struct engine *engine);

/* Moves the manual clock within the open turn; what is due expires at once. Only from within decide. */
int64_t engine_advance(struct engine *engine, struct txn *txn, int64_t ms);

/* What server.info tells. Alarms are slugs, the store's among them; the array is the engine's and lives until the next call. */
struct engine_status {
	int64_t durable_revision;
	int64_t now;
	int64_t started_at;
	bool read_only;
	const char *const *alarms;
	size_t n_alarms;
	struct store_meta meta; /* as of the last commit */
	int64_t commits;        /* turns written since the start */
	int64_t operations;     /* calls decided since the start */
};
struct engine_status engine_status(const struct engine *engine);

/* Raises or clears an alarm that somebody else has found out; `slug` is a constant. Loop thread. */
void engine_alarm(struct engine *engine, const char *slug, bool raised);

/* Finishes both turns and all work, releases every call, stops the threads. The cluster stays the caller's; the store is his again. */
void engine_stop(struct engine *engine);
void engine_free(struct engine *engine);

#endif

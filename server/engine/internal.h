/* What the files of the engine share. Not for others.
 *
 * A call waits here, in this order:
 *
 *	waiting ──decide──▶ open.early | open.held ──commit──▶ ready ──release──▶ gone
 *	   ▲                          │
 *	   └──── undone: the commit failed
 *
 * Invariants:
 *  1. At most two turns hold changes: `committing`, which the storage thread reads, and `open`. Memory is the database plus
 *     their changes in this order.
 *  2. open.early saw nothing that `open` will write but soft changes: it is released when nothing is committing. Everything
 *     else of a turn is in `held` until its commit.
 *  3. The first `kept` changes of a turn survive its failure: the calls that made them were answered (soft changes), or they
 *     are events about what somebody else wrote. `kept` stays 0 while another turn commits.
 *  4. While `careful`, after a failed commit, a turn has one author: one call, or the kept changes, or what has expired.
 *     The first `again` calls of `waiting` are those that were decided before.
 *  5. While `loading` nothing is decided and both turns hold at most kept events. */
#ifndef ALLOTD_ENGINE_INTERNAL_H
#define ALLOTD_ENGINE_INTERNAL_H

#include "engine/alarms.h"
#include "engine/call_list.h"
#include "engine/reader_thread.h"
#include "engine/storage_thread.h"

enum {
	TURN_CALLS = 1024,            /* operations of one turn */
	TURN_BYTES = 4 * 1024 * 1024, /* what its calls and changes hold, roughly */
	CHANGE_BYTES = 256,           /* a change, roughly */
	SOFT_CHANGES = 256,           /* soft changes that may wait for the next turn */
	READERS = 3,                  /* calls with work at the same time; */
	SLOW_READER = 0,              /* this one is for what may take long, the others for everything else */
	BUSY_PATIENCE_MS = 5000,      /* how long a turn waits for another writer, unless the options say otherwise */
	PROBE_MS = 1000,              /* between tries to write after a failure */
	SKEW_MS = 5000,               /* how far the wall clock may be off without an alarm */
	EXTERNAL_ROUNDS = 10,         /* outside writes in a row after which the held calls are answered `unavailable` */
};

struct turn {
	struct change_list changes;
	size_t kept;       /* invariant 3 */
	size_t first_hard; /* where the changes with a revision begin; changes.n while there are none */
	struct call_list early, held;
	size_t operations; /* calls and expiries */
	int64_t now;       /* the time of its decisions; valid when `dated` */
	bool dated;
	bool hard;                  /* must be written soon: somebody waits */
	bool sealed;                /* takes nothing more */
	bool alone;                 /* has one author and is the second try: its failure is final */
	bool grows;                 /* has a change by a call that does not free: its success shows that there is space */
	bool advanced;              /* moved the manual clock, */
	int64_t clock_before;       /* which stood there */
	int64_t soft_since;         /* when its first soft change was made (monotonic ms) */
	struct reader *reader;      /* reserved for `worker` */
	struct engine_call *worker; /* the call with work that sealed the turn; not in `held` */
};

/* Why the database is being read again. */
enum load_reason { LOAD_NOT, LOAD_EXTERNAL, LOAD_DIVERGED };

/* The engine's own errors, made once. */
enum engine_error {
	FAIL_BUSY,
	FAIL_READ_ONLY,
	FAIL_FULL, /* not even what frees could be written */
	FAIL_LOW,
	FAIL_QUOTA,
	FAIL_UNKNOWN,
	FAIL_INTERNAL,
	FAIL_BROKEN,
	FAIL_OUTSIDE,
	ENGINE_ERRORS
};

struct engine {
	struct engine_options options;
	struct cluster *cluster;
	struct storage *storage;
	struct reader *readers[READERS];
	int notify; /* eventfd */
	struct error *errors[ENGINE_ERRORS];
	struct alarms alarms;
	struct alarms *told; /* what engine_status gave out last, the store's alarms included */

	struct turn turns[2];
	struct turn *open, *committing; /* committing: NULL while the storage thread has no turn */
	struct job job;
	enum load_reason loading;
	struct call_list waiting;         /* not decided */
	size_t again;                     /* invariant 4 */
	struct call_list work_waiting[2]; /* calls with work, for a free reader; [1] the slow ones */
	struct call_list ready;           /* to be released */

	bool unsettled; /* somebody else may have changed what is in the cluster: cluster_settle is due */
	bool careful;
	bool read_only; /* the last try to grow found no space */
	bool broken;    /* the outcome of a commit is unknown, or the database cannot be read: nothing goes any more */
	bool broken_told;
	bool stopping;
	bool was_full; /* on_room is due when there is room */
	bool deciding;
	bool advancing; /* the call that decides has moved the manual clock */
	int external_rounds;
	int64_t hold_until; /* monotonic ms: until then no expiry, no probe, no flush */
	int64_t started_at;
	struct store_meta meta; /* as of the last commit */
	int64_t commits, operations;
};

/* A reader for a call with work; NULL while those that it may have are at work. */
struct reader *engine_reader(struct engine *e, const struct engine_call *call);

/* turn.c */

/* Whether the open turn can take another decision. Dates it and lets expire what is due first. */
bool turn_begin(struct engine *e);

/* Lets a call decide in the open turn, which must have begun. */
void turn_decide(struct engine *e, struct engine_call *call);

/* From now on the turn's changes, from index `from` on, must be written. */
void turn_harden(struct turn *t, size_t from);

/* Takes back the turn's changes from index `from` on, and the manual clock with them. */
void turn_undo(struct engine *e, struct turn *t, size_t from);

/* The early calls were answered: what they did stays (invariant 3). */
void turn_keep(struct turn *t);

/* Makes the turn empty; its calls must have been moved away. */
void turn_clear(struct turn *t);

/* Whether the engine lets things expire at all now. */
bool expiry_allowed(const struct engine *e);

/* Why nothing that grows is done now, FAIL_READ_ONLY, FAIL_LOW or FAIL_QUOTA, whose detail is the alarm; NULL when there is room. */
const struct error *engine_shortage(const struct engine *e);

/* failure.c */

/* What follows from the end of a commit that did not go well. */
void engine_commit_failed(struct engine *e);

/* Nothing goes any more: every call is answered, those of the committing turn that changed something with `outcome_unknown`. */
void engine_break(struct engine *e);

/* Takes back both turns and puts their calls first in `waiting`; returns how many. Kept changes stay in the open turn: all of them,
 * or only the events. */
size_t engine_undo(struct engine *e, bool keep_soft);

/* external.c: has the database read again. Both turns must be taken back, the storage thread free. */
void engine_load(struct engine *e, enum load_reason reason);

/* The reading has ended: memory becomes what was read. */
void engine_loaded(struct engine *e);

#endif

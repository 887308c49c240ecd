/* The storage thread: the only one that uses the writing connection while the engine runs. It does one job at a time; what a job
 * points to belongs to it until it is finished. When it has nothing to do it looks twice a second whether somebody else wrote
 * into the database. */
#ifndef ALLOTD_ENGINE_STORAGE_THREAD_H
#define ALLOTD_ENGINE_STORAGE_THREAD_H

#include <stdbool.h>
#include <stdint.h>

#include "store/store.h"

struct reader;
struct storage;

enum job_kind { JOB_COMMIT, JOB_LOAD };

struct job {
	enum job_kind kind;

	/* JOB_COMMIT */
	const struct change_list *changes;
	bool empty;                   /* there is nothing to write, only a snapshot to begin */
	int64_t revision, token, now; /* for the meta row */
	int64_t patience_ms;          /* how long another writer is waited for */
	struct reader *reader;        /* begins its snapshot right after the commit and starts its work; NULL = none */
	enum store_outcome outcome;
	char *why; /* owned, NULL when it went well */

	/* JOB_LOAD */
	struct error *error;       /* owned, NULL when it went well */
	struct change_list loaded; /* owned */

	struct store_meta meta; /* after the job, when it went well */
};

/* Starts the thread. `notify` is an eventfd that is raised when there is something to collect. */
struct storage *storage_start(struct store *store, const struct store_retention *retention, const struct log *log, int notify);

/* Gives the thread a job; it must be free. */
void storage_give(struct storage *s, struct job *job);

/* The job that has been finished, once; NULL when there is none. */
struct job *storage_take(struct storage *s);

/* What the thread found out by itself. Both are told once. */
struct storage_news {
	bool outside; /* somebody else changed the database */
	bool broken;  /* the disk failed in housekeeping: as STORE_UNKNOWN */
};
struct storage_news storage_news(struct storage *s);

/* Ends the thread, which must be free, and releases it. The store is the caller's again. */
void storage_stop(struct storage *s);

#endif

/* The store's inside, for the files of server/store. */
#ifndef ALLOTD_STORE_STORE_PRIVATE_H
#define ALLOTD_STORE_STORE_PRIVATE_H

#include <stdatomic.h>

#include "store/apply.h"
#include "store/connection.h"
#include "store/directory.h"
#include "store/highwater.h"
#include "store/load.h"
#include "store/space.h"
#include "store/store.h"

/* Bits of `alarms`. */
enum { ALARM_HIGHWATER_ABSENT = 1, ALARM_HIGHWATER_TORN = 2, ALARM_HIGHWATER_UNWRITABLE = 4 };

struct store {
	struct directory directory;
	struct highwater highwater;
	struct space space;
	const struct store_codec *codec;
	const struct log *log;

	sqlite3 *db; /* the one connection that writes */
	struct writer writer;
	struct loader loader;
	struct statement begin, begin_read, commit, rollback, data_version;
	struct statement meta_write;
	struct statement event_ends, event_start, event_stay, event_cut, horizon_write;

	struct store_meta meta; /* as last committed or loaded */
	int64_t known_version;  /* what PRAGMA data_version said when we last knew everything */
	int log_frames;         /* pages in the write-ahead log after the last commit */
	int64_t written_events; /* since the last tidy */
	bool broken;            /* an outcome was unknown: nothing may be written any more */
	atomic_uint alarms;
};

/* Prepares every statement of the writing connection; the others are its parts. */
int store_prepare(struct store *store);
int transaction_prepare(struct store *store);
int commit_prepare(struct store *store);
int tidy_prepare(struct store *store);

/* Begins a transaction that writes. STORE_EXTERNAL when somebody else wrote since we last knew everything. */
enum store_outcome transaction_begin(struct store *store, char **why);

/* Commits; on failure the transaction is rolled back. */
enum store_outcome transaction_commit(struct store *store, char **why);

/* Ends a transaction after `rc` and says what that means; `what` names what was being written. */
enum store_outcome transaction_fail(struct store *store, int rc, const char *what, char **why);

/* Writes and syncs once more what the log of a connection in WAL mode holds, so that it is known to be on the disk. */
int store_secure_log(sqlite3 *db);

/* Reads PRAGMA data_version. */
int store_read_data_version(struct store *store, int64_t *ret);

/* Moves pages from the log into the database, as far as readers allow. A failing disk breaks the store. */
void store_checkpoint(struct store *store);

#endif

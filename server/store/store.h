/* The database: open, migrate, load, write changes, read history, check. The only module that knows SQL.
 *
 * A store has one writing connection, used by one thread at a time (the loop thread until the engine starts, then the
 * storage thread). Readers are further connections, read-only, each used by one thread at a time. */
#ifndef ALLOTD_STORE_STORE_H
#define ALLOTD_STORE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/log.h"
#include "base/text.h"
#include "core/change.h"

struct error;
struct store;
struct store_reader;

/* How records become JSON texts and back; given by whoever knows JSON. Must be callable from any thread. */
struct store_codec {
	/* Appends the event's data, one JSON object. */
	void (*print_event)(const struct event *event, struct text *to);
	/* Decodes the canonical text of a request; returns a fresh reference, or an error. */
	struct error *(*parse_request)(const char *text, struct request **ret) __attribute__((warn_unused_result));
};

struct store_options {
	const char *directory; /* the data directory; created with mode 0700 when missing */
	const struct store_codec *codec;
	const struct log *log;
	bool guard;        /* keep the database's guard triggers on for our own writes too (tests); others always have them */
	int64_t now;       /* for a new database: its creation time, Unix ms */
	int64_t max_bytes; /* hard limit of the database file, 0 = none */
	int64_t ballast;   /* bytes kept back for a full disk, less on a small one; 0 = none, and the disk is not looked at */
};

/* What the database remembers beside the rows. */
struct store_meta {
	char db_id[33];   /* random, hex; the identity of this database */
	int64_t epoch;    /* rises at each restore */
	int64_t revision; /* last used */
	int64_t token;    /* last used lock token */
	int64_t now;      /* the last time it knew, Unix ms */
	int64_t horizon;  /* events up to and including this revision are gone */
};

/* How a commit ended. */
enum store_outcome {
	STORE_OK,
	STORE_BUSY,     /* another writer holds the database; nothing was done, the same turn may be tried again */
	STORE_EXTERNAL, /* somebody else changed the database since our last commit; nothing was done, rebuild from store_load */
	STORE_FULL,     /* no space; nothing was done */
	STORE_CONSTRAINT, /* the database refuses the changes: memory and disk differ; nothing was done */
	STORE_NOMEM,      /* SQLite ran out of memory; nothing was done */
	STORE_UNKNOWN     /* the disk failed: the changes may or may not be there. The store must not be used again */
};

/* Opens (creates, recovers, migrates) the database in the directory, takes the directory's lock for life, and checkpoints. On failure: an
 * error whose message says precisely what is wrong and whose detail "exit" is the sysexits status to end with; the files are untouched. */
struct error *store_open(const struct store_options *options, struct store **ret) __attribute__((warn_unused_result));

/* Closes cleanly: checkpoint, exact high-water record. NULL is legal. */
void store_close(struct store *store);

/* As of the last commit or load. */
struct store_meta store_meta(const struct store *store);

/* What the store is worried about, as slugs for server.info: "highwater_absent" and "highwater_torn" (at the start there was no good record of
 * how far the database had come), "highwater_unwritable". Fills in at most STORE_ALARMS constants and returns their number. Any thread. */
enum { STORE_ALARMS = 3 };
size_t store_alarms(const struct store *store, const char *ret[STORE_ALARMS]);

/* Why nothing should grow any more, although it could still be written: "disk_low" or "quota" (near max_bytes); NULL = there is room. A constant.
 * Any thread. */
const char *store_shortage(const struct store *store);

/* Looks how much room there is, as each commit does; when it is short, the log gives back what it does not need. Cheap; called when idle. A failing
 * disk is told by whatever is done next. */
void store_measure(struct store *store);

/* Reads every row as an insert, in an order in which they can be applied to an empty cluster, and the meta row. Runs on the writing
 * connection in one read transaction, and from then on regards what it read as known (see STORE_EXTERNAL). */
struct error *store_load(struct store *store, struct change_list *ret, struct store_meta *meta)
	__attribute__((warn_unused_result));

/* Writes the changes and the meta row in one transaction and commits. Changes that are on disk already (taken over from an external writer)
 * are left out by the caller, but for their events. `horizon` never goes back. On anything but STORE_OK, `*why` says what SQLite said (owned by
 * the caller); on STORE_OK it is NULL.
 *
 * With the guard on, order counts: a lock is put before the allocation that is bound under it, and goes after the allocation has left `bound`. */
enum store_outcome store_commit(
	struct store *store, const struct change_list *changes, const struct store_meta *meta, char **why);

/* Whether somebody else changed the database since the last commit or load. Cheap; called when idle. */
bool store_changed_outside(struct store *store);

/* Housekeeping between commits, called when idle or every so often (once a second is enough): a passive checkpoint, and the removal of events
 * beyond the limits, at most twice as many as were written since the last call. Raises meta.horizon. */
struct store_retention {
	int64_t keep_events; /* number of events to keep; 0 = all */
	int64_t keep_ms;     /* age of events to keep; 0 = any */
};
enum store_outcome store_tidy(struct store *store, const struct store_retention *retention, int64_t now, char **why);

/* A read-only connection. */
struct error *store_reader_open(struct store *store, struct store_reader **ret) __attribute__((warn_unused_result));
void store_reader_close(struct store_reader *reader);

/* Begins and ends a snapshot of what is committed now. May be begun on one thread and used on another, one at a time. */
struct error *store_reader_begin(struct store_reader *reader) __attribute__((warn_unused_result));
void store_reader_end(struct store_reader *reader);

/* One row of history. Strings live until the callback returns. */
struct store_event {
	int64_t revision, n, at;
	const char *kind, *node, *uid, *actor, *data;
};

struct store_event_query {
	int64_t after;          /* revisions above this */
	int64_t limit;          /* at least this many events when there are as many, and the last revision whole */
	const char *uid, *node; /* NULL = any */
	const char *mention;    /* what the event's data must contain; NULL = anything */
};

/* How far history reaches back. */
struct store_span {
	int64_t horizon;  /* revisions up to this are gone */
	int64_t revision; /* the last one */
	int64_t epoch;
	int64_t since; /* the time of the first event that is there, Unix ms; 0 when there is none */
};
struct error *store_reader_span(struct store_reader *reader, struct store_span *ret) __attribute__((warn_unused_result));

/* Calls `each` for the matching events in order; a revision is never split: after `limit` events it goes on to the end of the revision.
 * `*last` is the revision up to which the answer is complete, which may be reached with fewer events than `limit`, even none: a call looks at a
 * bounded number of rows. At the end of history it is the revision of the snapshot. ERR_COMPACTED (oldest: the first revision that is still
 * there, epoch) when `after` lies before the horizon. */
struct error *store_reader_events(struct store_reader *reader, const struct store_event_query *query,
	void (*each)(void *context, const struct store_event *event), void *context, int64_t *last)
	__attribute__((warn_unused_result));

/* The rows and meta as in store_load, from the snapshot. */
struct error *store_reader_load(struct store_reader *reader, struct change_list *ret, struct store_meta *meta)
	__attribute__((warn_unused_result));

/* Checks what only the database can know (integrity, foreign keys, the schema's own rules); appends one sentence for each violation. */
struct error *store_reader_check(struct store_reader *reader, void (*violation)(void *context, const char *sentence),
	void *context) __attribute__((warn_unused_result));

#endif

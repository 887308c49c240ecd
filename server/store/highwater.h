/* The high-water record: how far the database had come when we last looked, kept outside of it. A damaged write-ahead log can drop the
 * last commits without a trace; then the database is behind its record and must not be served, because answers were given from what is lost.
 *
 * 64 bytes: "allotHW1", 32 hex digits of the database's identity, epoch, revision, checksum (little endian, 8 bytes each).
 * Written after each commit, synced at most once a second and at a clean close. */
#ifndef ALLOTD_STORE_HIGHWATER_H
#define ALLOTD_STORE_HIGHWATER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "store/store.h"

struct highwater {
	int fd;         /* -1 = not open */
	int64_t synced; /* CLOCK_MONOTONIC of the last sync, ms */
	bool dirty;     /* written since */
};

enum highwater_state {
	HIGHWATER_GOOD,
	HIGHWATER_ABSENT, /* no record: it cannot be told whether commits are missing */
	HIGHWATER_TORN    /* not readable as a record: the same */
};

struct highwater_record {
	char db_id[33];
	int64_t epoch;
	int64_t revision;
};

/* Reads the record at `path`, without changing anything. */
enum highwater_state highwater_read(const char *path, struct highwater_record *ret);

/* Whether the database may be served by the record: EX_DATAERR when it is another one or behind. */
struct error *highwater_check(const char *path, const struct highwater_record *record, const struct store_meta *meta)
	__attribute__((warn_unused_result));

/* Opens the file for writing, creating it with mode 0600, and records `meta` durably. */
struct error *highwater_open(struct highwater *h, const char *path, const struct store_meta *meta)
	__attribute__((warn_unused_result));

/* Records that `meta` was committed. False when the file cannot be written: an alarm, not a failure of the commit. */
bool highwater_write(struct highwater *h, const struct store_meta *meta);

/* Syncs what is not yet synced, at most once a second. */
void highwater_sync(struct highwater *h);

/* Syncs what is not yet synced and closes. */
void highwater_close(struct highwater *h);

#endif

/* How much room there is, and when to stop growing: well before a write fails, so that what frees things can still be written.
 *
 *             0 ◀── what is left of the disk (or of --max-bytes) ──▶ all
 *   ──────────┼──────────────┼──────────────────┼─────────────────────
 *    writes   │   shortage   │ as before (a     │  plenty: the ballast
 *    fail     │              │ little leeway)   │  is there
 *
 * Owned and measured by whoever has the writing connection; `shortage` may be read from any thread. */
#ifndef ALLOTD_STORE_SPACE_H
#define ALLOTD_STORE_SPACE_H

#include <stdatomic.h>

#include "base/log.h"
#include "store/ballast.h"

struct sqlite3;

struct space {
	const char *directory; /* borrowed */
	const struct log *log;
	int64_t max_bytes; /* limit of the database file, 0 = none */
	int64_t low;       /* less than this left on the disk is a shortage; 0 = the disk is not looked at */
	struct ballast ballast;
	_Atomic(const char *) shortage; /* NULL, "disk_low" or "quota"; a constant */
};

/* `ballast`: wanted size, made smaller for a small disk; 0 = neither ballast nor a look at the disk. */
void space_begin(struct space *s, const char *directory, const struct log *log, int64_t max_bytes, int64_t ballast);
void space_end(struct space *s);

/* Looks how much is left, raises and ends the shortage, writes the ballast when there is plenty. Cheap: a few microseconds. */
void space_measure(struct space *s, struct sqlite3 *db);

/* How many pages the log may hold before it must be moved into the database: fewer on a small disk, few in a shortage. */
int space_log_frames(const struct space *s);

/* A write found no room. Whether there is some now and trying again makes sense. */
bool space_make_room(struct space *s);

/* The same before there is a store: whether the disk of the directory is full and something could be given up. */
bool space_make_room_in(const char *directory);

#endif

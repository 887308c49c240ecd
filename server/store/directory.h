/* The data directory: the names of its files, and the lock that makes one process its owner.
 *
 *   allotd.db            the database, with -wal and -shm beside it while it is in use
 *   allotd.highwater     what was last committed, see highwater.h
 *   allotd.*.next, allotd.db.incoming    only while it is being replaced, see replace.h
 *   allotd.ballast       only takes up room, see ballast.h
 *   allotd.lock          locked with flock for the life of the server; holds its process id
 */
#ifndef ALLOTD_STORE_DIRECTORY_H
#define ALLOTD_STORE_DIRECTORY_H

#include "base/error.h"

struct directory {
	char *path;
	char *database; /* paths of the files */
	char *highwater;
	char *lock;
	int lock_fd; /* -1 = not locked */
};

/* Makes the directory when it is missing (mode 0700, also its parents) and takes the lock. EX_TEMPFAIL when another process holds it. */
struct error *directory_open(struct directory *d, const char *path) __attribute__((warn_unused_result));

/* Gives the lock back and releases the names. The lock file stays: removing it would let two processes lock two files of the same name. */
void directory_close(struct directory *d);

/* Makes renames and new files durable. */
struct error *directory_sync(const struct directory *d) __attribute__((warn_unused_result));

#endif

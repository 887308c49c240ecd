/* A disk that fails: a layer of SQLite's file system (VFS) over the real one. It looks after the files of one directory, everything else
 * passes through. It can refuse an operation, and it knows at any time what a power failure would leave of the files.
 *
 * There is one at a time, used by one thread. */
#ifndef TESTS_FAULT_STORE_DISK_H
#define TESTS_FAULT_STORE_DISK_H

#include <sqlite3.h>

#include "image.h"

enum disk_operation {
	DISK_READ,
	DISK_WRITE, /* fails half done */
	DISK_SYNC,
	DISK_TRUNCATE,
	DISK_OPEN,
	DISK_LOCK,        /* of the database file */
	DISK_SHARED_LOCK, /* of the index of the log */
	DISK_SHARED_MAP,
	DISK_SIZE,
	DISK_DELETE,
	DISK_OPERATIONS
};

/* The Nth operation of a kind fails. */
struct disk_fault {
	enum disk_operation operation;
	long nth;      /* from 1; 0 = none */
	bool for_ever; /* and all after it */
	int code;      /* what SQLite is told */
};

struct disk {
	const char *directory; /* whose files are looked after; borrowed, NULL = none */
	struct disk_fault fault;
	long counts[DISK_OPERATIONS]; /* of operations since disk_watch */
	bool struck;                  /* the fault has come */
	struct image *images;         /* NULL unless `remember` */
	bool remember;                /* keep images; costs time */
	/* Called before each sync, when `remember`; `name` is the file that is synced. Must return: it is called from within SQLite. */
	void (*before_sync)(void *context, const char *name);
	void *context;
};

/* Registers the layer as SQLite's default; returns the disk, which is static. */
struct disk *disk_install(void);

/* Looks after the files of `directory` (borrowed) from now on, without a fault, with nothing pending and counts of 0. NULL ends it. */
void disk_watch(struct disk *disk, const char *directory, bool remember);

/* Writes the files that an outage leaves of these images into a directory, which must be empty. */
void disk_crash(const struct image *images, const struct outage *outage, struct random *random, const char *to);

/* "read", "write" ... */
const char *disk_operation_name(enum disk_operation operation);

#endif

/* A disk that fails under the real server: tests/fault/preload/bad_disk.c is preloaded into it (LD_PRELOAD) and asks this, which it shares with
 * the test through a file named by BAD_DISK. Only files whose path contains `part` are meant. */
#ifndef TESTS_FAULT_BAD_DISK_H
#define TESTS_FAULT_BAD_DISK_H

#include <stdatomic.h>

enum bad_operation { BAD_NOTHING, BAD_WRITE, BAD_SYNC };

struct bad_disk {
	char part[64];         /* set before the server starts */
	atomic_int operation;  /* what fails */
	atomic_int error;      /* with which errno */
	atomic_long countdown; /* from now on the so-manieth one, and all after it */
	atomic_long struck;    /* how often it failed */
	atomic_long room;      /* bytes by which files may still grow; negative = any */
	atomic_long size;      /* of the disk, when there is a limit to its room */
};

/* Makes the shared memory, and the environment for servers that are started from now on. Ended with bad_disk_free, also the environment. */
struct bad_disk *bad_disk_new(const char *part);
void bad_disk_free(struct bad_disk *disk); /* NULL is legal */

/* From now on the nth operation and all after it fail. */
void bad_disk_fail(struct bad_disk *disk, enum bad_operation operation, int error, long nth);

/* The disk works again. */
void bad_disk_mend(struct bad_disk *disk);

#endif

/* Backups: copies of the database that stand by themselves, in a directory of their own, and the way back from one.
 *
 * A backup NAME is an ordinary database file without a write-ahead log; beside it, NAME.sha256 has its checksum in the form of
 * sha256sum. It appears under its name only when it is whole, checked and synced. Names are file names by a strict rule, never paths.
 * All functions may be called from any thread; one backup is made at a time in a directory. */
#ifndef ALLOTD_STORE_BACKUP_H
#define ALLOTD_STORE_BACKUP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"
#include "store/store.h"

enum { BACKUP_NAME_MAX = 100, BACKUP_CHECKSUM_SIZE = 65 };

/* Proves that rows, taken as inserts, make a cluster that is sound; given by whoever knows the cluster. */
struct store_proof {
	struct error *(*prove)(void *context, const struct change_list *rows, const struct store_meta *meta);
	void *context;
};

struct store_backup_options {
	const char *directory; /* made with mode 0700 when it is missing */
	const char *name;      /* NULL = `prefix`, the time and the revision */
	const char *prefix;    /* of names that are made up */
	int64_t at;            /* the time for such a name, Unix ms */
	const struct store_proof *proof;
	const atomic_bool *stop; /* when it becomes true the backup is given up; NULL = never */
};

struct store_backup {
	char name[BACKUP_NAME_MAX + 1];
	int64_t bytes;
	char sha256[BACKUP_CHECKSUM_SIZE]; /* hex; "" = not known */
	int64_t at;                        /* when it was made, Unix ms; the clock of the file system */
	int64_t revision;                  /* that it shows; only from store_backup_create */
	int64_t epoch;
};

/* Letters, digits, '-', '_' and '.', up to 100, not beginning with '.', not ending like the files that belong to one (.sha256, -wal ...). */
bool store_backup_name_is_legal(const char *name);

/* Copies what the reader's snapshot shows, which is ended as soon as that is done, and checks the copy in every way we know. ERR_CONFLICT: the
 * name is taken; ERR_UNAVAILABLE: another one is being made, no space, or given up; ERR_INTERNAL: it cannot be written or is not sound. */
struct error *store_backup_create(struct store_reader *reader, const struct store_backup_options *options,
	struct store_backup *ret) __attribute__((warn_unused_result));

/* Tells of each backup in the order of their names. A directory that is missing is empty. */
struct error *store_backup_list(const char *directory, void (*each)(void *context, const struct store_backup *backup),
	void *context) __attribute__((warn_unused_result));

/* Appends up to `limit` bytes from `offset` on; `*size` is that of the file. ERR_NOT_FOUND. */
struct error *store_backup_read(const char *directory, const char *name, int64_t offset, int64_t limit, struct text *to,
	int64_t *size) __attribute__((warn_unused_result));

/* ERR_NOT_FOUND when there is none. */
struct error *store_backup_remove(const char *directory, const char *name) __attribute__((warn_unused_result));

/* Removes all but the last `keep`, by name, of those whose names begin with `prefix`. */
struct error *store_backup_prune(const char *directory, const char *prefix, int64_t keep) __attribute__((warn_unused_result));

struct store_restore_options {
	const char *from;      /* a backup, or any database file of ours */
	const char *directory; /* the data directory; created with mode 0700 when missing */
	bool force;            /* replace the database that is there */
	int64_t now;           /* Unix ms */
	const struct store_codec *codec;
	const struct store_proof *proof;
};

struct store_restored {
	struct store_meta from, now;       /* of the file; of the database that was made of it */
	int64_t reservations, nominations; /* that were dropped */
};

/* Makes the database of a directory that no server uses from a file: the end of one epoch and the beginning of the next.
 *
 *  - What was only promised is dropped: reservations and nominations. Who was promised something asks again.
 *  - What was bound, allocated or releasing stays: it may run. All nodes are unverified until their agents have reconciled.
 *  - Revision and token go on beyond what the file's lost future can have used, and beyond the database that is replaced.
 *  - What happened before is not in event.list any more; `server.restored` is the first event of the new epoch.
 *
 * The file is checked first. Whatever happens, the directory has the old database or the new one; a change that was cut off is finished by
 * the next store_open. Errors have an exit status in their detail "exit". */
struct error *store_restore(const struct store_restore_options *options, struct store_restored *ret)
	__attribute__((warn_unused_result));

#endif

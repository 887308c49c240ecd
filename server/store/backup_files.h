/* The files of a directory of backups. */
#ifndef ALLOTD_STORE_BACKUP_FILES_H
#define ALLOTD_STORE_BACKUP_FILES_H

#include <stdbool.h>

#include "store/backup.h"

/* The directory, open and locked against other makers of backups until `fd` is closed. */
struct backup_place {
	int fd;
	const char *directory; /* borrowed */
};

/* Opens the directory, making it if need be. ERR_UNAVAILABLE when another backup is being made in it. */
struct error *backup_place_open(struct backup_place *place, const char *directory) __attribute__((warn_unused_result));
void backup_place_close(struct backup_place *place);

/* Whether the name is taken. */
bool backup_place_has(const struct backup_place *place, const char *name);

/* ERR_UNAVAILABLE when there is no room for a file of that many bytes and a little more. */
struct error *backup_place_room(const struct backup_place *place, int64_t bytes) __attribute__((warn_unused_result));

/* Gives the finished file `temporary` of the directory its name, with a checksum file beside it, durably. ERR_CONFLICT when the name is taken. */
struct error *backup_place_publish(const struct backup_place *place, const char *temporary, const struct store_backup *backup)
	__attribute__((warn_unused_result));

/* "FILE cannot be VERBed: why", from errno. */
struct error *backup_failed(const char *directory, const char *name, const char *doing) __attribute__((warn_unused_result));

/* The checksum that the file NAME.sha256 says; "" when there is none. */
void backup_read_checksum(int directory_fd, const char *name, char ret[BACKUP_CHECKSUM_SIZE]);

#endif

/* Making a backup: copy the snapshot, let it go, check the copy, give it its name. */
#include "store/backup.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/mem.h"
#include "store/backup_files.h"
#include "store/connection.h"
#include "store/copy.h"
#include "store/digest.h"
#include "store/reader.h"
#include "store/verify.h"

enum { SAME_NAMES = 100 }; /* tries to find a name that is free */

static const char temporary[] = ".incomplete";

/* PREFIX20261129T134502Z-r1234.db, in the order of time; with _2, _3 ... when that is taken. */
static void make_name(
	const struct backup_place *place, const struct store_backup_options *o, const struct store_meta *meta, char *ret)
{
	char when[32];
	struct tm tm;
	time_t at = (time_t)(o->at / 1000);
	(void)gmtime_r(&at, &tm);
	(void)strftime(when, sizeof when, "%Y%m%dT%H%M%SZ", &tm);
	(void)snprintf(ret, BACKUP_NAME_MAX + 1, "%.32s%s-r%" PRId64 ".db", o->prefix, when, meta->revision);
	for (int i = 2; backup_place_has(place, ret) && i < SAME_NAMES; i++)
		(void)snprintf(ret, BACKUP_NAME_MAX + 1, "%.32s%s-r%" PRId64 "_%d.db", o->prefix, when, meta->revision, i);
}

static struct error *choose_name(
	const struct backup_place *place, const struct store_backup_options *o, const struct store_meta *meta, char *ret)
{
	if (o->name)
		(void)snprintf(ret, BACKUP_NAME_MAX + 1, "%s", o->name);
	else
		make_name(place, o, meta, ret);
	if (!backup_place_has(place, ret))
		return NULL;
	return error_with_string(error_new(ERR_CONFLICT, "there is a backup %s already", ret), "name", ret);
}

static int size_of(struct store_reader *reader, int64_t *ret)
{
	int64_t pages = 0, size = 0;
	int rc = connection_number(reader->db, "PRAGMA page_count", &pages);
	if (rc == SQLITE_OK)
		rc = connection_number(reader->db, "PRAGMA page_size", &size);
	*ret = pages * size;
	return rc;
}

/* The snapshot is let go with its last page: while it is held the write-ahead log can only grow. */
static struct error *copy_snapshot(
	struct store_reader *reader, const struct backup_place *place, const char *path, const atomic_bool *stop)
{
	int64_t bytes = 0;
	int rc = size_of(reader, &bytes);
	struct error *e = rc == SQLITE_OK ? backup_place_room(place, bytes) : reader_failed(reader, rc);
	if (!e)
		e = copy_database(reader->db, path, stop);
	store_reader_end(reader);
	return e;
}

/* Checksum and size, read from the disk's copy; what the page cache holds of it is of no more use. */
static struct error *measure(const struct backup_place *place, const atomic_bool *stop, struct store_backup *ret)
{
	int fd = openat(place->fd, temporary, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	struct stat st;
	bool good = fd >= 0 && fstat(fd, &st) == 0 && digest_file(fd, stop, ret->sha256, &ret->bytes);
	struct error *e = good ? NULL : errno == ECANCELED ? copy_stopped() : backup_failed(place->directory, temporary, "read");
	if (good)
		ret->at = (int64_t)st.st_mtim.tv_sec * 1000 + st.st_mtim.tv_nsec / 1000000;
	if (fd >= 0) {
		(void)posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
		(void)close(fd);
	}
	return e;
}

static struct error *make(struct store_reader *reader, const struct backup_place *place, const struct store_backup_options *o,
	struct store_backup *ret)
{
	struct store_meta meta = { 0 };
	char *path = mem_format("%s/%s", place->directory, temporary);
	int rc = load_meta(&reader->loader, &meta);
	struct error *e = rc == SQLITE_OK ? choose_name(place, o, &meta, ret->name) : reader_failed(reader, rc);
	if (!e)
		e = copy_snapshot(reader, place, path, o->stop);
	if (!e)
		e = verify_file(path, reader->codec, o->proof, o->stop, &meta);
	if (!e)
		e = measure(place, o->stop, ret);
	ret->revision = meta.revision;
	ret->epoch = meta.epoch;
	if (!e)
		e = backup_place_publish(place, temporary, ret);
	if (e)
		copy_remove(path);
	free(path);
	return e;
}

struct error *store_backup_create(
	struct store_reader *reader, const struct store_backup_options *options, struct store_backup *ret)
{
	struct backup_place place;
	*ret = (struct store_backup){ 0 };
	struct error *e = backup_place_open(&place, options->directory);
	if (!e)
		e = make(reader, &place, options, ret);
	backup_place_close(&place);
	return e;
}

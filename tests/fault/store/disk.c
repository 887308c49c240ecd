#include "disk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "files.h"

/* An open file; the real layer's own follows in the same memory. */
struct file {
	sqlite3_file base;
	struct disk *disk;   /* NULL: passes through */
	struct image *image; /* NULL: nothing is remembered; otherwise the disk's */
	sqlite3_file *real;
};

/* What is registered with SQLite, for the life of the process. */
struct layer {
	sqlite3_vfs vfs;
	sqlite3_vfs *real;
	struct disk disk;
};

static struct file *of(sqlite3_file *f)
{
	return (struct file *)(void *)f;
}

static sqlite3_file *real(sqlite3_file *f)
{
	return of(f)->real;
}

/* Counts an operation; what it is to fail with, or SQLITE_OK. */
static int step(struct disk *d, enum disk_operation operation)
{
	if (!d)
		return SQLITE_OK;
	long n = ++d->counts[operation];
	const struct disk_fault *f = &d->fault;
	if (f->nth == 0 || f->operation != operation || n < f->nth || (n > f->nth && !f->for_ever))
		return SQLITE_OK;
	d->struck = true;
	return f->code;
}

/* ---- the methods of a file */

static int do_close(sqlite3_file *f)
{
	return real(f)->pMethods->xClose(real(f));
}

static int do_read(sqlite3_file *f, void *to, int n, sqlite3_int64 at)
{
	int rc = step(of(f)->disk, DISK_READ);
	return rc == SQLITE_OK ? real(f)->pMethods->xRead(real(f), to, n, at) : rc;
}

static int write_part(sqlite3_file *f, const void *from, int n, sqlite3_int64 at)
{
	int rc = real(f)->pMethods->xWrite(real(f), from, n, at);
	if (rc == SQLITE_OK && of(f)->image)
		image_write(of(f)->image, (size_t)at, from, (size_t)n);
	return rc;
}

static int do_write(sqlite3_file *f, const void *from, int n, sqlite3_int64 at)
{
	int rc = step(of(f)->disk, DISK_WRITE);
	if (rc == SQLITE_OK)
		return write_part(f, from, n, at);
	(void)write_part(f, from, n / 2, at);
	return rc;
}

static int do_truncate(sqlite3_file *f, sqlite3_int64 to)
{
	int rc = step(of(f)->disk, DISK_TRUNCATE);
	if (rc == SQLITE_OK)
		rc = real(f)->pMethods->xTruncate(real(f), to);
	if (rc == SQLITE_OK && of(f)->image)
		image_truncate(of(f)->image, (size_t)to);
	return rc;
}

/* Nothing is really synced: the test decides what survives, and the machine does not fail. */
static int do_sync(sqlite3_file *f, int flags)
{
	struct disk *d = of(f)->disk;
	(void)flags;
	int rc = step(d, DISK_SYNC);
	if (!of(f)->image)
		return rc;
	if (rc != SQLITE_OK) {
		image_drop(of(f)->image);
		return rc;
	}
	if (d->before_sync)
		d->before_sync(d->context, of(f)->image->name);
	image_sync(of(f)->image);
	return SQLITE_OK;
}

static int do_size(sqlite3_file *f, sqlite3_int64 *size)
{
	int rc = step(of(f)->disk, DISK_SIZE);
	return rc == SQLITE_OK ? real(f)->pMethods->xFileSize(real(f), size) : rc;
}

static int do_lock(sqlite3_file *f, int level)
{
	int rc = step(of(f)->disk, DISK_LOCK);
	return rc == SQLITE_OK ? real(f)->pMethods->xLock(real(f), level) : rc;
}

static int do_unlock(sqlite3_file *f, int level)
{
	return real(f)->pMethods->xUnlock(real(f), level);
}

static int do_check_reserved(sqlite3_file *f, int *held)
{
	return real(f)->pMethods->xCheckReservedLock(real(f), held);
}

static int do_control(sqlite3_file *f, int what, void *argument)
{
	return real(f)->pMethods->xFileControl(real(f), what, argument);
}

static int do_sector_size(sqlite3_file *f)
{
	return real(f)->pMethods->xSectorSize(real(f));
}

static int do_characteristics(sqlite3_file *f)
{
	return real(f)->pMethods->xDeviceCharacteristics(real(f));
}

static int do_shared_map(sqlite3_file *f, int page, int size, int extend, void volatile **ret)
{
	int rc = step(of(f)->disk, DISK_SHARED_MAP);
	return rc == SQLITE_OK ? real(f)->pMethods->xShmMap(real(f), page, size, extend, ret) : rc;
}

static int do_shared_lock(sqlite3_file *f, int offset, int n, int flags)
{
	int rc = flags & SQLITE_SHM_LOCK ? step(of(f)->disk, DISK_SHARED_LOCK) : SQLITE_OK;
	return rc == SQLITE_OK ? real(f)->pMethods->xShmLock(real(f), offset, n, flags) : rc;
}

static void do_shared_barrier(sqlite3_file *f)
{
	real(f)->pMethods->xShmBarrier(real(f));
}

static int do_shared_unmap(sqlite3_file *f, int remove)
{
	return real(f)->pMethods->xShmUnmap(real(f), remove);
}

static const sqlite3_io_methods methods = {
	.iVersion = 2,
	.xClose = do_close,
	.xRead = do_read,
	.xWrite = do_write,
	.xTruncate = do_truncate,
	.xSync = do_sync,
	.xFileSize = do_size,
	.xLock = do_lock,
	.xUnlock = do_unlock,
	.xCheckReservedLock = do_check_reserved,
	.xFileControl = do_control,
	.xSectorSize = do_sector_size,
	.xDeviceCharacteristics = do_characteristics,
	.xShmMap = do_shared_map,
	.xShmLock = do_shared_lock,
	.xShmBarrier = do_shared_barrier,
	.xShmUnmap = do_shared_unmap,
};

/* ---- the methods of the file system */

static struct layer *layer_of(sqlite3_vfs *vfs)
{
	return (struct layer *)vfs->pAppData;
}

/* The disk when the file is in the directory that is looked after. */
static struct disk *disk_of(sqlite3_vfs *vfs, const char *path)
{
	struct disk *d = &layer_of(vfs)->disk;
	size_t n = d->directory ? strlen(d->directory) : 0;
	return n && path && strncmp(path, d->directory, n) == 0 && path[n] == '/' ? d : NULL;
}

static struct image *find_image(const struct disk *d, const char *name)
{
	struct image *i = d->images;
	while (i && strcmp(i->name, name) != 0)
		i = i->next;
	return i;
}

/* A new database is made under another name and renamed when it is complete. */
static struct image *find_renamed(const struct disk *d, const char *name)
{
	char *before = mem_format("%s.new", name);
	struct image *i = find_image(d, before);
	free(before);
	if (!i)
		return NULL;
	free(i->name);
	i->name = mem_string(name);
	return i;
}

/* The image of a file that is opened: what it holds before anything is written to it counts as durable. */
static struct image *image_of(struct disk *d, const char *path, bool created)
{
	const char *name = strrchr(path, '/') + 1;
	struct image *i = find_image(d, name);
	if (!i && !created)
		i = find_renamed(d, name);
	if (i && !(created && i->gone))
		return i;
	struct bytes content = created ? (struct bytes){ mem_alloc(1), 0 } : file_bytes(path);
	struct image *fresh = image_new(name, content.data, content.n);
	if (i) { /* takes the place of the one that was deleted */
		struct image old = *i;
		*i = *fresh;
		i->next = old.next;
		old.next = NULL;
		*fresh = old;
		image_free(fresh);
		return i;
	}
	fresh->next = d->images;
	d->images = fresh;
	return fresh;
}

static int do_open(sqlite3_vfs *vfs, const char *path, sqlite3_file *f, int flags, int *out)
{
	struct file *file = of(f);
	int there = 0;
	*file = (struct file){ .disk = disk_of(vfs, path), .real = (sqlite3_file *)(void *)(file + 1) };
	int rc = step(file->disk, DISK_OPEN);
	if (rc != SQLITE_OK)
		return rc;
	if (file->disk)
		(void)layer_of(vfs)->real->xAccess(layer_of(vfs)->real, path, SQLITE_ACCESS_EXISTS, &there);
	rc = layer_of(vfs)->real->xOpen(layer_of(vfs)->real, path, file->real, flags, out);
	if (file->real->pMethods)
		f->pMethods = &methods;
	if (rc == SQLITE_OK && file->disk && file->disk->remember)
		file->image = image_of(file->disk, path, !there);
	return rc;
}

static int do_delete(sqlite3_vfs *vfs, const char *path, int sync)
{
	struct disk *d = disk_of(vfs, path);
	int rc = step(d, DISK_DELETE);
	if (rc == SQLITE_OK)
		rc = layer_of(vfs)->real->xDelete(layer_of(vfs)->real, path, sync);
	struct image *i = rc == SQLITE_OK && d ? find_image(d, strrchr(path, '/') + 1) : NULL;
	if (i)
		i->gone = true;
	return rc;
}

static int do_access(sqlite3_vfs *vfs, const char *path, int flags, int *ret)
{
	return layer_of(vfs)->real->xAccess(layer_of(vfs)->real, path, flags, ret);
}

static int do_full_path(sqlite3_vfs *vfs, const char *path, int n, char *to)
{
	return layer_of(vfs)->real->xFullPathname(layer_of(vfs)->real, path, n, to);
}

static int do_random(sqlite3_vfs *vfs, int n, char *to)
{
	return layer_of(vfs)->real->xRandomness(layer_of(vfs)->real, n, to);
}

/* Waiting for a lock is waiting for nobody here. */
static int do_sleep(sqlite3_vfs *vfs, int microseconds)
{
	(void)vfs;
	return microseconds;
}

static int do_time(sqlite3_vfs *vfs, sqlite3_int64 *now)
{
	return layer_of(vfs)->real->xCurrentTimeInt64(layer_of(vfs)->real, now);
}

static int do_last_error(sqlite3_vfs *vfs, int n, char *to)
{
	return layer_of(vfs)->real->xGetLastError(layer_of(vfs)->real, n, to);
}

/* ---- what the store does past SQLite: it syncs its directory and its high-water record */

static struct layer layer;

/* What was deleted stays deleted. */
static void forget_deleted(struct disk *d)
{
	for (struct image **at = &d->images; *at;) {
		struct image *i = *at;
		if (!i->gone) {
			at = &i->next;
			continue;
		}
		*at = i->next;
		image_free(i);
	}
}

/* Takes the place of the system's, which would cost time and prove nothing. */
int fsync(int fd)
{
	char link[64], path[4096];
	(void)snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	ssize_t n = readlink(link, path, sizeof path - 1);
	if (n > 0 && layer.disk.directory && (size_t)n == strlen(layer.disk.directory) &&
		memcmp(path, layer.disk.directory, (size_t)n) == 0)
		forget_deleted(&layer.disk);
	return 0;
}

int fdatasync(int fd)
{
	(void)fd;
	return 0;
}

/* ---- for tests */

struct disk *disk_install(void)
{
	if (layer.real)
		return &layer.disk;
	layer.real = sqlite3_vfs_find(NULL);
	layer.vfs = (sqlite3_vfs){
		.iVersion = 2,
		.szOsFile = (int)sizeof(struct file) + layer.real->szOsFile,
		.mxPathname = layer.real->mxPathname,
		.zName = "failing",
		.pAppData = &layer,
		.xOpen = do_open,
		.xDelete = do_delete,
		.xAccess = do_access,
		.xFullPathname = do_full_path,
		.xRandomness = do_random,
		.xSleep = do_sleep,
		.xGetLastError = do_last_error,
		.xCurrentTimeInt64 = do_time,
	};
	if (sqlite3_vfs_register(&layer.vfs, 1) != SQLITE_OK)
		abort();
	return &layer.disk;
}

void disk_watch(struct disk *d, const char *directory, bool remember)
{
	images_free(d->images);
	*d = (struct disk){ .directory = directory, .remember = remember };
}

void disk_crash(const struct image *images, const struct outage *outage, struct random *random, const char *to)
{
	for (const struct image *i = images; i; i = i->next) {
		if (i->gone && random_once_in(random, 2))
			continue;
		struct bytes left = image_after(i, outage, random);
		char *path = mem_format("%s/%s", to, i->name);
		file_put(path, left.data, left.n);
		free(path);
		free(left.data);
	}
}

const char *disk_operation_name(enum disk_operation operation)
{
	static const char *const names[DISK_OPERATIONS] = { "read", "write", "sync", "truncate", "open", "lock",
		"lock of the index", "map of the index", "size", "delete" };
	return names[operation];
}

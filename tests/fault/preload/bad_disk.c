/* Stands between a program and the system's calls for files, see bad_disk.h. Without BAD_DISK it lets everything through. */
#include "fault/bad_disk.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

static struct bad_disk *disk;

__attribute__((constructor)) static void begin(void)
{
	const char *path = getenv("BAD_DISK");
	int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
	if (fd < 0)
		return;
	void *shared = mmap(NULL, sizeof *disk, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	disk = shared == MAP_FAILED ? NULL : shared;
	(void)close(fd);
}

/* Whether the open file is one of those that are meant. */
static bool meant(int fd)
{
	char link[32], path[4096];
	if (!disk)
		return false;
	(void)snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	ssize_t n = readlink(link, path, sizeof path - 1);
	if (n <= 0)
		return false;
	path[n] = '\0';
	return strstr(path, disk->part) != NULL;
}

/* Whether this operation is to fail; errno is set. */
static bool fails(enum bad_operation operation)
{
	if ((int)operation != disk->operation || atomic_fetch_sub(&disk->countdown, 1) > 1)
		return false;
	disk->struck++;
	errno = disk->error;
	return true;
}

/* Takes the room by which a write makes a file longer; false when there is not that much. */
static bool take_room(int fd, off_t end)
{
	struct stat st;
	long room = disk->room;
	if (room < 0 || fstat(fd, &st) != 0 || end <= st.st_size)
		return true;
	long more = (long)(end - st.st_size);
	do {
		if (more > room) {
			errno = ENOSPC;
			return false;
		}
	} while (!atomic_compare_exchange_weak(&disk->room, &room, room - more));
	return true;
}

static void give_room(off_t bytes)
{
	if (disk->room >= 0 && bytes > 0)
		(void)atomic_fetch_add(&disk->room, (long)bytes);
}

typedef ssize_t (*pwrite_function)(int, const void *, size_t, off_t);
typedef int (*sync_function)(int);
typedef int (*truncate_function)(int, off_t);
typedef int (*unlink_function)(const char *);
typedef int (*statvfs_function)(const char *, struct statvfs *);

/* The next function of that name; ISO C knows no conversion from dlsym's result. */
#define NEXT(type, name) \
	type next;       \
	*(void **)(void *)&next = dlsym(RTLD_NEXT, name)

ssize_t pwrite(int fd, const void *from, size_t n, off_t at)
{
	NEXT(pwrite_function, "pwrite");
	if (meant(fd) && (fails(BAD_WRITE) || !take_room(fd, at + (off_t)n)))
		return -1;
	return next(fd, from, n, at);
}

ssize_t pwrite64(int fd, const void *from, size_t n, off_t at)
{
	return pwrite(fd, from, n, at);
}

int fdatasync(int fd)
{
	NEXT(sync_function, "fdatasync");
	return meant(fd) && fails(BAD_SYNC) ? -1 : next(fd);
}

int fsync(int fd)
{
	NEXT(sync_function, "fsync");
	return meant(fd) && fails(BAD_SYNC) ? -1 : next(fd);
}

int ftruncate(int fd, off_t to)
{
	struct stat st;
	NEXT(truncate_function, "ftruncate");
	bool ours = meant(fd) && fstat(fd, &st) == 0;
	if (ours && to > st.st_size && !take_room(fd, to))
		return -1;
	int rc = next(fd, to);
	if (ours && rc == 0)
		give_room(st.st_size - to);
	return rc;
}

int ftruncate64(int fd, off_t to)
{
	return ftruncate(fd, to);
}

int unlink(const char *path)
{
	struct stat st;
	NEXT(unlink_function, "unlink");
	bool ours = disk && strstr(path, disk->part) && stat(path, &st) == 0;
	int rc = next(path);
	if (ours && rc == 0)
		give_room(st.st_size);
	return rc;
}

int statvfs(const char *path, struct statvfs *ret)
{
	NEXT(statvfs_function, "statvfs");
	int rc = next(path, ret);
	if (rc != 0 || !disk || disk->room < 0 || !strstr(path, disk->part))
		return rc;
	ret->f_frsize = 1;
	ret->f_blocks = (fsblkcnt_t)disk->size;
	ret->f_bavail = ret->f_bfree = (fsblkcnt_t)disk->room;
	return 0;
}

#include "store/directory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/mem.h"
#include "store/connection.h"

static int status_of_errno(int number)
{
	switch (number) {
	case EACCES:
	case EPERM:
	case EROFS:
		return EX_NOPERM;
	case ENOSPC:
	case EDQUOT:
	case EIO:
		return EX_IOERR;
	default:
		return EX_CANTCREAT;
	}
}

/* mkdir -p, each level for its owner only. */
static int make(const char *path)
{
	char *part = mem_string(path);
	int rc = 0;
	for (char *slash = part; rc == 0 && slash;) {
		slash = strchr(slash + 1, '/');
		if (slash)
			*slash = '\0';
		rc = *part && mkdir(part, 0700) != 0 && errno != EEXIST ? -1 : 0;
		if (slash)
			*slash = '/';
	}
	free(part);
	return rc;
}

static struct error *make_directory(const char *path)
{
	struct stat st;
	if (stat(path, &st) == 0 && !S_ISDIR(st.st_mode))
		return exit_error(EX_CANTCREAT, "the data directory %s is not a directory", path);
	if (make(path) == 0 && stat(path, &st) == 0)
		return NULL;
	return exit_error(status_of_errno(errno), "the data directory %s cannot be made: %s", path, strerror(errno));
}

/* The process that holds the lock, as it wrote itself. */
static struct error *held(const struct directory *d, int fd)
{
	char pid[32] = "";
	ssize_t n = pread(fd, pid, sizeof pid - 1, 0);
	pid[n > 0 ? n : 0] = '\0';
	pid[strspn(pid, "0123456789")] = '\0';
	return error_with_string(exit_error(EX_TEMPFAIL, "the data directory %s is in use by %s %s", d->path,
					 *pid ? "process" : "another process", pid),
		"pid", pid);
}

static struct error *take_lock(struct directory *d)
{
	int fd = open(d->lock, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0)
		return exit_error(status_of_errno(errno), "the lock file %s cannot be opened: %s", d->lock, strerror(errno));
	if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
		struct error *e = errno == EWOULDBLOCK ? held(d, fd)
						       : exit_error(EX_OSERR, "the lock file %s cannot be locked: %s", d->lock,
								 strerror(errno));
		close(fd);
		return e;
	}
	d->lock_fd = fd;
	bool written = ftruncate(fd, 0) == 0 && dprintf(fd, "%ld\n", (long)getpid()) >= 0;
	if (!written && errno != ENOSPC && errno != EDQUOT) /* on a full disk the lock holds without a name on it */
		return exit_error(status_of_errno(errno), "the lock file %s cannot be written: %s", d->lock, strerror(errno));
	return NULL;
}

struct error *directory_open(struct directory *d, const char *path)
{
	*d = (struct directory){ .lock_fd = -1 };
	struct error *e = make_directory(path);
	if (e)
		return e;
	d->path = mem_string(path);
	d->database = mem_format("%s/allotd.db", path);
	d->highwater = mem_format("%s/allotd.highwater", path);
	d->lock = mem_format("%s/allotd.lock", path);
	return take_lock(d);
}

void directory_close(struct directory *d)
{
	if (d->lock_fd >= 0)
		close(d->lock_fd);
	free(d->path);
	free(d->database);
	free(d->highwater);
	free(d->lock);
	*d = (struct directory){ .lock_fd = -1 };
}

struct error *directory_sync(const struct directory *d)
{
	int fd = open(d->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int rc = fd < 0 ? -1 : fsync(fd);
	int number = errno;
	if (fd >= 0)
		close(fd);
	return rc == 0 ? NULL : exit_error(EX_IOERR, "the data directory %s cannot be synced: %s", d->path, strerror(number));
}

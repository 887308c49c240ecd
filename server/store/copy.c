#include "store/copy.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/mem.h"
#include "store/connection.h"

enum {
	PAGES_PER_STEP = 64,
	STEPS_PER_SYNC = 32, /* 8 MiB: dirty pages do not pile up, or the next commit's sync would have to wait for all of them */
};

/* The copy is synced by hand and thrown away when anything fails, so it needs no journal on disk. */
static const char settings_of_copy[] = "PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF; PRAGMA cache_size = -1024";

struct error *copy_stopped(void)
{
	return error_new(ERR_UNAVAILABLE, "the server ends; nothing was done");
}

void copy_remove(const char *path)
{
	static const char *const ends[] = { "", "-journal", "-wal", "-shm" };
	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
		char *file = mem_format("%s%s", path, ends[i]);
		(void)unlink(file);
		free(file);
	}
}

static struct error *cannot_write(const char *path)
{
	bool forbidden = errno == EACCES || errno == EPERM || errno == EROFS;
	return exit_error(forbidden ? EX_NOPERM : EX_IOERR, "the file %s cannot be written: %s", path, strerror(errno));
}

static struct error *copy_pages(sqlite3 *from, sqlite3 *to, int fd, const char *path, const atomic_bool *stop)
{
	sqlite3_backup *b = sqlite3_backup_init(to, "main", from, "main");
	int rc = b ? SQLITE_OK : sqlite3_extended_errcode(to);
	bool synced = true, stopped = false;
	for (int step = 1; rc == SQLITE_OK && synced && !stopped; step++) {
		rc = sqlite3_backup_step(b, PAGES_PER_STEP);
		if (step % STEPS_PER_SYNC == 0)
			synced = fdatasync(fd) == 0;
		stopped = stop && *stop;
	}
	(void)sqlite3_backup_finish(b);
	if (stopped)
		return copy_stopped();
	if (!synced)
		return cannot_write(path);
	return rc == SQLITE_DONE ? NULL : connection_error(to, rc, path, "cannot be copied");
}

/* The header says that a database with a write-ahead log was copied; the copy has none and should not ask for one. Bytes 18 and 19:
 * https://www.sqlite.org/fileformat.html#file_format_version_numbers */
static struct error *forget_log(int fd, const char *path)
{
	static const unsigned char without[2] = { 1, 1 };
	return pwrite(fd, without, sizeof without, 18) == sizeof without && fsync(fd) == 0 ? NULL : cannot_write(path);
}

static struct error *copy_to(sqlite3 *from, int fd, const char *path, const atomic_bool *stop)
{
	sqlite3 *to = NULL;
	struct error *e = connection_open(path, CONNECTION_WRITER, &to);
	int rc = e ? SQLITE_OK : connection_run(to, settings_of_copy);
	if (rc != SQLITE_OK)
		e = connection_error(to, rc, path, "cannot be written");
	if (!e)
		e = copy_pages(from, to, fd, path, stop);
	connection_close(to);
	return e ? e : forget_log(fd, path);
}

struct error *copy_database(sqlite3 *from, const char *path, const atomic_bool *stop)
{
	copy_remove(path);
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return cannot_write(path);
	struct error *e = copy_to(from, fd, path, stop);
	(void)close(fd);
	if (e)
		copy_remove(path);
	return e;
}

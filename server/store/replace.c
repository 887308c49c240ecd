#include "store/replace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/mem.h"
#include "store/connection.h"
#include "store/copy.h"
#include "store/highwater.h"

char *replace_incoming(const struct directory *d)
{
	return mem_format("%s.incoming", d->database);
}

static char *next_database(const struct directory *d)
{
	return mem_format("%s.next", d->database);
}

static char *next_highwater(const struct directory *d)
{
	return mem_format("%s.next", d->highwater);
}

static struct error *failed(const char *path, const char *doing)
{
	bool forbidden = errno == EACCES || errno == EPERM || errno == EROFS;
	return exit_error(forbidden ? EX_NOPERM : EX_IOERR, "the file %s cannot be %s: %s", path, doing, strerror(errno));
}

static struct error *write_highwater(const char *path, const struct store_meta *meta)
{
	struct highwater h;
	struct error *e = highwater_open(&h, path, meta);
	highwater_close(&h);
	return e;
}

static struct error *sync_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct error *e = fd >= 0 && fsync(fd) == 0 ? NULL : failed(path, "synced");
	if (fd >= 0)
		(void)close(fd);
	return e;
}

struct error *replace_commit(const struct directory *d, const struct store_meta *meta)
{
	char *incoming = replace_incoming(d), *next = next_database(d), *highwater = next_highwater(d);
	struct error *e = sync_file(incoming);
	if (!e)
		e = write_highwater(highwater, meta);
	if (!e)
		e = directory_sync(d);
	if (!e && rename(incoming, next) != 0)
		e = failed(next, "made");
	if (!e)
		e = directory_sync(d);
	free(incoming);
	free(next);
	free(highwater);
	return e ? e : replace_finish(d);
}

/* The log of the old database would be applied to the new one. */
static struct error *remove_log(const struct directory *d)
{
	static const char *const ends[] = { "-wal", "-shm", "-journal" };
	struct error *e = NULL;
	for (size_t i = 0; i < sizeof ends / sizeof *ends && !e; i++) {
		char *path = mem_format("%s%s", d->database, ends[i]);
		if (unlink(path) != 0 && errno != ENOENT)
			e = failed(path, "removed");
		free(path);
	}
	return e;
}

static struct error *move(const char *from, const char *to)
{
	return rename(from, to) == 0 || errno == ENOENT ? NULL : failed(to, "made");
}

/* Everything that belonged to the old database is durably gone before the new one has the name. */
static struct error *finish(const struct directory *d, const char *next, const char *highwater)
{
	struct error *e = remove_log(d);
	if (!e)
		e = move(highwater, d->highwater);
	if (!e)
		e = directory_sync(d);
	if (!e)
		e = move(next, d->database);
	return e ? e : directory_sync(d);
}

struct error *replace_finish(const struct directory *d)
{
	char *incoming = replace_incoming(d), *next = next_database(d), *highwater = next_highwater(d);
	struct error *e = NULL;
	if (access(next, F_OK) == 0) {
		e = finish(d, next, highwater);
	} else if (access(incoming, F_OK) == 0 || access(highwater, F_OK) == 0) {
		copy_remove(incoming);
		(void)unlink(highwater);
	}
	free(incoming);
	free(next);
	free(highwater);
	return e;
}

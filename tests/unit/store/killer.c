#include "killer.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support.h"

enum { KINDS = 8 };

/* The methods of one kind of file (databases and logs differ) and ours in their place. */
struct kind {
	sqlite3_io_methods ours; /* comes first: a file's methods lead here */
	const sqlite3_io_methods *real;
};

/* Of the child; the parent's copy is never used. */
struct killer {
	sqlite3_vfs vfs, *real;
	struct kind kinds[KINDS];
	int left;
};
static struct killer killer;

static const sqlite3_io_methods *real_of(const sqlite3_file *file)
{
	return ((const struct kind *)(const void *)file->pMethods)->real;
}

static void step(void)
{
	if (--killer.left == 0)
		(void)raise(SIGKILL);
}

static int write_step(sqlite3_file *file, const void *bytes, int n, sqlite3_int64 at)
{
	step();
	return real_of(file)->xWrite(file, bytes, n, at);
}

static int truncate_step(sqlite3_file *file, sqlite3_int64 size)
{
	step();
	return real_of(file)->xTruncate(file, size);
}

static int sync_step(sqlite3_file *file, int flags)
{
	step();
	return real_of(file)->xSync(file, flags);
}

static int delete_step(sqlite3_vfs *vfs, const char *name, int sync)
{
	(void)vfs;
	step();
	return killer.real->xDelete(killer.real, name, sync);
}

/* The files are the real ones, but for three of their methods. */
static int open_file(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *flags_out)
{
	(void)vfs;
	int rc = killer.real->xOpen(killer.real, name, file, flags, flags_out);
	if (rc != SQLITE_OK || !file->pMethods || !file->pMethods->xWrite)
		return rc;
	struct kind *kind = killer.kinds;
	while (kind->real && kind->real != file->pMethods)
		kind++;
	kind->real = file->pMethods;
	kind->ours = *file->pMethods;
	kind->ours.xWrite = write_step;
	kind->ours.xTruncate = truncate_step;
	kind->ours.xSync = sync_step;
	file->pMethods = &kind->ours;
	return rc;
}

static void arm(int n)
{
	killer.real = sqlite3_vfs_find(NULL);
	killer.vfs = *killer.real;
	killer.vfs.zName = "killer";
	killer.vfs.xOpen = open_file;
	killer.vfs.xDelete = delete_step;
	killer.left = n;
	if (sqlite3_vfs_register(&killer.vfs, 1) != SQLITE_OK)
		_exit(3);
}

bool killed_at(int n, void (*run)(void *context), void *context)
{
	int status = 0;
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		arm(n);
		run(context);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
		return true;
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		fail_msg("the child at step %d: status %#x", n, (unsigned)status);
	return false;
}

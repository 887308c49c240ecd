#include "files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "support/check.h"

struct bytes file_bytes(const char *path)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) != 0) {
		if (fd >= 0)
			(void)close(fd);
		return (struct bytes){ mem_alloc(1), 0 };
	}
	struct bytes b = { mem_alloc((size_t)st.st_size + 1), (size_t)st.st_size };
	if (pread(fd, b.data, b.n, 0) != (ssize_t)b.n)
		check_failed("%s: %s", path, strerror(errno));
	(void)close(fd);
	return b;
}

void file_put(const char *path, const void *data, size_t n)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, data, n) != (ssize_t)n)
		check_failed("%s: %s", path, strerror(errno));
	(void)close(fd);
}

static void each_file(const char *directory, void (*each)(const char *path, const char *name, const char *to), const char *to)
{
	DIR *d = opendir(directory);
	if (!d)
		check_failed("%s: %s", directory, strerror(errno));
	for (struct dirent *e; (e = readdir(d));) {
		struct stat st;
		char *path = mem_format("%s/%s", directory, e->d_name);
		if (stat(path, &st) == 0 && S_ISREG(st.st_mode))
			each(path, e->d_name, to);
		free(path);
	}
	(void)closedir(d);
}

static void remove_one(const char *path, const char *name, const char *to)
{
	(void)name, (void)to;
	(void)unlink(path);
}

static void copy_one(const char *path, const char *name, const char *to)
{
	struct bytes b = file_bytes(path);
	char *copy = mem_format("%s/%s", to, name);
	file_put(copy, b.data, b.n);
	free(copy);
	free(b.data);
}

void directory_copy(const char *from, const char *to)
{
	each_file(to, remove_one, NULL);
	if (from)
		each_file(from, copy_one, to);
}

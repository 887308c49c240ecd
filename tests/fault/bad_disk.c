#include "bad_disk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "support/check.h"

/* The library lies beside the test programs. */
static void name_library(char *to, size_t size)
{
	ssize_t n = readlink("/proc/self/exe", to, size - 1);
	to[n > 0 ? n : 0] = '\0';
	char *slash = strrchr(to, '/');
	if (!slash)
		check_failed("cannot find the test program");
	(void)snprintf(slash, size - (size_t)(slash - to), "/bad_disk.so");
	if (access(to, R_OK) != 0)
		check_failed("%s is missing", to);
}

struct bad_disk *bad_disk_new(const char *part)
{
	char path[32], library[4096];
	int fd = memfd_create("bad-disk", 0);
	if (fd < 0 || ftruncate(fd, sizeof(struct bad_disk)) != 0)
		check_failed("memfd: %s", strerror(errno));
	struct bad_disk *disk = mmap(NULL, sizeof *disk, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (disk == MAP_FAILED)
		check_failed("mmap: %s", strerror(errno));
	(void)snprintf(disk->part, sizeof disk->part, "%s", part);
	disk->room = -1;
	name_library(library, sizeof library);
	/* the server inherits the descriptor, which stays open as long as this program */
	(void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	(void)setenv("BAD_DISK", path, 1);
	(void)setenv("LD_PRELOAD", library, 1);
	if (check_instrumented())
		(void)setenv("ASAN_OPTIONS", "verify_asan_link_order=0", 1);
	return disk;
}

void bad_disk_free(struct bad_disk *disk)
{
	if (!disk)
		return;
	(void)unsetenv("LD_PRELOAD");
	(void)unsetenv("BAD_DISK");
	(void)munmap(disk, sizeof *disk);
}

void bad_disk_fail(struct bad_disk *disk, enum bad_operation operation, int error, long nth)
{
	disk->struck = 0;
	disk->error = error;
	disk->countdown = nth;
	disk->operation = operation;
}

void bad_disk_mend(struct bad_disk *disk)
{
	disk->operation = BAD_NOTHING;
	disk->room = -1;
}

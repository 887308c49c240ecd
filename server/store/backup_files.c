#include "store/backup_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/error.h"
#include "base/mem.h"
#include "store/digest.h"

enum { ROOM_TO_SPARE = 16 << 20 };

static const char checksum_end[] = ".sha256";

static bool ends_with(const char *name, const char *end)
{
	size_t n = strlen(name), m = strlen(end);
	return n >= m && strcmp(name + n - m, end) == 0;
}

bool store_backup_name_is_legal(const char *name)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
	static const char *const ends[] = { checksum_end, "-wal", "-shm", "-journal" };
	size_t n = strlen(name);
	if (n == 0 || n > BACKUP_NAME_MAX || *name == '.' || strspn(name, allowed) != n)
		return false;
	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
		if (ends_with(name, ends[i]))
			return false;
	return true;
}

struct error *backup_failed(const char *directory, const char *name, const char *doing)
{
	return error_new(errno == ENOSPC || errno == EDQUOT ? ERR_UNAVAILABLE : ERR_INTERNAL, "%s%s%s cannot be %s: %s",
		directory, *name ? "/" : "", name, doing, strerror(errno));
}

static struct error *not_found(const char *name)
{
	return error_with_string(
		error_with_string(error_new(ERR_NOT_FOUND, "there is no backup %s", name), "kind", "backup"), "name", name);
}

static struct error *name_is_taken(const char *name)
{
	return error_with_string(error_new(ERR_CONFLICT, "there is a backup %s already", name), "name", name);
}

struct error *backup_place_open(struct backup_place *place, const char *directory)
{
	*place = (struct backup_place){ .fd = -1, .directory = directory };
	if (mkdir(directory, 0700) != 0 && errno != EEXIST)
		return backup_failed(directory, "", "made");
	place->fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (place->fd < 0)
		return backup_failed(directory, "", "opened");
	if (flock(place->fd, LOCK_EX | LOCK_NB) == 0)
		return NULL;
	backup_place_close(place);
	return error_new(ERR_UNAVAILABLE, "another backup is being made in %s", directory);
}

void backup_place_close(struct backup_place *place)
{
	if (place->fd >= 0)
		(void)close(place->fd);
	place->fd = -1;
}

bool backup_place_has(const struct backup_place *place, const char *name)
{
	return faccessat(place->fd, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

struct error *backup_place_room(const struct backup_place *place, int64_t bytes)
{
	struct statvfs fs;
	if (fstatvfs(place->fd, &fs) != 0)
		return backup_failed(place->directory, "", "looked at");
	int64_t room = (int64_t)fs.f_bavail * (int64_t)fs.f_frsize;
	if (room >= bytes + ROOM_TO_SPARE)
		return NULL;
	return error_new(ERR_UNAVAILABLE, "there is no room for a backup: it has %" PRId64 " bytes, %s has %" PRId64 " free",
		bytes, place->directory, room);
}

static struct error *write_checksum(const struct backup_place *place, const struct store_backup *b, const char *file)
{
	int fd = openat(place->fd, file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	bool good = fd >= 0 && dprintf(fd, "%s  %s\n", b->sha256, b->name) > 0 && fsync(fd) == 0;
	struct error *e = good ? NULL : backup_failed(place->directory, file, "written");
	if (fd >= 0)
		(void)close(fd);
	return e;
}

/* Never replaces a file; where the file system cannot promise that, a look before has to do: nobody else makes backups here. */
static int rename_anew(const struct backup_place *place, const char *from, const char *to)
{
	int rc = renameat2(place->fd, from, place->fd, to, RENAME_NOREPLACE);
	if (rc == 0 || errno != EINVAL)
		return rc;
	if (backup_place_has(place, to)) {
		errno = EEXIST;
		return -1;
	}
	return renameat(place->fd, from, place->fd, to);
}

struct error *backup_place_publish(const struct backup_place *place, const char *temporary, const struct store_backup *b)
{
	if (backup_place_has(place, b->name))
		return name_is_taken(b->name);
	char *checksum = mem_format("%s%s", b->name, checksum_end);
	struct error *e = write_checksum(place, b, checksum);
	if (!e && rename_anew(place, temporary, b->name) != 0)
		e = errno == EEXIST ? name_is_taken(b->name) : backup_failed(place->directory, b->name, "made");
	if (!e && fsync(place->fd) != 0)
		e = backup_failed(place->directory, "", "synced");
	free(checksum);
	return e;
}

void backup_read_checksum(int directory_fd, const char *name, char ret[BACKUP_CHECKSUM_SIZE])
{
	char *file = mem_format("%s%s", name, checksum_end);
	int fd = openat(directory_fd, file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	ssize_t n = fd < 0 ? -1 : read(fd, ret, DIGEST_HEX);
	ret[n == DIGEST_HEX ? DIGEST_HEX : 0] = '\0';
	if (strspn(ret, "0123456789abcdef") != DIGEST_HEX)
		*ret = '\0';
	if (fd >= 0)
		(void)close(fd);
	free(file);
}

static int is_backup(const struct dirent *entry)
{
	return store_backup_name_is_legal(entry->d_name);
}

/* The names in order; -1 with errno. A directory that is not there has none. */
static int read_names(const char *directory, struct dirent ***ret)
{
	*ret = NULL;
	int n = scandir(directory, ret, is_backup, alphasort);
	return n < 0 && errno == ENOENT ? 0 : n;
}

static void names_free(struct dirent **names, int n)
{
	for (int i = 0; i < n; i++)
		free(names[i]);
	free(names);
}

static void tell(
	int directory_fd, const char *name, void (*each)(void *context, const struct store_backup *backup), void *context)
{
	struct store_backup b = { 0 };
	struct stat st;
	if (fstatat(directory_fd, name, &st, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(st.st_mode))
		return;
	memcpy(b.name, name, strlen(name) + 1);
	b.bytes = st.st_size;
	b.at = (int64_t)st.st_mtim.tv_sec * 1000 + st.st_mtim.tv_nsec / 1000000;
	backup_read_checksum(directory_fd, name, b.sha256);
	each(context, &b);
}

struct error *store_backup_list(
	const char *directory, void (*each)(void *context, const struct store_backup *backup), void *context)
{
	struct dirent **names;
	int n = read_names(directory, &names);
	if (n < 0)
		return backup_failed(directory, "", "read");
	int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (int i = 0; i < n && fd >= 0; i++)
		tell(fd, names[i]->d_name, each, context);
	if (fd >= 0)
		(void)close(fd);
	names_free(names, n);
	return NULL;
}

/* Opens a backup for reading. */
static struct error *open_backup(const char *directory, const char *name, int *ret)
{
	char *path = mem_format("%s/%s", directory, name);
	struct stat st;
	int fd = store_backup_name_is_legal(name) ? open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK) : -1;
	free(path);
	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
		*ret = fd;
		return NULL;
	}
	if (fd >= 0)
		(void)close(fd);
	return not_found(name);
}

struct error *store_backup_read(
	const char *directory, const char *name, int64_t offset, int64_t limit, struct text *to, int64_t *size)
{
	struct stat st;
	int fd = -1;
	struct error *e = open_backup(directory, name, &fd);
	if (e)
		return e;
	char *room = text_room(to, (size_t)limit);
	ssize_t n = fstat(fd, &st) == 0 ? pread(fd, room, (size_t)limit, (off_t)offset) : -1;
	if (n < 0)
		e = backup_failed(directory, name, "read");
	else
		to->length += (size_t)n;
	*size = st.st_size;
	(void)close(fd);
	return e;
}

static struct error *remove_files(const char *directory, const char *name)
{
	char *path = mem_format("%s/%s", directory, name), *checksum = mem_format("%s%s", path, checksum_end);
	struct error *e = NULL;
	if (unlink(path) != 0)
		e = errno == ENOENT ? not_found(name) : backup_failed(directory, name, "removed");
	else
		(void)unlink(checksum);
	free(path);
	free(checksum);
	return e;
}

struct error *store_backup_remove(const char *directory, const char *name)
{
	return store_backup_name_is_legal(name) ? remove_files(directory, name) : not_found(name);
}

struct error *store_backup_prune(const char *directory, const char *prefix, int64_t keep)
{
	struct dirent **names;
	struct error *e = NULL;
	int n = read_names(directory, &names);
	if (n < 0)
		return backup_failed(directory, "", "read");
	for (int i = n - 1; i >= 0 && !e; i--)
		if (strncmp(names[i]->d_name, prefix, strlen(prefix)) == 0 && keep-- <= 0)
			e = remove_files(directory, names[i]->d_name);
	names_free(names, n);
	return e;
}

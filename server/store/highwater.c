#include "store/highwater.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sysexits.h>
#include <time.h>
#include <unistd.h>

#include "store/connection.h"

enum {
	MAGIC_SIZE = 8,
	ID_SIZE = 32,
	EPOCH_AT = MAGIC_SIZE + ID_SIZE,
	REVISION_AT = EPOCH_AT + 8,
	SUM_AT = REVISION_AT + 8,
	RECORD_SIZE = SUM_AT + 8,
	SYNC_EVERY_MS = 1000,
};

static const char magic[MAGIC_SIZE + 1] = "allotHW1";

static void put_number(unsigned char *to, uint64_t value)
{
	for (int i = 0; i < 8; i++)
		to[i] = (unsigned char)(value >> (8 * i));
}

static uint64_t get_number(const unsigned char *from)
{
	uint64_t value = 0;
	for (int i = 7; i >= 0; i--)
		value = value << 8 | from[i];
	return value;
}

/* FNV-1a. */
static uint64_t checksum(const unsigned char *bytes, size_t n)
{
	uint64_t sum = UINT64_C(0xcbf29ce484222325);
	for (size_t i = 0; i < n; i++)
		sum = (sum ^ bytes[i]) * UINT64_C(0x100000001b3);
	return sum;
}

static void encode(unsigned char *to, const struct store_meta *meta)
{
	memcpy(to, magic, MAGIC_SIZE);
	memcpy(to + MAGIC_SIZE, meta->db_id, ID_SIZE);
	put_number(to + EPOCH_AT, (uint64_t)meta->epoch);
	put_number(to + REVISION_AT, (uint64_t)meta->revision);
	put_number(to + SUM_AT, checksum(to, SUM_AT));
}

enum highwater_state highwater_read(const char *path, struct highwater_record *ret)
{
	unsigned char bytes[RECORD_SIZE + 1];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? HIGHWATER_ABSENT : HIGHWATER_TORN;
	ssize_t n = pread(fd, bytes, sizeof bytes, 0);
	close(fd);
	if (n != RECORD_SIZE || memcmp(bytes, magic, MAGIC_SIZE) != 0 || get_number(bytes + SUM_AT) != checksum(bytes, SUM_AT))
		return HIGHWATER_TORN;
	memcpy(ret->db_id, bytes + MAGIC_SIZE, ID_SIZE);
	ret->db_id[ID_SIZE] = '\0';
	ret->epoch = (int64_t)get_number(bytes + EPOCH_AT);
	ret->revision = (int64_t)get_number(bytes + REVISION_AT);
	return HIGHWATER_GOOD;
}

struct error *highwater_check(const char *path, const struct highwater_record *record, const struct store_meta *meta)
{
	if (strcmp(record->db_id, meta->db_id) != 0)
		return exit_error(EX_DATAERR, "the database is another one: its id is %s, but %s was written for %s", meta->db_id,
			path, record->db_id);
	if (meta->epoch < record->epoch || (meta->epoch == record->epoch && meta->revision < record->revision))
		return exit_error(EX_DATAERR,
			"the database is behind what was answered: it ends at revision %" PRId64 " of epoch %" PRId64
			", but %s says that revision %" PRId64 " of epoch %" PRId64
			" was committed; commits are lost, restore a backup",
			meta->revision, meta->epoch, path, record->revision, record->epoch);
	return NULL;
}

static int64_t now_ms(void)
{
	struct timespec t;
	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static bool sync_record(struct highwater *h)
{
	if (fdatasync(h->fd) != 0)
		return false;
	h->synced = now_ms();
	h->dirty = false;
	return true;
}

static bool write_record(struct highwater *h, const struct store_meta *meta)
{
	unsigned char bytes[RECORD_SIZE];
	encode(bytes, meta);
	h->dirty = true;
	return pwrite(h->fd, bytes, sizeof bytes, 0) == (ssize_t)sizeof bytes;
}

struct error *highwater_open(struct highwater *h, const char *path, const struct store_meta *meta)
{
	*h = (struct highwater){ .fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600) };
	if (h->fd >= 0 && write_record(h, meta) && ftruncate(h->fd, RECORD_SIZE) == 0 && sync_record(h))
		return NULL;
	return exit_error(errno == EACCES || errno == EPERM ? EX_NOPERM : EX_IOERR, "the file %s cannot be written: %s", path,
		strerror(errno));
}

/* Whether the last sync is long enough ago. */
static bool sync_is_due(const struct highwater *h)
{
	return h->dirty && now_ms() - h->synced >= SYNC_EVERY_MS;
}

bool highwater_write(struct highwater *h, const struct store_meta *meta)
{
	if (!write_record(h, meta))
		return false;
	return !sync_is_due(h) || sync_record(h);
}

void highwater_sync(struct highwater *h)
{
	if (sync_is_due(h))
		(void)sync_record(h);
}

void highwater_close(struct highwater *h)
{
	if (h->fd < 0)
		return;
	if (h->dirty)
		(void)sync_record(h);
	close(h->fd);
	h->fd = -1;
}

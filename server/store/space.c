#include "store/space.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>
#include <sys/statvfs.h>

#include "store/connection.h"

enum {
	MIB = 1024 * 1024,
	LOW = 64 * MIB,    /* on a large disk */
	LOW_PART = 16,     /* on a small one: a part of it */
	BALLAST_PART = 2,  /* of `low` at most */
	QUOTA_PART = 8,    /* of --max-bytes is for what frees things */
	FULL = 256 * 1024, /* less than this left: a failure is due to it */
	LOG_FRAMES = LOW / PAGE_SIZE,
	LOG_FRAMES_IN_SHORTAGE = 64,
};

static const char disk_low[] = "disk_low", quota[] = "quota";

/* Bytes that are left for us and that there are at all; false when that cannot be told. */
static bool disk_size(const char *directory, int64_t *left, int64_t *all)
{
	struct statvfs st;
	if (statvfs(directory, &st) != 0)
		return false;
	*left = (int64_t)(st.f_bavail * st.f_frsize);
	*all = (int64_t)(st.f_blocks * st.f_frsize);
	return true;
}

void space_begin(struct space *s, const char *directory, const struct log *log, int64_t max_bytes, int64_t ballast)
{
	int64_t left = 0, all = 0;
	s->directory = directory;
	s->log = log;
	s->max_bytes = max_bytes;
	s->low = 0;
	s->shortage = NULL;
	if (ballast > 0 && disk_size(directory, &left, &all))
		s->low = all / LOW_PART < LOW ? all / LOW_PART : LOW;
	if (ballast > s->low / BALLAST_PART)
		ballast = s->low / BALLAST_PART;
	ballast_begin(&s->ballast, directory, ballast);
}

void space_end(struct space *s)
{
	ballast_end(&s->ballast);
}

/* Whether `left` is short of `wanted`, with leeway once it is. */
static bool is_short(int64_t left, int64_t wanted, bool already)
{
	return left < (already ? wanted + wanted / 4 : wanted);
}

static bool disk_is_low(struct space *s)
{
	int64_t left = 0, all = 0;
	if (s->low == 0 || !disk_size(s->directory, &left, &all))
		return false;
	if (left >= s->low + s->low / 4 + s->ballast.size)
		ballast_fill(&s->ballast);
	return is_short(left, s->low, s->shortage == disk_low);
}

static bool quota_is_used_up(const struct space *s, sqlite3 *db)
{
	int64_t pages = 0, unused = 0, size = 0;
	if (s->max_bytes == 0 || connection_number(db, "PRAGMA page_count", &pages) != SQLITE_OK ||
		connection_number(db, "PRAGMA freelist_count", &unused) != SQLITE_OK ||
		connection_number(db, "PRAGMA page_size", &size) != SQLITE_OK)
		return s->shortage == quota;
	return is_short(s->max_bytes - (pages - unused) * size, s->max_bytes / QUOTA_PART, s->shortage == quota);
}

void space_measure(struct space *s, sqlite3 *db)
{
	const char *before = s->shortage, *after = disk_is_low(s) ? disk_low : quota_is_used_up(s, db) ? quota : NULL;
	s->shortage = after;
	if (after == before)
		return;
	if (after)
		log_write(s->log, LOG_WARN, "%s: only what frees something is done now",
			after == quota ? "the database comes near to its --max-bytes" : "there is little room left on the disk");
	else
		log_write(s->log, LOG_WARN, "there is room again");
}

int space_log_frames(const struct space *s)
{
	int frames = s->low ? (int)(s->low / PAGE_SIZE) : LOG_FRAMES;
	return s->shortage || frames < LOG_FRAMES_IN_SHORTAGE ? LOG_FRAMES_IN_SHORTAGE : frames;
}

bool space_make_room(struct space *s)
{
	bool made = s->low > 0 && ballast_give_up(&s->ballast);
	if (made)
		log_write(s->log, LOG_WARN, "the disk is full: %s is given up", s->ballast.path);
	return made;
}

bool space_make_room_in(const char *directory)
{
	int64_t left = 0, all = 0;
	struct ballast ballast;
	if (!disk_size(directory, &left, &all) || left >= FULL)
		return false;
	ballast_begin(&ballast, directory, 0);
	bool made = ballast_give_up(&ballast);
	ballast_end(&ballast);
	return made;
}

#include "store/migrate.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/mem.h"
#include "store/connection.h"
#include "store/migrations.h"
#include "store/statement.h"

/* The header of a database file: https://www.sqlite.org/fileformat.html#the_database_header */
enum { HEADER_SIZE = 100, USER_VERSION_AT = 60, APPLICATION_ID_AT = 68 };

static const char header_magic[16] = "SQLite format 3";

static int64_t header_number(const unsigned char *bytes)
{
	return (int64_t)bytes[0] << 24 | (int64_t)bytes[1] << 16 | (int64_t)bytes[2] << 8 | bytes[3];
}

static struct error *judge(const char *path, int64_t application, int64_t version)
{
	if (application != APPLICATION_ID)
		return exit_error(EX_DATAERR,
			"the database %s belongs to another application (application_id %" PRId64 ", ours is %d)", path,
			application, APPLICATION_ID);
	if (version > (int64_t)n_migrations)
		return exit_error(EX_DATAERR,
			"the database %s has schema version %" PRId64 ", this allotd knows only up to %zu: use a newer one", path,
			version, n_migrations);
	return NULL;
}

static struct error *unreadable(const char *path, int number)
{
	return exit_error(number == EACCES || number == EPERM ? EX_NOPERM : EX_IOERR, "the database %s cannot be read: %s", path,
		strerror(number));
}

/* A journal of a transaction that was cut off: the header is only to be believed after SQLite has rolled it back. */
static bool has_journal(const char *path)
{
	char *journal = mem_format("%s-journal", path);
	struct stat st;
	bool has = stat(journal, &st) == 0 && st.st_size > 0;
	free(journal);
	return has;
}

struct error *migrate_inspect(const char *path, bool *present)
{
	unsigned char header[HEADER_SIZE];
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 && errno != ENOENT)
		return unreadable(path, errno);
	*present = fd >= 0 && fstat(fd, &st) == 0 && (st.st_size > 0 || !S_ISREG(st.st_mode));
	if (fd < 0)
		return NULL;
	ssize_t n = pread(fd, header, sizeof header, 0);
	int number = errno;
	close(fd);
	if (n < 0)
		return unreadable(path, number);
	if (!*present || has_journal(path))
		return NULL;
	if (n < HEADER_SIZE || memcmp(header, header_magic, sizeof header_magic) != 0)
		return exit_error(EX_DATAERR, "the file %s is not a database", path);
	return judge(path, header_number(header + APPLICATION_ID_AT), header_number(header + USER_VERSION_AT));
}

static struct error *read_numbers(sqlite3 *db, const char *path, int64_t *application, int64_t *version)
{
	int rc = connection_number(db, "PRAGMA application_id", application);
	if (rc == SQLITE_OK)
		rc = connection_number(db, "PRAGMA user_version", version);
	return rc == SQLITE_OK ? NULL : connection_error(db, rc, path, "cannot be read");
}

struct error *migrate_check(sqlite3 *db, const char *path)
{
	int64_t application = 0, version = 0;
	struct error *e = read_numbers(db, path, &application, &version);
	return e ? e : judge(path, application, version);
}

static int migrate_one(sqlite3 *db, const struct migration *m)
{
	char *end = mem_format("PRAGMA user_version = %d; COMMIT", m->version);
	int rc = connection_run(db, "BEGIN IMMEDIATE");
	if (rc == SQLITE_OK)
		rc = connection_run(db, m->sql);
	if (rc == SQLITE_OK)
		rc = connection_run(db, end);
	free(end);
	return rc;
}

struct error *migrate_run(sqlite3 *db, const char *path)
{
	int64_t application = 0, version = 0;
	struct error *e = read_numbers(db, path, &application, &version);
	for (size_t i = 0; !e && i < n_migrations; i++) {
		if (migrations[i].version <= version)
			continue;
		int rc = migrate_one(db, &migrations[i]);
		if (rc == SQLITE_OK)
			continue;
		char *doing = mem_format(
			"cannot be migrated to schema version %d (%s)", migrations[i].version, migrations[i].name);
		e = connection_error(db, rc, path, doing);
		free(doing);
		if (!sqlite3_get_autocommit(db))
			(void)connection_run(db, "ROLLBACK");
	}
	return e;
}

static const char creation_time[] = "UPDATE meta SET now = :now";

/* Everything a new database has, in the file `path`. */
static struct error *fill(sqlite3 *db, const char *path, int64_t now)
{
	char *settings = mem_format("PRAGMA page_size = %d; PRAGMA application_id = %d", PAGE_SIZE, APPLICATION_ID);
	struct statement s;
	int rc = connection_run(db, settings);
	free(settings);
	if (rc != SQLITE_OK)
		return connection_error(db, rc, path, "cannot be created");
	struct error *e = migrate_run(db, path);
	if (e)
		return e;
	rc = statement_prepare(db, &(struct statement_source){ &s, creation_time }, 1);
	if (rc == SQLITE_OK) {
		statement_integer(&s, ":now", now);
		rc = statement_run(&s);
	}
	return rc == SQLITE_OK ? NULL : connection_error(db, rc, path, "cannot be created");
}

static struct error *create_file(const char *path)
{
	char *journal = mem_format("%s-journal", path);
	(void)unlink(path);
	(void)unlink(journal);
	free(journal);
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return exit_error(errno == EACCES || errno == EPERM || errno == EROFS ? EX_NOPERM : EX_CANTCREAT,
			"the database %s cannot be created: %s", path, strerror(errno));
	close(fd);
	return NULL;
}

static struct error *create_under(const char *path, int64_t now)
{
	sqlite3 *db = NULL;
	struct error *e = create_file(path);
	if (!e)
		e = connection_open(path, CONNECTION_WRITER, &db);
	if (!e)
		e = fill(db, path, now);
	connection_close(db);
	return e;
}

/* A log without its database means that somebody removed the file and not what belongs to it. */
static struct error *refuse_log(const struct directory *d)
{
	char *wal = mem_format("%s-wal", d->database);
	struct error *e = access(wal, F_OK) != 0
				  ? NULL
				  : exit_error(EX_DATAERR, "the database %s is missing, but its write-ahead log %s is there",
					    d->database, wal);
	free(wal);
	return e;
}

struct error *migrate_create(const struct directory *d, int64_t now)
{
	struct error *e = refuse_log(d);
	if (e)
		return e;
	char *path = mem_format("%s.new", d->database);
	e = create_under(path, now);
	if (!e && rename(path, d->database) != 0)
		e = exit_error(EX_CANTCREAT, "the database %s cannot be created: %s", d->database, strerror(errno));
	if (e)
		(void)unlink(path);
	free(path);
	return e ? e : directory_sync(d);
}

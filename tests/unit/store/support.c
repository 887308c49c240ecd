#include "support.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

static const struct log quiet = { LOG_ERROR };

static struct error *parse_request(const char *text, struct request **ret)
{
	struct claim claims[REQUEST_CLAIMS];
	size_t n = 0;
	char *copy = mem_string(text), *rest = copy;
	for (char *part; (part = strsep(&rest, ";")) && n < REQUEST_CLAIMS; n++) {
		char *type = strsep(&part, ","), *count = strsep(&part, ","), *container = strsep(&part, ","), *agent = part;
		if (!agent) {
			free(copy);
			return error_new(ERR_INTERNAL, "not a request: %s", text);
		}
		claims[n] = (struct claim){ .type = type,
			.count = atoi(count),
			.container = container,
			.reuse = "",
			.together = "",
			.agent = *agent == '1' };
	}
	*ret = request_new(claims, n, text);
	free(copy);
	return NULL;
}

static void print_event(const struct event *event, struct text *to)
{
	text_printf(to, "{\"kind\":\"%s\"}", event->kind);
}

const struct store_codec test_codec = { .print_event = print_event, .parse_request = parse_request };

struct request *request_of(const char *text)
{
	struct request *r = NULL;
	assert_null(parse_request(text, &r));
	return r;
}

int place_new(void **state)
{
	struct place *p = mem_alloc(sizeof *p);
	const char *parent = getenv("TMPDIR");
	(void)snprintf(p->directory, sizeof p->directory, "%.40s/allot-store-XXXXXX", parent ? parent : "/tmp");
	if (!mkdtemp(p->directory))
		return -1;
	(void)snprintf(p->database, sizeof p->database, "%s/allotd.db", p->directory);
	*state = p;
	return 0;
}

int place_new_open(void **state)
{
	if (place_new(state) != 0)
		return -1;
	place_open(*state, false);
	return 0;
}

int place_new_guarded(void **state)
{
	if (place_new(state) != 0)
		return -1;
	place_open(*state, true);
	return 0;
}

int place_end(void **state)
{
	struct place *p = *state;
	place_close(p);
	DIR *d = opendir(p->directory);
	for (struct dirent *e; d && (e = readdir(d));) {
		char *path = place_file(p, e->d_name);
		(void)unlink(path);
		free(path);
	}
	if (d)
		closedir(d);
	int rc = rmdir(p->directory);
	free(p);
	return rc;
}

struct store_options options_for(const struct place *p)
{
	return (struct store_options){
		.directory = p->directory, .codec = &test_codec, .log = &quiet, .now = (int64_t)START * 1000
	};
}

void place_open(struct place *p, bool guard)
{
	struct store_options options = options_for(p);
	options.guard = guard;
	struct error *e = store_open(&options, &p->store);
	if (e)
		fail_msg("store_open: %s", e->message);
}

void place_close(struct place *p)
{
	store_close(p->store);
	p->store = NULL;
}

void refused(const struct place *p, int status, const char *part)
{
	struct store_options options = options_for(p);
	struct store *store = NULL;
	struct error *e = store_open(&options, &store);
	assert_non_null(e);
	assert_null(store);
	if (!strstr(e->message, part))
		fail_msg("\"%s\" does not say \"%s\"", e->message, part);
	assert_string_equal(e->details[0].key, "exit");
	assert_int_equal(e->details[0].integer, status);
	error_free(e);
}

char *place_file(const struct place *p, const char *name)
{
	return mem_format("%s/%s", p->directory, name);
}

char *bytes_of(const char *path, size_t *size)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	*size = (size_t)st.st_size;
	char *bytes = mem_alloc(*size + 1);
	assert_int_equal(read(fd, bytes, *size), st.st_size);
	close(fd);
	return bytes;
}

void write_bytes(const char *path, const char *bytes, size_t size)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, size), (ssize_t)size);
	close(fd);
}

bool file_exists(const char *path)
{
	return access(path, F_OK) == 0;
}

void commit(struct place *p, struct change_list *changes)
{
	char *why = NULL;
	struct store_meta meta = store_meta(p->store);
	meta.revision++;
	for (size_t i = 0; i < changes->n; i++)
		if (changes->changes[i].kind == RECORD_EVENT &&
			((const struct event *)changes->changes[i].after)->revision > meta.revision)
			meta.revision = ((const struct event *)changes->changes[i].after)->revision;
	enum store_outcome outcome = store_commit(p->store, changes, &meta, &why);
	if (outcome != STORE_OK)
		fail_msg("store_commit: %d, %s", outcome, why);
	assert_null(why);
	change_list_truncate(changes, 0);
}

struct store_meta load(struct place *p, struct change_list *ret)
{
	struct store_meta meta;
	struct error *e = store_load(p->store, ret, &meta);
	if (e)
		fail_msg("store_load: %s", e->message);
	return meta;
}

sqlite3 *hand_open(const struct place *p)
{
	sqlite3 *db = NULL;
	assert_int_equal(sqlite3_open_v2(p->database, &db, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
	hand_may(db, "PRAGMA foreign_keys = OFF; PRAGMA recursive_triggers = OFF");
	return db;
}

void hand_may(sqlite3 *db, const char *sql)
{
	char *message = NULL;
	if (sqlite3_exec(db, sql, NULL, NULL, &message) != SQLITE_OK)
		fail_msg("%s: %s", sql, message);
}

void hand_may_not(sqlite3 *db, const char *sql, const char *part)
{
	char *message = NULL;
	if (sqlite3_exec(db, sql, NULL, NULL, &message) == SQLITE_OK)
		fail_msg("this was allowed: %s", sql);
	if (!strstr(message, part))
		fail_msg("%s: \"%s\" does not say \"%s\"", sql, message, part);
	sqlite3_free(message);
}

int64_t hand_number(sqlite3 *db, const char *sql)
{
	sqlite3_stmt *s = NULL;
	if (sqlite3_prepare_v2(db, sql, -1, &s, NULL) != SQLITE_OK)
		fail_msg("%s: %s", sql, sqlite3_errmsg(db));
	assert_int_equal(sqlite3_step(s), SQLITE_ROW);
	int64_t number = sqlite3_column_int64(s, 0);
	sqlite3_finalize(s);
	return number;
}

char *hand_text(sqlite3 *db, const char *sql)
{
	sqlite3_stmt *s = NULL;
	if (sqlite3_prepare_v2(db, sql, -1, &s, NULL) != SQLITE_OK)
		fail_msg("%s: %s", sql, sqlite3_errmsg(db));
	assert_int_equal(sqlite3_step(s), SQLITE_ROW);
	const char *text = (const char *)sqlite3_column_text(s, 0);
	char *copy = mem_string(text ? text : "NULL");
	sqlite3_finalize(s);
	return copy;
}

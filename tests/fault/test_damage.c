/* Files that must not be served: each start ends with a message that says what is wrong, with its own status, and with every file as it was. */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sysexits.h>
#include <unistd.h>

#include "support/call.h"
#include "support/check.h"
#include "support/cluster.h"
#include "support/directory.h"
#include "support/program.h"
#include "support/server.h"

enum { PAGE = 4096, FRAME = PAGE + 24, LOG_HEADER = 32 };

/* A server that has ended and left something behind. */
struct place {
	struct server *server;
	char database[512], log[512], record[512];
};

/* Some history; then the end by this signal. SIGKILL leaves the log with the last commits. */
static struct place *place_new(int signal)
{
	struct place *p = calloc(1, sizeof *p);
	if (!p)
		abort();
	p->server = server_start(NULL);
	(void)snprintf(p->database, sizeof p->database, "%s/allotd.db", p->server->data);
	(void)snprintf(p->log, sizeof p->log, "%s/allotd.db-wal", p->server->data);
	(void)snprintf(p->record, sizeof p->record, "%s/allotd.highwater", p->server->data);
	register_gpus(p->server->wire, "n1", 4);
	server_restart(p->server, SIGTERM);
	for (int i = 0; i < 4; i++) {
		char uid[16];
		(void)snprintf(uid, sizeof uid, "p%d", i);
		json_decref(call_result(p->server->wire, "pod.reserve", whole_gpus(uid, "n1", 1)));
	}
	(void)server_end(p->server, signal);
	return p;
}

/* The same where other users can get to. */
static struct place *place_new_reachable(int signal)
{
	const char *parent = getenv("TMPDIR");
	char *before = parent ? strdup(parent) : NULL;
	(void)setenv("TMPDIR", "/tmp", 1);
	struct place *p = place_new(signal);
	if (before)
		(void)setenv("TMPDIR", before, 1);
	else
		(void)unsetenv("TMPDIR");
	free(before);
	return p;
}

static void place_end(struct place *p)
{
	server_stop(p->server);
	free(p);
}

/* ---- files */

static void flip(const char *path, off_t at)
{
	unsigned char byte;
	int fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0 || pread(fd, &byte, 1, at) != 1)
		check_failed("%s at %lld: %s", path, (long long)at, strerror(errno));
	byte ^= 0x10;
	assert_int_equal(pwrite(fd, &byte, 1, at), 1);
	(void)close(fd);
}

static off_t size_of(const char *path)
{
	struct stat st;
	return stat(path, &st) == 0 ? st.st_size : -1;
}

static void run_sql(const char *path, const char *sql)
{
	sqlite3 *db = NULL;
	char *why = NULL;
	if (sqlite3_open(path, &db) != SQLITE_OK || sqlite3_exec(db, sql, NULL, NULL, &why) != SQLITE_OK)
		check_failed("%s: %s", sql, why ? why : sqlite3_errmsg(db));
	sqlite3_close(db);
}

/* Checksums, sizes and modes of everything that counts; the lock file, the shared index and the ballast are no data. */
static char *fingerprint(const struct place *p)
{
	struct outcome o = shell(
		"cd '%s' && for f in $(ls -A | grep -v -e -shm -e lock -e ballast); do stat -c '%%n %%s %%a "
		"%%U' $f; sha256sum <$f; done",
		p->server->data);
	char *print = strdup(o.out);
	outcome_free(&o);
	return print;
}

/* ---- starts */

/* Starts the server and waits for its end; the status. What it said since is in *said (owned). */
static int failing_start(struct place *p, char **said)
{
	char *before = file_read(p->server->log);
	size_t n = strlen(before);
	free(before);
	server_launch(p->server);
	int status = 0;
	for (int64_t end = check_now() + check_patience(); waitpid(p->server->pid, &status, WNOHANG) == 0; check_sleep(2)) {
		struct wire *w = wire_try_open(p->server->socket);
		wire_close(w);
		if (w || check_now() > end)
			check_failed("the server %s", w ? "has started" : "neither starts nor ends");
	}
	p->server->pid = 0;
	char *log = file_read(p->server->log);
	*said = strdup(log + n);
	free(log);
	if (!WIFEXITED(status))
		check_failed("the server %s: %s", status_words(status), *said);
	return WEXITSTATUS(status);
}

static void expect_refusal(struct place *p, int status, const char *part)
{
	char *before = fingerprint(p), *said = NULL;
	int got = failing_start(p, &said);
	char *after = fingerprint(p);
	if (got != status || !strstr(said, part))
		check_failed("status %d instead of %d, \"%s\" expected, it said: %s", got, status, part, said);
	if (strcmp(before, after) != 0)
		check_failed("files were touched: \"%s\" was\n%s\nand is\n%s", part, before, after);
	free(before);
	free(after);
	free(said);
}

/* The server starts on what is there, and nothing is missing. */
static void expect_start(struct place *p)
{
	server_continue(p->server);
	expect(p->server->wire, "pod.list", NULL, json_of("{'pods': {'$count': 4}}"));
	expect(p->server->wire, "server.check", NULL, json_of("{'ok': true}"));
}

/* ---- the tests */

/* A bit of the header of the database, of any page, at any place: either it makes no difference or the start is refused. */
static void a_flipped_bit(void **state)
{
	(void)state;
	struct place *p = place_new(SIGTERM);
	off_t size = size_of(p->database);
	struct {
		off_t at;
		const char *part;
	} places[] = {
		{ 0, "is not a database" }, { 16, "cannot be" },       /* page size */
		{ 62, "use a newer one" },                             /* user_version: 0x1001 */
		{ 69, "another application" }, { PAGE, "is damaged" }, /* kind of a page */
		{ 2 * PAGE + 4, "is damaged" },                        /* its number of cells */
		{ 5 * PAGE + 6, "is damaged" },                        /* where its content begins */
	};
	for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
		flip(p->database, places[i].at);
		expect_refusal(p, EX_DATAERR, places[i].part);
		flip(p->database, places[i].at);
	}
	assert_true(size > 8 * PAGE);
	expect_start(p);
	place_end(p);
}

/* The log breaks off at the damaged frame: what comes after it is lost without a trace, but for the high-water record. */
static void a_flipped_bit_in_the_log(void **state)
{
	(void)state;
	struct place *p = place_new(SIGKILL);
	off_t frames = (size_of(p->log) - LOG_HEADER) / FRAME;
	assert_true(frames > 4);
	off_t places[] = { 8, LOG_HEADER, LOG_HEADER + 24 + 100, LOG_HEADER + frames / 2 * FRAME + 2000,
		LOG_HEADER + (frames - 1) * FRAME + 24 + 7 };
	for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
		flip(p->log, places[i]);
		expect_refusal(p, EX_DATAERR, "is behind what was answered");
		flip(p->log, places[i]);
	}
	expect_start(p);
	place_end(p);
}

static void a_missing_log(void **state)
{
	(void)state;
	struct place *p = place_new(SIGKILL);
	char aside[600];
	(void)snprintf(aside, sizeof aside, "%s/aside", p->server->directory);
	assert_int_equal(rename(p->log, aside), 0);
	expect_refusal(p, EX_DATAERR, "is behind what was answered");
	assert_int_equal(rename(aside, p->log), 0);
	expect_start(p);
	place_end(p);
}

static void a_missing_database(void **state)
{
	(void)state;
	struct place *p = place_new(SIGKILL);
	char aside[600], log_aside[600], record_aside[600];
	(void)snprintf(aside, sizeof aside, "%s/aside", p->server->directory);
	(void)snprintf(log_aside, sizeof log_aside, "%s/aside-wal", p->server->directory);
	(void)snprintf(record_aside, sizeof record_aside, "%s/aside-record", p->server->directory);
	assert_int_equal(rename(p->database, aside), 0);
	expect_refusal(p, EX_DATAERR, "there is no database, but");
	assert_int_equal(rename(p->record, record_aside), 0);
	expect_refusal(p, EX_DATAERR, "is missing, but its write-ahead log");
	assert_int_equal(rename(p->log, log_aside), 0);
	assert_int_equal(rename(record_aside, p->record), 0);
	expect_refusal(p, EX_DATAERR, "there is no database, but");
	assert_int_equal(rename(log_aside, p->log), 0);
	assert_int_equal(rename(aside, p->database), 0);
	expect_start(p);
	place_end(p);
}

/* An older copy of the database, and another one altogether. */
static void behind_and_other(void **state)
{
	(void)state;
	struct place *p = place_new(SIGTERM), *other = place_new(SIGTERM);
	struct outcome o = shell("cp '%s' '%s/old'", p->database, p->server->directory);
	assert_int_equal(o.status, 0);
	outcome_free(&o);
	server_continue(p->server);
	json_decref(call_result(p->server->wire, "pod.release", json_of("{'uid': 'p0'}")));
	(void)server_end(p->server, SIGTERM);
	o = shell("cp '%s' '%s/new' && cp '%s/old' '%s'", p->database, p->server->directory, p->server->directory, p->database);
	assert_int_equal(o.status, 0);
	outcome_free(&o);
	expect_refusal(p, EX_DATAERR, "is behind what was answered");
	o = shell("cp '%s' '%s'", other->database, p->database);
	assert_int_equal(o.status, 0);
	outcome_free(&o);
	expect_refusal(p, EX_DATAERR, "is another one");
	o = shell("cp '%s/new' '%s'", p->server->directory, p->database);
	outcome_free(&o);
	server_continue(p->server);
	expect(p->server->wire, "pod.list", NULL, json_of("{'pods': {'$count': 3}}"));
	place_end(p);
	place_end(other);
}

static void not_our_version_or_application(void **state)
{
	(void)state;
	struct place *p = place_new(SIGTERM);
	run_sql(p->database, "PRAGMA journal_mode = DELETE; PRAGMA user_version = 999");
	expect_refusal(p, EX_DATAERR, "use a newer one");
	run_sql(p->database, "PRAGMA user_version = 1; PRAGMA application_id = 7");
	expect_refusal(p, EX_DATAERR, "belongs to another application");
	place_end(p);
}

static void cut_short(void **state)
{
	(void)state;
	struct place *p = place_new(SIGTERM);
	off_t size = size_of(p->database);
	static const struct {
		int part, of;
		const char *says;
	} cuts[] = { { 7, 8, "is malformed" }, { 1, 2, "is malformed" }, { 1, 16, "is malformed" } };
	for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++) {
		assert_int_equal(truncate(p->database, size * cuts[i].part / cuts[i].of / PAGE * PAGE), 0);
		expect_refusal(p, EX_DATAERR, cuts[i].says);
	}
	assert_int_equal(truncate(p->database, 50), 0);
	expect_refusal(p, EX_DATAERR, "is not a database");
	assert_int_equal(truncate(p->database, 0), 0);
	expect_refusal(p, EX_DATAERR, "there is no database, but");
	place_end(p);
}

/* A file of nothing, without a record, is no database yet. */
static void an_empty_file_alone(void **state)
{
	(void)state;
	struct place *p = place_new(SIGTERM);
	assert_int_equal(truncate(p->database, 0), 0);
	assert_int_equal(unlink(p->record), 0);
	server_continue(p->server);
	expect(p->server->wire, "pod.list", NULL, json_of("{'pods': {'$count': 0}}"));
	place_end(p);
}

static void another_text(void **state)
{
	(void)state;
	struct place *p = place_new(SIGTERM);
	struct outcome o = shell("seq 1 1000 >'%s'", p->database);
	outcome_free(&o);
	expect_refusal(p, EX_DATAERR, "is not a database");
	place_end(p);
}

/* ---- rights */

/* The server as nobody; needs root to become it. Skips the test when that is not to be had. */
static int start_as_nobody(struct place *p, char **said)
{
	const struct passwd *nobody = getpwnam("nobody");
	char *command = NULL;
	if (geteuid() != 0 || !nobody) {
		print_message("# only root can become another user\n");
		server_continue(p->server);
		place_end(p);
		skip();
	}
	char **words = server_command(NULL);
	if (asprintf(&command,
		    "chmod a+rx '%s' && exec setpriv --reuid=%d --clear-groups timeout 20 '%s' --data-dir '%s' --socket "
		    "'%s/nobody.sock'",
		    p->server->directory, (int)nobody->pw_uid, words[0], p->server->data, p->server->directory) < 0)
		abort();
	struct outcome o = shell("%s", command);
	int status = o.status;
	*said = strdup(o.err);
	outcome_free(&o);
	free(command);
	free(words);
	return status;
}

static void expect_nobody_refused(struct place *p, int status, const char *part)
{
	char *before = fingerprint(p), *said = NULL;
	int got = start_as_nobody(p, &said);
	char *after = fingerprint(p);
	if (got != status || !strstr(said, part))
		check_failed("as nobody: status %d instead of %d, \"%s\" expected, it said: %s", got, status, part, said);
	assert_string_equal(before, after);
	free(before);
	free(after);
	free(said);
}

static void another_user(void **state)
{
	(void)state;
	struct place *p = place_new_reachable(SIGKILL);
	expect_nobody_refused(p, EX_NOPERM, "cannot be"); /* the directory is its owner's */
	assert_int_equal(chmod(p->server->data, 0755), 0);
	expect_nobody_refused(p, EX_NOPERM, "lock"); /* and so are the files */
	assert_int_equal(chmod(p->server->data, 0700), 0);
	expect_start(p);
	place_end(p);
}

/* Files that may be written in a directory that may not, and the other way round. */
static void without_the_right_to_write(void **state)
{
	(void)state;
	struct place *p = place_new_reachable(SIGTERM);
	struct outcome o = shell("cd '%s' && chmod a+rw * && chmod 0755 .", p->server->data);
	outcome_free(&o);
	expect_nobody_refused(p, EX_NOPERM, "cannot");
	o = shell("cd '%s' && chmod a=r allotd.db && chmod 0777 .", p->server->data);
	outcome_free(&o);
	expect_nobody_refused(p, EX_NOPERM, "cannot");
	o = shell("cd '%s' && chmod 0600 * && chmod 0700 .", p->server->data);
	outcome_free(&o);
	expect_start(p);
	place_end(p);
}

static void in_use(void **state)
{
	(void)state;
	struct place *p = place_new(SIGTERM);
	expect_start(p);
	char *words[] = { p->server->data };
	char **command = server_command(NULL);
	struct outcome o = shell(
		"exec '%s' --data-dir '%s' --socket '%s/other.sock'", command[0], words[0], p->server->directory);
	assert_int_equal(o.status, EX_TEMPFAIL);
	assert_non_null(strstr(o.err, "is in use by process"));
	outcome_free(&o);
	free(command);
	place_end(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_flipped_bit),
		cmocka_unit_test(a_flipped_bit_in_the_log),
		cmocka_unit_test(a_missing_log),
		cmocka_unit_test(a_missing_database),
		cmocka_unit_test(behind_and_other),
		cmocka_unit_test(not_our_version_or_application),
		cmocka_unit_test(cut_short),
		cmocka_unit_test(an_empty_file_alone),
		cmocka_unit_test(another_text),
		cmocka_unit_test(another_user),
		cmocka_unit_test(without_the_right_to_write),
		cmocka_unit_test(in_use),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

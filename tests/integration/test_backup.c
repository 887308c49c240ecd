/* Backups of a server that is written to all the time: what a copy shows, what it costs others, names, reading, the clock, and the command. */
#include <signal.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <unistd.h>

#include "support/call.h"
#include "support/check.h"
#include "support/cluster.h"
#include "support/directory.h"
#include "support/program.h"
#include "support/server.h"

enum { WRITERS = 64, BACKUPS = 4, ROUNDS = 3 };

static const char *get(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

static int64_t number(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

/* What the sqlite3 shell says about a backup; the caller's. */
static char *ask(const struct server *s, const char *name, const char *sql)
{
	struct outcome o = shell("sqlite3 -readonly '%s/backups/%s' \"%s\"", s->data, name, sql);
	if (o.status != 0)
		check_failed("sqlite3 %s: %s", sql, o.err);
	char *said = o.out;
	o.out = NULL;
	outcome_free(&o);
	return said;
}

static void says(const struct server *s, const char *name, const char *sql, const char *what)
{
	char *said = ask(s, name, sql);
	assert_string_equal(said, what);
	free(said);
}

/* ---- 64 connections write */

/* A connection that takes a share for one pod after the other and gives some back. */
struct writer {
	struct wire *wire;
	int n, count; /* its number; calls made */
	int64_t id;
};

static void write_more(struct writer *w)
{
	int pod = w->count / 3;
	if (w->count % 3 < 2)
		w->id = call_send(w->wire, "pod.reserve",
			json_of("{'pod': {'uid': 'w%d-%d-%d'}, 'node': 'n%d', 'request': [{'type': 'gpu',"
				" 'resources': {'core': 1}}]}",
				w->n, pod, w->count % 3, 1 + w->n % 8));
	else
		w->id = call_send(w->wire, "pod.release", json_of("{'uid': 'w%d-%d-0'}", w->n, pod));
	w->count++;
}

/* Lets each writer whose answer has come go on; returns how many answers came. */
static int writers_go_on(struct writer *writers)
{
	int answered = 0;
	for (int i = 0; i < WRITERS; i++) {
		char *line;
		if (wire_try_line(writers[i].wire, 0, &line) != WIRE_LINE)
			continue;
		if (!strstr(line, "\"result\"") && !strstr(line, "\"insufficient\""))
			check_failed("%s", line);
		free(line);
		write_more(&writers[i]);
		answered++;
	}
	return answered;
}

static void writers_start(struct writer *writers, const struct server *s)
{
	for (int i = 0; i < WRITERS; i++) {
		writers[i] = (struct writer){ .wire = wire_open(s->socket), .n = i };
		write_more(&writers[i]);
	}
}

static void writers_end(struct writer *writers)
{
	for (int i = 0; i < WRITERS; i++) {
		json_decref(call_receive(writers[i].wire, writers[i].id));
		wire_close(writers[i].wire);
	}
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The uids that held something at a revision, from all events, one a line; the caller's. */
static char *held_at(struct wire *w, int64_t revision)
{
	json_t *held = json_object(), *value;
	int64_t after = 0, last = -1;
	while (after < revision && after != last) {
		json_t *page = call_result(w, "event.list", json_of("{'after': %lld, 'limit': 5000}", (long long)after)), *event;
		size_t i;
		json_array_foreach (json_object_get(page, "events"), i, event) {
			if (number(event, "revision") > revision)
				break;
			if (strcmp(get(event, "kind"), "pod.reserved") == 0)
				json_object_set_new(held, get(event, "uid"), json_true());
			else if (strcmp(get(event, "kind"), "pod.released") == 0)
				json_object_del(held, get(event, "uid"));
		}
		last = after;
		after = number(page, "last");
		json_decref(page);
	}
	const char *uid, **all = calloc(json_object_size(held) + 1, sizeof *all);
	size_t n = 0, size;
	char *text;
	FILE *out = open_memstream(&text, &size);
	json_object_foreach (held, uid, value)
		all[n++] = uid;
	qsort(all, n, sizeof *all, by_text);
	for (size_t i = 0; i < n; i++)
		fprintf(out, "%s\n", all[i]);
	fclose(out);
	free(all);
	json_decref(held);
	return text;
}

static void check_backup(struct server *s, const json_t *backup)
{
	const char *name = get(backup, "name");
	struct outcome o = shell(
		"cd '%s/backups' && sha256sum -c '%s.sha256' && sha256sum '%s' | cut -c1-64 && stat -c '%%s %%a' '%s' && ls -a",
		s->data, name, name, name);
	char *want = NULL;
	if (asprintf(&want, "%s\n%lld 600\n", get(backup, "sha256"), (long long)number(backup, "bytes")) < 0)
		abort();
	if (o.status != 0 || !strstr(o.out, want) || strstr(o.out, "-wal") || strstr(o.out, "incomplete"))
		check_failed("%s: %s%s, not %s", name, o.out, o.err, want);
	outcome_free(&o);
	free(want);
	says(s, name, "PRAGMA integrity_check; PRAGMA foreign_key_check; PRAGMA journal_mode", "ok\ndelete\n");
	if (asprintf(&want, "%lld\n", (long long)number(backup, "revision")) < 0)
		abort();
	says(s, name, "SELECT revision FROM meta", want);
	says(s, name, "SELECT max(revision) FROM event", want);
	free(want);
	want = held_at(s->wire, number(backup, "revision"));
	says(s, name, "SELECT uid FROM allocation ORDER BY uid", want);
	free(want);
}

/* Each backup shows one revision and nothing else, and the writers go on meanwhile. */
static void while_64_connections_write(void **state)
{
	struct server *s = *state;
	struct writer writers[WRITERS];
	json_t *made[BACKUPS];
	for (int i = 1; i <= 8; i++) {
		char node[16];
		(void)snprintf(node, sizeof node, "n%d", i);
		register_gpus(s->wire, node, 8);
	}
	writers_start(writers, s);
	for (int i = 0; i < BACKUPS; i++) {
		int64_t id = call_send(s->wire, "backup.create", NULL);
		char *line = NULL;
		int answered = 0;
		int64_t start = check_now();
		while (wire_try_line(s->wire, 0, &line) != WIRE_LINE) {
			answered += writers_go_on(writers);
			if (check_now() - start > 3 * check_patience())
				check_failed("the backup does not end");
		}
		json_t *answer = json_loads(line, 0, NULL);
		made[i] = json_incref(json_object_get(answer, "result"));
		json_decref(answer);
		if (!made[i] || !answered)
			check_failed("backup %lld: %d answers meanwhile, %s", (long long)id, answered, line);
		free(line);
		for (int k = 0; k < ROUNDS * 50; k++)
			(void)writers_go_on(writers);
	}
	writers_end(writers);
	for (int i = 0; i < BACKUPS; i++) {
		check_backup(s, made[i]);
		assert_true(i == 0 || number(made[i], "revision") > number(made[i - 1], "revision"));
	}
	for (int i = 0; i < BACKUPS; i++)
		json_decref(made[i]);
	expect(s->wire, "server.check", NULL, json_of("{'ok': true}"));
}

/* ---- a large database */

/* Two hundred thousand old events, put in by hand while the server does not run. */
static void grow(struct server *s)
{
	(void)server_end(s, SIGTERM);
	struct outcome o = shell(
		"sqlite3 '%s/allotd.db' \"INSERT INTO event (revision, n, at, kind, node, uid, actor, data)"
		" WITH RECURSIVE i (k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM i WHERE k < 200000)"
		" SELECT m.revision + k, 0, m.now, 'pod.renewed', 'n1', 'old', 'hand', '{\\\"x\\\":\\\"' || "
		"hex(zeroblob(200)) || '\\\"}' FROM i, meta AS m;"
		" UPDATE meta SET revision = revision + 200000\"",
		s->data);
	if (o.status != 0)
		check_failed("%s", o.err);
	outcome_free(&o);
	o = shell("rm '%s/allotd.highwater'", s->data);
	outcome_free(&o);
	server_continue(s);
}

/* Reading and writing do not wait for a backup that takes long. */
static void others_do_not_wait(void **state)
{
	struct server *s = *state;
	register_gpus(s->wire, "n1", 8);
	grow(s);
	struct wire *other = wire_open(s->socket);
	int64_t id = call_send(s->wire, "backup.create", json_of("{'name': 'big'}")), start = check_now(), worst = 0;
	char *line = NULL;
	int asked = 0;
	while (wire_try_line(s->wire, 0, &line) != WIRE_LINE) {
		int64_t before = check_now();
		json_decref(call_result(other, "event.list", json_of("{'after': %d, 'limit': 10}", asked)));
		json_decref(call_result(other, "pod.reserve",
			json_of("{'pod': {'uid': 'p%d'}, 'request': [{'type': 'gpu', 'resources': {'core': 1}}]}", asked)));
		json_decref(call_result(other, "pod.release", json_of("{'uid': 'p%d'}", asked)));
		json_decref(call_result(other, "backup.list", NULL));
		worst = check_now() - before > worst ? check_now() - before : worst;
		asked++;
	}
	int64_t took = check_now() - start;
	print_message("# a backup of %lld ms; %d times event.list, pod.reserve and backup.list meanwhile, the slowest %lld ms\n",
		(long long)took, asked, (long long)worst);
	if (asked < 2 || worst * 2 > took)
		check_failed("the others waited: %d answers in %lld ms, the slowest took %lld ms", asked, (long long)took,
			(long long)worst);
	assert_non_null(strstr(line, "\"sha256\""));
	free(line);
	(void)id;
	wire_close(other);
	says(s, "big", "SELECT count(*) > 200000 FROM event", "1\n");
}

/* The end of the server does not wait for it either, and nothing half-made is left. */
static void a_backup_is_given_up(void **state)
{
	struct server *s = *state;
	register_gpus(s->wire, "n1", 8);
	grow(s);
	(void)call_send(s->wire, "backup.create", json_of("{'name': 'never'}"));
	check_sleep(30);
	int64_t start = check_now();
	assert_int_equal(server_end(s, SIGTERM), 0);
	int64_t took = check_now() - start;
	struct outcome o = shell("ls -A '%s/backups'", s->data);
	if (*o.out)
		check_failed("left after %lld ms: %s", (long long)took, o.out);
	outcome_free(&o);
	server_continue(s);
	expect(s->wire, "backup.list", NULL, json_of("{'backups': []}"));
	/* Killed in the middle of it: what is left is in nobody's way. */
	(void)call_send(s->wire, "backup.create", json_of("{'name': 'never'}"));
	check_sleep(30);
	server_restart(s, SIGKILL);
	expect(s->wire, "backup.list", NULL, json_of("{'backups': []}"));
	expect(s->wire, "backup.create", json_of("{'name': 'at-last'}"), json_of("{'name': 'at-last'}"));
	o = shell("ls -A '%s/backups'", s->data);
	assert_string_equal(o.out, "at-last\nat-last.sha256\n");
	outcome_free(&o);
}

/* ---- names and files */

static void names(void **state)
{
	static const char *const bad[] = { "../x", "/tmp/x", "a/b", ".hidden", "..", "x.sha256", "x-wal", "x-journal", "a b",
		"\\u00e4", "x\\\\n" };
	struct server *s = *state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		refused(s->wire, "backup.create", json_of("{'name': '%s'}", bad[i]), "invalid_params",
			json_of("{'path': 'name'}"));
		refused(s->wire, "backup.read", json_of("{'name': '%s'}", bad[i]), "invalid_params", json_of("{'path': 'name'}"));
		refused(s->wire, "backup.remove", json_of("{'name': '%s'}", bad[i]), "invalid_params",
			json_of("{'path': 'name'}"));
	}
	refused(s->wire, "backup.create", json_of("{'name': ''}"), "invalid_params", NULL);
	expect(s->wire, "backup.list", NULL, json_of("{'backups': []}"));
	expect(s->wire, "backup.create", json_of("{'name': 'one.db'}"), json_of("{'name': 'one.db', 'epoch': 1, 'revision': 0}"));
	refused(s->wire, "backup.create", json_of("{'name': 'one.db'}"), "conflict", json_of("{'name': 'one.db'}"));
	json_t *a = call_result(s->wire, "backup.create", NULL), *b = call_result(s->wire, "backup.create", NULL);
	assert_string_not_equal(get(a, "name"), get(b, "name"));
	expect(s->wire, "backup.list", NULL,
		json_of("{'backups': {'$set': [{'name': 'one.db'}, {'name': '%s', 'sha256': '%s'}, {'name': '%s'}]}}",
			get(a, "name"), get(a, "sha256"), get(b, "name")));
	json_decref(a);
	json_decref(b);
	expect(s->wire, "backup.remove", json_of("{'name': 'one.db'}"), json_of("{'removed': true}"));
	refused(s->wire, "backup.remove", json_of("{'name': 'one.db'}"), "not_found",
		json_of("{'kind': 'backup', 'name': 'one.db'}"));
	refused(s->wire, "backup.read", json_of("{'name': 'one.db'}"), "not_found", NULL);
	struct stat st;
	char *path = NULL;
	if (asprintf(&path, "%s/backups", s->data) < 0)
		abort();
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0700);
	free(path);
}

/* A link in the directory leads nowhere. */
static void links_are_not_followed(void **state)
{
	struct server *s = *state;
	expect(s->wire, "backup.create", json_of("{'name': 'one'}"), json_of("{}"));
	struct outcome o = shell("ln -s /etc/passwd '%s/backups/two'; mkfifo '%s/backups/three'; mkdir '%s/backups/four'",
		s->data, s->data, s->data);
	assert_int_equal(o.status, 0);
	outcome_free(&o);
	refused(s->wire, "backup.read", json_of("{'name': 'two'}"), "not_found", NULL);
	refused(s->wire, "backup.read", json_of("{'name': 'three'}"), "not_found", NULL);
	refused(s->wire, "backup.read", json_of("{'name': 'four'}"), "not_found", NULL);
	refused(s->wire, "backup.create", json_of("{'name': 'two'}"), "conflict", NULL);
	expect(s->wire, "backup.list", NULL, json_of("{'backups': [{'name': 'one'}]}"));
}

static void parts(void **state)
{
	struct server *s = *state;
	json_t *backup = call_result(s->wire, "backup.create", json_of("{'name': 'b'}"));
	struct outcome o = shell("base64 -w0 '%s/backups/b'", s->data);
	int64_t size = number(backup, "bytes"), at = 0;
	size_t got = 0;
	while (at < size) { /* a multiple of three, so that the parts of base64 join */
		json_t *part = call_result(
			s->wire, "backup.read", json_of("{'name': 'b', 'offset': %lld, 'limit': 30000}", (long long)at));
		const char *data = get(part, "data");
		assert_int_equal(number(part, "size"), size);
		assert_int_equal(number(part, "offset"), at);
		assert_memory_equal(o.out + got, data, strlen(data));
		got += strlen(data);
		at += 30000;
		assert_int_equal(json_is_true(json_object_get(part, "eof")), at >= size);
		json_decref(part);
	}
	assert_int_equal(got, strlen(o.out));
	outcome_free(&o);
	expect(s->wire, "backup.read", json_of("{'name': 'b', 'offset': 1, 'limit': 1}"),
		json_of("{'data': 'UQ==', 'eof': false}"));
	expect(s->wire, "backup.read", json_of("{'name': 'b', 'limit': 2}"), json_of("{'data': 'U1E='}"));
	expect(s->wire, "backup.read", json_of("{'name': 'b', 'offset': 99999999}"), json_of("{'data': '', 'eof': true}"));
	refused(s->wire, "backup.read", json_of("{'name': 'b', 'offset': -1}"), "invalid_params", NULL);
	refused(s->wire, "backup.read", json_of("{'name': 'b', 'limit': 4194305}"), "invalid_params", NULL);
	json_decref(backup);
}

/* ---- by the clock */

static void wait_for_backups(struct server *s, const char *name, int how_many)
{
	int64_t end = check_now() + 3 * check_patience();
	for (;;) {
		struct outcome o = shell("grep -c 'backup %s' '%s'", name, s->log);
		bool there = atoi(o.out) >= how_many;
		outcome_free(&o);
		if (there)
			return;
		if (check_now() > end)
			check_failed("no %d backups were made", how_many);
		check_sleep(50);
	}
}

static int scheduled(void **state)
{
	static char every[] = "--backup-every", one[] = "1", keep[] = "--backup-keep", two[] = "2";
	static char *const arguments[] = { every, one, keep, two, NULL };
	*state = server_start(arguments);
	return 0;
}

static void every_second(void **state)
{
	struct server *s = *state;
	expect(s->wire, "backup.create", json_of("{'name': 'mine'}"), json_of("{}"));
	wait_for_backups(s, "auto-", 4);
	json_t *list = call_result(s->wire, "backup.list", NULL), *backup;
	size_t i, automatic = 0, mine = 0;
	json_array_foreach (json_object_get(list, "backups"), i, backup) {
		automatic += strncmp(get(backup, "name"), "auto-", 5) == 0;
		mine += strcmp(get(backup, "name"), "mine") == 0;
	}
	assert_true(automatic == 2 || automatic == 3); /* one may just have been made */
	assert_int_equal(mine, 1);
	json_decref(list);
	expect(s->wire, "server.info", NULL, json_of("{'alarms': []}"));
}

static void one_that_cannot_be_made(void **state)
{
	struct server *s = *state;
	struct outcome o = shell("rm -rf '%s/backups'; touch '%s/backups'", s->data, s->data);
	outcome_free(&o);
	wait_for_backups(s, "failed", 1);
	expect(s->wire, "server.info", NULL, json_of("{'alarms': ['backup_failed']}"));
	refused(s->wire, "backup.create", json_of("{'name': 'mine'}"), "internal", NULL);
	o = shell("rm '%s/backups'", s->data);
	outcome_free(&o);
	wait_for_backups(s, "auto-", 1);
	int64_t end = check_now() + check_patience();
	for (;;) {
		json_t *info = call_result(s->wire, "server.info", NULL);
		bool calm = json_array_size(json_object_get(info, "alarms")) == 0;
		json_decref(info);
		if (calm)
			break;
		if (check_now() > end)
			check_failed("the alarm stays");
		check_sleep(50);
	}
}

/* ---- allotctl backup */

static const char *allotctl(void)
{
	const char *path = getenv("ALLOTCTL");
	return path ? path : "build/allotctl";
}

static void the_command(void **state)
{
	struct server *s = *state;
	register_gpus(s->wire, "n1", 8);
	run_pod(s->wire, "a", "n1", 2);
	struct outcome o = shell(
		"'%s' --socket '%s' backup '%s/copy' && sqlite3 -readonly '%s/copy' 'PRAGMA integrity_check; "
		"SELECT uid FROM v_pod'"
		" && ls '%s' | grep copy && ls -A '%s/backups'",
		allotctl(), s->socket, s->directory, s->directory, s->directory, s->data);
	if (o.status != 0 || !strstr(o.out, "\nok\na\ncopy\n") || !strstr(o.out, "copy: revision "))
		check_failed("%d %s%s", o.status, o.out, o.err);
	outcome_free(&o);
	o = shell(
		"'%s' --socket '%s' -o json backup '%s/copy' | grep -o '\"sha256\": \"[0-9a-f]*' | tail -c 65; sha256sum "
		"<'%s/copy' | cut -c1-64",
		allotctl(), s->socket, s->directory, s->directory);
	assert_int_equal(strlen(o.out), 2 * 65);
	assert_memory_equal(o.out, o.out + 65, 64);
	outcome_free(&o);
	o = shell("'%s' --socket '%s' backup '%s/nowhere/copy'", allotctl(), s->socket, s->directory);
	assert_int_equal(o.status, 4);
	assert_non_null(strstr(o.err, "cannot write"));
	outcome_free(&o);
	o = shell("'%s' --socket '%s' backup", allotctl(), s->socket);
	assert_int_equal(o.status, 2);
	outcome_free(&o);
	expect(s->wire, "backup.list", NULL, json_of("{'backups': []}"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(while_64_connections_write, server_setup, server_teardown),
		cmocka_unit_test_setup_teardown(others_do_not_wait, server_setup, server_teardown),
		cmocka_unit_test_setup_teardown(a_backup_is_given_up, server_setup, server_teardown),
		cmocka_unit_test_setup_teardown(names, server_setup, server_teardown),
		cmocka_unit_test_setup_teardown(links_are_not_followed, server_setup, server_teardown),
		cmocka_unit_test_setup_teardown(parts, server_setup, server_teardown),
		cmocka_unit_test_setup_teardown(every_second, scheduled, server_teardown),
		cmocka_unit_test_setup_teardown(one_that_cannot_be_made, scheduled, server_teardown),
		cmocka_unit_test_setup_teardown(the_command, server_setup, server_teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

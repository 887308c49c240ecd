/* allotd restore: what comes back, what does not, how numbers go on, and everything that is refused. */
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <sysexits.h>
#include <unistd.h>

#include "story.h"
#include "support/call.h"
#include "support/check.h"
#include "support/cluster.h"
#include "support/directory.h"
#include "support/program.h"
#include "support/server.h"

#define BLOCK (INT64_C(1) << 41)

enum { STEPS = 24, STORIES = 2 };

/* The binary, for scripts that change their directory. */
static const char *allotd(void)
{
	static char absolute[PATH_MAX];
	const char *path = getenv("ALLOTD");
	return realpath(path ? path : "build/allotd", absolute) ? absolute : "allotd";
}

/* Restores a backup of the server, which has ended, over its own data; must succeed. */
static void restore(const struct server *s, const char *backup)
{
	struct outcome o = shell(
		"'%s' restore --from '%s/backups/%s' --data-dir '%s' --force", allotd(), s->data, backup, s->data);
	if (o.status != 0)
		check_failed("restore of %s: %d, %s", backup, o.status, o.err);
	outcome_free(&o);
}

static void back_up(struct wire *w, const char *name)
{
	expect(w, "backup.create", json_of("{'name': '%s'}", name), json_of("{'name': '%s'}", name));
}

/* ---- the oracle: what a server said when the backup was made, and what must follow from it */

struct moment {
	char name[24];
	json_t *pods, *devices, *nodes, *locks;
	int64_t revision;
};

static struct moment note(struct wire *w, int i)
{
	struct moment m = { .revision = revision_of(w) };
	(void)snprintf(m.name, sizeof m.name, "step-%d", i);
	m.pods = story_list(w, "pod.list", "pods");
	m.devices = story_list(w, "device.list", "devices");
	m.nodes = story_list(w, "node.list", "nodes");
	m.locks = story_list(w, "lock.list", "locks");
	back_up(w, m.name);
	return m;
}

static void moment_free(struct moment *m)
{
	json_decref(m->pods);
	json_decref(m->devices);
	json_decref(m->nodes);
	json_decref(m->locks);
}

static const char *get(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

static const char *uid_of(const json_t *pod)
{
	return get(json_object_get(pod, "pod"), "uid");
}

/* The node on which the pod was only reserved, "" when it was not. */
static const char *reserved_on(const struct moment *m, const char *uid)
{
	json_t *pod;
	size_t i;
	json_array_foreach (m->pods, i, pod) {
		if (strcmp(uid_of(pod), uid) == 0)
			return strcmp(get(pod, "state"), "reserved") == 0 ? get(pod, "node") : "";
	}
	return "";
}

static bool is_reserved(const struct moment *m, const char *uid)
{
	return *reserved_on(m, uid);
}

static void same(const char *what, const struct moment *m, const json_t *is, const json_t *want)
{
	if (json_equal(is, want))
		return;
	char *a = json_dumps(is, JSON_SORT_KEYS), *b = json_dumps(want, JSON_SORT_KEYS);
	check_failed("%s after %s:\n%s\nexpected\n%s", what, m->name, a, b);
}

/* All but the reserved ones, as they were; nobody preempts them any more. */
static void check_pods(const struct moment *m, struct wire *w)
{
	json_t *is = story_list(w, "pod.list", "pods"), *want = json_array(), *pod;
	size_t i;
	json_array_foreach (m->pods, i, pod) {
		if (is_reserved(m, uid_of(pod)))
			continue;
		json_object_del(pod, "preempted_by");
		json_array_append(want, pod);
	}
	same("pod.list", m, is, want);
	json_decref(is);
	json_decref(want);
}

static json_t *sum_used(const json_t *capacity, const json_t *holders)
{
	json_t *used = json_object(), *holder, *amount;
	const char *resource;
	size_t i;
	json_object_foreach ((json_t *)(uintptr_t)capacity, resource, amount)
		json_object_set_new(used, resource, json_integer(0));
	json_array_foreach (holders, i, holder) {
		json_object_foreach (json_object_get(holder, "resources"), resource, amount)
			json_object_set_new(used, resource,
				json_integer(json_integer_value(json_object_get(used, resource)) + json_integer_value(amount)));
	}
	return used;
}

/* The device without those that were only reserved on it; NULL when nothing keeps a missing one any more. */
static json_t *device_after(const struct moment *m, const json_t *before)
{
	json_t *device = json_deep_copy(before), *holders = json_array(), *holder,
	       *promised = json_object_get(device, "nominated"), *amount;
	const char *resource;
	bool whole = false;
	size_t i;
	json_array_foreach (json_object_get(before, "holders"), i, holder) {
		if (is_reserved(m, get(holder, "uid")))
			continue;
		json_array_append(holders, holder);
		whole |= json_is_true(json_object_get(holder, "whole"));
	}
	json_object_set_new(device, "used", sum_used(json_object_get(device, "capacity"), holders));
	json_object_foreach (promised, resource, amount)
		json_integer_set(amount, 0);
	json_object_set_new(device, "shares", json_integer((json_int_t)json_array_size(holders)));
	json_object_set_new(device, "whole", json_boolean(whole));
	bool gone = json_is_true(json_object_get(device, "missing")) && !json_is_true(json_object_get(device, "cordoned")) &&
		    json_array_size(holders) == 0;
	json_object_set_new(device, "holders", holders);
	if (!gone)
		return device;
	json_decref(device);
	return NULL;
}

static void check_devices(const struct moment *m, struct wire *w)
{
	json_t *is = story_list(w, "device.list", "devices"), *want = json_array(), *device;
	size_t i;
	json_array_foreach (m->devices, i, device) {
		json_t *after = device_after(m, device);
		if (after)
			json_array_append_new(want, after);
	}
	same("device.list", m, is, want);
	json_decref(is);
	json_decref(want);
}

static void check_nodes(const struct moment *m, struct wire *w)
{
	json_t *is = story_list(w, "node.list", "nodes"), *node;
	size_t i;
	assert_int_equal(json_array_size(is), json_array_size(m->nodes));
	json_array_foreach (is, i, node) {
		assert_string_equal(get(node, "node"), get(json_array_get(m->nodes, i), "node"));
		assert_true(json_is_true(json_object_get(node, "unverified")));
	}
	json_decref(is);
}

/* A lock goes with the reservation it was taken for. */
static void check_locks(const struct moment *m, struct wire *w)
{
	json_t *is = story_list(w, "lock.list", "locks"), *want = json_array(), *lock;
	size_t i;
	json_array_foreach (m->locks, i, lock) {
		if (strcmp(reserved_on(m, get(lock, "uid")), get(lock, "node")) != 0)
			json_array_append(want, lock);
	}
	same("lock.list", m, is, want);
	json_decref(is);
	json_decref(want);
}

/* Numbers go on beyond everything that was ever used here. */
static void check_numbers(const struct moment *m, struct wire *w, int64_t *revision, int64_t *epoch)
{
	json_t *info = call_result(w, "server.info", NULL), *alarms = json_object_get(info, "alarms");
	int64_t r = json_integer_value(json_object_get(info, "revision")), e = json_integer_value(json_object_get(info, "epoch"));
	if (r < *revision + BLOCK || r < m->revision + BLOCK || r >= INT64_C(1) << 53 || e <= *epoch)
		check_failed("%s: revision %lld of epoch %lld after %lld of %lld", m->name, (long long)r, (long long)e,
			(long long)*revision, (long long)*epoch);
	if (json_array_size(alarms) != 0)
		check_failed("%s: alarms %s", m->name, json_dumps(alarms, 0));
	*revision = r;
	*epoch = e;
	json_decref(info);
}

/* The past belongs to another epoch; the new one begins with the restore. */
static void check_events(struct wire *w, int64_t revision, int64_t epoch)
{
	refused(w, "event.list", NULL, "compacted",
		json_of("{'oldest': %lld, 'epoch': %lld}", (long long)revision, (long long)epoch));
	json_t *page = call_result(w, "event.list", json_of("{'after': %lld}", (long long)revision - 1));
	json_t *first = json_array_get(json_object_get(page, "events"), 0);
	expect_match(first,
		json_of("{'kind': 'server.restored', 'revision': %lld, 'actor': 'restore', 'data': {}}", (long long)revision));
	json_decref(page);
}

/* Agents say what they have and nodes come back; what nobody lists is released. */
static void reconcile(const struct moment *m, struct wire *w)
{
	for (int n = 1; n <= STORY_NODES; n++) {
		json_t *params = json_of("{'node': 'n%d', 'as_of': %lld, 'uids': []}", n, (long long)revision_of(w));
		json_t *pod, *uids = json_object_get(params, "uids"), *nodes;
		size_t i;
		json_array_foreach (m->pods, i, pod) {
			if (!is_reserved(m, uid_of(pod)) && atoi(get(pod, "node") + 1) == n && i % 2)
				json_array_append_new(uids, json_string(uid_of(pod)));
		}
		json_decref(call_result(w, "plugin.reconcile", params));
		nodes = story_list(w, "node.list", "nodes");
		assert_true(json_is_false(json_object_get(json_array_get(nodes, (size_t)n - 1), "unverified")));
		json_decref(nodes);
	}
	expect(w, "server.check", NULL, json_of("{'ok': true}"));
}

static void check_restored(const struct moment *m, struct server *s, int64_t *revision, int64_t *epoch)
{
	restore(s, m->name);
	server_continue(s);
	check_pods(m, s->wire);
	check_devices(m, s->wire);
	check_nodes(m, s->wire);
	check_locks(m, s->wire);
	check_numbers(m, s->wire, revision, epoch);
	check_events(s->wire, *revision, *epoch);
	expect(s->wire, "nomination.list", NULL, json_of("{'nominations': {'$count': 0}}"));
	expect(s->wire, "server.check", NULL, json_of("{'ok': true, 'violations': []}"));
	refused(s->wire, "pod.reserve", whole_gpus("new", "n1", 1), "insufficient", json_of("{'counts': {'unverified': 1}}"));
	reconcile(m, s->wire);
	*revision = revision_of(s->wire);
}

/* Every step of a history is restored, one over the other, the last first. */
static void every_step_of_a_history(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= STORIES; seed++) {
		struct server *s = server_start((char *[]){ (char[]){ "--guard" }, NULL });
		struct moment moments[STEPS];
		struct story t;
		int64_t revision, epoch = 1;
		story_begin(&t, s->wire, seed);
		for (int i = 0; i < STEPS; i++) {
			for (int k = 0; k < 6; k++)
				story_step(&t, s->wire);
			moments[i] = note(s->wire, i);
		}
		revision = revision_of(s->wire);
		for (int i = STEPS - 1; i >= 0; i--) {
			(void)server_end(s, i % 2 ? SIGKILL : SIGTERM);
			check_restored(&moments[i], s, &revision, &epoch);
			moment_free(&moments[i]);
		}
		s->arguments = NULL;
		server_stop(s);
	}
}

/* A token of the epoch that began is above every token that was lost with the other. */
static void tokens_are_never_used_twice(void **state)
{
	struct server *s = *state;
	json_t *lock;
	int64_t before, after;
	register_gpus(s->wire, "n1", 2);
	register_gpus(s->wire, "n2", 2);
	back_up(s->wire, "early");
	lock = call_result(s->wire, "lock.acquire", json_of("{'node': 'n1', 'uid': 'lost'}"));
	before = json_integer_value(json_object_get(lock, "token"));
	json_decref(lock);
	for (int i = 0; i < 2; i++) {
		(void)server_end(s, SIGTERM);
		restore(s, "early");
		server_continue(s);
		lock = call_result(s->wire, "lock.acquire", json_of("{'node': 'n1', 'uid': 'found'}"));
		after = json_integer_value(json_object_get(lock, "token"));
		json_decref(lock);
		assert_true(after > before + BLOCK - 1);
		refused(s->wire, "lock.release", json_of("{'node': 'n1', 'token': %lld}", (long long)before), "stale_token",
			NULL);
		before = after;
	}
}

/* The agent may have handed it out in the future that was lost: when the lock ends the pod is kept, not forgotten. */
static void what_was_bound_outlives_its_lock(void **state)
{
	struct server *s = *state;
	register_gpus(s->wire, "n1", 2);
	json_decref(call_result(s->wire, "pod.reserve", whole_gpus("a", "n1", 1)));
	json_decref(call_result(s->wire, "pod.bind", json_of("{'uid': 'a', 'node': 'n1', 'ttl': 60}")));
	back_up(s->wire, "bound");
	expect(s->wire, "plugin.allocate", json_of("{'node': 'n1', 'uid': 'a'}"), json_of("{'state': 'allocated'}"));
	(void)server_end(s, SIGTERM);
	restore(s, "bound");
	server_continue(s);
	expect(s->wire, "pod.get", json_of("{'uid': 'a'}"), json_of("{'allocation': {'state': 'bound'}}"));
	expect(s->wire, "plugin.reconcile",
		json_of("{'node': 'n1', 'uids': ['a'], 'as_of': %lld}", (long long)revision_of(s->wire)),
		json_of("{'released': [], 'unknown': [], 'conflicts': []}"));
	json_decref(call_result(s->wire, "clock.advance", json_of("{'seconds': 61}")));
	expect(s->wire, "pod.get", json_of("{'uid': 'a'}"),
		json_of("{'allocation': {'state': 'allocated'}, 'lapses': {'$absent': true}}"));
	refused(s->wire, "pod.reserve", whole_gpus("b", "n1", 2), "insufficient", NULL);
	expect(s->wire, "server.check", NULL, json_of("{'ok': true}"));
	/* A bind of the present epoch still lapses. */
	json_decref(call_result(s->wire, "pod.reserve", whole_gpus("b", "n1", 1)));
	json_decref(call_result(s->wire, "pod.bind", json_of("{'uid': 'b', 'node': 'n1', 'ttl': 60}")));
	json_decref(call_result(s->wire, "clock.advance", json_of("{'seconds': 61}")));
	expect(s->wire, "pod.get", json_of("{'uid': 'b'}"),
		json_of("{'allocation': {'$absent': true}, 'lapses': {'$count': 1}}"));
}

/* What the backup did not know is adopted. */
static void what_the_backup_did_not_know(void **state)
{
	struct server *s = *state;
	register_gpus(s->wire, "n1", 2);
	back_up(s->wire, "empty");
	run_pod(s->wire, "a", "n1", 1);
	(void)server_end(s, SIGKILL);
	restore(s, "empty");
	server_continue(s);
	expect(s->wire, "plugin.reconcile",
		json_of("{'node': 'n1', 'uids': ['a'], 'as_of': %lld}", (long long)revision_of(s->wire)),
		json_of("{'unknown': ['a']}"));
	expect(s->wire, "node.list", NULL, json_of("{'nodes': [{'unverified': true}]}"));
	expect(s->wire, "pod.adopt", json_of("{'pod': {'uid': 'a'}, 'node': 'n1', 'devices': [{'uuid': 'n1-gpu-0'}]}"),
		json_of("{'state': 'allocated'}"));
	expect(s->wire, "plugin.reconcile",
		json_of("{'node': 'n1', 'uids': ['a'], 'as_of': %lld}", (long long)revision_of(s->wire)),
		json_of("{'unknown': []}"));
	expect(s->wire, "node.list", NULL, json_of("{'nodes': [{'unverified': false}]}"));
}

/* ---- what is refused */

/* Runs a script with $A = allotd, $B = the directory of backups, $D = a data directory that does not exist, then demands the status
 * and the words. */
static void must_fail(const struct server *s, int status, const char *words, const char *script)
{
	struct outcome o = shell(
		"A='%s' B='%s/backups' D='%s/other'; rm -rf \"$D\"; %s", allotd(), s->data, s->directory, script);
	if (o.status != status || !strstr(o.err, words))
		check_failed(
			"%s\nended with %d instead of %d, or did not say \"%s\":\n%s", script, o.status, status, words, o.err);
	outcome_free(&o);
}

static int setup_with_backup(void **state)
{
	struct server *s = server_start(NULL);
	*state = s;
	register_gpus(s->wire, "n1", 2);
	run_pod(s->wire, "a", "n1", 1);
	back_up(s->wire, "good");
	return 0;
}

static void files_that_are_refused(void **state)
{
	const struct server *s = *state;
	must_fail(s, EX_NOINPUT, "there is no database", "$A restore --from $B/nothing --data-dir $D");
	must_fail(s, EX_DATAERR, "not a database", "echo hello >$B/text; $A restore --from $B/text --data-dir $D");
	must_fail(s, EX_DATAERR, "another application",
		"sqlite3 $B/alien 'PRAGMA user_version = 1; CREATE TABLE t (x)'; $A restore --from $B/alien --data-dir $D");
	must_fail(s, EX_DATAERR, "use a newer one",
		"cp $B/good $B/new; sqlite3 $B/new 'PRAGMA user_version = 99'; $A restore --from $B/new --data-dir $D");
	must_fail(s, EX_DATAERR, "the schema of",
		"cp $B/good $B/bare; sqlite3 $B/bare 'DROP TRIGGER usage_insert'; $A restore --from $B/bare --data-dir $D");
	must_fail(s, EX_DATAERR, "damaged: its checksum",
		"cp $B/good $B/flip; sed 's/  .*/  flip/' $B/good.sha256 >$B/flip.sha256;"
		" printf X | dd of=$B/flip bs=1 seek=9000 conv=notrunc 2>&1; $A restore --from $B/flip --data-dir $D");
	must_fail(s, EX_DATAERR, "", "head -c 50000 $B/good >$B/short; $A restore --from $B/short --data-dir $D");
	must_fail(s, EX_USAGE, "needs --from", "$A restore --data-dir $D");
	must_fail(s, EX_USAGE, "unexpected argument", "$A restore --from $B/good --data-dir $D more");
}

/* Rows that no guard would have let in, under a schema that looks untouched. */
static void rows_that_contradict_each_other(void **state)
{
	const struct server *s = *state;
	must_fail(s, EX_DATAERR, "",
		"cp $B/good $B/over; t=$(sqlite3 $B/over \"SELECT sql FROM sqlite_schema WHERE name = 'usage_insert'\");"
		" sqlite3 $B/over 'DROP TRIGGER usage_insert; INSERT INTO usage SELECT device_id, allocation_id, 7, resource, 1, "
		"0, minor, 7 FROM usage;'"
		" \"$t\"; $A restore --from $B/over --data-dir $D");
	must_fail(s, EX_DATAERR, "",
		"cp $B/good $B/lost; t=$(sqlite3 $B/lost \"SELECT sql FROM sqlite_schema WHERE name = 'usage_delete'\");"
		" sqlite3 $B/lost 'DROP TRIGGER usage_delete; DELETE FROM device WHERE 0; DELETE FROM usage; UPDATE meta SET "
		"token = token' \"$t\";"
		" sqlite3 $B/lost 'PRAGMA foreign_keys = OFF; DELETE FROM capacity; INSERT INTO lapse VALUES (1, \"x\", 1, 2, "
		"\"no json\")';"
		" $A restore --from $B/lost --data-dir $D");
}

static void a_directory_is_not_overwritten(void **state)
{
	struct server *s = *state;
	struct outcome o = shell("'%s' restore --from '%s/backups/good' --data-dir '%s' --force", allotd(), s->data, s->data);
	assert_int_equal(o.status, EX_TEMPFAIL); /* the server runs */
	assert_non_null(strstr(o.err, "in use by process"));
	outcome_free(&o);
	expect(s->wire, "server.check", NULL, json_of("{'ok': true}"));
	run_pod(s->wire, "b", "n1", 1);
	(void)server_end(s, SIGKILL);
	o = shell(
		"cd '%s'; cat allotd.db allotd.db-wal | sha256sum; '%s' restore --from backups/good --data-dir . ; echo $?; "
		"cat allotd.db allotd.db-wal | sha256sum",
		s->data, allotd());
	assert_non_null(strstr(o.err, "--force"));
	char *rest;
	char *sum = strtok_r(o.out, "\n", &rest), *status = strtok_r(NULL, "\n", &rest), *again = strtok_r(NULL, "\n", &rest);
	assert_string_equal(status, "73");
	assert_string_equal(sum, again);
	outcome_free(&o);
	server_continue(s);
	expect(s->wire, "pod.list", NULL, json_of("{'pods': {'$count': 2}}"));
}

/* A restore from a file that turns out bad leaves the old database. */
static void a_failed_restore_leaves_the_old(void **state)
{
	struct server *s = *state;
	(void)server_end(s, SIGKILL);
	struct outcome o = shell(
		"cd '%s'; head -c 60000 backups/good >short; '%s' restore --from short --data-dir . --force", s->data, allotd());
	assert_int_equal(o.status, EX_DATAERR);
	outcome_free(&o);
	server_continue(s);
	expect(s->wire, "pod.list", NULL, json_of("{'pods': {'$count': 1}}"));
	expect(s->wire, "server.info", NULL, json_of("{'epoch': 1, 'alarms': []}"));
}

/* The live file of a server that was killed is as good as a backup: its log is read too. */
static void from_a_database_with_a_log(void **state)
{
	struct server *s = *state;
	run_pod(s->wire, "b", "n1", 1);
	(void)server_end(s, SIGKILL);
	struct outcome o = shell(
		"cd '%s'; '%s' restore --from allotd.db --data-dir ../other && rm -rf allotd.* && cp ../other/allotd.* .",
		s->data, allotd());
	assert_int_equal(o.status, 0);
	outcome_free(&o);
	server_continue(s);
	expect(s->wire, "pod.list", NULL, json_of("{'pods': {'$count': 2}}"));
}

/* Killed at any moment, a restore has happened or not. */
static void killed_at_any_moment(void **state)
{
	struct server *s = *state;
	int old = 0, new = 0;
	(void)server_end(s, SIGTERM);
	for (int i = 0; i < 20; i++) {
		char *words[] = { (char *)(uintptr_t)allotd(), (char[]){ "restore" }, (char[]){ "--from" }, NULL,
			(char[]){ "--data-dir" }, s->data, (char[]){ "--force" }, NULL };
		char *from = NULL;
		int64_t epoch;
		int status;
		if (asprintf(&from, "%s/backups/good", s->data) < 0)
			abort();
		words[3] = from;
		server_continue(s);
		json_t *info = call_result(s->wire, "server.info", NULL);
		epoch = json_integer_value(json_object_get(info, "epoch"));
		json_decref(info);
		(void)server_end(s, SIGKILL);
		pid_t pid = fork();
		if (pid == 0) {
			if (!freopen("/dev/null", "w", stdout))
				_exit(126);
			(void)execv(words[0], words);
			_exit(127);
		}
		usleep((useconds_t)(i * 7000));
		(void)kill(pid, SIGKILL);
		(void)waitpid(pid, &status, 0);
		server_continue(s);
		info = call_result(s->wire, "server.info", NULL);
		int64_t now = json_integer_value(json_object_get(info, "epoch"));
		assert_true(now == epoch || now == epoch + 1);
		old += now == epoch;
		new += now != epoch;
		json_decref(info);
		expect(s->wire, "pod.list", NULL, json_of("{'pods': {'$count': 1}}"));
		expect(s->wire, "server.check", NULL, json_of("{'ok': true}"));
		(void)server_end(s, SIGTERM);
		free(from);
	}
	print_message("# %d times the old database, %d times the new one\n", old, new);
	server_continue(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_step_of_a_history),
		cmocka_unit_test_setup_teardown(tokens_are_never_used_twice, server_setup, server_teardown),
		cmocka_unit_test_setup_teardown(what_was_bound_outlives_its_lock, server_setup, server_teardown),
		cmocka_unit_test_setup_teardown(what_the_backup_did_not_know, server_setup, server_teardown),
		cmocka_unit_test_setup_teardown(files_that_are_refused, setup_with_backup, server_teardown),
		cmocka_unit_test_setup_teardown(rows_that_contradict_each_other, setup_with_backup, server_teardown),
		cmocka_unit_test_setup_teardown(a_directory_is_not_overwritten, setup_with_backup, server_teardown),
		cmocka_unit_test_setup_teardown(a_failed_restore_leaves_the_old, setup_with_backup, server_teardown),
		cmocka_unit_test_setup_teardown(from_a_database_with_a_log, setup_with_backup, server_teardown),
		cmocka_unit_test_setup_teardown(killed_at_any_moment, setup_with_backup, server_teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

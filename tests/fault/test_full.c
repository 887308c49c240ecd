/* The disk gets full. Whatever grows is refused with `read_only` and the alarm that server.info shows; releases, reads and checkpoints go
 * on; a restart on the full disk too; when there is space again everything works by itself; and nothing is lost.
 *
 * The same on a disk of a few MiB that is imitated (bad_disk.h), on a real one (a tmpfs, where mounting is permitted), and with --max-bytes. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bad_disk.h"
#include "support/call.h"
#include "support/check.h"
#include "support/cluster.h"
#include "support/directory.h"
#include "support/server.h"

enum { MIB = 1024 * 1024, DISK_SIZE = 24 * MIB, DEVICES = 64, AHEAD = 25, MOST = 40000, AT_FIRST = 1500, SPACE_BACK_MS = 5000 };

struct full {
	struct bad_disk *disk; /* imitated, or NULL */
	char *mount;           /* of the tmpfs, or NULL */
	char *filler;          /* a file on it */
	char *data;            /* its data directory on the tmpfs, or NULL */
	char *arguments[3];
	struct server *server;
	bool there[MOST]; /* whether the pod of that number was reserved and not released */
	int next;         /* number of the next pod */
	int oldest;       /* no pod below this number is there */
	int n;            /* pods that are there */
};

/* ---- the disk */

/* Leaves `room` bytes; negative: as much as there is. */
static void leave_room(struct full *f, long room)
{
	if (f->disk) {
		f->disk->size = DISK_SIZE;
		f->disk->room = room < 0 ? DISK_SIZE : room;
		return;
	}
	struct statvfs st;
	int fd = open(f->filler, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 || ftruncate(fd, 0) != 0 || statvfs(f->mount, &st) != 0)
		check_failed("%s: %s", f->filler, strerror(errno));
	long left = (long)(st.f_bavail * st.f_frsize), fill = room < 0 ? 0 : left - room;
	char *block = calloc(1, MIB);
	for (long at = 0; at < fill; at += MIB)
		if (pwrite(fd, block, (size_t)(fill - at < MIB ? fill - at : MIB), at) < 0 && errno != ENOSPC)
			check_failed("%s: %s", f->filler, strerror(errno));
	free(block);
	(void)close(fd);
}

/* ---- calls */

/* Reserves for AHEAD more pods at once; the last answer that is a refusal, or NULL. */
static json_t *reserve(struct full *f)
{
	struct wire *w = f->server->wire;
	int64_t ids[AHEAD];
	json_t *refusal = NULL;
	if (f->next + AHEAD > MOST)
		check_failed("%d pods were tried and the disk is not full", MOST);
	for (int i = 0; i < AHEAD; i++)
		ids[i] = call_send(w, "pod.reserve",
			json_of("{'pod': {'uid': 'p%d'}, 'node': 'n1', 'request': [{'type': 'gpu', 'resources': {'core': 1}}], "
				"'ttl': 86400}",
				f->next + i));
	for (int i = 0; i < AHEAD; i++) {
		json_t *answer = call_receive(w, ids[i]);
		bool done = json_object_get(answer, "result") != NULL;
		f->there[f->next++] = done;
		f->n += done;
		json_decref(done ? answer : refusal);
		refusal = done ? refusal : answer;
	}
	return refusal;
}

/* Releases the oldest pods. */
static void release(struct full *f, int n)
{
	int64_t ids[AHEAD];
	for (int done = 0, ahead; done < n; done += ahead) {
		for (ahead = 0; ahead < AHEAD && done + ahead < n; ahead++) {
			while (!f->there[f->oldest])
				if (++f->oldest >= f->next)
					check_failed("there is nothing left to release");
			f->there[f->oldest] = false;
			ids[ahead] = call_send(f->server->wire, "pod.release", json_of("{'uid': 'p%d'}", f->oldest));
		}
		for (int i = 0; i < ahead; i++) {
			json_t *answer = call_receive(f->server->wire, ids[i]);
			if (!json_is_true(json_object_get(json_object_get(answer, "result"), "released")))
				check_failed("pod.release: %s", json_dumps(answer, 0));
			json_decref(answer);
		}
	}
	f->n -= n;
}

/* The refusal names the alarm that is on. */
static void expect_read_only(struct full *f, const json_t *refusal, const char *alarm)
{
	const json_t *data = json_object_get(json_object_get(refusal, "error"), "data");
	const char *said = json_string_value(json_object_get(data, "alarm"));
	if (strcmp(answer_reason(refusal), "read_only") != 0)
		check_failed("refused for %s", answer_reason(refusal));
	if (!said || (alarm && strcmp(said, alarm) != 0))
		check_failed("the alarm is %s", said ? said : "missing");
	if (alarm)
		expect(f->server->wire, "server.info", NULL, json_of("{'read_only': true, 'alarms': ['%s']}", alarm));
	else
		expect(f->server->wire, "server.info", NULL, json_of("{'read_only': true}"));
}

/* Reserves until that is refused, for `alarm` if that is given. The number of pods is kept small, so that the node holds them. */
static void reserve_until_refused(struct full *f, const char *alarm)
{
	json_t *refusal;
	while (!(refusal = reserve(f)))
		if (f->n > DEVICES * 50)
			release(f, AHEAD);
	expect_read_only(f, refusal, alarm);
	json_decref(refusal);
}

static bool has_ballast(const struct full *f)
{
	char *path = NULL;
	if (asprintf(&path, "%s/allotd.ballast", f->data ? f->data : f->server->data) < 0)
		abort();
	bool has = access(path, F_OK) == 0;
	free(path);
	return has;
}

static void wait_for_ballast(const struct full *f)
{
	for (int64_t end = check_now() + SPACE_BACK_MS; !has_ballast(f); check_sleep(20))
		if (check_now() > end)
			check_failed("there is space, and no ballast");
}

/* Releasing takes room too, for its history: at the latest when the last room is gone, the ballast is given up for it. */
static void release_until_ballast_is_gone(struct full *f)
{
	while (has_ballast(f)) {
		if (f->n < 400)
			check_failed("the ballast is still there");
		release(f, AHEAD);
	}
}

/* What must go on while the disk is full. */
static void still_works(struct full *f)
{
	release(f, 50);
	json_decref(call_result(f->server->wire, "pod.list", json_of("{'limit': 10}")));
	json_decref(call_result(f->server->wire, "event.list", json_of("{'limit': 10}")));
	expect(f->server->wire, "server.check", NULL, json_of("{'ok': true}"));
}

/* Exactly the pods that were reserved and not released are there. */
static void expect_pods(struct full *f)
{
	bool *there = calloc(MOST, sizeof *there);
	json_t *page, *pod, *after = NULL;
	size_t i;
	int n = 0;
	do {
		page = call_result(
			f->server->wire, "pod.list", after ? json_pack("{s:i, s:O}", "limit", 1000, "after", after) : NULL);
		json_array_foreach (json_object_get(page, "pods"), i, pod) {
			int number = atoi(json_string_value(json_object_get(json_object_get(pod, "pod"), "uid")) + 1);
			there[number] = true;
			n++;
		}
		json_decref(after);
		after = json_incref(json_object_get(page, "next"));
		json_decref(page);
	} while (after);
	if (n != f->n || memcmp(there, f->there, sizeof f->there) != 0)
		check_failed("%d pods are there, and should be %d", n, f->n);
	free(there);
}

static void works_again_by_itself(struct full *f)
{
	int64_t end = check_now() + SPACE_BACK_MS;
	for (json_t *refusal; (refusal = reserve(f)); check_sleep(50)) {
		if (strcmp(answer_reason(refusal), "read_only") != 0)
			check_failed("refused for %s", answer_reason(refusal));
		json_decref(refusal);
		if (check_now() > end)
			check_failed("there is space, but the server does not notice");
	}
	expect(f->server->wire, "server.info", NULL, json_of("{'read_only': false, 'alarms': {'$count': 0}}"));
}

static void start(struct full *f, const char *option, char *value)
{
	f->arguments[0] = (char *)(uintptr_t)option;
	f->arguments[1] = value;
	f->server = server_start(option ? f->arguments : NULL);
	register_gpus(f->server->wire, "n1", DEVICES);
	while (f->n < AT_FIRST)
		assert_null(reserve(f));
}

/* ---- the tests */

/* The disk gets full slowly, by ourselves and others: growing ends before the last room is taken. */
static void slowly(struct full *f)
{
	leave_room(f, DISK_SIZE / 16 + 300 * 1024);
	reserve_until_refused(f, "disk_low");
	still_works(f);
	expect_pods(f);
	leave_room(f, -1);
	works_again_by_itself(f);
}

/* Somebody else takes everything at once. */
static void suddenly(struct full *f)
{
	wait_for_ballast(f);
	leave_room(f, 0);
	reserve_until_refused(f, NULL);
	still_works(f);
	expect_pods(f);
	release_until_ballast_is_gone(f);
	release(f, 200);
	server_restart(f->server, SIGKILL);
	reserve_until_refused(f, NULL);
	still_works(f);
	expect_pods(f);
	server_restart(f->server, SIGTERM);
	still_works(f);
	expect_pods(f);
	leave_room(f, -1);
	works_again_by_itself(f);
	wait_for_ballast(f);
	expect_pods(f);
	expect(f->server->wire, "server.check", NULL, json_of("{'ok': true}"));
}

static void imitated(void **state)
{
	struct full *f = *state;
	f->disk = bad_disk_new("/data");
	leave_room(f, -1);
	start(f, NULL, NULL);
	slowly(f);
	suddenly(f);
}

static void a_real_disk(void **state)
{
	struct full *f = *state;
	char options[64];
	f->mount = directory_new();
	(void)snprintf(options, sizeof options, "size=%d,mode=700", DISK_SIZE);
	if (mount("allot-test", f->mount, "tmpfs", 0, options) != 0) {
		print_message("# mounting a tmpfs is not permitted here (%s): the imitated disk has to do\n", strerror(errno));
		directory_remove(f->mount);
		f->mount = NULL;
		skip();
	}
	if (asprintf(&f->filler, "%s/filler", f->mount) < 0 || asprintf(&f->data, "%s/data", f->mount) < 0)
		abort();
	start(f, "--data-dir", f->data);
	slowly(f);
	suddenly(f);
}

/* The same with a limit of the database's own; room comes back by releases. */
static void the_quota(void **state)
{
	struct full *f = *state;
	start(f, "--max-bytes", (char[]){ "3000000" });
	reserve_until_refused(f, "quota");
	still_works(f);
	expect_pods(f);
	server_restart(f->server, SIGKILL);
	reserve_until_refused(f, "quota");
	still_works(f);
	expect_pods(f);
}

static int setup(void **state)
{
	*state = calloc(1, sizeof(struct full));
	return *state ? 0 : -1;
}

static int teardown(void **state)
{
	struct full *f = *state;
	if (f->disk)
		bad_disk_mend(f->disk);
	server_stop(f->server);
	bad_disk_free(f->disk);
	if (f->mount)
		(void)umount(f->mount);
	directory_remove(f->mount);
	free(f->filler);
	free(f->data);
	free(f);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(imitated, setup, teardown),
		cmocka_unit_test_setup_teardown(a_real_disk, setup, teardown),
		cmocka_unit_test_setup_teardown(the_quota, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

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

enum { MIB = 1024 * 1024, DISK_SIZE = 24 * MIB, DEVICES = 64, MOST = 20000, SPACE_BACK_MS = 5000 };

struct full {
	struct bad_disk *disk;  /* imitated, or NULL */
	char *mount;            /* of the tmpfs, or NULL */
	char *filler;           /* a file on it */
	char *data;             /* its data directory on the tmpfs, or NULL */
	char *arguments[3];
	struct server *server;
	int next;               /* number of the next pod */
	int oldest;             /* the pods from this one on are there */
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

static const char *uid(int number)
{
	static char name[16];
	(void)snprintf(name, sizeof name, "p%d", number);
	return name;
}

/* Reserves for one more pod; the reason it is refused for, or "ok". */
static const char *reserve(struct full *f, json_t **answer)
{
	*answer = call(f->server->wire, "pod.reserve",
		json_of("{'pod': {'uid': '%s'}, 'node': 'n1', 'request': [{'type': 'gpu', 'resources': {'core': 1}}], 'ttl': 86400}", uid(f->next)));
	f->next += json_object_get(*answer, "result") != NULL;
	return answer_reason(*answer);
}

static void release(struct full *f)
{
	expect(f->server->wire, "pod.release", json_of("{'uid': '%s'}", uid(f->oldest++)), json_of("{'released': true}"));
}

/* Keeps the number of pods small, so that the node holds them. */
static void churn(struct full *f)
{
	while (f->next - f->oldest > DEVICES * 50)
		release(f);
}

/* Reserves until that is refused, for `alarm` if that is given. */
static void reserve_until_refused(struct full *f, const char *alarm)
{
	json_t *answer = NULL;
	for (int i = 0; i < MOST; i++) {
		const char *reason = reserve(f, &answer);
		if (strcmp(reason, "ok") != 0) {
			if (strcmp(reason, "read_only") != 0)
				check_failed("refused for %s", reason);
			const json_t *data = json_object_get(json_object_get(answer, "error"), "data");
			const char *said = json_string_value(json_object_get(data, "alarm"));
			if (!said || (alarm && strcmp(said, alarm) != 0))
				check_failed("the alarm is %s", said ? said : "missing");
			json_t *info = call_result(f->server->wire, "server.info", NULL);
			expect_match(info, json_of("{'read_only': true, 'alarms': ['%s']}", said));
			json_decref(info);
			json_decref(answer);
			return;
		}
		json_decref(answer);
		churn(f);
	}
	check_failed("%d pods were reserved and the disk is not full", MOST);
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
		if (f->next - f->oldest < 400)
			check_failed("the ballast is still there");
		release(f);
	}
}

/* What must go on while the disk is full. */
static void still_works(struct full *f)
{
	for (int i = 0; i < 50; i++)
		release(f);
	json_decref(call_result(f->server->wire, "pod.list", json_of("{'limit': 10}")));
	json_decref(call_result(f->server->wire, "event.list", json_of("{'limit': 10}")));
	expect(f->server->wire, "server.check", NULL, json_of("{'ok': true}"));
}

/* Exactly the pods that were reserved and not released are there. */
static void expect_pods(struct full *f)
{
	for (int i = f->oldest > 3 ? f->oldest - 3 : 0; i < f->next + 1; i++) {
		bool there = i >= f->oldest && i < f->next;
		json_t *answer = call(f->server->wire, "pod.get", json_of("{'uid': '%s'}", uid(i)));
		if ((json_object_get(json_object_get(answer, "result"), "allocation") != NULL) != there)
			check_failed("pod %d should %sbe there", i, there ? "" : "not ");
		json_decref(answer);
	}
}

static void works_again_by_itself(struct full *f)
{
	int64_t end = check_now() + SPACE_BACK_MS;
	json_t *answer = NULL;
	for (const char *reason = ""; strcmp(reason, "ok") != 0; check_sleep(20)) {
		reason = reserve(f, &answer);
		if (strcmp(reason, "ok") != 0 && strcmp(reason, "read_only") != 0)
			check_failed("refused for %s", reason);
		json_decref(answer);
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
	for (int i = 0; i < 1500; i++) {
		json_t *answer = NULL;
		assert_string_equal(reserve(f, &answer), "ok");
		json_decref(answer);
	}
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
	for (int i = 0; i < 200; i++)
		release(f);
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

/* Preemption on the real server: a dry run leaves the database byte for byte as it was, and a thousand of them disturb nobody. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/call.h"
#include "support/check.h"
#include "support/server.h"

enum { GPUS = 8, WIRES = 8, DRY_RUNS = 1000, RESERVES = 200 };

/* One node whose GPUs are held by pods of low priority, half of each. */
static void fill_node(struct wire *w)
{
	json_t *devices = json_array();
	for (int i = 0; i < GPUS; i++)
		json_array_append_new(
			devices, json_of("{'uuid': 'g%d', 'type': 'gpu', 'minor': %d, 'resources': {'core': 100}}", i, i));
	json_t *params = json_of("{'node': 'n1'}");
	json_object_set_new(params, "devices", devices);
	expect(w, "node.register", params, json_of("{'added': %d}", GPUS));
	for (int i = 0; i < GPUS; i++)
		expect(w, "pod.reserve",
			json_of("{'pod': {'uid': 'low%d'}, 'request': [{'type': 'gpu', 'uuids': ['g%d'], 'resources': {'core': "
				"50}}]}",
				i, i),
			json_of("{'state': 'reserved'}"));
}

static json_t *dry_run(int i)
{
	return json_of(
		"{'pod': {'uid': 'high%d', 'priority': 100}, 'request': [{'type': 'gpu', 'count': 2}], 'dry_run': true}", i);
}

/* All bytes of a file of the data directory, by malloc; an absent file is empty. */
static char *bytes_of(const struct server *s, const char *name, size_t *size)
{
	char path[4096];
	struct stat st;
	(void)snprintf(path, sizeof path, "%s/%s", s->data, name);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	*size = 0;
	if (fd < 0)
		return NULL;
	assert_int_equal(fstat(fd, &st), 0);
	char *bytes = malloc((size_t)st.st_size + 1);
	assert_non_null(bytes);
	assert_int_equal(read(fd, bytes, (size_t)st.st_size), st.st_size);
	*size = (size_t)st.st_size;
	assert_int_equal(close(fd), 0);
	return bytes;
}

static void dry_run_writes_nothing(void **state)
{
	struct server *s = *state;
	static const char *const names[] = { "allotd.db", "allotd.db-wal" };
	char *before[2];
	size_t sizes[2];
	fill_node(s->wire);
	for (int i = 0; i < 2; i++)
		before[i] = bytes_of(s, names[i], &sizes[i]);
	for (int i = 0; i < 20; i++)
		expect(s->wire, "pod.preempt", dry_run(i), json_of("{'nominated': false, 'victims': {'$count': 2}}"));
	for (int i = 0; i < 2; i++) {
		size_t size;
		char *after = bytes_of(s, names[i], &size);
		assert_int_equal(size, sizes[i]);
		assert_true(size == 0 || memcmp(after, before[i], size) == 0);
		free(after);
		free(before[i]);
	}
}

static void many_dry_runs_disturb_nothing(void **state)
{
	struct server *s = *state;
	struct wire *wires[WIRES];
	int64_t ids[DRY_RUNS], reserved[RESERVES];
	fill_node(s->wire);
	for (int i = 0; i < WIRES; i++)
		wires[i] = wire_open(s->socket);
	for (int i = 0; i < DRY_RUNS; i++) {
		ids[i] = call_send(wires[i % WIRES], "pod.preempt", dry_run(i));
		if (i % (DRY_RUNS / RESERVES) == 0) {
			int n = i / (DRY_RUNS / RESERVES);
			reserved[n] = call_send(s->wire, "pod.reserve",
				json_of("{'pod': {'uid': 'small%d'}, 'request': [{'type': 'gpu', 'resources': {'core': 1}}]}",
					n));
		}
	}
	for (int i = 0; i < RESERVES; i++) {
		json_t *answer = call_receive(s->wire, reserved[i]);
		assert_string_equal(answer_reason(answer), "ok");
		json_decref(answer);
	}
	for (int i = 0; i < DRY_RUNS; i++) {
		json_t *answer = call_receive(wires[i % WIRES], ids[i]);
		assert_string_equal(answer_reason(answer), "ok");
		expect_match(json_object_get(answer, "result"), json_of("{'nominated': false}"));
		json_decref(answer);
	}
	for (int i = 0; i < WIRES; i++)
		wire_close(wires[i]);
	expect(s->wire, "nomination.list", NULL, json_of("{'nominations': {'$count': 0}}"));
	expect(s->wire, "pod.list", NULL, json_of("{'pods': {'$count': %d}}", GPUS + RESERVES));
	expect(s->wire, "server.check", NULL, json_of("{'ok': true}"));
}

/* Two gangs of six want eight devices at the same moment. */
static void one_of_two_gangs_wins(void **state)
{
	struct server *s = *state;
	struct wire *wires[2];
	int64_t ids[2];
	int won = 0;
	expect(s->wire, "node.register",
		json_of("{'node': 'n1', 'devices': [{'uuid': 'a', 'type': 'gpu', 'minor': 0}, {'uuid': 'b', 'type': 'gpu', "
			"'minor': 1},"
			" {'uuid': 'c', 'type': 'gpu', 'minor': 2}, {'uuid': 'd', 'type': 'gpu', 'minor': 3}]}"),
		json_of("{'added': 4}"));
	expect(s->wire, "node.register",
		json_of("{'node': 'n2', 'devices': [{'uuid': 'e', 'type': 'gpu', 'minor': 0}, {'uuid': 'f', 'type': 'gpu', "
			"'minor': 1},"
			" {'uuid': 'g', 'type': 'gpu', 'minor': 2}, {'uuid': 'h', 'type': 'gpu', 'minor': 3}]}"),
		json_of("{'added': 4}"));
	for (int g = 0; g < 2; g++) {
		json_t *pods = json_array(), *params = json_object();
		for (int i = 0; i < 6; i++)
			json_array_append_new(pods,
				json_of("{'pod': {'uid': 'g%d-%d', 'gang': 'g%d'}, 'request': [{'type': 'gpu'}]}", g, i, g));
		json_object_set_new(params, "pods", pods);
		wires[g] = wire_open(s->socket);
		ids[g] = call_send(wires[g], "gang.reserve", params);
	}
	for (int g = 0; g < 2; g++) {
		json_t *answer = call_receive(wires[g], ids[g]);
		bool ok = strcmp(answer_reason(answer), "ok") == 0;
		won += ok;
		if (!ok)
			assert_string_equal(answer_reason(answer), "insufficient");
		json_decref(answer);
		wire_close(wires[g]);
	}
	assert_int_equal(won, 1);
	expect(s->wire, "pod.list", NULL, json_of("{'pods': {'$count': 6}}"));
	expect(s->wire, "server.check", NULL, json_of("{'ok': true}"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(dry_run_writes_nothing, server_setup, server_teardown),
		cmocka_unit_test_setup_teardown(many_dry_runs_disturb_nothing, server_setup, server_teardown),
		cmocka_unit_test_setup_teardown(one_of_two_gangs_wins, server_setup, server_teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* device.history and pod.history against what the server said at the time: at every revision and at every time of a random history, before
 * and after old events were cut off, and across a restore. And that cutting events off touches nothing else. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "story.h"
#include "support/call.h"
#include "support/check.h"
#include "support/cluster.h"
#include "support/program.h"
#include "support/server.h"

enum { STEPS = 260 };

/* What device.list said at a revision. */
struct moment {
	int64_t revision, at;
	json_t *devices;
};

struct past {
	struct moment moments[STEPS + 1];
	size_t n;
};

static struct moment note(struct wire *w)
{
	json_t *info = call_result(w, "server.info", NULL);
	struct moment m = {
		.revision = json_integer_value(json_object_get(info, "revision")),
		.at = json_integer_value(json_object_get(info, "now")),
		.devices = story_list(w, "device.list", "devices"),
	};
	json_decref(info);
	return m;
}

static void live(struct past *p, struct wire *w, uint64_t seed)
{
	struct story t;
	story_begin(&t, w, seed);
	p->moments[p->n++] = note(w);
	for (int i = 0; i < STEPS; i++) {
		story_step(&t, w);
		p->moments[p->n++] = note(w);
	}
	if (t.done < STEPS / 3)
		check_failed("only %lld of %lld calls were carried out", (long long)t.done, (long long)(t.done + t.refused));
}

static void past_free(struct past *p)
{
	for (size_t i = 0; i < p->n; i++)
		json_decref(p->moments[i].devices);
	free(p);
}

static void compare(const char *how, const struct moment *m, const char *uuid, const json_t *is, const json_t *want)
{
	if (json_equal(is, want))
		return;
	check_failed("%s of %s at revision %lld:\n%s\nexpected\n%s", how, uuid, (long long)m->revision,
		json_dumps(is, JSON_SORT_KEYS), json_dumps(want, JSON_SORT_KEYS));
}

static void ask(struct wire *w, const struct moment *m, const char *member, int64_t value)
{
	json_t *device;
	size_t i;
	json_array_foreach (m->devices, i, device) {
		const char *uuid = json_string_value(json_object_get(device, "uuid"));
		json_t *history = call_result(
			w, "device.history", json_of("{'uuid': '%s', '%s': %lld}", uuid, member, (long long)value));
		compare(member, m, uuid, json_object_get(history, "holders"), json_object_get(device, "holders"));
		json_decref(history);
	}
}

/* The last moment of its time: afterwards the clock moved. */
static bool is_last_of_its_time(const struct past *p, size_t i)
{
	return i + 1 == p->n || p->moments[i + 1].at > p->moments[i].at;
}

/* Asks for every moment from `since` on; returns how many there were. */
static int check_past(const struct past *p, struct wire *w, int64_t since, int64_t since_at)
{
	int asked = 0;
	for (size_t i = 0; i < p->n; i++) {
		const struct moment *m = &p->moments[i];
		if (m->revision < since)
			continue;
		ask(w, m, "at_revision", m->revision);
		if (m->at >= since_at && is_last_of_its_time(p, i))
			ask(w, m, "at", m->at);
		asked++;
	}
	return asked;
}

static void who_held_it_at_every_moment(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 3; seed++) {
		struct server *s = server_start(NULL);
		struct past *p = calloc(1, sizeof *p);
		live(p, s->wire, seed);
		assert_int_equal(check_past(p, s->wire, 0, 0), p->n);
		server_restart(s, SIGKILL);
		assert_int_equal(check_past(p, s->wire, 0, 0), p->n);
		expect(s->wire, "server.check", NULL, json_of("{'ok': true}"));
		past_free(p);
		server_stop(s);
	}
}

/* Pages of changes, each applied to the holders by uid, lead from nothing to what there is. */
static void the_changes_add_up(void **state)
{
	struct server *s = *state;
	struct past *p = calloc(1, sizeof *p);
	live(p, s->wire, 9);
	const struct moment *now = &p->moments[p->n - 1];
	json_t *device;
	size_t i;
	json_array_foreach (now->devices, i, device) {
		const char *uuid = json_string_value(json_object_get(device, "uuid"));
		json_t *by_uid = json_object();
		int64_t after = 0, last = -1;
		while (last != after) {
			last = after;
			json_t *page = call_result(s->wire, "device.history",
				json_of("{'uuid': '%s', 'after': %lld, 'limit': 7}", uuid, (long long)after));
			json_t *change;
			size_t k;
			json_array_foreach (json_object_get(page, "changes"), k, change) {
				assert_true(json_integer_value(json_object_get(change, "revision")) > after);
				if (json_object_get(change, "uid"))
					json_object_set(by_uid, json_string_value(json_object_get(change, "uid")),
						json_object_get(change, "holders"));
				else
					assert_non_null(json_object_get(change, "device"));
			}
			after = json_integer_value(json_object_get(page, "last"));
			json_decref(page);
		}
		assert_int_equal(after, now->revision);
		json_t *holders = json_array();
		const char *uid;
		json_t *list, *names = json_array();
		json_object_foreach (by_uid, uid, list)
			json_array_append_new(names, json_string(uid));
		for (size_t a = 0; a < json_array_size(names); a++) { /* by uid */
			size_t least = a;
			for (size_t b = a + 1; b < json_array_size(names); b++)
				if (strcmp(json_string_value(json_array_get(names, b)),
					    json_string_value(json_array_get(names, least))) < 0)
					least = b;
			json_t *x = json_incref(json_array_get(names, a)), *y = json_incref(json_array_get(names, least));
			json_array_set_new(names, a, y);
			json_array_set_new(names, least, x);
			json_array_extend(holders, json_object_get(by_uid, json_string_value(y)));
		}
		compare("changes", now, uuid, holders, json_object_get(device, "holders"));
		json_decref(names);
		json_decref(holders);
		json_decref(by_uid);
	}
	past_free(p);
}

/* ---- events are cut off */

static int64_t oldest(struct wire *w)
{
	json_t *answer = call(w, "event.list", json_of("{'after': 0, 'limit': 1}"));
	json_t *data = json_object_get(json_object_get(answer, "error"), "data");
	int64_t revision = json_integer_value(json_object_get(data, "oldest"));
	if (revision)
		assert_int_equal(json_integer_value(json_object_get(data, "epoch")), 1);
	json_decref(answer);
	return revision;
}

/* Everything that is state, as one text. */
static char *state_of(struct wire *w)
{
	static const char *const lists[][2] = { { "node.list", "nodes" }, { "device.list", "devices" }, { "pod.list", "pods" },
		{ "lock.list", "locks" }, { "nomination.list", "nominations" } };
	json_t *all = json_array();
	for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
		json_array_append_new(all, story_list(w, lists[i][0], lists[i][1]));
	char *text = json_dumps(all, JSON_SORT_KEYS);
	json_decref(all);
	return text;
}

/* Starts the server again so that it keeps few events, and waits until it has cut off the others. */
static int64_t cut_off(struct server *s, char **arguments)
{
	int64_t end = check_now() + 3 * check_patience();
	s->arguments = arguments;
	server_restart(s, SIGTERM);
	while (oldest(s->wire) == 0) {
		if (check_now() > end)
			check_failed("no event was cut off");
		check_sleep(20);
	}
	return oldest(s->wire);
}

static void history_after_a_cut(void **state)
{
	struct server *s = *state;
	struct past *p = calloc(1, sizeof *p);
	live(p, s->wire, 4);
	char *before = state_of(s->wire);
	int64_t revision = revision_of(s->wire);
	int64_t since = cut_off(s, (char *[]){ (char[]){ "--keep-events" }, (char[]){ "60" }, NULL });
	char *after = state_of(s->wire);
	assert_string_equal(after, before);
	assert_int_equal(revision_of(s->wire), revision);
	expect(s->wire, "server.check", NULL, json_of("{'ok': true}"));

	json_t *history = call_result(
		s->wire, "device.history", json_of("{'uuid': 'n1-gpu-0', 'at_revision': %lld}", (long long)revision));
	assert_int_equal(json_integer_value(json_object_get(history, "since")), since);
	int64_t since_at = json_integer_value(json_object_get(history, "since_at"));
	assert_true(since_at > p->moments[0].at);
	json_decref(history);
	int asked = check_past(p, s->wire, since - 1, since_at);
	assert_true(asked > 10 && asked < (int)p->n - 20);

	refused(s->wire, "device.history", json_of("{'uuid': 'n1-gpu-0', 'at_revision': %lld}", (long long)since - 2),
		"compacted", json_of("{'oldest': %lld, 'epoch': 1}", (long long)since));
	refused(s->wire, "device.history", json_of("{'uuid': 'n1-gpu-0', 'at': %lld}", (long long)since_at - 1), "compacted",
		NULL);
	refused(s->wire, "device.history", json_of("{'uuid': 'n1-gpu-0', 'after': %lld}", (long long)since - 2), "compacted",
		NULL);
	refused(s->wire, "pod.history", json_of("{'uid': 'p1', 'after': 0}"), "compacted", NULL);
	expect(s->wire, "pod.history", json_of("{'uid': 'p1'}"),
		json_of("{'since': %lld, 'since_at': %lld, 'last': %lld}", (long long)since, (long long)since_at,
			(long long)revision));
	refused(s->wire, "event.list", json_of("{'after': %lld}", (long long)since - 2), "compacted", NULL);
	json_decref(call_result(s->wire, "event.list", json_of("{'after': %lld}", (long long)since - 1)));

	/* Revisions go on where they were, also when nothing of them is left. */
	server_restart(s, SIGKILL);
	json_t *made = call_result(s->wire, "pod.reserve",
		json_of("{'pod': {'uid': 'new'}, 'request': [{'type': 'gpu', 'resources': {'core': 1}}]}"));
	assert_int_equal(json_integer_value(json_object_get(made, "revision")), revision + 1);
	json_decref(made);
	free(before);
	free(after);
	past_free(p);
	s->arguments = NULL;
}

/* By age: the manual clock moves two days on. */
static void events_grow_old(void **state)
{
	struct server *s = *state;
	register_gpus(s->wire, "n1", 4);
	run_pod(s->wire, "a", "n1", 1);
	int64_t first = revision_of(s->wire);
	json_decref(call_result(s->wire, "clock.advance", json_of("{'seconds': 172800}")));
	run_pod(s->wire, "b", "n1", 1);
	int64_t since = cut_off(
		s, (char *[]){ (char[]){ "--keep-days" }, (char[]){ "1" }, (char[]){ "--keep-events" }, (char[]){ "0" }, NULL });
	assert_int_equal(since, first + 1);
	expect(s->wire, "pod.history", json_of("{'uid': 'a'}"), json_of("{'events': []}"));
	expect(s->wire, "pod.history", json_of("{'uid': 'b'}"), json_of("{'events': {'$count': 3}}"));
	/* Held all the time since, and no event says so. */
	expect(s->wire, "device.history", json_of("{'uuid': 'n1-gpu-0', 'at_revision': %lld}", (long long)first),
		json_of("{'holders': [{'uid': 'a', 'state': 'allocated', 'whole': true, 'resources': {'core': 100, 'memory': "
			"80}}]}"));
	expect(s->wire, "device.history", json_of("{'uuid': 'n1-gpu-1', 'at_revision': %lld}", (long long)first),
		json_of("{'holders': []}"));
	s->arguments = NULL;
}

/* ---- odds and ends */

static void what_is_not_known(void **state)
{
	struct server *s = *state;
	register_gpus(s->wire, "n1", 1);
	refused(s->wire, "device.history", json_of("{'uuid': 'nobody', 'at': 5}"), "not_found",
		json_of("{'kind': 'device', 'name': 'nobody'}"));
	expect(s->wire, "device.history", json_of("{'uuid': 'nobody'}"), json_of("{'changes': []}"));
	refused(s->wire, "device.history", json_of("{'uuid': 'n1-gpu-0', 'at': 5, 'at_revision': 5}"), "invalid_params",
		json_of("{'path': 'at_revision'}"));
	expect(s->wire, "device.history", json_of("{'uuid': 'n1-gpu-0', 'at': 5}"), json_of("{'holders': [], 'since': 1}"));
	expect(s->wire, "pod.history", json_of("{'uid': 'nobody'}"),
		json_of("{'events': [], 'last': %lld}", (long long)revision_of(s->wire)));
}

/* A device that is gone still has its history; its uuid may need escaping. */
static void a_device_that_is_gone(void **state)
{
	struct server *s = *state;
	json_decref(call_result(s->wire, "node.register",
		json_of("{'node': 'n1', 'devices': [{'uuid': 'a\\\\\\\"b', 'type': 'gpu', 'minor': 3}]}")));
	json_decref(call_result(s->wire, "pod.reserve", json_of("{'pod': {'uid': 'a'}, 'request': [{'type': 'gpu'}]}")));
	int64_t held = revision_of(s->wire);
	json_decref(call_result(s->wire, "node.remove", json_of("{'node': 'n1', 'force': true}")));
	expect(s->wire, "device.history", json_of("{'uuid': 'a\\\\\\\"b', 'at_revision': %lld}", (long long)held),
		json_of("{'holders': [{'uid': 'a', 'state': 'reserved'}]}"));
	expect(s->wire, "device.history", json_of("{'uuid': 'a\\\\\\\"b', 'at_revision': %lld}", (long long)revision_of(s->wire)),
		json_of("{'holders': []}"));
	expect(s->wire, "device.history", json_of("{'uuid': 'a\\\\\\\"b'}"),
		json_of("{'changes': [{'kind': 'device.added', 'device': {'minor': 3}}, {'kind': 'pod.reserved', 'holders': "
			"[{'uid': 'a'}]},"
			" {'kind': 'pod.released', 'uid': 'a', 'holders': []}]}"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_held_it_at_every_moment),
		cmocka_unit_test_setup_teardown(the_changes_add_up, server_setup, server_teardown),
		cmocka_unit_test_setup_teardown(history_after_a_cut, server_setup, server_teardown),
		cmocka_unit_test_setup_teardown(events_grow_old, server_setup, server_teardown),
		cmocka_unit_test_setup_teardown(what_is_not_known, server_setup, server_teardown),
		cmocka_unit_test_setup_teardown(a_device_that_is_gone, server_setup, server_teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

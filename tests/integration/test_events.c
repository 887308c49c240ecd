/* event.list on the real server: whole revisions, pages, order, and what an event says. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "support/call.h"
#include "support/check.h"
#include "support/cluster.h"
#include "support/server.h"

static json_t *events_after(struct wire *w, int64_t revision, int limit)
{
	return call_result(w, "event.list", json_of("{'after': %lld, 'limit': %d}", (long long)revision, limit));
}

/* The kinds of the events of `uid` after `revision`, joined by spaces; owned by the caller. */
static char *kinds_of(struct wire *w, const char *uid, int64_t revision)
{
	json_t *page = call_result(
		w, "event.list", json_of("{'after': %lld, 'limit': 5000, 'uid': '%s'}", (long long)revision, uid));
	json_t *event;
	size_t i;
	char *kinds = strdup("");
	json_array_foreach (json_object_get(page, "events"), i, event) {
		char *more = NULL;
		if (asprintf(&more, "%s%s%s", kinds, *kinds ? " " : "", json_string_value(json_object_get(event, "kind"))) < 0)
			abort();
		free(kinds);
		kinds = more;
	}
	json_decref(page);
	return kinds;
}

static int setup(void **state)
{
	struct server *s = server_start(NULL);
	*state = s;
	register_gpus(s->wire, "n1", 8);
	return 0;
}

/* A registration is one revision of many events; however small the page, it comes whole. */
static void a_revision_is_never_split(void **state)
{
	struct server *s = *state;
	int64_t after = 0, pages = 0;
	for (int i = 2; i < 6; i++) {
		char node[8] = { 'n', (char)('0' + i), '\0' };
		register_gpus(s->wire, node, i);
	}
	int64_t last = revision_of(s->wire);
	while (after < last) {
		json_t *page = events_after(s->wire, after, 1), *events = json_object_get(page, "events");
		size_t n = json_array_size(events);
		assert_true(n > 0);
		json_int_t first = json_integer_value(json_object_get(json_array_get(events, 0), "revision"));
		json_int_t end = json_integer_value(json_object_get(json_array_get(events, n - 1), "revision"));
		assert_int_equal(first, end);
		assert_true(first > after);
		after = json_integer_value(json_object_get(page, "last"));
		assert_int_equal(after, end);
		json_decref(page);
		pages++;
	}
	assert_int_equal(pages, 5);
}

static void every_step_has_its_event(void **state)
{
	struct server *s = *state;
	struct wire *w = s->wire;
	int64_t start = revision_of(w);
	json_decref(call_result(w, "pod.reserve",
		json_of("{'pod': {'uid': 'life'}, 'node': 'n1', 'request': [{'type': 'gpu', 'container': 'x'},"
			" {'type': 'gpu', 'container': 'y'}]}")));
	json_decref(call_result(w, "pod.renew", json_of("{'uid': 'life', 'ttl': 5000}")));
	json_decref(call_result(w, "pod.bind", json_of("{'uid': 'life', 'node': 'n1'}")));
	json_decref(call_result(w, "plugin.allocate", json_of("{'node': 'n1', 'device_ids': ['k']}")));
	json_decref(call_result(w, "plugin.confirm",
		json_of("{'node': 'n1', 'type': 'gpu', 'device_ids': ['k'], 'container': 'x', 'uid': 'life'}")));
	json_decref(call_result(w, "plugin.allocate", json_of("{'node': 'n1'}")));
	json_decref(call_result(w, "pod.release", json_of("{'uid': 'life', 'when': 'node_confirms'}")));
	json_decref(call_result(w, "pod.release", json_of("{'uid': 'life'}")));
	static const char *const wanted[] = { "pod.reserved", "pod.renewed", "pod.bound", "pod.claimed", "pod.confirmed",
		"pod.allocated", "pod.releasing", "pod.released" };
	char *kinds = kinds_of(w, "life", start), *from = kinds;
	for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
		from = strstr(from, wanted[i]);
		if (!from)
			check_failed("%s is missing or out of order in: %s", wanted[i], kinds);
	}
	free(kinds);
}

/* Finds the event of a kind after a revision and returns its data (owned). */
static json_t *data_of(struct wire *w, int64_t revision, const char *kind)
{
	json_t *page = events_after(w, revision, 5000), *event;
	size_t i;
	json_array_foreach (json_object_get(page, "events"), i, event)
		if (strcmp(json_string_value(json_object_get(event, "kind")), kind) == 0) {
			json_t *data = json_incref(json_object_get(event, "data"));
			json_decref(page);
			return data;
		}
	check_failed("no event %s after %lld", kind, (long long)revision);
}

static void a_half_served_pod_says_what_it_never_got(void **state)
{
	struct server *s = *state;
	struct wire *w = s->wire;
	json_decref(call_result(w, "pod.reserve",
		json_of("{'pod': {'uid': 'half'}, 'node': 'n1', 'request': [{'type': 'gpu', 'container': 'x'},"
			" {'type': 'gpu', 'container': 'y'}, {'type': 'gpu', 'container': 'z'}]}")));
	json_decref(call_result(w, "pod.bind", json_of("{'uid': 'half', 'node': 'n1', 'ttl': 20}")));
	json_decref(call_result(w, "plugin.allocate", json_of("{'node': 'n1'}")));
	int64_t before = revision_of(w);
	json_decref(call_result(w, "clock.advance", json_of("{'seconds': 400}")));
	json_t *data = data_of(w, before, "pod.allocated");
	expect_match(data, json_of("{'unclaimed': 2}"));
	json_decref(data);
	json_decref(call_result(w, "pod.release", json_of("{'uid': 'half'}")));
}

static void data_is_the_row_after_the_change(void **state)
{
	struct server *s = *state;
	struct wire *w = s->wire;
	int64_t before = revision_of(w);
	json_decref(call_result(w, "pod.reserve", whole_gpus("row", "n1", 2)));
	json_t *data = data_of(w, before, "pod.reserved");
	expect_match(data,
		json_of("{'pod': {'uid': 'row'}, 'node': 'n1', 'state': 'reserved', 'devices': [{'uuid': 'n1-gpu-0'}, {}]}"));
	json_decref(data);
	json_decref(call_result(
		w, "device.update", json_of("{'node': 'n1', 'uuid': 'n1-gpu-7', 'healthy': false, 'reason': 'xid 79'}")));
	data = data_of(w, before, "device.updated");
	expect_match(data, json_of("{'uuid': 'n1-gpu-7', 'healthy': false, 'reason': 'xid 79'}"));
	json_decref(data);
	json_decref(call_result(w, "pod.release", json_of("{'uid': 'row'}")));
}

static void an_event_names_its_actor(void **state)
{
	struct server *s = *state;
	int64_t before = revision_of(s->wire);
	json_decref(call_result(s->wire, "node.cordon", json_of("{'node': 'n1'}")));
	json_decref(call_result(s->wire, "node.uncordon", json_of("{'node': 'n1'}")));
	json_t *page = events_after(s->wire, before, 10);
	expect_match(page, json_of("{'events': [{'kind': 'node.cordoned', 'node': 'n1', 'uid': {'$absent': true}},"
				   " {'kind': 'node.uncordoned', 'node': 'n1'}]}"));
	const char *actor = json_string_value(json_object_get(json_array_get(json_object_get(page, "events"), 0), "actor"));
	assert_non_null(actor);
	assert_non_null(strstr(actor, "unix"));
	json_decref(page);
}

/* Reading history while others write: each page is in order and complete up to its `last`. */
static void history_is_gapless_while_others_write(void **state)
{
	struct server *s = *state;
	struct wire *writers[4], *reader = wire_open(s->socket);
	int64_t after = revision_of(reader), seen = 0;
	for (int i = 0; i < 4; i++) {
		writers[i] = wire_open(s->socket);
		for (int n = 0; n < 50; n++) {
			(void)call_send(writers[i], "lock.acquire", json_of("{'node': 'n%d', 'uid': 'w%d-%d'}", i + 1, i, n));
			(void)call_send(writers[i], "pod.reserve",
				json_of("{'pod': {'uid': 'w%d-%d'}, 'node': 'n1', 'request': [{'type': 'gpu', 'resources': "
					"{'core': 1}}]}",
					i, n));
			(void)call_send(writers[i], "pod.release", json_of("{'uid': 'w%d-%d'}", i, n));
		}
	}
	for (int rounds = 0; seen < 200 && rounds < 5000; rounds++) {
		json_t *page = events_after(reader, after, 7), *event;
		size_t i;
		json_int_t previous = after;
		json_array_foreach (json_object_get(page, "events"), i, event) {
			json_int_t revision = json_integer_value(json_object_get(event, "revision"));
			assert_true(revision >= previous && revision > after);
			previous = revision;
			seen += strcmp(json_string_value(json_object_get(event, "kind")), "pod.released") == 0;
		}
		after = json_integer_value(json_object_get(page, "last"));
		assert_true(after >= previous);
		json_decref(page);
	}
	assert_int_equal(seen, 200);
	for (int i = 0; i < 4; i++)
		wire_close(writers[i]);
	wire_close(reader);
}

static void after_beyond_the_end_is_empty(void **state)
{
	struct server *s = *state;
	int64_t last = revision_of(s->wire);
	expect(s->wire, "event.list", json_of("{'after': %lld}", (long long)last),
		json_of("{'events': [], 'last': %lld}", (long long)last));
}

/* Old events are cut off by number; whoever asks for them is told from where on there are any. */
static void what_was_cut_off_is_compacted(void **state)
{
	char keep[] = "--keep-events=20";
	char *const arguments[] = { keep, NULL };
	struct server *s = server_start(arguments);
	register_gpus(s->wire, "n1", 1);
	int64_t end = check_now() + check_patience();
	json_t *answer = NULL;
	do {
		json_decref(answer);
		if (check_now() > end)
			check_failed("nothing was cut off");
		for (int i = 0; i < 20; i++) {
			json_decref(call_result(s->wire, "pod.reserve", whole_gpus("a", "n1", 1)));
			json_decref(call_result(s->wire, "pod.release", json_of("{'uid': 'a'}")));
		}
		check_sleep(50);
		answer = call(s->wire, "event.list", json_of("{'after': 0}"));
	} while (strcmp(answer_reason(answer), "ok") == 0);
	assert_string_equal(answer_reason(answer), "compacted");
	const json_t *data = json_object_get(json_object_get(answer, "error"), "data");
	expect_match(data, json_of("{'oldest': {'$above': 1}, 'epoch': {'$above': 0}}"));
	json_t *page = events_after(s->wire, json_integer_value(json_object_get(data, "oldest")), 5000);
	assert_true(json_array_size(json_object_get(page, "events")) > 0);
	json_decref(page);
	json_decref(answer);
	/* the state does not come from the events */
	expect(s->wire, "server.check", NULL, json_of("{'ok': true}"));
	server_restart(s, SIGKILL);
	refused(s->wire, "event.list", json_of("{'after': 0}"), "compacted", NULL);
	server_stop(s);
	(void)state;
}

/* Sixteen pods, each with some 800 kB of devices, released by one call: more than an answer can hold, and never to be split. */
static void a_huge_revision_stops_nobody(void **state)
{
	struct server *s = *state;
	char name[241];
	memset(name, 'n', sizeof name - 1);
	name[sizeof name - 1] = '\0';
	json_t *devices = json_array();
	for (int i = 0; i < 64; i++)
		json_array_append_new(devices,
			json_of("{'uuid': '%s%d', 'type': '%s', 'minor': %d, 'resources': {'core': 1000000}}", name, i, name, i));
	json_t *node = json_of("{'node': 'huge'}");
	json_object_set_new(node, "devices", devices);
	expect(s->wire, "node.register", node, json_of("{'added': 64}"));
	for (int k = 0; k < 16; k++) {
		json_t *request = json_array(), *params = json_of("{'pod': {'uid': 'huge%d'}, 'node': 'huge'}", k);
		for (int c = 0; c < 16; c++)
			json_array_append_new(
				request, json_of("{'type': '%s', 'count': 64, 'container': '%s%d', 'resources': {'core': 1}}",
						 name, name, c));
		json_object_set_new(params, "request", request);
		expect(s->wire, "pod.reserve", params, json_of("{'state': 'reserved'}"));
	}
	int64_t before = revision_of(s->wire);
	expect(s->wire, "node.remove", json_of("{'node': 'huge', 'force': true}"), json_of("{'released': {'$count': 16}}"));
	expect(s->wire, "event.list", json_of("{'after': %lld, 'limit': 1}", (long long)before),
		json_of("{'events': {'$count': 17}, 'last': %lld}", (long long)revision_of(s->wire)));
	json_t *page = events_after(s->wire, before, 1);
	expect_match(json_array_get(json_object_get(page, "events"), 0),
		json_of("{'kind': 'pod.released', 'node': 'huge', 'data': {'omitted': true}}"));
	json_decref(page);
	page = call_result(s->wire, "event.list", json_of("{'after': 0, 'limit': 5000}")); /* smaller pages, with data */
	assert_true(json_array_size(json_object_get(page, "events")) > 0);
	json_decref(page);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_revision_is_never_split),
		cmocka_unit_test(every_step_has_its_event),
		cmocka_unit_test(a_half_served_pod_says_what_it_never_got),
		cmocka_unit_test(data_is_the_row_after_the_change),
		cmocka_unit_test(an_event_names_its_actor),
		cmocka_unit_test(history_is_gapless_while_others_write),
		cmocka_unit_test(after_beyond_the_end_is_empty),
		cmocka_unit_test(a_huge_revision_stops_nobody),
		cmocka_unit_test(what_was_cut_off_is_compacted),
	};
	return cmocka_run_group_tests(tests, setup, server_teardown);
}

#include "story.h"

#include <string.h>

#include "support/call.h"
#include "support/check.h"
#include "support/cluster.h"

static const int gpus[STORY_NODES] = { 4, 4, 2 };

int story_chance(struct story *t, int n)
{
	t->random ^= t->random << 13;
	t->random ^= t->random >> 7;
	t->random ^= t->random << 17;
	return (int)(t->random % (uint64_t)n);
}

/* A refusal is as good as an answer, but for those that mean trouble. */
static void try_call(struct story *t, struct wire *w, const char *method, json_t *params_take)
{
	json_t *answer = call(w, method, params_take);
	const char *reason = answer_reason(answer);
	if (strcmp(reason, "internal") == 0 || strcmp(reason, "invalid_params") == 0) {
		char *text = json_dumps(answer, 0);
		check_failed("%s: %s", method, text);
	}
	if (strcmp(reason, "ok") == 0)
		t->done++;
	else
		t->refused++;
	json_decref(answer);
}

static json_t *some_request(struct story *t)
{
	switch (story_chance(t, 5)) {
	case 0:
		return json_of("[{'type': 'gpu', 'count': %d}]", 1 + story_chance(t, 2));
	case 2:
		return json_of(
			"[{'type': 'gpu', 'container': 'i', 'reuse': 'm'}, {'type': 'gpu', 'container': 'm', 'resources': "
			"{'core': 40}}]");
	case 1:
		return json_of(
			"[{'type': 'gpu', 'container': 'a', 'resources': {'core': %d}},"
			" {'type': 'gpu', 'container': 'b', 'resources': {'core': 20}}]",
			10 + story_chance(t, 40));
	default:
		return json_of("[{'type': 'gpu', 'container': 'a', 'resources': {'core': '25%%', 'memory': %d}}]",
			1 + story_chance(t, 40));
	}
}

static json_t *some_pod(struct story *t)
{
	int i = story_chance(t, STORY_PODS);
	return json_of("{'uid': 'p%d', 'namespace': 'ns%d', 'name': 'pod-%d', 'priority': %d}", i, i % 2, i, i % 5);
}

static void reserve(struct story *t, struct wire *w)
{
	json_t *params = json_pack("{s:o, s:o}", "pod", some_pod(t), "request", some_request(t));
	if (story_chance(t, 4) == 0)
		json_object_set_new(params, "replace", json_true());
	try_call(t, w, "pod.reserve", params);
}

static void nominate(struct story *t, struct wire *w)
{
	json_t *params = json_pack("{s:o, s:o}", "pod", some_pod(t), "request", some_request(t));
	json_object_set_new(params, "node", json_sprintf("n%d", 1 + story_chance(t, STORY_NODES)));
	try_call(t, w, "pod.nominate", params);
}

/* Where the pod is, "n1" when it is nowhere. */
static json_t *place_of(struct wire *w, const char *uid)
{
	json_t *pod = call_result(w, "pod.get", json_of("{'uid': '%s'}", uid));
	json_t *node = json_object_get(json_object_get(pod, "allocation"), "node");
	json_t *place = node ? json_incref(node) : json_string("n1");
	json_decref(pod);
	return place;
}

static void of_pod(struct story *t, struct wire *w, const char *method, bool with_node)
{
	char uid[16];
	(void)snprintf(uid, sizeof uid, "p%d", story_chance(t, STORY_PODS));
	json_t *params = json_of("{'uid': '%s'}", uid);
	if (with_node)
		json_object_set_new(params, "node", place_of(w, uid));
	try_call(t, w, method, params);
}

static void adopt(struct story *t, struct wire *w)
{
	int n = 1 + story_chance(t, STORY_NODES);
	try_call(t, w, "pod.adopt",
		json_of("{'pod': {'uid': 'p%d'}, 'node': 'n%d', 'devices': [{'uuid': 'n%d-gpu-%d', 'resources': {'core': 30}}]}",
			story_chance(t, STORY_PODS), n, n, story_chance(t, gpus[n - 1])));
}

static void update_device(struct story *t, struct wire *w)
{
	int n = 1 + story_chance(t, STORY_NODES);
	try_call(t, w, "device.update",
		json_of("{'node': 'n%d', 'uuid': 'n%d-gpu-%d', 'healthy': %s}", n, n, story_chance(t, gpus[n - 1]),
			story_chance(t, 3) ? "true" : "false"));
}

/* The agent of n3 lists one device or both. */
static void register_again(struct story *t, struct wire *w)
{
	register_gpus(w, "n3", 1 + story_chance(t, 2));
	t->done++;
}

static void release_slowly(struct story *t, struct wire *w)
{
	try_call(t, w, "pod.release", json_of("{'uid': 'p%d', 'when': 'node_confirms'}", story_chance(t, STORY_PODS)));
}

void story_begin(struct story *t, struct wire *w, uint64_t seed)
{
	*t = (struct story){ .random = seed * 0x9e3779b97f4a7c15u + 1 };
	for (int n = 0; n < STORY_NODES; n++) {
		char name[16];
		(void)snprintf(name, sizeof name, "n%d", n + 1);
		register_gpus(w, name, gpus[n]);
	}
}

void story_step(struct story *t, struct wire *w)
{
	int roll = story_chance(t, 100);
	if (roll < 30)
		reserve(t, w);
	else if (roll < 45)
		of_pod(t, w, "pod.bind", true);
	else if (roll < 62)
		of_pod(t, w, "plugin.allocate", true);
	else if (roll < 70)
		of_pod(t, w, "pod.release", false);
	else if (roll < 74)
		release_slowly(t, w);
	else if (roll < 78)
		of_pod(t, w, "pod.unreserve", false);
	else if (roll < 83)
		nominate(t, w);
	else if (roll < 88)
		adopt(t, w);
	else if (roll < 91)
		update_device(t, w);
	else if (roll < 94)
		register_again(t, w);
	else if (roll < 96)
		try_call(t, w, "lock.acquire",
			json_of("{'node': 'n%d', 'uid': 'p%d'}", 1 + story_chance(t, STORY_NODES), story_chance(t, STORY_PODS)));
	else
		try_call(t, w, "clock.advance", json_of("{'seconds': %d}", 10 + story_chance(t, 120)));
}

json_t *story_list(struct wire *w, const char *method, const char *key)
{
	json_t *page = call_result(w, method, NULL);
	json_t *rows = json_incref(json_object_get(page, key));
	if (json_object_get(page, "next"))
		check_failed("%s has a second page", method);
	json_decref(page);
	return rows;
}

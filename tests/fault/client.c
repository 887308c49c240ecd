#include "client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/call.h"
#include "support/check.h"

struct client *client_new(int number, unsigned seed)
{
	struct client *c = calloc(1, sizeof *c);
	if (!c)
		abort();
	c->number = number;
	c->random = seed;
	return c;
}

void client_free(struct client *c)
{
	if (!c)
		return;
	wire_close(c->wire);
	free(c->steps);
	free(c);
}

void client_connect(struct client *c, const char *socket)
{
	wire_close(c->wire);
	c->wire = wire_open(socket);
	c->sent = c->answered = c->unknown = c->unavailable = 0;
	c->since = c->max_revision;
}

static const struct node_state *present(const struct client *c)
{
	return c->sent ? &c->steps[c->sent - 1].after : &c->start;
}

static unsigned chance(struct client *c, unsigned below)
{
	return (unsigned)rand_r(&c->random) % below;
}

static bool anybody_bound(const struct node_state *s)
{
	for (int i = 0; i < CLIENT_DEVICES; i++)
		if (s->phases[i] == PHASE_BOUND)
			return true;
	return false;
}

/* Writes the next call for the pod of one device into `params` and moves `state` on; the method. */
static const char *next_call(struct client *c, struct node_state *state, char *params, size_t size)
{
	int i = (int)chance(c, CLIENT_DEVICES);
	int pod = state->pods[i];
	if (state->phases[i] == PHASE_NONE) {
		state->pods[i] = pod = c->next_pod++;
		state->phases[i] = PHASE_RESERVED;
		(void)snprintf(params, size, "{\"pod\":{\"uid\":\"c%d-%d\"},\"node\":\"c%d\",\"request\":[{\"type\":\"gpu\"}]}",
			c->number, pod, c->number);
		return "pod.reserve";
	}
	(void)snprintf(params, size, "{\"uid\":\"c%d-%d\",\"node\":\"c%d\"}", c->number, pod, c->number);
	if (state->phases[i] == PHASE_RESERVED && !anybody_bound(state) && chance(c, 4) != 0) {
		state->phases[i] = PHASE_BOUND;
		return "pod.bind";
	}
	if (state->phases[i] == PHASE_BOUND && chance(c, 4) != 0) {
		state->phases[i] = PHASE_ALLOCATED;
		return "plugin.allocate";
	}
	(void)snprintf(params, size, "{\"uid\":\"c%d-%d\"}", c->number, pod);
	state->phases[i] = PHASE_NONE;
	return "pod.release";
}

static bool send_one(struct client *c)
{
	char params[256], line[512];
	struct client_step step = { .after = *present(c) };
	const char *method = next_call(c, &step.after, params, sizeof params);
	(void)snprintf(
		line, sizeof line, "{\"jsonrpc\":\"2.0\",\"id\":%zu,\"method\":\"%s\",\"params\":%s}", c->sent, method, params);
	if (c->sent == c->room) {
		c->room = c->room ? c->room * 2 : 64;
		c->steps = realloc(c->steps, c->room * sizeof *c->steps);
		if (!c->steps)
			abort();
	}
	/* logged before it is sent: it may be executed from now on */
	c->steps[c->sent++] = step;
	return wire_say(c->wire, line);
}

bool client_send(struct client *c, size_t window)
{
	while (c->sent - c->answered < window)
		if (!send_one(c))
			return false;
	return true;
}

/* Calls of which nobody knows come before those that were not tried. */
static bool take_failure(struct client *c, const json_t *answer)
{
	const char *reason = answer_reason(answer);
	size_t id = (size_t)json_integer_value(json_object_get(answer, "id"));
	if (!c->may_fail || id != c->answered + c->unknown + c->unavailable)
		return false;
	if (strcmp(reason, "outcome_unknown") == 0 && c->unavailable == 0)
		c->unknown++;
	else if (strcmp(reason, "unavailable") == 0)
		c->unavailable++;
	else
		return false;
	return true;
}

static void take_answer(struct client *c, const char *line)
{
	json_t *answer = json_loads(line, 0, NULL), *result = json_object_get(answer, "result");
	size_t id = (size_t)json_integer_value(json_object_get(answer, "id"));
	if (!result && take_failure(c, answer)) {
		json_decref(answer);
		return;
	}
	if (!result || c->unknown || c->unavailable || id != c->answered || id >= c->sent)
		check_failed("client %d, answer %zu of %zu: %.1000s", c->number, c->answered, c->sent, line);
	int64_t revision = json_integer_value(json_object_get(result, "revision"));
	int64_t token = json_integer_value(json_object_get(result, "token"));
	c->steps[id].answered = true;
	c->steps[id].revision = revision;
	if (revision > c->max_revision)
		c->max_revision = revision;
	if (token > c->max_token)
		c->max_token = token;
	c->answered++;
	json_decref(answer);
}

bool client_receive(struct client *c)
{
	for (;;) {
		char *line = NULL;
		enum wire_event event = wire_try_line(c->wire, 0, &line);
		if (event != WIRE_LINE)
			return event == WIRE_NOTHING;
		take_answer(c, line);
		free(line);
	}
}

/* ---- after the crash */

static enum pod_phase phase_of(const char *state)
{
	if (strcmp(state, "reserved") == 0)
		return PHASE_RESERVED;
	if (strcmp(state, "bound") == 0)
		return PHASE_BOUND;
	return strcmp(state, "allocated") == 0 ? PHASE_ALLOCATED : PHASE_NONE;
}

/* Whether the pods the server lists are exactly those of the state. */
static bool state_is(const struct client *c, const struct node_state *state, const json_t *pods)
{
	size_t expected = 0, i;
	json_t *pod;
	for (int d = 0; d < CLIENT_DEVICES; d++)
		expected += state->phases[d] != PHASE_NONE;
	if (json_array_size(pods) != expected)
		return false;
	json_array_foreach ((json_t *)(uintptr_t)pods, i, pod) {
		const char *uid = json_string_value(json_object_get(json_object_get(pod, "pod"), "uid"));
		int d = 0;
		for (; d < CLIENT_DEVICES; d++) {
			char name[32];
			(void)snprintf(name, sizeof name, "c%d-%d", c->number, state->pods[d]);
			if (state->phases[d] != PHASE_NONE && strcmp(uid, name) == 0)
				break;
		}
		if (d == CLIENT_DEVICES || phase_of(json_string_value(json_object_get(pod, "state"))) != state->phases[d])
			return false;
	}
	return true;
}

/* Adds the revisions of a page of events to the keys of `seen`; the revision up to which the page is complete. */
static int64_t collect_revisions(const struct client *c, struct wire *wire, int64_t after, json_t *seen)
{
	json_t *page = call_result(
		wire, "event.list", json_of("{'after': %lld, 'limit': 5000, 'node': 'c%d'}", (long long)after, c->number));
	int64_t last = json_integer_value(json_object_get(page, "last"));
	json_t *event;
	size_t i;
	json_array_foreach (json_object_get(page, "events"), i, event) {
		char key[24];
		(void)snprintf(key, sizeof key, "%lld", (long long)json_integer_value(json_object_get(event, "revision")));
		json_object_set_new(seen, key, json_true());
	}
	json_decref(page);
	return last;
}

/* Every answered revision is in the history. */
static void verify_history(const struct client *c, struct wire *wire)
{
	json_t *seen = json_object();
	int64_t after = c->since, last;
	while (after < c->max_revision && (last = collect_revisions(c, wire, after, seen)) > after)
		after = last;
	for (size_t i = 0; i < c->answered; i++) {
		char key[24];
		(void)snprintf(key, sizeof key, "%lld", (long long)c->steps[i].revision);
		if (c->steps[i].revision && !json_object_get(seen, key))
			check_failed("client %d: revision %s was answered and has no event", c->number, key);
	}
	json_decref(seen);
}

void client_verify(struct client *c, struct wire *wire)
{
	json_t *result = call_result(wire, "pod.list", json_of("{'node': 'c%d'}", c->number));
	const json_t *pods = json_object_get(result, "pods");
	size_t most = c->unavailable ? c->answered + c->unknown : c->sent;
	for (size_t done = c->answered; done <= most; done++) {
		struct node_state state = done ? c->steps[done - 1].after : c->start;
		if (!state_is(c, &state, pods))
			continue;
		verify_history(c, wire);
		c->start = state;
		c->sent = c->answered = 0;
		json_decref(result);
		return;
	}
	check_failed("client %d: %zu calls answered, %zu sent, and this is no state in between: %s", c->number, c->answered,
		c->sent, json_dumps(pods, 0));
}

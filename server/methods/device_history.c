/* device.history: who held a device and when, from the events.
 *
 * What a pod holds never changes while it holds it, so an event of a pod that names the device tells all that this pod holds on it: after the
 * event, or, when it is the one with which the pod left, before. At any time in the past the device is held by the pods whose last event until
 * then is not a leaving; by those without one whose first event afterwards is not a coming; and by those without any that hold it now. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "core/state.h"
#include "methods/history.h"
#include "methods/methods.h"
#include "methods/shapes.h"
#include "methods/views.h"
#include "rpc/value.h"

enum {
	SCANS = 400
}; /* calls of the events service, each of which looks at some ten thousand rows: the longest that is looked for */

struct history_params {
	const char *uuid;
	int64_t at, at_revision, after, limit;
};

static const struct rpc_field fields[] = {
	REQUIRED(struct history_params, uuid, "The device."),
	OPTIONAL(struct history_params, at, "Who held it at this time, Unix ms.", RANGE(0, RPC_INTEGER_MAX), DEFAULT(-1)),
	OPTIONAL(struct history_params, at_revision, "Who held it at this revision.", RANGE(0, RPC_INTEGER_MAX), DEFAULT(-1)),
	FIELD_HISTORY_AFTER(struct history_params),
	FIELD_LIMIT(struct history_params),
};

static struct error *finish(void *object, struct arena *arena)
{
	const struct history_params *p = object;
	(void)arena;
	return p->at >= 0 && p->at_revision >= 0 ? error_invalid("at_revision", "at and at_revision exclude each other") : NULL;
}

static const struct rpc_shape shape = { SHAPE_OF(struct history_params, fields), .finish = finish };

/* What is known of one pod. */
struct holder {
	char *uid;
	bool now;            /* holds it at present: `holders` is from memory */
	bool before, after;  /* there was an event until the moment that is asked for; after it */
	bool held;           /* at that moment, by the events */
	struct text holders; /* its elements of `holders`, separated by commas */
	UT_hash_handle hh;
};

struct history {
	const struct history_params *params;
	const char *uuid;
	struct holder *holders; /* by uid */
	size_t n, room;
	bool exists;          /* the device is there now */
	struct json_out *out; /* for the list of changes */
	int64_t found;
};

static void history_free(void *state)
{
	struct history *h = state;
	for (size_t i = 0; i < h->n; i++) {
		text_free(&h->holders[i].holders);
		free(h->holders[i].uid);
	}
	free(h->holders);
	free(h);
}

/* The place of a uid among the holders, or where it belongs. */
static size_t find_holder(const struct history *h, const char *uid)
{
	size_t low = 0, high = h->n;
	while (low < high) {
		size_t middle = (low + high) / 2;
		if (strcmp(h->holders[middle].uid, uid) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Valid until the next one is added. */
static struct holder *holder_of(struct history *h, const char *uid)
{
	size_t at = find_holder(h, uid);
	if (at < h->n && strcmp(h->holders[at].uid, uid) == 0)
		return &h->holders[at];
	h->holders = mem_grow(h->holders, h->n, &h->room, sizeof *h->holders);
	memmove(h->holders + at + 1, h->holders + at, (h->n - at) * sizeof *h->holders);
	h->holders[at] = (struct holder){ .uid = mem_string(uid) };
	h->n++;
	return &h->holders[at];
}

static struct json_out element_start(struct text *list)
{
	if (list->length)
		text_putc(list, ',');
	return json_out_start(list);
}

/* ---- at present */

static void note_present(struct history *h, const struct node *n, int64_t device_id)
{
	for (const struct holding *holding = n->holdings; holding; holding = holding->next)
		for (size_t i = 0; i < holding->record->n_shares; i++) {
			if (holding->record->shares[i].device_id != device_id)
				continue;
			struct holder *holder = holder_of(h, holding->record->pod.uid);
			struct json_out o = element_start(&holder->holders);
			holder->now = true;
			view_holder(&o, holding->record, &holding->record->shares[i]);
		}
}

static struct rpc_done handle(struct rpc_call *call, const void *params, void *world)
{
	const struct history_params *p = params;
	const struct world *w = world;
	const struct device_place *place = cluster_device(w->cluster, p->uuid);
	struct history *h = mem_alloc(sizeof *h);
	h->params = p;
	h->uuid = p->uuid;
	h->exists = place;
	if (place)
		note_present(h, place->node, place->record->id);
	rpc_call_keep(call, h, history_free);
	return rpc_later(call);
}

/* ---- from events */

static bool begins(const char *kind, const char *with)
{
	return strncmp(kind, with, strlen(with)) == 0;
}

static bool is_one_of(const char *kind, const char *const *kinds)
{
	while (*kinds && strcmp(kind, *kinds) != 0)
		kinds++;
	return *kinds;
}

static bool is_coming(const char *kind)
{
	static const char *const kinds[] = { "pod.reserved", "pod.adopted", NULL };
	return is_one_of(kind, kinds);
}

static bool is_leaving(const char *kind)
{
	static const char *const kinds[] = { "pod.released", "pod.unreserved", "pod.expired", "pod.lapsed", "pod.failed", NULL };
	return is_one_of(kind, kinds);
}

/* Whether everything of the pod was handed out. */
static bool all_claimed(const struct rpc_value *devices)
{
	for (size_t i = 0; i < rpc_value_count(devices); i++)
		if (!rpc_value_true(rpc_value_element(devices, i), "claimed"))
			return false;
	return true;
}

/* The state from which an event led away. */
static const char *state_before(const char *kind, const struct rpc_value *data)
{
	if (strcmp(kind, "pod.bound") == 0)
		return "reserved";
	if (strcmp(kind, "pod.allocated") == 0)
		return rpc_value_member(data, "token") ? "bound" : "reserved";
	if (strcmp(kind, "pod.releasing") == 0)
		return all_claimed(rpc_value_member(data, "devices")) ? "allocated" : "bound";
	return rpc_value_text(data, "state");
}

static void print_amounts(struct json_out *o, const struct rpc_value *amounts)
{
	out_object(o, "resources");
	for (const char *key = NULL; (key = rpc_value_next_key(amounts, key));)
		out_int(o, key, rpc_value_integer(rpc_value_member(amounts, key)));
	out_end(o);
}

/* An element of `holders`, as view_holder prints it of a record. */
static void print_holder(struct json_out *o, const struct rpc_value *data, const struct rpc_value *share, const char *state)
{
	const struct rpc_value *pod = rpc_value_member(data, "pod");
	out_object(o, NULL);
	out_string(o, "uid", rpc_value_text(pod, "uid"));
	out_string(o, "namespace", rpc_value_text(pod, "namespace"));
	out_string(o, "name", rpc_value_text(pod, "name"));
	out_string(o, "container", rpc_value_text(share, "container"));
	out_string(o, "state", state);
	out_bool(o, "whole", rpc_value_true(share, "whole"));
	print_amounts(o, rpc_value_member(share, "resources"));
	out_end(o);
}

/* What the pod of the event holds on the device. A container that reuses another's devices holds nothing of its own. */
static void print_holders(struct text *list, const char *uuid, const struct rpc_value *data, const char *state)
{
	const struct rpc_value *devices = rpc_value_member(data, "devices");
	for (size_t i = 0; i < rpc_value_count(devices); i++) {
		const struct rpc_value *share = rpc_value_element(devices, i);
		if (strcmp(rpc_value_text(share, "uuid"), uuid) != 0 || *rpc_value_text(share, "reuse"))
			continue;
		struct json_out o = element_start(list);
		print_holder(&o, data, share, state);
	}
}

/* The data of an event that is about an allocation; NULL for others. */
static struct rpc_value *allocation_of(const struct world_event *e)
{
	struct rpc_value *data = begins(e->kind, "pod.") ? rpc_value_parse(e->data) : NULL;
	if (data && *rpc_value_text(data, "state") && rpc_value_member(data, "devices"))
		return data;
	rpc_value_free(data);
	return NULL;
}

/* ---- who held it at one moment */

static bool is_until(const struct history_params *p, const struct world_event *e)
{
	return p->at >= 0 ? e->at <= p->at : e->revision <= p->at_revision;
}

static void note_event(void *context, const struct world_event *e)
{
	struct history *h = context;
	struct rpc_value *data = allocation_of(e);
	bool until = is_until(h->params, e);
	struct holder *holder = data ? holder_of(h, e->uid) : NULL;
	if (holder && (until || (!holder->before && !holder->after))) {
		holder->held = until ? !is_leaving(e->kind) : !is_coming(e->kind);
		text_clear(&holder->holders);
		print_holders(
			&holder->holders, h->uuid, data, until ? rpc_value_text(data, "state") : state_before(e->kind, data));
	}
	if (holder) {
		holder->before |= until;
		holder->after |= !until;
	}
	rpc_value_free(data);
}

static void print_moment(struct json_out *o, struct history *h)
{
	struct text list = { 0 };
	text_putc(&list, '[');
	for (size_t i = 0; i < h->n; i++) {
		const struct holder *holder = &h->holders[i];
		bool seen = holder->before || holder->after;
		if (!holder->holders.length || (seen ? !holder->held : !holder->now))
			continue;
		if (list.length > 1)
			text_putc(&list, ',');
		text_add(&list, holder->holders.bytes, holder->holders.length);
	}
	text_putc(&list, ']');
	out_raw(o, "holders", text_string(&list));
	text_free(&list);
}

static struct error *scan(
	struct history *h, const struct world *w, void *reader, const char *mention, const struct world_span *span)
{
	struct world_event_query query = { .after = span->horizon, .limit = INT64_MAX, .mention = mention };
	for (int i = 0; i < SCANS; i++) {
		int64_t last;
		struct error *error = w->services->events(reader, &query, note_event, h, &last);
		if (error || last >= span->revision)
			return error;
		query.after = last;
	}
	return error_with_string(error_new(ERR_OVERLOADED, "there are too many events to look through"), "limit", "history");
}

static bool is_known(const struct history_params *p, const struct world_span *span)
{
	if (p->at_revision >= 0)
		return p->at_revision >= span->horizon;
	return span->horizon == 0 || (span->since && p->at >= span->since);
}

static struct rpc_done work_moment(struct rpc_call *call, struct history *h, const struct world *w, void *reader,
	const char *mention, const struct world_span *span)
{
	struct json_out *o = rpc_result(call);
	if (!is_known(h->params, span))
		return rpc_refuse(call, history_compacted(span));

	struct error *error = scan(h, w, reader, mention, span);
	if (error)
		return rpc_refuse(call, error);

	if (!h->exists && !h->n)
		return rpc_refuse(call,
			error_with_string(error_with_string(error_new(ERR_NOT_FOUND, "nothing is known of a device %s", h->uuid),
						  "kind", "device"),
				"name", h->uuid));

	out_string(o, "uuid", h->uuid);
	print_moment(o, h);
	history_since(o, span);
	return rpc_done(call);
}

/* ---- the changes */

static void print_change(struct json_out *o, const struct world_event *e, const struct text *holders)
{
	out_object(o, NULL);
	out_int(o, "revision", e->revision);
	out_int(o, "at", e->at);
	out_string(o, "kind", e->kind);
	out_string_if(o, "node", e->node);
	out_string_if(o, "uid", e->uid);
	out_string(o, "actor", e->actor);
	if (holders) {
		char *list = mem_format("[%s]", text_string(holders));
		out_raw(o, "holders", list);
		free(list);
	} else {
		out_raw(o, "device", e->data);
	}
	out_end(o);
}

static void print_event(void *context, const struct world_event *e)
{
	struct history *h = context;
	struct text holders = { 0 };
	struct rpc_value *data = allocation_of(e);
	if (data && !is_leaving(e->kind))
		print_holders(&holders, h->uuid, data, rpc_value_text(data, "state"));
	if (data)
		print_change(h->out, e, &holders);
	else if (begins(e->kind, "device."))
		print_change(h->out, e, NULL);
	h->found += data || begins(e->kind, "device.");
	text_free(&holders);
	rpc_value_free(data);
}

static struct rpc_done work_changes(struct rpc_call *call, struct history *h, const struct world *w, void *reader,
	const char *mention, const struct world_span *span)
{
	const struct world_event_query query = {
		.after = history_start(span, h->params->after), .limit = h->params->limit, .mention = mention
	};
	struct json_out *o = h->out = rpc_result(call);
	int64_t last;

	out_string(o, "uuid", h->uuid);
	out_array(o, "changes");
	struct error *error = w->services->events(reader, &query, print_event, h, &last);
	if (error)
		return rpc_refuse(call, error);
	out_end(o);
	out_int(o, "last", last);
	history_since(o, span);
	return rpc_done(call);
}

static struct rpc_done work(struct rpc_call *call, const void *params, void *world, void *reader)
{
	const struct history_params *p = params;
	struct history *h = rpc_call_state(call);
	const struct world *w = world;
	struct world_span span;
	struct text mention = { 0 };

	struct error *error = w->services->span(reader, &span);
	if (error)
		return rpc_refuse(call, error);

	text_puts(&mention, "\"uuid\":");
	struct json_out quoted = json_out_start(&mention);
	out_string(&quoted, NULL, p->uuid);
	bool moment = p->at >= 0 || p->at_revision >= 0;
	struct rpc_done done = (moment ? work_moment : work_changes)(call, h, w, reader, text_string(&mention), &span);
	text_free(&mention);
	return done;
}

static const struct rpc_member result[] = {
	{ "uuid", "string", "The device." },
	{ "holders", "[Holder]?", "With `at` or `at_revision`: who held it then, by uid." },
	{ "changes", "[DeviceChange]?", "Otherwise: what happened to it, in order." },
	{ "last", "integer?", "The changes are complete up to this revision: the next `after`." },
	HISTORY_SINCE_MEMBERS,
	{ 0 },
};

const struct rpc_method device_history_method = {
	.name = "device.history",
	.summary = "Tells who held a device at some time, or what happened to it, as far back as events are kept.",
	.description =
		"`compacted` when the time lies before that. A page of changes may be empty and not the last one: go on until "
		"`last` does not rise.",
	.roles = ROLE_ALL,
	.slow = true,
	.params = &shape,
	.result = result,
	.errors = RPC_ERROR(ERR_COMPACTED) | RPC_ERROR(ERR_NOT_FOUND),
	.handle = handle,
	.work = work,
};

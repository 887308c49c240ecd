#include "core/record.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "core/counted.h"
#include "core/pack.h"

/* Copies the strings and arrays of `from` into `to`, which is already a flat copy of it. */
typedef void pack_function(struct pack *p, void *to, const void *from);

/* Measures, then copies: one block that holds the record and all it points to. */
static void *record_new(const void *like, size_t size, pack_function *pack)
{
	union {
		struct node_record node;
		struct device_record device;
		struct allocation allocation;
		struct nomination nomination;
		struct refusal refusal;
		struct event event;
	} scratch;
	struct pack p = { 0 };
	assert(size <= sizeof scratch);
	memcpy(&scratch, like, size);
	pack(&p, &scratch, like);
	char *block = counted_new(((size + 7) & ~(size_t)7) + p.size);
	memcpy(block, like, size);
	p = (struct pack){ .at = block + ((size + 7) & ~(size_t)7) };
	pack(&p, block, like);
	return block;
}

static void pack_node(struct pack *p, void *to_, const void *from_)
{
	struct node_record *to = to_;
	const struct node_record *from = from_;
	to->name = pack_string(p, from->name);
	to->reason = pack_string(p, from->reason);
	to->labels = pack_labels(p, from->labels, from->n_labels);
}

static void pack_device(struct pack *p, void *to_, const void *from_)
{
	struct device_record *to = to_;
	const struct device_record *from = from_;
	to->node = pack_string(p, from->node);
	to->uuid = pack_string(p, from->uuid);
	to->type = pack_string(p, from->type);
	to->model = pack_string(p, from->model);
	to->pcie = pack_string(p, from->pcie);
	to->bus_id = pack_string(p, from->bus_id);
	to->reason = pack_string(p, from->reason);
	to->capacity = pack_amounts(p, from->capacity, from->n_capacity);
	to->labels = pack_labels(p, from->labels, from->n_labels);
}

static void pack_handout(struct pack *p, void *to_, const void *from_)
{
	struct handout *to = to_;
	const struct handout *from = from_;
	to->call = pack_string(p, from->call);
	to->device_ids = pack_strings(p, from->device_ids, from->n_device_ids);
	to->detail = pack_string(p, from->detail);
}

static void pack_allocation(struct pack *p, void *to_, const void *from_)
{
	struct allocation *to = to_;
	const struct allocation *from = from_;
	pack_pod(p, &to->pod, &from->pod);
	to->node = pack_string(p, from->node);
	to->shares = pack_shares(p, from->shares, from->n_shares);
}

static void pack_nomination(struct pack *p, void *to_, const void *from_)
{
	struct nomination *to = to_;
	const struct nomination *from = from_;
	pack_pod(p, &to->pod, &from->pod);
	to->node = pack_string(p, from->node);
	to->shares = pack_shares(p, from->shares, from->n_shares);
	to->victims = pack_strings(p, from->victims, from->n_victims);
}

static void pack_lock(struct pack *p, void *to_, const void *from_)
{
	struct lock *to = to_;
	const struct lock *from = from_;
	to->node = pack_string(p, from->node);
	to->uid = pack_string(p, from->uid);
}

static void pack_lapse(struct pack *p, void *to_, const void *from_)
{
	struct lapse *to = to_;
	const struct lapse *from = from_;
	to->node = pack_string(p, from->node);
	to->uid = pack_string(p, from->uid);
}

static void pack_refusal(struct pack *p, void *to_, const void *from_)
{
	struct refusal *to = to_;
	const struct refusal *from = from_;
	pack_pod(p, &to->pod, &from->pod);
	to->reason = pack_string(p, from->reason);
	to->message = pack_string(p, from->message);
	to->nodes = pack_strings(p, from->nodes, from->n_nodes);
	struct slug_count *counts = (struct slug_count *)(uintptr_t)pack_bytes(
		p, from->counts, from->n_counts * sizeof *from->counts);
	for (size_t i = 0; i < from->n_counts; i++) {
		const char *slug = pack_string(p, from->counts[i].slug);
		if (p->at)
			counts[i].slug = slug;
	}
	to->counts = counts;
}

static void pack_event(struct pack *p, void *to_, const void *from_)
{
	struct event *to = to_;
	const struct event *from = from_;
	to->kind = pack_string(p, from->kind);
	to->node = pack_string(p, from->node);
	to->uid = pack_string(p, from->uid);
	to->actor = pack_string(p, from->actor);
	to->reason = pack_string(p, from->reason);
	to->cause = pack_string(p, from->cause);
	to->by = pack_string(p, from->by);
}

struct node_record *node_record_new(const struct node_record *like)
{
	return record_new(like, sizeof *like, pack_node);
}

struct device_record *device_record_new(const struct device_record *like)
{
	return record_new(like, sizeof *like, pack_device);
}

struct handout *handout_new(const struct handout *like)
{
	return record_new(like, sizeof *like, pack_handout);
}

struct allocation *allocation_new(const struct allocation *like)
{
	struct allocation *a = record_new(like, sizeof *like, pack_allocation);
	record_ref(a->request);
	for (size_t g = 0; g < REQUEST_GROUPS; g++)
		record_ref(a->handouts[g]);
	return a;
}

struct nomination *nomination_new(const struct nomination *like)
{
	struct nomination *n = record_new(like, sizeof *like, pack_nomination);
	record_ref(n->request);
	return n;
}

struct lock *lock_new(const struct lock *like)
{
	return record_new(like, sizeof *like, pack_lock);
}

struct lapse *lapse_new(const struct lapse *like)
{
	struct lapse *l = record_new(like, sizeof *like, pack_lapse);
	record_ref(l->request);
	return l;
}

struct refusal *refusal_new(const struct refusal *like)
{
	struct refusal *r = record_new(like, sizeof *like, pack_refusal);
	record_ref(r->request);
	return r;
}

struct event *event_new(const struct event *like)
{
	struct event *e = record_new(like, sizeof *like, pack_event);
	record_ref(e->subject);
	return e;
}

const void *record_ref(const void *record)
{
	return counted_ref(record);
}

void handout_unref(const struct handout *h)
{
	if (counted_drop(h))
		counted_free(h);
}

static void release_allocation(const struct allocation *a)
{
	request_unref(a->request);
	for (size_t g = 0; g < REQUEST_GROUPS; g++)
		handout_unref(a->handouts[g]);
}

/* The record kind of an event's subject; SUBJECT_NONE is not allowed (assert). */
static enum record_kind event_subject_record(enum event_subject subject)
{
	static const enum record_kind kinds[] = {
		[SUBJECT_NODE] = RECORD_NODE,
		[SUBJECT_DEVICE] = RECORD_DEVICE,
		[SUBJECT_ALLOCATION] = RECORD_ALLOCATION,
		[SUBJECT_NOMINATION] = RECORD_NOMINATION,
		[SUBJECT_LOCK] = RECORD_LOCK,
		[SUBJECT_LAPSE] = RECORD_LAPSE,
		[SUBJECT_REFUSAL] = RECORD_REFUSAL,
	};
	assert(subject != SUBJECT_NONE);
	return kinds[subject];
}

static void release_event(const struct event *e)
{
	if (e->subject_kind != SUBJECT_NONE)
		record_unref(event_subject_record(e->subject_kind), e->subject);
}

void record_unref(enum record_kind kind, const void *record)
{
	if (!counted_drop(record))
		return;
	switch (kind) {
	case RECORD_ALLOCATION:
		release_allocation(record);
		break;
	case RECORD_NOMINATION:
		request_unref(((const struct nomination *)record)->request);
		break;
	case RECORD_LAPSE:
		request_unref(((const struct lapse *)record)->request);
		break;
	case RECORD_REFUSAL:
		request_unref(((const struct refusal *)record)->request);
		break;
	case RECORD_EVENT:
		release_event(record);
		break;
	default:
		break;
	}
	counted_free(record);
}

static const char *const state_names[POD_STATES] = { "none", "reserved", "bound", "allocated", "releasing" };

const char *pod_state_name(enum pod_state state)
{
	assert(state < POD_STATES);
	return state_names[state];
}

enum pod_state pod_state_parse(const char *name)
{
	for (enum pod_state s = POD_RESERVED; s < POD_STATES; s++)
		if (strcmp(name, state_names[s]) == 0)
			return s;
	return POD_NONE;
}

int64_t amount_of(const struct amount *amounts, size_t n, const char *resource, int64_t otherwise)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(amounts[i].resource, resource) == 0)
			return amounts[i].value;
	return otherwise;
}

#include "world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "support.h"

static uint64_t next(struct world *w)
{
	uint64_t z = w->random += UINT64_C(0x9e3779b97f4a7c15);
	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

static size_t below(struct world *w, size_t n)
{
	return (size_t)(next(w) % n);
}

static int64_t big(struct world *w)
{
	return (int64_t)(next(w) >> 11); /* 53 bits */
}

/* A name with whatever a name may have in it; one of two buffers that are used in turn 16 times. */
static const char *name(struct world *w, const char *prefix)
{
	static const char *const ends[] = { "", "'", "\"", "%", "ü", "=", ";", "日本", "\\", " x" };
	static char buffers[16][64];
	static size_t at;
	char *buffer = buffers[at++ % 16];
	(void)snprintf(buffer, sizeof buffers[0], "%s-%llx%s", prefix, (unsigned long long)(next(w) >> 24), ends[below(w, 10)]);
	return buffer;
}

void world_init(struct world *w, uint64_t seed)
{
	*w = (struct world){ .random = seed };
}

void world_free(struct world *w)
{
	for (size_t k = 0; k < RECORD_EVENT; k++)
		for (size_t i = 0; i < w->n[k]; i++)
			record_unref((enum record_kind)k, w->records[k][i]);
}

void world_snapshot(const struct world *w, struct change_list *ret)
{
	for (size_t k = 0; k < RECORD_EVENT; k++)
		for (size_t i = 0; i < w->n[k]; i++)
			change_list_add(ret, (enum record_kind)k, NULL, record_ref(w->records[k][i]));
}

static void insert(struct world *w, struct change_list *changes, enum record_kind kind, const void *record)
{
	assert_true(w->n[kind] < WORLD_ROOM);
	w->records[kind][w->n[kind]++] = record;
	change_list_add(changes, kind, NULL, record_ref(record));
}

static void replace(struct world *w, struct change_list *changes, enum record_kind kind, size_t at, const void *record)
{
	change_list_add(changes, kind, w->records[kind][at], record_ref(record));
	w->records[kind][at] = record;
}

static void drop(struct world *w, struct change_list *changes, enum record_kind kind, size_t at)
{
	change_list_add(changes, kind, w->records[kind][at], NULL);
	w->records[kind][at] = w->records[kind][--w->n[kind]];
}

static struct pod random_pod(struct world *w)
{
	return (struct pod){ .uid = name(w, "uid"),
		.namespace = name(w, "ns"),
		.name = name(w, "pod"),
		.gang = below(w, 2) ? name(w, "gang") : "",
		.priority = (int32_t)next(w),
		.preemptible = below(w, 2),
		.external = below(w, 2) };
}

/* Up to `most` labels, sorted. */
static size_t random_labels(struct world *w, struct label *labels, size_t most)
{
	static const char *const keys[] = { "a", "b/c", "zone", "ärger" };
	size_t n = 0;
	for (size_t i = 0; i < 4 && n < most; i++)
		if (below(w, 3) == 0)
			labels[n++] = (struct label){ keys[i], below(w, 4) ? name(w, "v") : "" };
	return n;
}

static const struct node_record *random_node(struct world *w, int64_t id, const char *name_)
{
	struct label labels[4];
	struct node_record like = { .id = id,
		.name = name_,
		.cordoned = below(w, 2),
		.unverified = below(w, 2),
		.reason = below(w, 2) ? name(w, "why") : "",
		.last_seen_at = big(w),
		.revision = ++w->revision,
		.labels = labels };
	like.n_labels = random_labels(w, labels, 4);
	return node_record_new(&like);
}

static void step_node(struct world *w, struct change_list *changes)
{
	size_t i;
	if (w->n[RECORD_NODE] < 6) {
		const char *called = name(w, "node");
		insert(w, changes, RECORD_NODE, random_node(w, ++w->id, called));
		return;
	}
	i = below(w, w->n[RECORD_NODE]);
	const struct node_record *old = w->records[RECORD_NODE][i];
	replace(w, changes, RECORD_NODE, i, random_node(w, old->id, old->name));
}

static const struct device_record *random_device(struct world *w, int64_t id, const char *uuid, int64_t node_id, const char *node)
{
	static const char *const resources[] = { "core", "memory", "vf" };
	struct label labels[4];
	struct amount capacity[3];
	struct device_record like = { .id = id,
		.node_id = node_id,
		.node = node,
		.uuid = uuid,
		.type = name(w, "type"),
		.minor = (int64_t)below(w, 100),
		.model = below(w, 2) ? name(w, "model") : "",
		.healthy = below(w, 2),
		.cordoned = below(w, 2),
		.missing = below(w, 2),
		.max_shares = (int64_t)below(w, 3) * 3,
		.numa = (int64_t)below(w, 4) - 1,
		.socket = (int64_t)below(w, 4) - 1,
		.pcie = below(w, 2) ? name(w, "pci") : "",
		.bus_id = below(w, 2) ? "0000:3b:00.0" : "",
		.reason = below(w, 2) ? name(w, "why") : "",
		.revision = ++w->revision,
		.capacity = capacity,
		.labels = labels };
	for (size_t i = 0; i < 3; i++)
		if (below(w, 3))
			capacity[like.n_capacity++] = (struct amount){ resources[i], below(w, 5) ? big(w) >> 4 : 0 };
	like.n_labels = random_labels(w, labels, 4);
	return device_record_new(&like);
}

static bool device_needed(const struct world *w, int64_t id)
{
	for (size_t i = 0; i < w->n[RECORD_ALLOCATION]; i++) {
		const struct allocation *a = w->records[RECORD_ALLOCATION][i];
		for (size_t k = 0; k < a->n_shares; k++)
			if (a->shares[k].device_id == id)
				return true;
	}
	for (size_t i = 0; i < w->n[RECORD_NOMINATION]; i++) {
		const struct nomination *n = w->records[RECORD_NOMINATION][i];
		for (size_t k = 0; k < n->n_shares; k++)
			if (n->shares[k].device_id == id)
				return true;
	}
	return false;
}

static void step_device(struct world *w, struct change_list *changes)
{
	size_t n = w->n[RECORD_DEVICE];
	if (w->n[RECORD_NODE] == 0)
		return;
	if (n < 40 && below(w, 2)) {
		const struct node_record *node = w->records[RECORD_NODE][below(w, w->n[RECORD_NODE])];
		const char *uuid = name(w, "GPU");
		insert(w, changes, RECORD_DEVICE, random_device(w, ++w->id, uuid, node->id, node->name));
		return;
	}
	if (n == 0)
		return;
	size_t i = below(w, n);
	const struct device_record *old = w->records[RECORD_DEVICE][i];
	if (below(w, 4) == 0 && !device_needed(w, old->id))
		drop(w, changes, RECORD_DEVICE, i);
	else
		replace(w, changes, RECORD_DEVICE, i, random_device(w, old->id, old->uuid, old->node_id, old->node));
}

/* What is left of a resource ("" = shares) on a device; -1 when it is held whole. */
static int64_t left(const struct world *w, const struct device_record *d, const char *resource)
{
	int64_t capacity = *resource       ? amount_of(d->capacity, d->n_capacity, resource, 0)
			   : d->max_shares ? d->max_shares
					   : INT64_MAX;
	for (size_t i = 0; i < w->n[RECORD_ALLOCATION]; i++) {
		const struct allocation *a = w->records[RECORD_ALLOCATION][i];
		for (size_t k = 0; k < a->n_shares; k++) {
			const struct share *s = &a->shares[k];
			if (s->device_id != d->id)
				continue;
			if (s->whole)
				return -1;
			capacity -= *resource ? amount_of(s->amounts, s->n_amounts, resource, 0) : 1;
		}
	}
	return capacity;
}

static bool untouched(const struct world *w, const struct device_record *d)
{
	return left(w, d, "") == (d->max_shares ? d->max_shares : INT64_MAX);
}

/* Shares on distinct devices of a node, for claims 0, 1, 2 ...; amounts have room for 3 of each. */
static size_t random_shares(struct world *w, int64_t node, bool fit, struct share *shares, struct amount *amounts)
{
	size_t n = 0;
	for (size_t i = 0; i < w->n[RECORD_DEVICE] && n < 4; i++) {
		const struct device_record *d = w->records[RECORD_DEVICE][i];
		struct share *s = &shares[n];
		if (d->node_id != node || below(w, 2))
			continue;
		*s = (struct share){
			.device_id = d->id, .uuid = d->uuid, .minor = d->minor, .claim = n / 2, .amounts = amounts + 3 * n
		};
		s->whole = below(w, 3) == 0;
		if (fit && (s->whole ? !untouched(w, d) : left(w, d, "") < 1))
			continue;
		for (size_t k = 0; k < d->n_capacity; k++) {
			int64_t most = s->whole || !fit ? d->capacity[k].value : left(w, d, d->capacity[k].resource);
			if (s->whole || (most > 0 && below(w, 3)))
				amounts[3 * n + s->n_amounts++] = (struct amount){ d->capacity[k].resource,
					s->whole ? most : (int64_t)(next(w) % (uint64_t)most) / 4 + 1 };
		}
		n++;
	}
	return n;
}

static const char *const requests[] = { "gpu,1,main,1", "gpu,2,main,1;rdma,1,side,1;host,1,main,0", "gpu,1,init,1;gpu,1,main,1",
	"host,1,,0" };

static const struct handout *random_handout(struct world *w)
{
	const char *ids[12];
	struct handout like = { .call = below(w, 2) ? name(w, "call") : "",
		.device_ids = ids,
		.n_device_ids = below(w, 13),
		.confirmed_at = below(w, 2) ? big(w) : 0,
		.detail = below(w, 2) ? "{\"a\": [1, \"b\"]}" : "" };
	for (size_t i = 0; i < like.n_device_ids; i++)
		ids[i] = name(w, "GPU");
	return handout_new(&like);
}

static void new_allocation(struct world *w, struct change_list *changes)
{
	const struct node_record *node = w->records[RECORD_NODE][below(w, w->n[RECORD_NODE])];
	struct share shares[4];
	struct amount amounts[12];
	struct request *request = request_of(requests[below(w, 4)]);
	struct allocation like = { .id = ++w->id,
		.pod = random_pod(w),
		.node_id = node->id,
		.node = node->name,
		.state = POD_RESERVED,
		.over = below(w, 4) == 0,
		.request = request,
		.created_at = big(w),
		.state_at = big(w),
		.expires_at = big(w) + 1,
		.revision = ++w->revision,
		.shares = shares };
	like.n_shares = random_shares(w, node->id, !like.over, shares, amounts);
	insert(w, changes, RECORD_ALLOCATION, allocation_new(&like));
	request_unref(request);
}

static size_t find_lock(const struct world *w, int64_t node)
{
	size_t i = 0;
	while (i < w->n[RECORD_LOCK] && ((const struct lock *)w->records[RECORD_LOCK][i])->node_id != node)
		i++;
	return i;
}

static void put_allocation(struct world *w, struct change_list *changes, size_t at, struct allocation *like)
{
	like->state_at = big(w);
	like->revision = ++w->revision;
	replace(w, changes, RECORD_ALLOCATION, at, allocation_new(like));
}

/* reserved -> bound, with its lock. */
static void bind_allocation(struct world *w, struct change_list *changes, size_t at)
{
	struct allocation like = *(const struct allocation *)w->records[RECORD_ALLOCATION][at];
	if (find_lock(w, like.node_id) < w->n[RECORD_LOCK])
		return;
	const struct lock lock = { .node_id = like.node_id,
		.node = like.node,
		.uid = like.pod.uid,
		.token = ++w->token,
		.acquired_at = big(w),
		.expires_at = big(w),
		.ttl = big(w) };
	insert(w, changes, RECORD_LOCK, lock_new(&lock));
	like.state = POD_BOUND;
	like.token = lock.token;
	put_allocation(w, changes, at, &like);
}

/* A group is handed out, or what is remembered of it changes. */
static void hand_out(struct world *w, struct change_list *changes, size_t at)
{
	struct allocation like = *(const struct allocation *)w->records[RECORD_ALLOCATION][at];
	if (like.request->n_groups == 0)
		return;
	size_t g = below(w, like.request->n_groups);
	const struct handout *handout = below(w, 4) ? random_handout(w) : NULL;
	like.handouts[g] = handout;
	like.handed_out |= UINT32_C(1) << g;
	put_allocation(w, changes, at, &like);
	handout_unref(handout);
}

static void finish(struct world *w, struct change_list *changes, size_t at)
{
	struct allocation like = *(const struct allocation *)w->records[RECORD_ALLOCATION][at];
	size_t lock = find_lock(w, like.node_id);
	like.state = like.state == POD_ALLOCATED ? POD_RELEASING : POD_ALLOCATED;
	like.expires_at = 0;
	put_allocation(w, changes, at, &like);
	if (lock < w->n[RECORD_LOCK] && strcmp(((const struct lock *)w->records[RECORD_LOCK][lock])->uid, like.pod.uid) == 0)
		drop(w, changes, RECORD_LOCK, lock);
}

static void end_allocation(struct world *w, struct change_list *changes, size_t at)
{
	const struct allocation *a = record_ref(w->records[RECORD_ALLOCATION][at]);
	size_t lock = find_lock(w, a->node_id);
	drop(w, changes, RECORD_ALLOCATION, at);
	if (lock < w->n[RECORD_LOCK] && strcmp(((const struct lock *)w->records[RECORD_LOCK][lock])->uid, a->pod.uid) == 0)
		drop(w, changes, RECORD_LOCK, lock);
	record_unref(RECORD_ALLOCATION, a);
}

/* Another pod, other shares, even another id under the same uid: what adoption and replacement do. */
static void remake(struct world *w, struct change_list *changes, size_t at)
{
	const struct allocation *old = record_ref(w->records[RECORD_ALLOCATION][at]);
	struct share shares[4];
	struct amount amounts[12];
	struct allocation like = *old;
	like.pod.priority = (int32_t)next(w);
	like.over = true;
	like.id = below(w, 2) ? ++w->id : old->id;
	like.shares = shares;
	like.n_shares = random_shares(w, like.node_id, false, shares, amounts);
	if (old->state != POD_BOUND)
		put_allocation(w, changes, at, &like);
	record_unref(RECORD_ALLOCATION, old);
}

static void step_allocation(struct world *w, struct change_list *changes)
{
	size_t n = w->n[RECORD_ALLOCATION];
	if (w->n[RECORD_NODE] == 0)
		return;
	if (n == 0 || (n < 60 && below(w, 3) == 0)) {
		new_allocation(w, changes);
		return;
	}
	size_t i = below(w, n);
	enum pod_state state = ((const struct allocation *)w->records[RECORD_ALLOCATION][i])->state;
	size_t what = below(w, 8);
	if (what == 0)
		end_allocation(w, changes, i);
	else if (what == 1)
		remake(w, changes, i);
	else if (state == POD_RESERVED)
		bind_allocation(w, changes, i);
	else if (what < 5)
		hand_out(w, changes, i);
	else if (state != POD_RELEASING)
		finish(w, changes, i);
}

static void step_nomination(struct world *w, struct change_list *changes)
{
	const char *victims[8];
	struct share shares[4];
	struct amount amounts[12];
	size_t n = w->n[RECORD_NOMINATION], i = n ? below(w, n) : 0;
	if (w->n[RECORD_NODE] == 0)
		return;
	if (n && below(w, 3) == 0) {
		drop(w, changes, RECORD_NOMINATION, i);
		return;
	}
	struct nomination like;
	struct request *request = request_of(requests[below(w, 4)]);
	bool fresh = n == 0 || (n < 20 && below(w, 2));
	if (fresh) {
		const struct node_record *node = w->records[RECORD_NODE][below(w, w->n[RECORD_NODE])];
		like = (struct nomination){
			.id = ++w->id, .pod = random_pod(w), .node_id = node->id, .node = node->name, .request = request
		};
	} else {
		like = *(const struct nomination *)w->records[RECORD_NOMINATION][i];
	}
	if (fresh || below(w, 2)) {
		like.shares = shares;
		like.n_shares = random_shares(w, like.node_id, false, shares, amounts);
	}
	if (fresh || below(w, 2)) {
		char *names[8];
		like.n_victims = below(w, 9);
		like.victims = victims;
		for (size_t k = 0; k < like.n_victims; k++) {
			names[k] = mem_format("%02zu-%s", k, name(w, "victim"));
			victims[k] = names[k];
		}
		like.expires_at = big(w);
		like.revision = ++w->revision;
		const struct nomination *made = nomination_new(&like);
		for (size_t k = 0; k < like.n_victims; k++)
			free(names[k]);
		fresh ? insert(w, changes, RECORD_NOMINATION, made) : replace(w, changes, RECORD_NOMINATION, i, made);
	} else {
		like.expires_at = big(w);
		replace(w, changes, RECORD_NOMINATION, i, nomination_new(&like));
	}
	request_unref(request);
}

static void step_lapse(struct world *w, struct change_list *changes)
{
	size_t n = w->n[RECORD_LAPSE];
	struct request *request = request_of(requests[below(w, 4)]);
	if (w->n[RECORD_NODE] && n < 20 && below(w, 2)) {
		const struct node_record *node = w->records[RECORD_NODE][below(w, w->n[RECORD_NODE])];
		const struct lapse like = { .node_id = node->id,
			.node = node->name,
			.uid = name(w, "uid"),
			.request = request,
			.at = big(w),
			.expires_at = big(w) };
		insert(w, changes, RECORD_LAPSE, lapse_new(&like));
	} else if (n && below(w, 2)) {
		drop(w, changes, RECORD_LAPSE, below(w, n));
	} else if (n) {
		size_t i = below(w, n);
		struct lapse like = *(const struct lapse *)w->records[RECORD_LAPSE][i];
		like.at = big(w);
		like.request = request;
		replace(w, changes, RECORD_LAPSE, i, lapse_new(&like));
	}
	request_unref(request);
}

static void step_refusal(struct world *w, struct change_list *changes)
{
	size_t n = w->n[RECORD_REFUSAL], i = n ? below(w, n) : 0;
	const struct slug_count counts[] = { { "insufficient", big(w) }, { "no_device", 1 }, { "nominated", 0 } };
	const char *nodes[6];
	if (n && below(w, 3) == 0) {
		drop(w, changes, RECORD_REFUSAL, i);
		return;
	}
	bool fresh = n == 0 || (n < 20 && below(w, 2));
	struct request *request = below(w, 3) ? request_of(requests[below(w, 4)]) : NULL;
	struct refusal like = { .pod = random_pod(w),
		.reason = below(w, 2) ? "insufficient" : "failed",
		.message = below(w, 2) ? name(w, "msg") : "",
		.first_at = big(w),
		.last_at = big(w),
		.count = big(w),
		.expires_at = big(w),
		.request = request,
		.counts = counts,
		.n_counts = below(w, 4),
		.nodes = nodes,
		.n_nodes = below(w, 7) };
	for (size_t k = 0; k < like.n_nodes; k++)
		nodes[k] = name(w, "node");
	if (!fresh)
		like.pod.uid = ((const struct refusal *)w->records[RECORD_REFUSAL][i])->pod.uid;
	const struct refusal *made = refusal_new(&like);
	fresh ? insert(w, changes, RECORD_REFUSAL, made) : replace(w, changes, RECORD_REFUSAL, i, made);
	request_unref(request);
}

void world_step(struct world *w, struct change_list *changes)
{
	static void (*const steps[])(struct world * w, struct change_list * changes) = { step_node, step_device, step_device,
		step_allocation, step_allocation, step_allocation, step_nomination, step_lapse, step_refusal };
	steps[below(w, sizeof steps / sizeof *steps)](w, changes);
}

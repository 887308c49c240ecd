#include "core/cluster.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/cluster_private.h"

struct cluster *cluster_new(void)
{
	struct cluster *c = mem_alloc(sizeof *c);
	RB_INIT(&c->holdings_by_uid);
	RB_INIT(&c->holdings_by_name);
	RB_INIT(&c->promises_by_uid);
	RB_INIT(&c->locks);
	RB_INIT(&c->lapses);
	RB_INIT(&c->deadlines);
	return c;
}

static void node_set(struct node *n, const struct node_record *r)
{
	n->record = record_ref(r);
	n->closed = r->cordoned || r->unverified;
}

static void node_insert(struct cluster *c, const struct node_record *r)
{
	struct node *n = mem_alloc(sizeof *n);
	node_set(n, r);
	size_t at = cluster_node_index(c, r->name, false);
	c->order = mem_grow(c->order, c->n_nodes, &c->order_room, sizeof(struct node *));
	memmove(c->order + at + 1, c->order + at, (c->n_nodes - at) * sizeof(struct node *));
	c->order[at] = n;
	c->n_nodes++;
	HASH_ADD_KEYPTR(hh, c->nodes, r->name, strlen(r->name), n);
}

static void node_remove(struct cluster *c, struct node *n)
{
	assert(!n->n_devices && !n->holdings && !n->promises && !n->lapses && !n->lock);
	size_t at = cluster_node_index(c, n->record->name, false);
	memmove(c->order + at, c->order + at + 1, (c->n_nodes - at - 1) * sizeof(struct node *));
	c->n_nodes--;
	HASH_DEL(c->nodes, n);
	record_unref(RECORD_NODE, n->record);
	free(n->devices);
	free(n->stocks);
	free(n);
}

static void nodes_apply(struct cluster *c, const struct node_record *before, const struct node_record *after)
{
	struct node *n = cluster_node(c, before ? before->name : after->name);
	assert(before ? n && n->record == before : !n);
	if (!before) {
		node_insert(c, after);
	} else if (!after) {
		node_remove(c, n);
	} else {
		node_set(n, after);
		n->hh.key = after->name; /* the same name, in the record that stays */
		record_unref(RECORD_NODE, before);
	}
}

/* Row ids are never used twice: whatever was seen is used. */
static void note_id(struct cluster *c, int64_t id)
{
	if (id > c->counters.id)
		c->counters.id = id;
}

/* Nor are tokens, whoever made the lock: it may have been a hand in the sqlite3 shell. */
static void note_token(struct cluster *c, int64_t token)
{
	if (token > c->counters.token)
		c->counters.token = token;
}

static void note_ids(struct cluster *c, enum record_kind kind, const void *after)
{
	switch (kind) {
	case RECORD_NODE:
		note_id(c, ((const struct node_record *)after)->id);
		break;
	case RECORD_DEVICE:
		note_id(c, ((const struct device_record *)after)->id);
		break;
	case RECORD_ALLOCATION:
		note_id(c, ((const struct allocation *)after)->id);
		break;
	case RECORD_NOMINATION:
		note_id(c, ((const struct nomination *)after)->id);
		break;
	case RECORD_LOCK:
		note_token(c, ((const struct lock *)after)->token);
		break;
	default:
		break;
	}
}

static void apply(struct cluster *c, enum record_kind kind, const void *before, const void *after)
{
	switch (kind) {
	case RECORD_NODE:
		nodes_apply(c, before, after);
		break;
	case RECORD_DEVICE:
		devices_apply(c, before, after);
		break;
	case RECORD_ALLOCATION:
		holdings_apply(c, before, after);
		break;
	case RECORD_NOMINATION:
		promises_apply(c, before, after);
		break;
	case RECORD_LOCK:
		locks_apply(c, before, after);
		break;
	case RECORD_LAPSE:
		lapses_apply(c, before, after);
		break;
	case RECORD_REFUSAL:
		refusals_apply(c, before, after);
		break;
	default:
		break; /* events move nothing */
	}
}

void cluster_apply(struct cluster *c, const struct change *change)
{
	apply(c, change->kind, change->before, change->after);
	if (change->after)
		note_ids(c, change->kind, change->after);
}

void cluster_unapply(struct cluster *c, const struct change *change)
{
	apply(c, change->kind, change->after, change->before);
}

struct counters *cluster_counters(struct cluster *c)
{
	return &c->counters;
}

int64_t cluster_next_id(struct cluster *c)
{
	return ++c->counters.id;
}

void cluster_free(struct cluster *c)
{
	struct change_list all = { 0 };
	if (!c)
		return;
	cluster_snapshot(c, &all);
	for (size_t i = all.n; i > 0; i--)
		cluster_unapply(c, &all.changes[i - 1]);
	change_list_free(&all);
	symbols_free(c);
	free(c->order);
	free(c);
}

struct cluster_counts cluster_count(const struct cluster *c)
{
	return (struct cluster_counts){
		.nodes = c->n_nodes,
		.devices = HASH_COUNT(c->devices),
		.allocations = HASH_COUNT(c->holdings),
		.nominations = HASH_COUNT(c->promises),
		.locks = c->n_locks,
		.lapses = c->n_lapses,
		.refusals = HASH_COUNT(c->refusals),
	};
}

/* Finding things in the cluster: hashes for a name, trees and the sorted list of nodes for an order. */
#include <string.h>

#include "core/state.h"

static int pair_compare(const char *a1, const char *a2, const char *b1, const char *b2)
{
	int first = strcmp(a1, b1);
	return first ? first : strcmp(a2, b2);
}

static int deadline_compare(const struct deadline *a, const struct deadline *b)
{
	if (a->due != b->due)
		return a->due < b->due ? -1 : 1;
	if (a->at != b->at)
		return a->at < b->at ? -1 : 1;
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	return pair_compare(a->key, a->key2, b->key, b->key2);
}

static int holding_compare_uid(const struct holding *a, const struct holding *b)
{
	return strcmp(a->record->pod.uid, b->record->pod.uid);
}

static int holding_compare_name(const struct holding *a, const struct holding *b)
{
	const struct pod *p = &a->record->pod, *q = &b->record->pod;
	int names = pair_compare(p->namespace, p->name, q->namespace, q->name);
	return names ? names : strcmp(p->uid, q->uid);
}

static int promise_compare(const struct promise *a, const struct promise *b)
{
	return strcmp(a->record->pod.uid, b->record->pod.uid);
}

static int lock_compare(const struct lock_entry *a, const struct lock_entry *b)
{
	return pair_compare(a->record->uid, a->record->node, b->record->uid, b->record->node);
}

static int lapse_compare(const struct lapse_entry *a, const struct lapse_entry *b)
{
	return pair_compare(a->record->uid, a->record->node, b->record->uid, b->record->node);
}

RB_GENERATE(deadline_tree, deadline, link, deadline_compare)
RB_GENERATE(holding_tree, holding, by_uid, holding_compare_uid)
RB_GENERATE(holding_names, holding, by_name, holding_compare_name)
RB_GENERATE(promise_tree, promise, by_uid, promise_compare)
RB_GENERATE(lock_tree, lock_entry, by_uid, lock_compare)
RB_GENERATE(lapse_tree, lapse_entry, by_uid, lapse_compare)

struct node *cluster_node(const struct cluster *c, const char *name)
{
	struct node *found;
	HASH_FIND_STR(c->nodes, name, found);
	return found;
}

struct device_place *cluster_device(const struct cluster *c, const char *uuid)
{
	struct device_place *found;
	HASH_FIND_STR(c->devices, uuid, found);
	return found;
}

struct holding *cluster_holding(const struct cluster *c, const char *uid)
{
	struct holding *found;
	HASH_FIND_STR(c->holdings, uid, found);
	return found;
}

struct promise *cluster_promise(const struct cluster *c, const char *uid)
{
	struct promise *found;
	HASH_FIND_STR(c->promises, uid, found);
	return found;
}

struct refusal_entry *cluster_refusal(const struct cluster *c, const char *uid)
{
	struct refusal_entry *found;
	HASH_FIND_STR(c->refusals, uid, found);
	return found;
}

struct lapse_entry *cluster_lapse(const struct cluster *c, const char *uid, const char *node)
{
	const struct lapse record = { .uid = uid, .node = node };
	struct lapse_entry key = { .record = &record };
	struct lapse_tree *tree = (struct lapse_tree *)(uintptr_t)&c->lapses;
	return RB_FIND(lapse_tree, tree, &key);
}

struct holding *cluster_holding_from(struct cluster *c, const char *uid, bool after)
{
	const struct allocation record = { .pod = { .uid = uid } };
	struct holding key = { .record = &record };
	struct holding *h = RB_NFIND(holding_tree, &c->holdings_by_uid, &key);
	if (h && after && strcmp(h->record->pod.uid, uid) == 0)
		h = RB_NEXT(holding_tree, &c->holdings_by_uid, h);
	return h;
}

struct promise *cluster_promise_from(struct cluster *c, const char *uid, bool after)
{
	const struct nomination record = { .pod = { .uid = uid } };
	struct promise key = { .record = &record };
	struct promise *p = RB_NFIND(promise_tree, &c->promises_by_uid, &key);
	if (p && after && strcmp(p->record->pod.uid, uid) == 0)
		p = RB_NEXT(promise_tree, &c->promises_by_uid, p);
	return p;
}

struct lock_entry *cluster_lock_from(struct cluster *c, const char *uid)
{
	const struct lock record = { .uid = uid, .node = "" };
	struct lock_entry key = { .record = &record };
	return RB_NFIND(lock_tree, &c->locks, &key);
}

struct lapse_entry *cluster_lapse_from(struct cluster *c, const char *uid)
{
	const struct lapse record = { .uid = uid, .node = "" };
	struct lapse_entry key = { .record = &record };
	return RB_NFIND(lapse_tree, &c->lapses, &key);
}

struct holding *cluster_holding_named(struct cluster *c, const char *namespace, const char *name)
{
	const struct allocation record = { .pod = { .uid = "", .namespace = namespace, .name = name } };
	struct holding key = { .record = &record };
	struct holding *h = RB_NFIND(holding_names, &c->holdings_by_name, &key);
	bool same = h && strcmp(h->record->pod.namespace, namespace) == 0 && strcmp(h->record->pod.name, name) == 0;
	return same ? h : NULL;
}

size_t cluster_node_index(const struct cluster *c, const char *name, bool after)
{
	size_t low = 0, high = c->n_nodes;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = strcmp(c->order[middle]->record->name, name);
		if (order < 0 || (after && order == 0))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool is_over_subscribed(const struct node *n, const struct device *d)
{
	const struct stock *stocks = n->stocks + d->first_stock;
	if ((d->wholes && d->shares > 1) || (d->limit && d->shares > d->limit))
		return true;
	for (size_t k = 0; k < d->n_stocks; k++)
		if (stocks[k].held > stocks[k].capacity)
			return true;
	return false;
}

bool cluster_over_subscribed(const struct cluster *c)
{
	if (!c->n_over)
		return false;
	for (const struct holding *h = c->holdings; h; h = h->hh.next)
		for (size_t i = 0; h->record->over && i < h->record->n_shares; i++)
			if (is_over_subscribed(h->node, node_device(h->node, h->record->shares[i].device_id)))
				return true;
	return false;
}

struct device *node_device(const struct node *n, int64_t id)
{
	for (size_t i = 0; i < n->n_devices; i++)
		if (n->devices[i].id == id)
			return &n->devices[i];
	return NULL;
}

struct device *node_device_uuid(const struct node *n, const char *uuid)
{
	for (size_t i = 0; i < n->n_devices; i++)
		if (strcmp(n->devices[i].record->uuid, uuid) == 0)
			return &n->devices[i];
	return NULL;
}

int device_order(const struct device_record *a, const struct device_record *b)
{
	int types = strcmp(a->type, b->type);
	if (types)
		return types;
	if (a->minor != b->minor)
		return a->minor < b->minor ? -1 : 1;
	return strcmp(a->uuid, b->uuid);
}

int nomination_order(const struct nomination *a, const struct nomination *b)
{
	if (a->pod.priority != b->pod.priority)
		return a->pod.priority > b->pod.priority ? -1 : 1;
	return a->id < b->id ? -1 : a->id > b->id;
}

bool nomination_has_victim(const struct nomination *n, const char *uid)
{
	for (size_t i = 0; i < n->n_victims; i++)
		if (strcmp(n->victims[i], uid) == 0)
			return true;
	return false;
}

const struct nomination *holding_preemptor(const struct holding *h)
{
	for (const struct promise *p = h->node->promises; p; p = p->next)
		if (nomination_has_victim(p->record, h->record->pod.uid))
			return p->record;
	return NULL;
}

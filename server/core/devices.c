/* The devices of a node: two contiguous arrays, devices and their stocks, kept in order (state.h, invariant 2). */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/cluster_private.h"
#include "core/shares.h"

static bool is_eligible(const struct device_record *r)
{
	return r->healthy && !r->cordoned && !r->missing;
}

/* Adds what one share holds to its device. A resource the device no longer has counts nowhere. */
static void count_share(struct node *n, struct device *d, const struct share *s, int64_t sign)
{
	struct stock *stocks = n->stocks + d->first_stock;
	d->shares += sign;
	d->wholes += s->whole ? sign : 0;
	for (size_t k = 0; k < d->n_stocks; k++)
		stocks[k].held += sign * share_takes(s, &d->record->capacity[k]);
}

void devices_count(struct node *n, const struct share *shares, size_t n_shares, int64_t sign)
{
	for (size_t i = 0; i < n_shares; i++) {
		struct device *d = node_device(n, shares[i].device_id);
		assert(d);
		count_share(n, d, &shares[i], sign);
	}
}

/* Counts one device afresh from the holdings of its node. */
static void recount(struct node *n, struct device *d)
{
	d->shares = d->wholes = 0;
	for (const struct holding *h = n->holdings; h; h = h->next)
		for (size_t i = 0; i < h->record->n_shares; i++)
			if (h->record->shares[i].device_id == d->id)
				count_share(n, d, &h->record->shares[i], 1);
}

/* Where the record belongs among the node's devices. */
static size_t position(const struct node *n, const struct device_record *r)
{
	size_t low = 0, high = n->n_devices;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (device_order(n->devices[middle].record, r) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Moves the stocks from `first` on by `by` places and tells the devices from index `from` on. */
static void shift_stocks(struct node *n, size_t from, size_t first, int64_t by)
{
	if (first < n->n_stocks && by)
		memmove(n->stocks + (int64_t)first + by, n->stocks + first, (n->n_stocks - first) * sizeof *n->stocks);
	n->n_stocks = (size_t)((int64_t)n->n_stocks + by);
	for (size_t i = from; i < n->n_devices; i++)
		n->devices[i].first_stock = (uint32_t)(n->devices[i].first_stock + by);
}

static void fill_stocks(struct cluster *c, struct node *n, struct device *d)
{
	for (size_t k = 0; k < d->n_stocks; k++)
		n->stocks[d->first_stock + k] = (struct stock){
			.resource = symbol_intern(c, d->record->capacity[k].resource),
			.capacity = d->record->capacity[k].value,
		};
}

static void insert(struct cluster *c, struct node *n, const struct device_record *r)
{
	size_t at = position(n, r);
	size_t first = at < n->n_devices ? n->devices[at].first_stock : n->n_stocks;
	while (n->stocks_room < n->n_stocks + r->n_capacity)
		n->stocks = mem_grow(n->stocks, n->stocks_room, &n->stocks_room, sizeof *n->stocks);
	shift_stocks(n, at, first, (int64_t)r->n_capacity);
	n->devices = mem_grow(n->devices, n->n_devices, &n->devices_room, sizeof *n->devices);
	memmove(n->devices + at + 1, n->devices + at, (n->n_devices - at) * sizeof *n->devices);
	n->n_devices++;
	n->devices[at] = (struct device){
		.record = record_ref(r),
		.id = r->id,
		.type = symbol_intern(c, r->type),
		.eligible = is_eligible(r),
		.first_stock = (uint32_t)first,
		.n_stocks = (uint32_t)r->n_capacity,
		.limit = r->max_shares,
	};
	fill_stocks(c, n, &n->devices[at]);
	recount(n, &n->devices[at]);
}

static void take_out(struct node *n, const struct device_record *r)
{
	struct device *d = node_device(n, r->id);
	assert(d && d->record == r);
	size_t at = (size_t)(d - n->devices);
	shift_stocks(n, at + 1, d->first_stock + d->n_stocks, -(int64_t)d->n_stocks);
	memmove(n->devices + at, n->devices + at + 1, (n->n_devices - at - 1) * sizeof *n->devices);
	n->n_devices--;
	record_unref(RECORD_DEVICE, r);
}

static void place_add(struct cluster *c, struct node *n, const struct device_record *r)
{
	struct device_place *p = mem_alloc(sizeof *p);
	p->record = r;
	p->node = n;
	HASH_ADD_KEYPTR(hh, c->devices, r->uuid, strlen(r->uuid), p);
}

static void place_remove(struct cluster *c, const char *uuid)
{
	struct device_place *p = cluster_device(c, uuid);
	assert(p);
	HASH_DEL(c->devices, p);
	free(p);
}

void devices_apply(struct cluster *c, const struct device_record *before, const struct device_record *after)
{
	if (before) {
		struct node *n = cluster_node(c, before->node);
		assert(n);
		place_remove(c, before->uuid);
		take_out(n, before);
	}
	if (after) {
		struct node *n = cluster_node(c, after->node);
		assert(n && !cluster_device(c, after->uuid));
		insert(c, n, after);
		place_add(c, n, after);
	}
}

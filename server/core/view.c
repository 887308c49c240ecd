/* What is left on the devices of a node, as one query sees it (contract, "Availability"):
 * capacity - max(held now, held by non-victims + promised). */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/fit_private.h"

void view_free(struct view *v)
{
	free(v->slots);
	free(v->left);
	*v = (struct view){ 0 };
}

static void view_size(struct view *v, const struct node *n)
{
	v->node = n;
	if (v->slots_room < n->n_devices) {
		v->slots_room = n->devices_room;
		v->slots = mem_resize(v->slots, v->slots_room, sizeof *v->slots);
	}
	if (v->left_room < n->n_stocks) {
		v->left_room = n->stocks_room;
		v->left = mem_resize(v->left, v->left_room, sizeof *v->left);
	}
}

static int64_t shares_left(const struct device *d, int64_t used)
{
	return d->limit ? d->limit - used : INT64_MAX;
}

/* The counters of the devices say it all: nothing is promised here and nobody is as if gone. */
static void build_plain(const struct node *n, struct view *v)
{
	for (size_t i = 0; i < n->n_devices; i++) {
		const struct device *d = &n->devices[i];
		v->slots[i] = (struct slot){ .idle = !d->shares, .closed = d->wholes > 0, .shares = shares_left(d, d->shares) };
	}
	for (size_t k = 0; k < n->n_stocks; k++)
		v->left[k] = n->stocks[k].capacity - n->stocks[k].held;
}

static void build_empty(const struct node *n, struct view *v)
{
	for (size_t i = 0; i < n->n_devices; i++)
		v->slots[i] = (struct slot){ .idle = true, .shares = shares_left(&n->devices[i], 0) };
	for (size_t k = 0; k < n->n_stocks; k++)
		v->left[k] = n->stocks[k].capacity;
}

/* Sums by stock and by device, while a view is built. */
struct sums {
	int64_t *held, *victims, *promised;                     /* by stock */
	int64_t *shares, *victim_shares, *promised_shares;      /* by device */
	int64_t *wholes, *promised_wholes;                      /* by device */
};

static struct sums sums_new(struct fit *fit, const struct node *n)
{
	size_t need = 3 * n->n_stocks + 5 * n->n_devices;
	if (fit->sums_room < need) {
		fit->sums_room = need;
		fit->sums = mem_resize(fit->sums, need, sizeof *fit->sums);
	}
	memset(fit->sums, 0, need * sizeof *fit->sums);
	int64_t *counts = fit->sums + 3 * n->n_stocks;
	return (struct sums){
		.held = fit->sums,
		.victims = fit->sums + n->n_stocks,
		.promised = fit->sums + 2 * n->n_stocks,
		.shares = counts,
		.victim_shares = counts + n->n_devices,
		.promised_shares = counts + 2 * n->n_devices,
		.wholes = counts + 3 * n->n_devices,
		.promised_wholes = counts + 4 * n->n_devices,
	};
}

/* Adds shares to the sums; `wholes` may be NULL. A resource the device no longer has counts nowhere. */
static void add_shares(const struct node *n, const struct share *shares, size_t n_shares, int64_t *amounts, int64_t *counts, int64_t *wholes)
{
	for (size_t i = 0; i < n_shares; i++) {
		const struct share *s = &shares[i];
		const struct device *d = node_device(n, s->device_id);
		if (!d)
			continue;
		counts[d - n->devices]++;
		if (wholes)
			wholes[d - n->devices] += s->whole;
		for (size_t a = 0; a < s->n_amounts; a++)
			for (size_t k = 0; k < d->n_stocks; k++)
				if (strcmp(d->record->capacity[k].resource, s->amounts[a].resource) == 0)
					amounts[d->first_stock + k] += s->amounts[a].value;
	}
}

static bool is_counted_victim(const struct fit *fit, const struct node *n, const char *uid)
{
	for (const struct promise *p = n->promises; p; p = p->next)
		if (promise_counts(fit, p->record) && nomination_has_victim(p->record, uid))
			return true;
	return false;
}

static void sum_up(struct fit *fit, const struct node *n, bool promises, const struct sums *s)
{
	for (const struct holding *h = n->holdings; h; h = h->next) {
		const struct allocation *a = h->record;
		if (holding_is_gone(fit, h))
			continue;
		add_shares(n, a->shares, a->n_shares, s->held, s->shares, s->wholes);
		if (promises && is_counted_victim(fit, n, a->pod.uid))
			add_shares(n, a->shares, a->n_shares, s->victims, s->victim_shares, NULL);
	}
	for (const struct promise *p = n->promises; p && promises; p = p->next)
		if (promise_counts(fit, p->record))
			add_shares(n, p->record->shares, p->record->n_shares, s->promised, s->promised_shares, s->promised_wholes);
}

static int64_t larger(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static void build_summed(struct fit *fit, const struct node *n, bool promises, struct view *v)
{
	struct sums s = sums_new(fit, n);
	sum_up(fit, n, promises, &s);
	for (size_t i = 0; i < n->n_devices; i++) {
		int64_t used = larger(s.shares[i], s.shares[i] - s.victim_shares[i] + s.promised_shares[i]);
		v->slots[i] = (struct slot){
			.idle = !s.shares[i] && !s.promised_shares[i],
			.closed = s.wholes[i] || s.promised_wholes[i],
			.shares = shares_left(&n->devices[i], used),
		};
	}
	for (size_t k = 0; k < n->n_stocks; k++)
		v->left[k] = n->stocks[k].capacity - larger(s.held[k], s.held[k] - s.victims[k] + s.promised[k]);
}

static bool anybody_gone(const struct fit *fit, const struct node *n)
{
	size_t low = 0, high = fit->n_gone;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if ((uintptr_t)fit->gone[middle]->node < (uintptr_t)n)
			low = middle + 1;
		else
			high = middle;
	}
	return low < fit->n_gone && fit->gone[low]->node == n;
}

void view_build(struct fit *fit, const struct node *node, enum view_mode mode, struct view *ret)
{
	bool promises = mode == VIEW_NOW && node->n_promises;
	view_size(ret, node);
	if (mode == VIEW_EMPTY)
		build_empty(node, ret);
	else if (promises || anybody_gone(fit, node))
		build_summed(fit, node, promises, ret);
	else
		build_plain(node, ret);
}

/* What is left on the devices of a node, as one query sees it (contract, "Availability"):
 * capacity - max(held now, held by non-victims + promised). */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/fit_private.h"
#include "core/shares.h"

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

/* Makes room for the node's sums and sets them to zero. */
static void sums_reset(struct sums *s, const struct node *n)
{
	size_t need = 3 * n->n_stocks + 5 * n->n_devices + 1; /* never none */
	if (s->room < need) {
		s->room = need;
		s->block = mem_resize(s->block, need, sizeof *s->block);
	}
	memset(s->block, 0, need * sizeof *s->block);
	int64_t *counts = s->block + 3 * n->n_stocks;
	s->held = s->block;
	s->victims = s->block + n->n_stocks;
	s->promised = s->block + 2 * n->n_stocks;
	s->shares = counts;
	s->victim_shares = counts + n->n_devices;
	s->promised_shares = counts + 2 * n->n_devices;
	s->wholes = counts + 3 * n->n_devices;
	s->promised_wholes = counts + 4 * n->n_devices;
}

void sums_free(struct sums *s)
{
	free(s->block);
	*s = (struct sums){ 0 };
}

/* Adds shares to the sums (sign 1) or takes them away (-1); `wholes` may be NULL. A resource the device no longer has counts nowhere. */
static void add_shares(const struct node *n, const struct share *shares, size_t n_shares, int64_t sign, int64_t *amounts,
	int64_t *counts, int64_t *wholes)
{
	for (size_t i = 0; i < n_shares; i++) {
		const struct share *s = &shares[i];
		const struct device *d = node_device(n, s->device_id);
		if (!d)
			continue;
		counts[d - n->devices] += sign;
		if (wholes && s->whole)
			wholes[d - n->devices] += sign;
		for (size_t k = 0; k < d->n_stocks; k++)
			amounts[d->first_stock + k] += sign * share_takes(s, &d->record->capacity[k]);
	}
}

static bool is_counted_victim(const struct fit *fit, const struct node *n, const char *uid)
{
	for (const struct promise *p = n->promises; p; p = p->next)
		if (promise_counts(fit, p) && nomination_has_victim(p->record, uid))
			return true;
	return false;
}

void sums_add(const struct fit *fit, const struct node *n, const struct holding *h, bool promises, int64_t sign, struct sums *s)
{
	const struct allocation *a = h->record;
	add_shares(n, a->shares, a->n_shares, sign, s->held, s->shares, s->wholes);
	if (promises && is_counted_victim(fit, n, a->pod.uid))
		add_shares(n, a->shares, a->n_shares, sign, s->victims, s->victim_shares, NULL);
}

static void sums_build(const struct fit *fit, const struct node *n, bool promises, const struct leaving *leaving, struct sums *s)
{
	sums_reset(s, n);
	for (const struct holding *h = n->holdings; h; h = h->next)
		if (!fit_is_gone(fit, h) && !(leaving && leaving->leaves(leaving->context, h)))
			sums_add(fit, n, h, promises, 1, s);
	for (const struct promise *p = n->promises; p && promises; p = p->next)
		if (promise_counts(fit, p))
			add_shares(n, p->record->shares, p->record->n_shares, 1, s->promised, s->promised_shares,
				s->promised_wholes);
}

static int64_t larger(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

void view_derive(const struct sums *s, size_t device, struct view *v)
{
	const struct node *n = v->node;
	const struct device *d = &n->devices[device];
	int64_t used = larger(s->shares[device], s->shares[device] - s->victim_shares[device] + s->promised_shares[device]);
	v->slots[device] = (struct slot){
		.idle = !s->shares[device] && !s->promised_shares[device],
		.closed = s->wholes[device] || s->promised_wholes[device],
		.shares = shares_left(d, used),
	};
	for (size_t k = d->first_stock; k < d->first_stock + d->n_stocks; k++)
		v->left[k] = n->stocks[k].capacity - larger(s->held[k], s->held[k] - s->victims[k] + s->promised[k]);
}

void view_build_summed(
	const struct fit *fit, const struct node *n, bool promises, const struct leaving *leaving, struct sums *s, struct view *v)
{
	view_size(v, n);
	sums_build(fit, n, promises, leaving, s);
	for (size_t i = 0; i < n->n_devices; i++)
		view_derive(s, i, v);
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
	if (promises || (mode != VIEW_EMPTY && anybody_gone(fit, node))) {
		view_build_summed(fit, node, promises, NULL, &fit->sums, ret);
		return;
	}
	view_size(ret, node);
	if (mode == VIEW_EMPTY)
		build_empty(node, ret);
	else
		build_plain(node, ret);
}

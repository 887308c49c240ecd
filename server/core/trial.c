/* Asking a fit again and again about one node while holdings are taken away and put back: nothing is built anew, each step costs
 * the devices of one holding. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/fit_private.h"

void trial_free(struct trial *t)
{
	view_free(&t->view);
	sums_free(&t->sums);
	free(t->used);
	*t = (struct trial){ 0 };
}

void fit_enter(struct fit *fit, const struct node *node, const struct leaving *leaving)
{
	struct trial *t = &fit->trial;
	if (t->used_room < node->n_devices) {
		t->used_room = node->devices_room;
		t->used = mem_resize(t->used, t->used_room, sizeof *t->used);
	}
	t->promises = node->n_promises > 0;
	view_build_summed(fit, node, t->promises, leaving, &t->sums, &t->view);
}

void fit_set_gone(struct fit *fit, const struct holding *h, bool gone)
{
	struct trial *t = &fit->trial;
	const struct node *n = t->view.node;
	sums_add(fit, n, h, t->promises, gone ? -1 : 1, &t->sums);
	for (size_t i = 0; i < h->record->n_shares; i++) {
		const struct device *d = node_device(n, h->record->shares[i].device_id);
		if (d)
			view_derive(&t->sums, (size_t)(d - n->devices), &t->view);
	}
}

static void mark_used(struct trial *t, const struct fit *fit, const uint16_t *picks)
{
	memset(t->used, false, t->view.node->n_devices * sizeof *t->used);
	for (size_t i = 0; i < fit->n_claims; i++) {
		const struct claim *c = fit->claims[i].claim;
		if (*c->reuse)
			continue;
		for (int64_t k = 0; k < c->count; k++)
			t->used[*picks++] = true;
	}
}

enum fit_verdict fit_try(struct fit *fit)
{
	struct trial *t = &fit->trial;
	uint16_t picks[REQUEST_CLAIMS * CLAIM_COUNT];
	if (t->view.node->closed)
		return FIT_NO;
	enum fit_verdict verdict = search_assign(fit, &t->view, fit->n_claims, true, false, picks);
	if (verdict == FIT_YES)
		mark_used(t, fit, picks);
	return verdict;
}

bool fit_leans_on(const struct fit *fit, const struct holding *h)
{
	const struct trial *t = &fit->trial;
	const struct node *n = t->view.node;
	for (size_t i = 0; i < h->record->n_shares; i++) {
		const struct device *d = node_device(n, h->record->shares[i].device_id);
		if (d && t->used[d - n->devices])
			return true;
	}
	return false;
}

enum fit_verdict fit_empty(struct fit *fit, const struct node *node)
{
	if (node->closed)
		return FIT_NO;
	view_build(fit, node, VIEW_EMPTY, &fit->other);
	return search_assign(fit, &fit->other, fit->n_claims, true, false, NULL);
}

enum fit_verdict fit_if_open(struct fit *fit, const struct node *node)
{
	if (node->record->unverified)
		return FIT_NO;
	view_build(fit, node, VIEW_NOW, &fit->now);
	return search_assign(fit, &fit->now, fit->n_claims, true, false, NULL);
}

/* Does the request fit on a node, and if not, why: the first slug that applies, at the first claim where it does. */
#include <string.h>

#include "core/fit_private.h"

const struct stock *device_stock(const struct node *n, const struct device *d, symbol resource)
{
	const struct stock *stocks = n->stocks + d->first_stock;
	for (size_t k = 0; k < d->n_stocks; k++)
		if (stocks[k].resource == resource)
			return &stocks[k];
	return NULL;
}

int64_t need_amount(const struct fit_need *need, const struct stock *stock)
{
	if (!need->percent)
		return need->amount;
	/* split, so that 2^50 * 100 cannot overflow and nothing is lost to rounding */
	int64_t part = stock->capacity / 100 * need->percent + stock->capacity % 100 * need->percent / 100;
	return part > 0 ? part : 1;
}

static bool listed(const char *const *list, size_t n, const char *item)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(list[i], item) == 0)
			return true;
	return false;
}

static bool labels_match(const struct claim *c, const struct device_record *r)
{
	for (size_t i = 0; i < c->n_labels; i++) {
		size_t k = 0;
		while (k < r->n_labels && strcmp(r->labels[k].key, c->labels[i].key) != 0)
			k++;
		if (k == r->n_labels || strcmp(r->labels[k].value, c->labels[i].value) != 0)
			return false;
	}
	return true;
}

static bool selectors_match(const struct claim *c, const struct device_record *r)
{
	return (!c->n_models || listed(c->models, c->n_models, r->model)) &&
	       (!c->n_uuids || listed(c->uuids, c->n_uuids, r->uuid)) && !listed(c->exclude_uuids, c->n_exclude_uuids, r->uuid) &&
	       labels_match(c, r);
}

bool claim_matches(const struct fit_claim *c, const struct node *n, const struct device *d)
{
	if (d->type != c->type || (!c->plain && !selectors_match(c->claim, d->record)))
		return false;
	for (size_t i = 0; i < c->n_needs; i++)
		if (!device_stock(n, d, c->needs[i].resource))
			return false;
	return true;
}

/* Whether the needs are within capacity, and within what is left. */
static enum stage needs_stage(const struct fit_claim *c, const struct view *v, const struct device *d)
{
	const struct node *n = v->node;
	enum stage stage = STAGE_ROOM;
	for (size_t i = 0; i < c->n_needs; i++) {
		const struct stock *s = device_stock(n, d, c->needs[i].resource);
		int64_t amount = need_amount(&c->needs[i], s);
		if (amount > s->capacity)
			return STAGE_ELIGIBLE;
		if (amount > v->left[s - n->stocks])
			stage = STAGE_LARGE;
	}
	return stage;
}

enum stage claim_stage(const struct fit_claim *c, const struct view *v, size_t device)
{
	const struct device *d = &v->node->devices[device];
	const struct slot *slot = &v->slots[device];
	if (d->type != c->type)
		return STAGE_OTHER;
	if (!claim_matches(c, v->node, d))
		return STAGE_TYPE;
	if (!d->eligible)
		return STAGE_MATCH;
	enum stage stage = needs_stage(c, v, d);
	bool open = c->n_needs ? !slot->closed : slot->idle;
	return stage == STAGE_ROOM && (!open || slot->shares < 1) ? STAGE_LARGE : stage;
}

/* How many devices pass each test, each among those that passed the one before. */
struct tally {
	int64_t of_type, matching, eligible, large, with_room;
};

static struct tally tally_claim(const struct fit_claim *c, const struct view *v)
{
	struct tally t = { 0 };
	if (c->type == SYMBOL_NONE)
		return t;
	for (size_t i = 0; i < v->node->n_devices; i++) {
		enum stage stage = claim_stage(c, v, i);
		t.of_type += stage >= STAGE_TYPE;
		t.matching += stage >= STAGE_MATCH;
		t.eligible += stage >= STAGE_ELIGIBLE;
		t.large += stage >= STAGE_LARGE;
		t.with_room += stage >= STAGE_ROOM;
	}
	return t;
}

static enum slug tally_slug(const struct tally *t, int64_t need)
{
	if (!t->of_type)
		return SLUG_NO_DEVICE;
	if (t->matching < need)
		return SLUG_NO_MATCH;
	if (t->eligible < need)
		return SLUG_UNHEALTHY;
	if (t->large < need)
		return SLUG_TOO_LARGE;
	return t->with_room < need ? SLUG_INSUFFICIENT : SLUGS;
}

static int64_t tally_have(const struct tally *t, enum slug slug)
{
	switch (slug) {
	case SLUG_NO_DEVICE:
		return t->of_type;
	case SLUG_NO_MATCH:
		return t->matching;
	case SLUG_UNHEALTHY:
		return t->eligible;
	case SLUG_TOO_LARGE:
		return t->large;
	default:
		return t->with_room;
	}
}

static struct reason reason_for(const struct fit *fit, enum slug slug, size_t claim, int64_t have)
{
	const struct claim *c = fit->claims[claim].claim;
	return (struct reason){ .slug = slug, .claim = claim, .type = c->type, .need = c->count, .have = have };
}

/* The least prefix of the claims that cannot be assigned in the view, as the index of its last claim. */
static size_t failing_claim(struct fit *fit, const struct view *v, bool topology)
{
	for (size_t n = 1; n < fit->n_claims; n++)
		if (search_assign(fit, v, n, topology, false, NULL) == FIT_NO)
			return n - 1;
	return fit->n_claims - 1;
}

static struct reason explain_at(struct fit *fit, enum slug slug, const struct view *v, bool topology)
{
	size_t claim = failing_claim(fit, v, topology);
	struct tally t = tally_claim(&fit->claims[claim], v);
	return reason_for(fit, slug, claim, t.with_room);
}

/* Every claim could be served alone on an empty node; so why does the request not fit? */
static enum fit_verdict explain_joint(struct fit *fit, const struct node *node, struct reason *why)
{
	enum fit_verdict verdict = FIT_YES;
	if (fit->joint) {
		view_build(fit, node, VIEW_EMPTY, &fit->other);
		verdict = search_assign(fit, &fit->other, fit->n_claims, false, false, NULL);
		if (verdict == FIT_NO)
			*why = explain_at(fit, SLUG_TOO_LARGE, &fit->other, false);
	}
	if (verdict == FIT_YES && fit->topology) {
		verdict = search_assign(fit, &fit->other, fit->n_claims, true, false, NULL);
		if (verdict == FIT_NO)
			*why = explain_at(fit, SLUG_TOPOLOGY, &fit->other, true);
	}
	if (verdict == FIT_YES) {
		view_build(fit, node, VIEW_UNPROMISED, &fit->other);
		verdict = node->n_promises ? search_assign(fit, &fit->other, fit->n_claims, true, false, NULL) : FIT_NO;
		if (verdict == FIT_YES)
			*why = explain_at(fit, SLUG_NOMINATED, &fit->now, true);
		else if (verdict == FIT_NO)
			*why = explain_at(fit, SLUG_INSUFFICIENT, &fit->other, true);
	}
	return verdict == FIT_TOO_HARD ? FIT_TOO_HARD : FIT_NO;
}

/* The verdict from counting claim by claim; SLUG_INSUFFICIENT and SLUGS are only "perhaps". */
static enum slug assess_alone(struct fit *fit, struct reason *why)
{
	enum slug first = SLUGS;
	for (size_t i = 0; i < fit->n_claims; i++) {
		if (*fit->claims[i].claim->reuse)
			continue;
		struct tally t = tally_claim(&fit->claims[i], &fit->now);
		enum slug slug = tally_slug(&t, fit->claims[i].claim->count);
		if (slug >= first)
			continue;
		first = slug;
		*why = reason_for(fit, slug, i, tally_have(&t, slug));
	}
	return first;
}

enum fit_verdict fit_node(struct fit *fit, const struct node *node, struct reason *why)
{
	struct reason ignored, *reason = why ? why : &ignored;
	*reason = reason_for(fit, SLUG_UNKNOWN_NODE, 0, 0);
	if (!node)
		return FIT_NO;
	if (node->closed) {
		reason->slug = node->record->cordoned ? SLUG_NODE_CORDONED : SLUG_UNVERIFIED;
		return FIT_NO;
	}
	view_build(fit, node, VIEW_NOW, &fit->now);
	enum slug alone = assess_alone(fit, reason);
	if (alone == SLUGS) {
		enum fit_verdict joint = fit->joint ? search_assign(fit, &fit->now, fit->n_claims, true, false, NULL) : FIT_YES;
		if (joint != FIT_NO)
			return joint;
	}
	bool certain = alone < SLUG_INSUFFICIENT || (alone == SLUG_INSUFFICIENT && !fit->joint && !node->n_promises);
	if (certain || !why)
		return FIT_NO;
	return explain_joint(fit, node, reason);
}

/* One claim's part of what is free, in parts of a million. */
static int64_t claim_free_part(const struct fit_claim *c, const struct view *v)
{
	const struct node *n = v->node;
	__extension__ typedef __int128 wide;
	wide left[DEVICE_RESOURCES] = { 0 }, capacity[DEVICE_RESOURCES] = { 0 };
	int64_t devices = 0, idle = 0, best = 0;
	for (size_t i = 0; i < n->n_devices; i++) {
		const struct device *d = &n->devices[i];
		if (!d->eligible || !claim_matches(c, n, d))
			continue;
		devices++;
		idle += v->slots[i].idle;
		for (size_t k = 0; k < c->n_needs; k++) {
			const struct stock *s = device_stock(n, d, c->needs[k].resource);
			left[k] += v->slots[i].closed ? 0 : v->left[s - n->stocks];
			capacity[k] += s->capacity;
		}
	}
	if (!c->n_needs)
		return devices ? idle * 1000000 / devices : 0;
	for (size_t k = 0; k < c->n_needs; k++) {
		int64_t part = capacity[k] ? (int64_t)(left[k] * 1000000 / capacity[k]) : 0;
		best = part > best ? part : best;
	}
	return best;
}

int64_t fit_free_part(struct fit *fit, const struct node *node)
{
	int64_t sum = 0, n = 0;
	view_build(fit, node, VIEW_NOW, &fit->now);
	for (size_t i = 0; i < fit->n_claims; i++)
		if (!*fit->claims[i].claim->reuse) {
			sum += claim_free_part(&fit->claims[i], &fit->now);
			n++;
		}
	return n ? sum / n : 0;
}

#include "core/fit.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/fit_private.h"

static void prepare_claim(const struct fit *fit, const struct claim *claim, struct fit_claim *ret)
{
	const struct cluster *c = fit->cluster;
	ret->claim = claim;
	ret->fit = fit;
	ret->type = cluster_symbol(c, claim->type);
	ret->plain = !claim->n_models && !claim->n_labels && !claim->n_uuids && !claim->n_exclude_uuids;
	ret->n_needs = claim->n_needs;
	for (size_t i = 0; i < claim->n_needs; i++)
		ret->needs[i] = (struct fit_need){
			.resource = cluster_symbol(c, claim->needs[i].resource),
			.amount = claim->needs[i].amount,
			.percent = claim->needs[i].percent,
		};
}

/* Whether two claims of the request can want the same device. */
static bool claims_overlap(const struct fit *fit)
{
	for (size_t i = 0; i < fit->n_claims; i++)
		for (size_t k = 0; k < i; k++)
			if (fit->claims[i].type == fit->claims[k].type && !*fit->claims[i].claim->reuse &&
				!*fit->claims[k].claim->reuse)
				return true;
	return false;
}

static int by_node(const void *a_, const void *b_)
{
	const struct holding *a = *(struct holding *const *)a_, *b = *(struct holding *const *)b_;
	uintptr_t x = (uintptr_t)a->node, y = (uintptr_t)b->node;
	if (x != y)
		return x < y ? -1 : 1;
	x = (uintptr_t)a;
	y = (uintptr_t)b;
	return x < y ? -1 : x > y;
}

static int by_address(const void *a, const void *b)
{
	uintptr_t x = (uintptr_t) * (const struct promise *const *)a, y = (uintptr_t) * (const struct promise *const *)b;
	return x < y ? -1 : x > y;
}

/* Who is gone holds nothing and is promised nothing. */
static void add_gone(struct fit *fit, const char *uid)
{
	struct holding *h = cluster_holding(fit->cluster, uid);
	const struct promise *p = cluster_promise(fit->cluster, uid);
	if (h)
		fit->gone[fit->n_gone++] = h;
	if (p)
		fit->forgotten[fit->n_forgotten++] = p;
}

/* The pod itself does not stand in its own way. */
static void prepare_gone(struct fit *fit)
{
	const struct fit_query *q = fit->query;
	fit->gone = mem_array(1 + q->n_without + q->n_victims, sizeof(struct holding *));
	fit->forgotten = mem_array(1 + q->n_without + q->n_victims, sizeof *fit->forgotten);
	add_gone(fit, q->pod->uid);
	for (size_t i = 0; i < q->n_without; i++)
		add_gone(fit, q->without[i]);
	for (size_t i = 0; i < q->n_victims; i++)
		add_gone(fit, q->victims[i]);
	qsort(fit->gone, fit->n_gone, sizeof(struct holding *), by_node);
	qsort(fit->forgotten, fit->n_forgotten, sizeof *fit->forgotten, by_address);
}

struct fit *fit_new(const struct cluster *c, const struct fit_query *query)
{
	struct fit *fit = mem_alloc(sizeof *fit);
	fit->cluster = c;
	fit->query = query;
	fit->n_claims = query->request->n_claims;
	fit->budget = FIT_BUDGET;
	fit->claims = mem_array(fit->n_claims, sizeof *fit->claims);
	for (size_t i = 0; i < fit->n_claims; i++) {
		prepare_claim(fit, &query->request->claims[i], &fit->claims[i]);
		fit->topology |= query->request->claims[i].same != TOPOLOGY_ANY;
	}
	fit->joint = fit->topology || claims_overlap(fit);
	fit->own = cluster_promise(c, query->pod->uid);
	prepare_gone(fit);
	return fit;
}

void fit_free(struct fit *fit)
{
	if (!fit)
		return;
	view_free(&fit->now);
	view_free(&fit->other);
	sums_free(&fit->sums);
	trial_free(&fit->trial);
	free(fit->gone);
	free(fit->forgotten);
	free(fit->claims);
	free(fit);
}

void fit_limit(struct fit *fit, int64_t steps)
{
	fit->budget = fit->budget < steps ? fit->budget : steps;
}

bool fit_is_gone(const struct fit *fit, const struct holding *h)
{
	return fit->n_gone && bsearch(&h, fit->gone, fit->n_gone, sizeof(struct holding *), by_node);
}

const struct pod *fit_pod(const struct fit *fit)
{
	return fit->query->pod;
}

bool fit_is_nominated(const struct fit *fit, const struct node *node)
{
	return fit->own && fit->own->node == node;
}

bool promise_counts(const struct fit *fit, const struct promise *p)
{
	const struct pod *pod = fit->query->pod, *other = &p->record->pod;
	if (other->priority < pod->priority || fit->query->ignore_promises)
		return false;
	if (fit->query->above && nomination_order(p->record, fit->query->above) >= 0)
		return false;
	if (fit->query->gang_exempt && pod_same_gang(other, pod))
		return false;
	return !(fit->n_forgotten && bsearch(&p, fit->forgotten, fit->n_forgotten, sizeof *fit->forgotten, by_address));
}

size_t fit_promised_to(const struct fit *fit, const struct node *node, const char **ret)
{
	size_t n = 0;
	for (const struct promise *p = node->promises; p; p = p->next) {
		if (!promise_counts(fit, p))
			continue;
		size_t at = n++;
		for (; at > 0 && strcmp(ret[at - 1], p->record->pod.uid) > 0; at--)
			ret[at] = ret[at - 1];
		ret[at] = p->record->pod.uid;
	}
	return n;
}

/* Collects the picks of one claim as shares, by minor. */
static void fill_shares(const struct fit *fit, const struct node *node, size_t claim, const uint16_t *picks, struct share *shares)
{
	const struct fit_claim *c = &fit->claims[claim];
	bool whole = !c->n_needs;
	for (int64_t i = 0; i < c->claim->count; i++) {
		const struct device *d = &node->devices[picks[i]];
		int64_t at = i;
		for (; at > 0 && shares[at - 1].minor > d->record->minor; at--)
			shares[at] = shares[at - 1];
		shares[at] = (struct share){
			.device_id = d->id, .uuid = d->record->uuid, .minor = d->record->minor, .claim = claim, .whole = whole
		};
	}
}

/* The amounts of all shares live in the same block, behind them. */
static void fill_amounts(const struct fit *fit, const struct node *node, struct share *s, struct amount *room)
{
	const struct fit_claim *c = &fit->claims[s->claim];
	const struct device *d = node_device(node, s->device_id);
	s->amounts = room;
	s->n_amounts = s->whole ? d->record->n_capacity : c->n_needs;
	if (s->whole)
		s->amounts = d->record->capacity;
	else
		for (size_t k = 0; k < c->n_needs; k++)
			room[k] = (struct amount){
				.resource = c->claim->needs[k].resource,
				.value = need_amount(&c->needs[k], device_stock(node, d, c->needs[k].resource)),
			};
}

struct share *shares_of_picks(const struct fit *fit, const struct node *node, const uint16_t *picks, size_t *n)
{
	size_t total = 0, amounts = 0, at = 0;
	for (size_t i = 0; i < fit->n_claims; i++)
		if (!*fit->claims[i].claim->reuse) {
			total += (size_t)fit->claims[i].claim->count;
			amounts += (size_t)fit->claims[i].claim->count * fit->claims[i].n_needs;
		}
	struct share *shares = mem_alloc(total * sizeof *shares + amounts * sizeof(struct amount));
	struct amount *room = (struct amount *)(void *)(shares + total);
	for (size_t i = 0; i < fit->n_claims; i++) {
		if (*fit->claims[i].claim->reuse)
			continue;
		fill_shares(fit, node, i, picks + at, shares + at);
		at += (size_t)fit->claims[i].claim->count;
	}
	for (size_t i = 0; i < total; i++) {
		fill_amounts(fit, node, &shares[i], room);
		room += shares[i].whole ? 0 : shares[i].n_amounts;
	}
	*n = total;
	return shares;
}

enum fit_verdict fit_assign(struct fit *fit, const struct node *node, struct share **ret, size_t *n)
{
	uint16_t picks[REQUEST_CLAIMS * CLAIM_COUNT];
	if (node->closed)
		return FIT_NO;
	view_build(fit, node, VIEW_NOW, &fit->now);
	enum fit_verdict verdict = search_assign(fit, &fit->now, fit->n_claims, true, true, picks);
	if (verdict == FIT_YES)
		*ret = shares_of_picks(fit, node, picks, n);
	return verdict;
}

/* Whether the amounts of a share are within what is left; takes them from it. */
static bool take(const struct view *v, size_t device, const struct share *s)
{
	const struct device *d = &v->node->devices[device];
	struct slot *slot = &v->slots[device];
	if (slot->closed || slot->shares < 1 || (s->whole && !slot->idle))
		return false;
	for (size_t i = 0; i < s->n_amounts && !s->whole; i++) {
		size_t k = 0;
		while (k < d->n_stocks && strcmp(d->record->capacity[k].resource, s->amounts[i].resource) != 0)
			k++;
		if (k == d->n_stocks || (v->left[d->first_stock + k] -= s->amounts[i].value) < 0)
			return false;
	}
	slot->idle = false;
	slot->closed |= s->whole;
	slot->shares -= slot->shares == INT64_MAX ? 0 : 1;
	return true;
}

bool fit_holds(struct fit *fit, const struct node *node, const struct share *shares, size_t n)
{
	if (node->closed)
		return false;
	view_build(fit, node, VIEW_NOW, &fit->now);
	for (size_t i = 0; i < n; i++) {
		const struct device *d = node_device(node, shares[i].device_id);
		if (!d || !d->eligible || !take(&fit->now, (size_t)(d - node->devices), &shares[i]))
			return false;
	}
	return true;
}

bool fit_shares_fit(struct fit *fit, const struct node *node, const struct share *shares, size_t n, struct reason *why)
{
	view_build(fit, node, VIEW_NOW, &fit->now);
	for (size_t i = 0; i < n; i++) {
		const struct device *d = node_device(node, shares[i].device_id);
		const struct claim *c = fit->claims[shares[i].claim].claim;
		if (take(&fit->now, (size_t)(d - node->devices), &shares[i]))
			continue;
		*why = (struct reason){ .slug = SLUG_INSUFFICIENT, .claim = shares[i].claim, .type = c->type, .need = c->count };
		return false;
	}
	return true;
}

void fit_ahead(struct node *const *nodes, size_t n, size_t i)
{
	enum { LINE = 64, NODE_AHEAD = 8, ARRAYS_AHEAD = 4 };
	if (i + NODE_AHEAD < n && nodes[i + NODE_AHEAD])
		__builtin_prefetch(nodes[i + NODE_AHEAD]);
	const struct node *near = i + ARRAYS_AHEAD < n ? nodes[i + ARRAYS_AHEAD] : NULL;
	if (!near)
		return;
	for (size_t at = 0; at < near->n_devices * sizeof *near->devices; at += LINE)
		__builtin_prefetch((const char *)near->devices + at);
	for (size_t at = 0; at < near->n_stocks * sizeof *near->stocks; at += LINE)
		__builtin_prefetch((const char *)near->stocks + at);
}

enum fit_verdict fit_best(struct fit *fit, struct node *const *nodes, size_t n, struct node **ret)
{
	int64_t best = 0;
	bool hard = false;
	*ret = NULL;
	for (size_t i = 0; i < n; i++) {
		fit_ahead(nodes, n, i);
		if (!nodes[i])
			continue;
		enum fit_verdict verdict = fit_node(fit, nodes[i], NULL);
		hard |= verdict == FIT_TOO_HARD;
		if (verdict != FIT_YES)
			continue;
		int64_t part = fit_free_part(fit, nodes[i]);
		part = fit->query->policy == POLICY_SPREAD ? -part : part;
		if (fit->own && fit->own->node == nodes[i])
			part = INT64_MIN;
		if (!*ret || part < best || (part == best && strcmp(nodes[i]->record->name, (*ret)->record->name) < 0)) {
			best = part;
			*ret = nodes[i];
		}
	}
	return *ret ? FIT_YES : hard ? FIT_TOO_HARD : FIT_NO;
}

static const char *const slug_names[SLUGS] = { "unknown_node", "node_cordoned", "unverified", "no_device", "no_match",
	"unhealthy", "too_large", "topology", "nominated", "insufficient" };

const char *slug_name(enum slug slug)
{
	assert(slug < SLUGS);
	return slug_names[slug];
}

bool slug_resolvable(enum slug slug)
{
	return slug == SLUG_NOMINATED || slug == SLUG_INSUFFICIENT;
}

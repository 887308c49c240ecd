/* The assignment: which devices each claim gets. Depth first in the order of the contract, so the first assignment found is the one
 * wanted. Exhaustive; two things keep it short:
 *  - after a device failed at some place, devices that look the same to every claim are not tried there;
 *  - after each claim every later claim must still find enough devices on its own.
 * A budget of steps stands for the time budget of the contract, so the core needs no clock. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/fit_private.h"

/* What the pod's own claims did to a device. */
enum own { OWN_NOT, OWN_SHARED, OWN_WHOLE };

struct search {
	struct fit *fit;
	const struct view *view;
	size_t n_claims;
	bool topology;
	uint16_t *order[SEARCH_CLAIMS]; /* candidates of each claim, best first */
	size_t n_order[SEARCH_CLAIMS];
	uint8_t *own;    /* by device */
	int64_t *used;   /* by stock: what the claims placed so far take */
	int64_t *shares; /* by device: their number */
	uint16_t *picks; /* device indexes, claim by claim */
	int64_t looks;   /* at devices, since they were last paid for */
};

enum { LOOKS_OF_A_STEP = 8 }; /* looks at a device that take as long as a step of the search */

/* A topology value: a number or a name; known only when it can match. */
struct place {
	bool set;
	int64_t number;
	const char *name;
};

static struct place place_of(const struct device_record *r, enum topology t)
{
	switch (t) {
	case TOPOLOGY_NUMA:
		return (struct place){ .set = r->numa >= 0, .number = r->numa, .name = "" };
	case TOPOLOGY_SOCKET:
		return (struct place){ .set = r->socket >= 0, .number = r->socket, .name = "" };
	case TOPOLOGY_PCIE:
		return (struct place){ .set = *r->pcie, .name = r->pcie };
	default:
		return (struct place){ .set = true, .name = "" };
	}
}

static bool place_equal(const struct place *a, const struct place *b)
{
	return a->set && b->set && a->number == b->number && strcmp(a->name, b->name) == 0;
}

static const struct view *view_of(const struct search *s, const struct fit_claim *c)
{
	return c->view ? c->view : s->view;
}

static bool has_room_now(const struct search *s, const struct fit_claim *c, size_t device)
{
	const struct view *v = view_of(s, c);
	const struct node *n = v->node;
	const struct device *d = &n->devices[device];
	if (s->own[device] == OWN_WHOLE || v->slots[device].shares - s->shares[device] < 1)
		return false;
	if (!c->n_needs)
		return s->own[device] == OWN_NOT;
	for (size_t i = 0; i < c->n_needs; i++) {
		const struct stock *stock = device_stock(n, d, c->needs[i].resource);
		if (need_amount(&c->needs[i], stock) > v->left[stock - n->stocks] - s->used[stock - n->stocks])
			return false;
	}
	return true;
}

/* Gives the device to the claim (sign 1) or takes it back (-1). */
static void move(struct search *s, const struct fit_claim *c, size_t device, int64_t sign, enum own own)
{
	const struct node *n = s->view->node;
	s->own[device] = (uint8_t)own;
	s->shares[device] += sign;
	for (size_t i = 0; i < c->n_needs; i++) {
		const struct stock *stock = device_stock(n, &n->devices[device], c->needs[i].resource);
		s->used[stock - n->stocks] += sign * need_amount(&c->needs[i], stock);
	}
}

static bool slots_equal(const struct slot *a, const struct slot *b)
{
	return a->idle == b->idle && a->closed == b->closed && a->shares == b->shares;
}

static bool same_for_claim(struct search *s, const struct fit_claim *c, size_t a, size_t b)
{
	const struct view *v = view_of(s, c);
	const struct node *n = v->node;
	const struct device *x = &n->devices[a], *y = &n->devices[b];
	bool matches = claim_matches(c, n, x);
	s->looks += 4;
	if (matches != claim_matches(c, n, y) || !slots_equal(&v->slots[a], &v->slots[b]))
		return false;
	for (size_t i = 0; i < c->n_needs && matches; i++) {
		const struct stock *p = device_stock(n, x, c->needs[i].resource), *q = device_stock(n, y, c->needs[i].resource);
		if (p->capacity != q->capacity ||
			v->left[p - n->stocks] - s->used[p - n->stocks] != v->left[q - n->stocks] - s->used[q - n->stocks])
			return false;
	}
	enum topology t = s->topology ? c->claim->same : TOPOLOGY_ANY;
	struct place here = place_of(x->record, t), there = place_of(y->record, t);
	return place_equal(&here, &there);
}

/* Whether two devices look the same to every claim, as things are now. */
static bool interchangeable(struct search *s, size_t a, size_t b)
{
	s->looks++;
	if (s->own[a] != s->own[b] || s->shares[a] != s->shares[b])
		return false;
	for (size_t i = 0; i < s->n_claims; i++)
		if (!*s->fit->claims[i].claim->reuse && !same_for_claim(s, &s->fit->claims[i], a, b))
			return false;
	return true;
}

/* Whether a candidate before index `i` (from `from` on, all of which failed here) looks the same as candidate `i`. */
static bool failed_alike(struct search *s, size_t claim, size_t from, size_t i)
{
	for (size_t k = i; k > from; k--)
		if (interchangeable(s, s->order[claim][k - 1], s->order[claim][i]))
			return true;
	return false;
}

/* Whether every claim from `from` on still finds enough devices on its own. */
static bool later_claims_possible(struct search *s, size_t from)
{
	for (size_t i = from; i < s->n_claims; i++) {
		const struct fit_claim *c = &s->fit->claims[i];
		int64_t found = 0;
		for (size_t k = 0; k < s->n_order[i] && found < c->claim->count; k++, s->looks++)
			found += has_room_now(s, c, s->order[i][k]);
		if (!*c->claim->reuse && found < c->claim->count)
			return false;
	}
	return true;
}

/* The topology value the claim is bound to already: by an earlier claim of its tag. */
static struct place bound_place(const struct search *s, size_t claim, const uint16_t *picks_end)
{
	const struct claim *c = s->fit->claims[claim].claim;
	const uint16_t *picks = s->picks;
	for (size_t i = 0; i < claim && *c->together; i++) {
		const struct claim *e = s->fit->claims[i].claim;
		bool same_pod = s->fit->claims[i].fit == s->fit->claims[claim].fit;
		if (*e->reuse)
			continue;
		if (same_pod && picks < picks_end && strcmp(e->together, c->together) == 0)
			return place_of(s->view->node->devices[*picks].record, c->same);
		picks += e->count;
	}
	return (struct place){ 0 };
}

/* Pays for a step and for the looks since the last one; false when the budget is used up. */
static bool pay(struct search *s)
{
	s->fit->budget -= 1 + s->looks / LOOKS_OF_A_STEP;
	s->looks %= LOOKS_OF_A_STEP;
	return s->fit->budget >= 0;
}

static enum fit_verdict place_claim(struct search *s, size_t claim, uint16_t *picks);

/* Chooses devices `k`, k+1 ... of the claim among its candidates from `from` on. */
static enum fit_verdict place_device(struct search *s, size_t claim, uint16_t *picks, int64_t k, size_t from, struct place bound)
{
	const struct fit_claim *c = &s->fit->claims[claim];
	if (k == c->claim->count)
		return later_claims_possible(s, claim + 1) ? place_claim(s, claim + 1, picks + k) : FIT_NO;
	for (size_t i = from; i < s->n_order[claim] && (int64_t)(s->n_order[claim] - i) >= c->claim->count - k; i++) {
		size_t device = s->order[claim][i];
		struct place here = place_of(s->view->node->devices[device].record, s->topology ? c->claim->same : TOPOLOGY_ANY);
		if (!pay(s))
			return FIT_TOO_HARD;
		if (!here.set || (bound.set && !place_equal(&bound, &here)) || !has_room_now(s, c, device))
			continue;
		if (failed_alike(s, claim, from, i))
			continue;
		enum own before = s->own[device];
		move(s, c, device, 1, c->n_needs ? OWN_SHARED : OWN_WHOLE);
		picks[k] = (uint16_t)device;
		enum fit_verdict verdict = place_device(s, claim, picks, k + 1, i + 1, here);
		if (verdict != FIT_NO)
			return verdict;
		move(s, c, device, -1, before);
	}
	return FIT_NO;
}

static enum fit_verdict place_claim(struct search *s, size_t claim, uint16_t *picks)
{
	while (claim < s->n_claims && *s->fit->claims[claim].claim->reuse)
		claim++;
	if (claim == s->n_claims)
		return FIT_YES;
	struct place bound = s->topology ? bound_place(s, claim, picks) : (struct place){ 0 };
	return place_device(s, claim, picks, 0, 0, bound);
}

/* What decides the order of a claim's candidates. */
struct rank {
	uint16_t device;
	bool wanted;            /* nominated to this pod here, or held by its victims */
	bool promised;          /* another pod has a nomination on it */
	int64_t left, capacity; /* its fullness as a fraction; 0/1 for whole claims */
	const struct device_record *record;
};

static int compare_fraction(const struct rank *a, const struct rank *b)
{
	__extension__ typedef __int128 wide;
	wide x = (wide)a->left * b->capacity, y = (wide)b->left * a->capacity;
	return x < y ? -1 : x > y;
}

static int rank_order(const struct rank *a, const struct rank *b, enum policy policy)
{
	if (a->wanted != b->wanted)
		return a->wanted ? -1 : 1;
	if (a->promised != b->promised)
		return a->promised ? 1 : -1;
	int fuller = compare_fraction(a, b);
	if (fuller)
		return policy == POLICY_SPREAD ? -fuller : fuller;
	return device_order(a->record, b->record);
}

static int rank_binpack(const void *a, const void *b)
{
	return rank_order(a, b, POLICY_BINPACK);
}

static int rank_spread(const void *a, const void *b)
{
	return rank_order(a, b, POLICY_SPREAD);
}

static bool on_device(const struct share *shares, size_t n, int64_t device)
{
	for (size_t i = 0; i < n; i++)
		if (shares[i].device_id == device)
			return true;
	return false;
}

static bool is_wanted(const struct fit *fit, const struct node *n, int64_t device)
{
	const struct fit_query *q = fit->query;
	if (!q->n_victims)
		return fit->own && fit->own->node == n && on_device(fit->own->record->shares, fit->own->record->n_shares, device);
	for (size_t i = 0; i < q->n_victims; i++) {
		const struct holding *h = cluster_holding(fit->cluster, q->victims[i]);
		if (h && h->node == n && on_device(h->record->shares, h->record->n_shares, device))
			return true;
	}
	return false;
}

static bool is_promised(const struct fit *fit, const struct node *n, int64_t device)
{
	for (const struct promise *p = n->promises; p; p = p->next)
		if (p != fit->own && on_device(p->record->shares, p->record->n_shares, device))
			return true;
	return false;
}

/* The largest, over the claim's resources, of available / capacity. */
static void rank_fullness(const struct fit_claim *c, const struct view *v, struct rank *r)
{
	const struct node *n = v->node;
	r->left = 0;
	r->capacity = 1;
	for (size_t i = 0; i < c->n_needs; i++) {
		const struct stock *s = device_stock(n, &n->devices[r->device], c->needs[i].resource);
		struct rank other = { .left = v->left[s - n->stocks], .capacity = s->capacity };
		if (i == 0 || compare_fraction(r, &other) < 0) {
			r->left = other.left;
			r->capacity = other.capacity;
		}
	}
}

/* Lists the devices that have room for the claim; in order of preference if asked, else as they come. */
static void list_candidates(struct search *s, size_t claim, bool ordered, struct rank *ranks)
{
	const struct fit_claim *c = &s->fit->claims[claim];
	const struct view *v = view_of(s, c);
	const struct node *n = v->node;
	size_t found = 0;
	for (size_t i = 0; i < n->n_devices; i++) {
		const struct device *d = &n->devices[i];
		if (claim_stage(c, v, i) != STAGE_ROOM)
			continue;
		struct rank *r = &ranks[found++];
		*r = (struct rank){ .device = (uint16_t)i, .record = d->record };
		if (!ordered)
			continue;
		r->wanted = is_wanted(c->fit, n, d->id);
		r->promised = is_promised(c->fit, n, d->id);
		rank_fullness(c, v, r);
	}
	if (ordered)
		qsort(ranks, found, sizeof *ranks, c->fit->query->policy == POLICY_SPREAD ? rank_spread : rank_binpack);
	for (size_t i = 0; i < found; i++)
		s->order[claim][i] = ranks[i].device;
	s->n_order[claim] = found;
}

size_t picks_of(const struct fit *fit)
{
	size_t n = 0;
	for (size_t i = 0; i < fit->n_claims; i++)
		n += (size_t)fit->claims[i].claim->count;
	return n;
}

/* Lays out the scratch memory of a search in one block. */
static void *search_memory(struct search *s, const struct node *n, struct rank **ranks)
{
	size_t devices = n->n_devices, stocks = n->n_stocks;
	size_t size = stocks * sizeof *s->used +
		      devices * (sizeof *s->shares + sizeof **ranks + 1 + s->n_claims * sizeof(uint16_t)) +
		      picks_of(s->fit) * sizeof *s->picks;
	char *block = mem_resize(NULL, size, 1);
	s->used = (int64_t *)(void *)block;
	s->shares = s->used + stocks;
	*ranks = (struct rank *)(void *)(s->shares + devices);
	uint16_t *orders = (uint16_t *)(void *)(*ranks + devices);
	for (size_t i = 0; i < s->n_claims; i++)
		s->order[i] = orders + i * devices;
	s->picks = orders + s->n_claims * devices;
	s->own = (uint8_t *)(s->picks + picks_of(s->fit));
	memset(s->used, 0, (stocks + devices) * sizeof *s->used);
	memset(s->own, OWN_NOT, devices);
	return block;
}

enum fit_verdict search_assign(
	struct fit *fit, const struct view *v, size_t n_claims, bool topology, bool ordered, uint16_t *picks)
{
	struct search s = { .fit = fit, .view = v, .n_claims = n_claims, .topology = topology };
	struct rank *ranks;
	void *memory = search_memory(&s, v->node, &ranks);
	for (size_t i = 0; i < n_claims; i++)
		if (!*fit->claims[i].claim->reuse)
			list_candidates(&s, i, ordered, ranks);
	enum fit_verdict verdict = later_claims_possible(&s, 0) ? place_claim(&s, 0, s.picks) : FIT_NO;
	if (verdict == FIT_YES && picks)
		memcpy(picks, s.picks, picks_of(fit) * sizeof *picks);
	free(memory);
	return verdict;
}

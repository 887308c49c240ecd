#include "property/oracle.h"

#include <stdlib.h>
#include <string.h>

static bool listed(const char *const *list, size_t n, const char *item)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(list[i], item) == 0)
			return true;
	return false;
}

static bool counts(const struct oracle *q, const struct nomination *n)
{
	if (q->ignore_promises || strcmp(n->pod.uid, q->pod->uid) == 0 || n->pod.priority < q->pod->priority)
		return false;
	bool same_gang = *n->pod.gang && strcmp(n->pod.gang, q->pod->gang) == 0 &&
			 strcmp(n->pod.namespace, q->pod->namespace) == 0;
	return !(q->gang_exempt && same_gang) && !listed(q->gone, q->n_gone, n->pod.uid);
}

static bool holds(const struct oracle *q, const struct allocation *a)
{
	return strcmp(a->pod.uid, q->pod->uid) != 0 && !listed(q->gone, q->n_gone, a->pod.uid);
}

static bool is_victim(const struct oracle *q, const struct allocation *a)
{
	for (const struct promise *p = q->node->promises; p; p = p->next)
		if (counts(q, p->record) && listed(p->record->victims, p->record->n_victims, a->pod.uid))
			return true;
	return false;
}

/* How much of a resource shares take of a device; NULL: how many shares; "*": how many whole ones. */
static int64_t taken(const struct share *shares, size_t n, const struct device *d, const char *resource)
{
	int64_t sum = 0;
	for (size_t i = 0; i < n; i++) {
		if (shares[i].device_id != d->record->id)
			continue;
		if (!resource)
			sum++;
		else if (strcmp(resource, "*") == 0)
			sum += shares[i].whole;
		else
			sum += amount_of(shares[i].amounts, shares[i].n_amounts, resource, 0);
	}
	return sum;
}

static int64_t capacity(const struct device *d, const char *resource)
{
	return amount_of(d->record->capacity, d->record->n_capacity, resource, -1);
}

static int64_t amount(const struct device *d, const struct need *need)
{
	int64_t part = capacity(d, need->resource) * need->percent / 100;
	return !need->percent ? need->amount : part > 0 ? part : 1;
}

static int64_t claim_takes(const struct claim *c, const struct device *d, const char *resource)
{
	if (!resource)
		return 1;
	if (strcmp(resource, "*") == 0)
		return !c->n_needs;
	if (!c->n_needs)
		return capacity(d, resource);
	for (size_t i = 0; i < c->n_needs; i++)
		if (strcmp(c->needs[i].resource, resource) == 0)
			return amount(d, &c->needs[i]);
	return 0;
}

static int64_t larger(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* What is held and promised of a resource: max(held now, held by non-victims + promised). */
static int64_t in_use(const struct oracle *q, const struct device *d, const char *resource)
{
	int64_t held = 0, kept = 0, promised = 0;
	for (const struct holding *h = q->node->holdings; h; h = h->next) {
		int64_t part = holds(q, h->record) ? taken(h->record->shares, h->record->n_shares, d, resource) : 0;
		held += part;
		kept += is_victim(q, h->record) ? 0 : part;
	}
	for (size_t i = 0; i < q->n_extra; i++)
		if (q->extra[i].device == d) {
			held += claim_takes(q->extra[i].claim, d, resource);
			kept += claim_takes(q->extra[i].claim, d, resource);
		}
	for (const struct promise *p = q->node->promises; p; p = p->next)
		promised += counts(q, p->record) ? taken(p->record->shares, p->record->n_shares, d, resource) : 0;
	return larger(held, kept + promised);
}

/* Shares that others hold or were promised, whatever their size. */
static int64_t touched(const struct oracle *q, const struct device *d, const char *resource)
{
	int64_t sum = 0;
	for (const struct holding *h = q->node->holdings; h; h = h->next)
		sum += holds(q, h->record) ? taken(h->record->shares, h->record->n_shares, d, resource) : 0;
	for (size_t i = 0; i < q->n_extra; i++)
		sum += q->extra[i].device == d ? claim_takes(q->extra[i].claim, d, resource) : 0;
	for (const struct promise *p = q->node->promises; p; p = p->next)
		sum += counts(q, p->record) ? taken(p->record->shares, p->record->n_shares, d, resource) : 0;
	return sum;
}

static bool labels_equal(const struct claim *c, const struct device_record *r)
{
	for (size_t i = 0; i < c->n_labels; i++) {
		bool found = false;
		for (size_t k = 0; k < r->n_labels; k++)
			found |= strcmp(r->labels[k].key, c->labels[i].key) == 0 &&
				 strcmp(r->labels[k].value, c->labels[i].value) == 0;
		if (!found)
			return false;
	}
	return true;
}

/* Whether the device is one the claim may have, but for what is in use. */
static bool suits(const struct claim *c, const struct device *d)
{
	const struct device_record *r = d->record;
	if (strcmp(r->type, c->type) != 0 || !r->healthy || r->cordoned || r->missing || !labels_equal(c, r))
		return false;
	if ((c->n_models && !listed(c->models, c->n_models, r->model)) || (c->n_uuids && !listed(c->uuids, c->n_uuids, r->uuid)))
		return false;
	for (size_t i = 0; i < c->n_needs; i++)
		if (capacity(d, c->needs[i].resource) < 0)
			return false;
	return !listed(c->exclude_uuids, c->n_exclude_uuids, r->uuid);
}

/* The value of a topology key as text; "" = unknown. */
static const char *place(const struct device_record *r, enum topology t)
{
	static const char *const numbers[] = { "", "0", "1", "2", "3" };
	int64_t number = t == TOPOLOGY_NUMA ? r->numa : r->socket;
	return t == TOPOLOGY_PCIE ? r->pcie : numbers[number + 1];
}

/* The claim of pick `i`. */
static const struct claim *claim_of(const struct request *r, size_t i)
{
	for (size_t k = 0; k < r->n_claims; k++) {
		size_t count = *r->claims[k].reuse ? 0 : (size_t)r->claims[k].count;
		if (i < count)
			return &r->claims[k];
		i -= count;
	}
	return NULL;
}

static bool topology_holds(const struct oracle *q, const struct oracle_picks *p)
{
	for (size_t i = 0; i < p->n; i++) {
		const struct claim *a = claim_of(q->request, i);
		if (a->same == TOPOLOGY_ANY)
			continue;
		if (!*place(p->devices[i]->record, a->same))
			return false;
		for (size_t k = 0; k < i; k++) {
			const struct claim *b = claim_of(q->request, k);
			bool one = a == b || (*a->together && strcmp(a->together, b->together) == 0);
			if (one && strcmp(place(p->devices[i]->record, a->same), place(p->devices[k]->record, a->same)) != 0)
				return false;
		}
	}
	return true;
}

/* Whether all that the picks take of the device of pick `i` is there. */
static bool room_for(const struct oracle *q, const struct oracle_picks *p, size_t i)
{
	const struct device *d = p->devices[i];
	const struct claim *c = claim_of(q->request, i);
	int64_t shares = 0;
	for (size_t k = 0; k < p->n; k++) {
		const struct claim *other = claim_of(q->request, k);
		if (p->devices[k] != d)
			continue;
		shares++;
		if (k != i && (c == other || !c->n_needs || !other->n_needs))
			return false; /* distinct within a claim; whole means alone */
	}
	if (touched(q, d, "*") || (!c->n_needs && touched(q, d, NULL)))
		return false;
	if (d->record->max_shares && shares > d->record->max_shares - in_use(q, d, NULL))
		return false;
	for (size_t a = 0; a < d->record->n_capacity && c->n_needs; a++) {
		const char *resource = d->record->capacity[a].resource;
		int64_t want = 0;
		for (size_t k = 0; k < p->n; k++)
			want += p->devices[k] == d ? claim_takes(claim_of(q->request, k), d, resource) : 0;
		if (claim_takes(c, d, resource) && want > d->record->capacity[a].value - in_use(q, d, resource))
			return false;
	}
	return true;
}

static bool all_good(const struct oracle *q, const struct oracle_picks *p)
{
	for (size_t i = 0; i < p->n; i++)
		if (!room_for(q, p, i))
			return false;
	return topology_holds(q, p);
}

static bool on_device(const struct share *shares, size_t n, const struct device *d)
{
	return taken(shares, n, d, NULL) > 0;
}

static bool is_wanted(const struct oracle *q, const struct device *d)
{
	const struct promise *own = cluster_promise(q->cluster, q->pod->uid);
	if (!q->n_wanted)
		return own && own->node == q->node && on_device(own->record->shares, own->record->n_shares, d);
	for (const struct holding *h = q->node->holdings; h; h = h->next)
		if (listed(q->wanted, q->n_wanted, h->record->pod.uid) && on_device(h->record->shares, h->record->n_shares, d))
			return true;
	return false;
}

static bool is_promised(const struct oracle *q, const struct device *d)
{
	for (const struct promise *p = q->node->promises; p; p = p->next)
		if (strcmp(p->record->pod.uid, q->pod->uid) != 0 && on_device(p->record->shares, p->record->n_shares, d))
			return true;
	return false;
}

struct preference {
	bool wanted, promised;
	int64_t left, capacity; /* the fullness as a fraction */
};

static struct preference prefer(const struct oracle *q, const struct claim *c, const struct device *d)
{
	struct preference p = { is_wanted(q, d), is_promised(q, d), 0, 1 };
	for (size_t i = 0; i < c->n_needs; i++) {
		int64_t all = capacity(d, c->needs[i].resource), left = all - in_use(q, d, c->needs[i].resource);
		if (i == 0 || left * p.capacity > p.left * all) {
			p.left = left;
			p.capacity = all;
		}
	}
	return p;
}

/* Whether `a` comes before `b` for the claim. */
static bool before(const struct oracle *q, const struct claim *c, const struct device *a, const struct device *b)
{
	struct preference x = prefer(q, c, a), y = prefer(q, c, b);
	int64_t fuller = y.left * x.capacity - x.left * y.capacity;
	if (x.wanted != y.wanted)
		return x.wanted;
	if (x.promised != y.promised)
		return y.promised;
	if (fuller)
		return q->policy == POLICY_BINPACK ? fuller > 0 : fuller < 0;
	return a->record->minor != b->record->minor ? a->record->minor < b->record->minor
						    : strcmp(a->record->uuid, b->record->uuid) < 0;
}

/* The devices that suit the claim, best first. */
static size_t order_devices(const struct oracle *q, const struct claim *c, const struct device **order)
{
	size_t n = 0;
	for (size_t i = 0; i < q->node->n_devices; i++) {
		const struct device *d = &q->node->devices[i];
		if (!suits(c, d))
			continue;
		size_t at = n++;
		for (; at > 0 && before(q, c, d, order[at - 1]); at--)
			order[at] = order[at - 1];
		order[at] = d;
	}
	return n;
}

struct walk {
	const struct oracle *q;
	struct oracle_picks picks;
	bool (*each)(void *context, const struct oracle_picks *picks);
	void *context;
};

/* Picks device `k`, k+1 ... of the claim from the order. What does not fit now will not fit with more picks either. */
static bool walk(struct walk *w, size_t claim, size_t k, size_t from)
{
	const struct request *r = w->q->request;
	while (claim < r->n_claims && (*r->claims[claim].reuse || k == (size_t)r->claims[claim].count)) {
		claim++;
		k = from = 0;
	}
	if (claim == r->n_claims)
		return w->each(w->context, &w->picks);
	const struct device *order[ORACLE_PICKS];
	size_t n = order_devices(w->q, &r->claims[claim], order);
	for (size_t i = from; i < n; i++) {
		w->picks.devices[w->picks.n++] = order[i];
		if (all_good(w->q, &w->picks) && walk(w, claim, k + 1, i + 1))
			return true;
		w->picks.n--;
	}
	return false;
}

bool oracle_search(const struct oracle *q, bool (*each)(void *context, const struct oracle_picks *picks), void *context)
{
	struct walk w = { .q = q, .each = each, .context = context };
	return !q->node->record->cordoned && !q->node->record->unverified && walk(&w, 0, 0, 0);
}

static bool keep(void *context, const struct oracle_picks *picks)
{
	if (context)
		*(struct oracle_picks *)context = *picks;
	return true;
}

bool oracle_fits(const struct oracle *q)
{
	return oracle_search(q, keep, NULL);
}

bool oracle_first(const struct oracle *q, struct oracle_picks *ret)
{
	return oracle_search(q, keep, ret);
}

bool oracle_serves(const struct oracle *q, const struct share *shares, size_t n)
{
	struct oracle_picks p = { .n = n };
	for (size_t i = 0; i < n; i++) {
		const struct claim *c = claim_of(q->request, i);
		p.devices[i] = node_device(q->node, shares[i].device_id);
		if (!c || c != &q->request->claims[shares[i].claim] || !p.devices[i] || !suits(c, p.devices[i]))
			return false;
		for (size_t a = 0; a < shares[i].n_amounts; a++)
			if (shares[i].amounts[a].value != claim_takes(c, p.devices[i], shares[i].amounts[a].resource))
				return false;
	}
	return !claim_of(q->request, n) && all_good(q, &p);
}

/* What is held and promised on the devices of one node, counted afresh from the records (invariants 1, 2, 4 and 5 of the contract).
 *
 * An allocation keeps no revision of its making, so whether the capacity shrank under its holders cannot always be told. It is certain that it
 * did not for a reservation that was never renewed and is newer than the last change of the device: whatever it joined must have had room. */
#include <string.h>

#include "core/check_private.h"
#include "core/pods.h"
#include "core/shares.h"

/* All that is said about one device and one resource; SHARES and WHOLES stand for the shares themselves and those that are whole. */
struct use {
	const struct device *device;
	const struct amount *resource; /* with its capacity; NULL: shares are counted */
	bool wholes;                   /* only whole ones */
};

static int64_t used_by(const struct use *use, const struct share *shares, size_t n)
{
	int64_t sum = 0;
	for (size_t i = 0; i < n; i++) {
		if (shares[i].device_id != use->device->id)
			continue;
		if (use->resource)
			sum += share_takes(&shares[i], use->resource);
		else
			sum += !use->wholes || shares[i].whole;
	}
	return sum;
}

static int64_t held(const struct node *n, const struct use *use)
{
	int64_t sum = 0;
	for (const struct holding *h = n->holdings; h; h = h->next)
		sum += used_by(use, h->record->shares, h->record->n_shares);
	return sum;
}

/* The youngest pod that has a part in this use. */
static const struct allocation *youngest(const struct node *n, const struct use *use)
{
	const struct allocation *found = NULL;
	for (const struct holding *h = n->holdings; h; h = h->next)
		if (used_by(use, h->record->shares, h->record->n_shares) > 0 && (!found || h->record->id > found->id))
			found = h->record;
	return found;
}

static bool forced(const struct node *n, const struct device *d)
{
	const struct use use = { .device = d };
	for (const struct holding *h = n->holdings; h; h = h->next)
		if (h->record->over && used_by(&use, h->record->shares, h->record->n_shares))
			return true;
	return false;
}

/* Whether too much is held and nothing can have made it so but a wrong decision. */
static bool is_unexplained(const struct node *n, const struct use *use)
{
	const struct allocation *a = youngest(n, use);
	bool untouched = a && a->state == POD_RESERVED && a->expires_at == a->created_at + RESERVATION_TTL;
	return untouched && a->revision > use->device->record->revision;
}

static void check_capacity(const struct check *check, const struct node *n, const struct use *use, int64_t capacity)
{
	int64_t sum = held(n, use);
	if (sum <= capacity || forced(n, use->device) || use->device->record->missing)
		return;
	check_that(check, !is_unexplained(n, use), "%lld of %s are held on device %s, which has %lld", (long long)sum,
		use->resource ? use->resource->resource : "its shares", use->device->record->uuid, (long long)capacity);
}

/* Invariants 1, 2 and 5. */
static void check_device_use(const struct check *check, const struct node *n, const struct device *d)
{
	const char *uuid = d->record->uuid;
	const struct use shares = { .device = d }, wholes = { .device = d, .wholes = true };
	check_that(check, held(n, &shares) == d->shares && held(n, &wholes) == d->wholes,
		"device %s counts %lld shares, %lld of them whole, but there are %lld and %lld", uuid, (long long)d->shares,
		(long long)d->wholes, (long long)held(n, &shares), (long long)held(n, &wholes));
	check_that(check, !d->wholes || d->shares == 1 || forced(n, d), "device %s is held whole, and %lld shares of it are held",
		uuid, (long long)d->shares);
	if (d->limit)
		check_capacity(check, n, &shares, d->limit);
	for (size_t k = 0; k < d->n_stocks; k++) {
		const struct use use = { .device = d, .resource = &d->record->capacity[k] };
		check_that(check, held(n, &use) == n->stocks[d->first_stock + k].held,
			"device %s counts %lld of %s held, but it is %lld", uuid, (long long)n->stocks[d->first_stock + k].held,
			use.resource->resource, (long long)held(n, &use));
		check_capacity(check, n, &use, d->record->capacity[k].value);
	}
}

/* Whether anything keeps a missing device. */
static void check_kept(const struct check *check, const struct node *n, const struct device *d)
{
	const struct use use = { .device = d };
	bool wanted = d->record->cordoned || d->shares;
	for (const struct promise *p = n->promises; p; p = p->next)
		wanted |= used_by(&use, p->record->shares, p->record->n_shares) > 0;
	check_that(check, wanted || !d->record->missing, "device %s is missing and nothing keeps it", d->record->uuid);
}

/* The shares of a pod: on devices of the node, as many as asked for, by claim, distinct within a claim. */
static void check_shares(const struct check *check, const struct node *n, const char *uid, const struct request *request,
	const struct share *shares, size_t n_shares)
{
	int64_t counts[REQUEST_CLAIMS] = { 0 };
	for (size_t i = 0; i < n_shares; i++) {
		const struct share *s = &shares[i];
		const struct device *d = node_device(n, s->device_id);
		check_that(check, d && strcmp(d->record->uuid, s->uuid) == 0,
			"pod %s has a share of device %s, which is not on node %s", uid, s->uuid, n->record->name);
		if (!check_that(check, s->claim < request->n_claims, "pod %s has a share for claim %zu", uid, s->claim))
			return;
		counts[s->claim]++;
		check_that(check, i == 0 || shares[i - 1].claim <= s->claim, "the shares of pod %s are out of order", uid);
		check_that(check, s->whole == !request->claims[s->claim].n_needs,
			"claim %zu of pod %s and its share differ in being whole", s->claim, uid);
		for (size_t k = 0; k < i; k++)
			check_that(check, shares[k].claim != s->claim || shares[k].device_id != s->device_id,
				"claim %zu of pod %s has device %s twice", s->claim, uid, s->uuid);
	}
	for (size_t i = 0; i < request->n_claims; i++)
		check_that(check, counts[i] == (*request->claims[i].reuse ? 0 : request->claims[i].count),
			"claim %zu of pod %s has %lld devices", i, uid, (long long)counts[i]);
}

/* Promises that stand beside nomination `r`: its own and those of equal or higher priority. */
static bool stands_beside(const struct nomination *r, const struct nomination *other)
{
	return other->pod.priority >= r->pod.priority;
}

static bool leaves(const struct node *n, const struct nomination *r, const char *uid)
{
	for (const struct promise *p = n->promises; p; p = p->next)
		if (stands_beside(r, p->record) && nomination_has_victim(p->record, uid))
			return true;
	return false;
}

/* What will be in use when the nomination is, and all that count are. */
static int64_t demand(const struct node *n, const struct nomination *r, const struct use *use)
{
	int64_t sum = 0;
	for (const struct holding *h = n->holdings; h; h = h->next)
		if (!leaves(n, r, h->record->pod.uid))
			sum += used_by(use, h->record->shares, h->record->n_shares);
	for (const struct promise *p = n->promises; p; p = p->next)
		if (stands_beside(r, p->record))
			sum += used_by(use, p->record->shares, p->record->n_shares);
	return sum;
}

/* Invariant 4 on one device. */
static void check_promised(const struct check *check, const struct node *n, const struct nomination *r, const struct device *d)
{
	const char *uid = r->pod.uid, *uuid = d->record->uuid;
	const struct use shares = { .device = d }, wholes = { .device = d, .wholes = true };
	check_that(check, d->eligible, "pod %s is nominated to device %s, which is not eligible", uid, uuid);
	check_that(check, !demand(n, r, &wholes) || demand(n, r, &shares) == 1,
		"pod %s is nominated to device %s, which is or was to be whole", uid, uuid);
	check_that(check, !d->limit || demand(n, r, &shares) <= d->limit,
		"the nomination of %s is one share too many of device %s", uid, uuid);
	for (size_t k = 0; k < d->n_stocks; k++) {
		const struct use use = { .device = d, .resource = &d->record->capacity[k] };
		int64_t asked = used_by(&use, r->shares, r->n_shares), sum = demand(n, r, &use);
		check_that(check, !asked || sum <= d->record->capacity[k].value,
			"the nomination of %s makes %lld of %s on device %s, which has %lld", uid, (long long)sum,
			use.resource->resource, uuid, (long long)d->record->capacity[k].value);
	}
}

static void check_nomination(const struct check *check, const struct node *n, const struct nomination *r)
{
	check_that(check, !n->record->cordoned && !n->record->unverified,
		"pod %s is nominated to node %s, which gives nothing out", r->pod.uid, r->node);
	check_shares(check, n, r->pod.uid, r->request, r->shares, r->n_shares);
	for (size_t i = 0; i < r->n_shares; i++) {
		const struct device *d = node_device(n, r->shares[i].device_id);
		if (d)
			check_promised(check, n, r, d);
	}
}

void check_use(const struct check *check, const struct node *n)
{
	for (size_t i = 0; i < n->n_devices; i++) {
		check_device_use(check, n, &n->devices[i]);
		check_kept(check, n, &n->devices[i]);
	}
	for (const struct holding *h = n->holdings; h; h = h->next)
		check_shares(check, n, h->record->pod.uid, h->record->request, h->record->shares, h->record->n_shares);
	for (const struct promise *p = n->promises; p; p = p->next)
		check_nomination(check, n, p->record);
}

/* Devices on the wire: what they are, what of them is held and promised, and by whom. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/shares.h"
#include "methods/views.h"

void view_device_record(struct json_out *o, const struct device_record *r)
{
	out_string(o, "node", r->node);
	out_string(o, "uuid", r->uuid);
	out_string(o, "type", r->type);
	out_int(o, "minor", r->minor);
	out_string(o, "model", r->model);
	out_bool(o, "healthy", r->healthy);
	out_bool(o, "cordoned", r->cordoned);
	out_bool(o, "missing", r->missing);
	out_string_if(o, "reason", r->reason);
	view_amounts(o, "capacity", r->capacity, r->n_capacity);
	out_int(o, "max_shares", r->max_shares);
	out_int(o, "numa", r->numa);
	out_int(o, "socket", r->socket);
	out_string(o, "pcie", r->pcie);
	out_string(o, "bus_id", r->bus_id);
	view_labels(o, "labels", r->labels, r->n_labels);
	out_int(o, "revision", r->revision);
}

static void view_used(struct json_out *o, const struct node *n, const struct device *d)
{
	out_object(o, "used");
	for (size_t k = 0; k < d->n_stocks; k++)
		out_int(o, d->record->capacity[k].resource, n->stocks[d->first_stock + k].held);
	out_end(o);
}

/* How much of one resource of the device is promised, to anybody. */
static int64_t promised(const struct node *n, const struct device *d, const struct amount *resource)
{
	int64_t sum = 0;
	for (const struct promise *p = n->promises; p; p = p->next)
		for (size_t i = 0; i < p->record->n_shares; i++)
			if (p->record->shares[i].device_id == d->id)
				sum += share_takes(&p->record->shares[i], resource);
	return sum;
}

static void view_promised(struct json_out *o, const struct node *n, const struct device *d)
{
	out_object(o, "nominated");
	for (size_t k = 0; k < d->n_stocks; k++)
		out_int(o, d->record->capacity[k].resource, promised(n, d, &d->record->capacity[k]));
	out_end(o);
}

/* One claim of one pod on the device. */
struct holder {
	const struct allocation *allocation;
	const struct share *share;
};

static int by_uid(const void *a_, const void *b_)
{
	const struct holder *a = a_, *b = b_;
	int uids = strcmp(a->allocation->pod.uid, b->allocation->pod.uid);
	return uids ? uids : (a->share > b->share) - (a->share < b->share);
}

static size_t find_holders(const struct node *n, const struct device *d, struct holder *ret)
{
	size_t found = 0;
	for (const struct holding *h = n->holdings; h && (int64_t)found < d->shares; h = h->next)
		for (size_t i = 0; i < h->record->n_shares; i++)
			if (h->record->shares[i].device_id == d->id)
				ret[found++] = (struct holder){ h->record, &h->record->shares[i] };
	if (found)
		qsort(ret, found, sizeof *ret, by_uid);
	return found;
}

void view_holder(struct json_out *o, const struct allocation *a, const struct share *s)
{
	out_object(o, NULL);
	out_string(o, "uid", a->pod.uid);
	out_string(o, "namespace", a->pod.namespace);
	out_string(o, "name", a->pod.name);
	out_string(o, "container", a->request->claims[s->claim].container);
	out_string(o, "state", pod_state_name(a->state));
	out_bool(o, "whole", s->whole);
	view_amounts(o, "resources", s->amounts, s->n_amounts);
	out_end(o);
}

void view_device_members(struct json_out *o, const struct node *n, const struct device *d)
{
	view_device_record(o, d->record);
	view_used(o, n, d);
	view_promised(o, n, d);
	out_int(o, "shares", d->shares);
	out_bool(o, "whole", d->wholes > 0);
	struct holder *holders = mem_array((size_t)d->shares, sizeof *holders);
	size_t count = find_holders(n, d, holders);
	out_array(o, "holders");
	for (size_t i = 0; i < count; i++)
		view_holder(o, holders[i].allocation, holders[i].share);
	out_end(o);
	free(holders);
}

void view_device(struct json_out *o, const char *key, const struct node *n, const struct device *d)
{
	out_object(o, key);
	view_device_members(o, n, d);
	out_end(o);
}

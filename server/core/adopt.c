/* pod.adopt: taking over what already runs. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "core/fit_private.h"
#include "core/lifecycle.h"

/* What the claim needs on the device, as amounts in `room`; a resource the device lacks is kept as asked. */
static size_t used_amounts(const struct claim *c, const struct device_record *r, struct amount *room)
{
	for (size_t i = 0; i < c->n_needs; i++) {
		int64_t capacity = amount_of(r->capacity, r->n_capacity, c->needs[i].resource, 0);
		const struct fit_need need = { .amount = c->needs[i].amount, .percent = c->needs[i].percent };
		const struct stock stock = { .capacity = capacity };
		room[i] = (struct amount){ .resource = c->needs[i].resource, .value = need_amount(&need, &stock) };
	}
	return c->n_needs;
}

static struct error *make_shares(const struct adopt *args, const struct node *n, struct share *shares, struct amount *room)
{
	for (size_t i = 0; i < args->n_devices; i++) {
		const struct adopt_device *a = &args->devices[i];
		const struct device *d = node_device_uuid(n, a->uuid);
		if (!d)
			return not_found_error("device", a->uuid);
		const struct claim *c = &args->request->claims[a->claim];
		shares[i] = (struct share){ .device_id = d->id,
			.uuid = d->record->uuid,
			.minor = d->record->minor,
			.claim = a->claim,
			.whole = !c->n_needs,
			.amounts = d->record->capacity,
			.n_amounts = d->record->n_capacity };
		if (shares[i].whole)
			continue;
		shares[i].amounts = room;
		shares[i].n_amounts = used_amounts(c, d->record, room);
		room += shares[i].n_amounts;
	}
	return NULL;
}

static int by_claim_and_minor(const void *a_, const void *b_)
{
	const struct share *a = a_, *b = b_;
	if (a->claim != b->claim)
		return a->claim < b->claim ? -1 : 1;
	return a->minor < b->minor ? -1 : a->minor > b->minor;
}

static void put_adopted(struct txn *txn, const struct adopt *args, struct node *n, const struct share *shares, bool over)
{
	const struct holding *old = cluster_holding(txn->cluster, args->pod->uid);
	const struct allocation record = {
		.id = cluster_next_id(txn->cluster),
		.pod = *args->pod,
		.node_id = n->record->id,
		.node = n->record->name,
		.state = POD_ALLOCATED,
		.over = over,
		.request = cluster_shared_request(txn->cluster, args->request),
		.handed_out = request_all_groups(args->request),
		.created_at = old ? old->record->created_at : txn->now,
		.state_at = txn->now,
		.token = old ? old->record->token : 0,
		.revision = txn_revision(txn),
		.shares = shares,
		.n_shares = args->n_devices,
	};
	const struct allocation *made = allocation_new(&record);
	if (old)
		pod_give_way(txn, old, &(struct event){ .kind = "pod.released", .cause = "adopted" });
	txn_put(txn, RECORD_ALLOCATION, NULL, made); /* before anything sweeps a missing device that it uses */
	struct node *nominated = promise_end(txn, made->pod.uid, "nomination.cleared", "adopted");
	refusal_drop(txn, made->pod.uid);
	lapse_drop(txn, made->pod.uid, made->node);
	pod_event(txn, made, &(struct event){ .kind = "pod.adopted" });
	if (over)
		pod_event(txn, made, &(struct event){ .kind = "server.alarm", .cause = "over_subscribed" });
	promises_recheck(txn, n, "adopted", made->pod.uid);
	if (nominated)
		promise_ended(txn, nominated, made->pod.uid);
	missing_sweep(txn, n);
}

static struct error *adopt_shares(
	struct txn *txn, const struct adopt *args, struct node *n, struct share *shares, struct report *report)
{
	const struct fit_query query = { .pod = args->pod, .request = args->request, .ignore_promises = true };
	struct reason why;
	struct fit *fit = fit_new(txn->cluster, &query);
	bool fits = fit_shares_fit(fit, n, shares, args->n_devices, &why);
	if (!fits && !args->force)
		report_refused(report, fit, n, n->record->name, &why);
	fit_free(fit);
	if (!fits && !args->force)
		return report_error(report);
	put_adopted(txn, args, n, shares, !fits);
	return NULL;
}

/* Whether the record says already what is to be adopted: a repeated call changes nothing. */
static bool adopted_already(const struct allocation *a, const struct adopt *args, const struct share *shares)
{
	bool same = a->state == POD_ALLOCATED && pod_equal(&a->pod, args->pod) && request_equal(a->request, args->request) &&
		    a->n_shares == args->n_devices && a->handed_out == request_all_groups(a->request);
	for (size_t i = 0; same && i < a->n_shares; i++)
		same = a->shares[i].device_id == shares[i].device_id && a->shares[i].claim == shares[i].claim;
	return same;
}

struct error *pod_adopt(struct txn *txn, const struct adopt *args, struct report *report, const struct allocation **ret)
{
	struct node *n = cluster_node(txn->cluster, args->node);
	const struct holding *old = cluster_holding(txn->cluster, args->pod->uid);
	if (!n)
		return not_found_error("node", args->node);
	if (old && old->node != n)
		return conflict_error(old->record, "it cannot be adopted elsewhere");
	struct share *shares = mem_array(args->n_devices, sizeof *shares);
	struct amount *amounts = mem_array(args->n_devices * DEVICE_RESOURCES, sizeof *amounts);
	struct error *error = make_shares(args, n, shares, amounts);
	if (!error) {
		qsort(shares, args->n_devices, sizeof *shares, by_claim_and_minor);
		if (!old || !adopted_already(old->record, args, shares))
			error = adopt_shares(txn, args, n, shares, report);
	}
	if (!error)
		*ret = cluster_holding(txn->cluster, args->pod->uid)->record;
	free(shares);
	free(amounts);
	return error;
}

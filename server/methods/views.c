#include "methods/views.h"

#include <string.h>

#include "core/shares.h"

void view_pod(struct json_out *o, const char *key, const struct pod *pod)
{
	out_object(o, key);
	out_string(o, "uid", pod->uid);
	out_string(o, "namespace", pod->namespace);
	out_string(o, "name", pod->name);
	out_int(o, "priority", pod->priority);
	out_bool(o, "preemptible", pod->preemptible);
	out_string_if(o, "gang", pod->gang);
	out_bool(o, "external", pod->external);
	out_end(o);
}

void view_amounts(struct json_out *o, const char *key, const struct amount *amounts, size_t n)
{
	out_object(o, key);
	for (size_t i = 0; i < n; i++)
		out_int(o, amounts[i].resource, amounts[i].value);
	out_end(o);
}

void view_labels(struct json_out *o, const char *key, const struct label *labels, size_t n)
{
	out_object(o, key);
	for (size_t i = 0; i < n; i++)
		out_string(o, labels[i].key, labels[i].value);
	out_end(o);
}

static void view_share(struct json_out *o, const struct claim *c, const struct share *s, const bool *claimed)
{
	out_object(o, NULL);
	out_string(o, "container", c->container);
	out_string(o, "type", c->type);
	out_string(o, "uuid", s->uuid);
	out_int(o, "minor", s->minor);
	out_bool(o, "whole", s->whole);
	view_amounts(o, "resources", s->amounts, s->n_amounts);
	out_string_if(o, "reuse", c->reuse);
	if (claimed)
		out_bool(o, "claimed", *claimed);
	out_end(o);
}

void view_shares(struct json_out *o, const char *key, const struct request *request, const struct share *shares, size_t n_shares,
	uint32_t mask, const struct allocation *a)
{
	const struct share *of_claim[CLAIM_COUNT];
	out_array(o, key);
	for (size_t c = 0; c < request->n_claims; c++) {
		if (!(mask & (UINT32_C(1) << c)))
			continue;
		size_t n = claim_shares(request, shares, n_shares, c, of_claim);
		bool claimed = a && claim_is_handed_out(a, c);
		for (size_t i = 0; i < n; i++)
			view_share(o, &request->claims[c], of_claim[i], a ? &claimed : NULL);
	}
	out_end(o);
}

void view_allocation_members(struct json_out *o, const struct allocation *a, const struct view_extra *extra)
{
	view_pod(o, "pod", &a->pod);
	out_string(o, "node", a->node);
	out_string(o, "state", pod_state_name(a->state));
	view_shares(o, "devices", a->request, a->shares, a->n_shares, UINT32_MAX, a);
	out_int(o, "created_at", a->created_at);
	out_int(o, "state_at", a->state_at);
	out_int_if(o, "expires_at", a->expires_at);
	out_int_if(o, "token", a->token);
	if (extra)
		out_string_if(o, "preempted_by", extra->preempted_by);
	if (a->over)
		out_bool(o, "over", true);
	out_int(o, "revision", a->revision);
	if (extra && extra->says_existing)
		out_bool(o, "existing", extra->existing);
}

static void view_allocation(struct json_out *o, const char *key, const struct allocation *a, const struct view_extra *extra)
{
	out_object(o, key);
	view_allocation_members(o, a, extra);
	out_end(o);
}

static const char *preemptor(const struct holding *h)
{
	const struct nomination *n = h->node->n_promises ? holding_preemptor(h) : NULL;
	return n ? n->pod.uid : NULL;
}

void view_holding(struct json_out *o, const char *key, const struct holding *h)
{
	view_allocation(o, key, h->record, &(struct view_extra){ .preempted_by = preemptor(h) });
}

void view_allocation_result(struct json_out *o, const struct cluster *c, const struct allocation *a, bool existing)
{
	const struct view_extra extra = {
		.preempted_by = preemptor(cluster_holding(c, a->pod.uid)), .says_existing = true, .existing = existing
	};
	view_allocation_members(o, a, &extra);
}

void view_nomination_members(struct json_out *o, const struct nomination *n, const char *const *ignored, size_t n_ignored)
{
	view_pod(o, "pod", &n->pod);
	out_string(o, "node", n->node);
	view_shares(o, "devices", n->request, n->shares, n->n_shares, UINT32_MAX, NULL);
	out_strings(o, "victims", n->victims, n->n_victims);
	if (n_ignored)
		out_strings(o, "ignored", ignored, n_ignored);
	out_int(o, "expires_at", n->expires_at);
	out_int(o, "revision", n->revision);
}

void view_nomination(
	struct json_out *o, const char *key, const struct nomination *n, const char *const *ignored, size_t n_ignored)
{
	out_object(o, key);
	view_nomination_members(o, n, ignored, n_ignored);
	out_end(o);
}

void view_lock_members(struct json_out *o, const struct lock *l)
{
	out_string(o, "node", l->node);
	out_string(o, "uid", l->uid);
	out_int(o, "token", l->token);
	out_int(o, "acquired_at", l->acquired_at);
	out_int(o, "expires_at", l->expires_at);
}

void view_lock(struct json_out *o, const char *key, const struct lock *l)
{
	out_object(o, key);
	view_lock_members(o, l);
	out_end(o);
}

void view_node_flags(struct json_out *o, const struct node_record *r)
{
	out_string(o, "node", r->name);
	out_bool(o, "cordoned", r->cordoned);
	out_bool(o, "unverified", r->unverified);
}

void view_node(struct json_out *o, const char *key, const struct node *n)
{
	out_object(o, key);
	view_node_flags(o, n->record);
	view_labels(o, "labels", n->record->labels, n->record->n_labels);
	out_string_if(o, "reason", n->record->reason);
	out_int(o, "devices", (int64_t)n->n_devices);
	out_int(o, "allocations", (int64_t)n->n_holdings);
	out_int(o, "nominations", (int64_t)n->n_promises);
	if (n->lock)
		view_lock(o, "lock", n->lock->record);
	out_int(o, "last_seen_at", n->record->last_seen_at);
	out_int(o, "revision", n->record->revision);
	out_end(o);
}

void view_refusal_members(struct json_out *o, const struct refusal *r)
{
	view_pod(o, "pod", &r->pod);
	out_string(o, "reason", r->reason);
	out_string_if(o, "message", r->message);
	out_int(o, "first_at", r->first_at);
	out_int(o, "last_at", r->last_at);
	out_int(o, "count", r->count);
	out_object(o, "counts");
	for (size_t i = 0; i < r->n_counts; i++)
		out_int(o, r->counts[i].slug, r->counts[i].count);
	out_end(o);
	if (r->request)
		out_raw(o, "request", r->request->text);
	out_strings(o, "nodes", r->nodes, r->n_nodes);
}

void view_refusal(struct json_out *o, const char *key, const struct refusal *r)
{
	out_object(o, key);
	view_refusal_members(o, r);
	out_end(o);
}

void view_groups(struct json_out *o, const char *key, const struct allocation *a)
{
	out_array(o, key);
	for (size_t g = 0; g < a->request->n_groups; g++) {
		const struct group *group = &a->request->groups[g];
		out_object(o, NULL);
		out_string(o, "container", group->container);
		out_string(o, "type", group->type);
		view_shares(o, "devices", a->request, a->shares, a->n_shares, group->claims, a);
		out_bool(o, "claimed", a->handed_out & (UINT32_C(1) << g));
		out_end(o);
	}
	out_end(o);
}

/* When two records say the same. */
#include <assert.h>
#include <string.h>

#include "core/record.h"

static bool same(const char *a, const char *b)
{
	return strcmp(a, b) == 0;
}

static bool strings_equal(const char *const *a, size_t na, const char *const *b, size_t nb)
{
	if (na != nb)
		return false;
	for (size_t i = 0; i < na; i++)
		if (!same(a[i], b[i]))
			return false;
	return true;
}

static bool amounts_equal(const struct amount *a, size_t na, const struct amount *b, size_t nb)
{
	if (na != nb)
		return false;
	for (size_t i = 0; i < na; i++)
		if (a[i].value != b[i].value || !same(a[i].resource, b[i].resource))
			return false;
	return true;
}

static bool labels_equal(const struct label *a, size_t na, const struct label *b, size_t nb)
{
	if (na != nb)
		return false;
	for (size_t i = 0; i < na; i++)
		if (!same(a[i].key, b[i].key) || !same(a[i].value, b[i].value))
			return false;
	return true;
}

static bool share_equal(const struct share *a, const struct share *b)
{
	return a->device_id == b->device_id && same(a->uuid, b->uuid) && a->minor == b->minor && a->claim == b->claim &&
	       a->whole == b->whole && amounts_equal(a->amounts, a->n_amounts, b->amounts, b->n_amounts);
}

static bool shares_equal(const struct share *a, size_t na, const struct share *b, size_t nb)
{
	if (na != nb)
		return false;
	for (size_t i = 0; i < na; i++)
		if (!share_equal(&a[i], &b[i]))
			return false;
	return true;
}

bool pod_equal(const struct pod *a, const struct pod *b)
{
	return same(a->uid, b->uid) && same(a->namespace, b->namespace) && same(a->name, b->name) && same(a->gang, b->gang) &&
	       a->priority == b->priority && a->preemptible == b->preemptible && a->external == b->external;
}

bool pod_same_gang(const struct pod *a, const struct pod *b)
{
	return *a->gang && same(a->gang, b->gang) && same(a->namespace, b->namespace);
}

static bool node_equal(const struct node_record *a, const struct node_record *b)
{
	return a->id == b->id && same(a->name, b->name) && a->cordoned == b->cordoned && a->unverified == b->unverified &&
	       same(a->reason, b->reason) && a->last_seen_at == b->last_seen_at && a->revision == b->revision &&
	       labels_equal(a->labels, a->n_labels, b->labels, b->n_labels);
}

static bool device_equal(const struct device_record *a, const struct device_record *b)
{
	return a->id == b->id && a->node_id == b->node_id && same(a->node, b->node) && same(a->uuid, b->uuid) &&
	       same(a->type, b->type) && a->minor == b->minor && same(a->model, b->model) && a->healthy == b->healthy &&
	       a->cordoned == b->cordoned && a->missing == b->missing && a->max_shares == b->max_shares && a->numa == b->numa &&
	       a->socket == b->socket && same(a->pcie, b->pcie) && same(a->bus_id, b->bus_id) && same(a->reason, b->reason) &&
	       a->revision == b->revision && amounts_equal(a->capacity, a->n_capacity, b->capacity, b->n_capacity) &&
	       labels_equal(a->labels, a->n_labels, b->labels, b->n_labels);
}

static bool handout_equal(const struct handout *a, const struct handout *b)
{
	if (a == b)
		return true;
	return a && b && same(a->call, b->call) && a->confirmed_at == b->confirmed_at && same(a->detail, b->detail) &&
	       strings_equal(a->device_ids, a->n_device_ids, b->device_ids, b->n_device_ids);
}

static bool allocation_equal(const struct allocation *a, const struct allocation *b)
{
	for (size_t g = 0; g < REQUEST_GROUPS; g++)
		if (!handout_equal(a->handouts[g], b->handouts[g]))
			return false;
	return a->id == b->id && pod_equal(&a->pod, &b->pod) && a->node_id == b->node_id && same(a->node, b->node) &&
	       a->state == b->state && a->over == b->over && request_equal(a->request, b->request) &&
	       a->handed_out == b->handed_out && a->created_at == b->created_at && a->state_at == b->state_at &&
	       a->expires_at == b->expires_at && a->token == b->token && a->revision == b->revision &&
	       shares_equal(a->shares, a->n_shares, b->shares, b->n_shares);
}

static bool nomination_equal(const struct nomination *a, const struct nomination *b)
{
	return a->id == b->id && pod_equal(&a->pod, &b->pod) && a->node_id == b->node_id && same(a->node, b->node) &&
	       request_equal(a->request, b->request) && a->expires_at == b->expires_at && a->revision == b->revision &&
	       shares_equal(a->shares, a->n_shares, b->shares, b->n_shares) &&
	       strings_equal(a->victims, a->n_victims, b->victims, b->n_victims);
}

static bool lock_equal(const struct lock *a, const struct lock *b)
{
	return a->node_id == b->node_id && same(a->node, b->node) && same(a->uid, b->uid) && a->token == b->token &&
	       a->acquired_at == b->acquired_at && a->expires_at == b->expires_at && a->ttl == b->ttl;
}

static bool lapse_equal(const struct lapse *a, const struct lapse *b)
{
	return a->node_id == b->node_id && same(a->node, b->node) && same(a->uid, b->uid) &&
	       request_equal(a->request, b->request) && a->at == b->at && a->expires_at == b->expires_at;
}

static bool counts_equal(const struct refusal *a, const struct refusal *b)
{
	if (a->n_counts != b->n_counts)
		return false;
	for (size_t i = 0; i < a->n_counts; i++)
		if (a->counts[i].count != b->counts[i].count || !same(a->counts[i].slug, b->counts[i].slug))
			return false;
	return true;
}

static bool refusal_equal(const struct refusal *a, const struct refusal *b)
{
	return pod_equal(&a->pod, &b->pod) && same(a->reason, b->reason) && same(a->message, b->message) &&
	       a->first_at == b->first_at && a->last_at == b->last_at && a->count == b->count && a->expires_at == b->expires_at &&
	       (a->request == b->request || (a->request && b->request && request_equal(a->request, b->request))) &&
	       counts_equal(a, b) && strings_equal(a->nodes, a->n_nodes, b->nodes, b->n_nodes);
}

bool record_equal(enum record_kind kind, const void *a, const void *b)
{
	if (a == b)
		return true;
	switch (kind) {
	case RECORD_NODE:
		return node_equal(a, b);
	case RECORD_DEVICE:
		return device_equal(a, b);
	case RECORD_ALLOCATION:
		return allocation_equal(a, b);
	case RECORD_NOMINATION:
		return nomination_equal(a, b);
	case RECORD_LOCK:
		return lock_equal(a, b);
	case RECORD_LAPSE:
		return lapse_equal(a, b);
	case RECORD_REFUSAL:
		return refusal_equal(a, b);
	default:
		assert(kind != RECORD_EVENT); /* events are not compared */
		return false;
	}
}

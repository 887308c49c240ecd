/* plugin.allocate: whose group is it? */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/text.h"
#include "core/agent.h"
#include "core/agent_private.h"
#include "core/lifecycle.h"

const struct allocation *agent_pending(const struct node *n)
{
	if (!n->lock)
		return NULL;
	for (const struct holding *h = n->holdings; h; h = h->next)
		if (h->record->state == POD_BOUND && strcmp(h->record->pod.uid, n->lock->record->uid) == 0)
			return h->record;
	return NULL;
}

static bool is_open(const struct allocation *a, size_t g)
{
	return !(a->handed_out & (UINT32_C(1) << g));
}

size_t groups_open(const struct allocation *a)
{
	size_t open = 0;
	for (size_t g = 0; g < a->request->n_groups; g++)
		open += is_open(a, g);
	return open;
}

static bool ids_equal(const struct handout *h, const char *const *ids, size_t n)
{
	if (!h || !n || h->n_device_ids != n)
		return false;
	for (size_t i = 0; i < n; i++)
		if (strcmp(h->device_ids[i], ids[i]) != 0)
			return false;
	return true;
}

bool handout_find(const struct node *n, const struct handout_query *q, const struct allocation **ret, size_t *group)
{
	*ret = NULL;
	for (const struct holding *h = n->holdings; h; h = h->next) {
		const struct allocation *a = h->record;
		for (size_t g = 0; g < a->request->n_groups && !(*ret && (*ret)->token >= a->token); g++) {
			bool type = !q->type || strcmp(a->request->groups[g].type, q->type) == 0;
			if (!type || !ids_equal(a->handouts[g], q->ids, q->n_ids) ||
				(q->confirm && !confirm_matches(q->confirm, a, g)))
				continue;
			*ret = a;
			*group = g;
		}
	}
	return *ret;
}

static bool find_call(const struct node *n, const char *call, const struct allocation **ret, size_t *group)
{
	for (const struct holding *h = n->holdings; h && call; h = h->next)
		for (size_t g = 0; g < h->record->request->n_groups; g++)
			if (h->record->handouts[g] && strcmp(h->record->handouts[g]->call, call) == 0) {
				*ret = h->record;
				*group = g;
				return true;
			}
	return false;
}

/* ERR_MISMATCH, with what was expected and what was said as small JSON-free sentences. */
static struct error *mismatch(const char *uid, const char *expected, const char *got)
{
	struct error *e = error_new(ERR_MISMATCH, "pod %s: expected %s, got %s", uid, expected, got);
	error_with_string(e, "expected", expected);
	return error_with_string(e, "got", got);
}

static struct error *count_mismatch(const struct allocation *a, size_t g, int64_t count)
{
	char expected[64], got[64];
	(void)snprintf(expected, sizeof expected, "%lld devices", (long long)a->request->groups[g].devices);
	(void)snprintf(got, sizeof got, "%lld devices", (long long)count);
	return mismatch(a->pod.uid, expected, got);
}

static struct error *expired(const char *uid, const char *sentence)
{
	return error_with_string(error_new(ERR_EXPIRED, "pod %s %s", uid, sentence), "uid", uid);
}

static struct error *ambiguous_types(const char **types, size_t n)
{
	return error_with_strings(error_new(ERR_AMBIGUOUS, "several device types are open; say which `type`"), "types", types, n);
}

/* Adds a name to a sorted list without repetition. */
static void add_name(const char **list, size_t *n, const char *name)
{
	size_t at = 0;
	while (at < *n && strcmp(list[at], name) < 0)
		at++;
	if (at < *n && strcmp(list[at], name) == 0)
		return;
	memmove(list + at + 1, list + at, (*n - at) * sizeof *list);
	list[at] = name;
	(*n)++;
}

/* The groups of a container the agent named, when it did not name the type. */
static struct error *find_in_container(const struct allocation *a, const char *container, size_t *group)
{
	const char *types[REQUEST_GROUPS];
	size_t n = 0;
	for (size_t g = 0; g < a->request->n_groups; g++)
		if (strcmp(a->request->groups[g].container, container) == 0) {
			add_name(types, &n, a->request->groups[g].type);
			*group = g;
		}
	if (n > 1)
		return ambiguous_types(types, n);
	return n ? NULL : mismatch(a->pod.uid, "a container that holds devices", container);
}

/* The next open group, of the type if one was named. */
static struct error *find_next(const struct allocation *a, const char *type, size_t *group)
{
	bool had = false;
	for (size_t g = 0; g < a->request->n_groups; g++) {
		if (type && strcmp(a->request->groups[g].type, type) != 0)
			continue;
		had = true;
		if (!is_open(a, g))
			continue;
		*group = g;
		return NULL;
	}
	if (!had)
		return mismatch(a->pod.uid, "a type it reserved through an agent", type ? type : "none");
	return error_with_string(
		error_new(ERR_EXHAUSTED, "every group of pod %s was handed out already", a->pod.uid), "uid", a->pod.uid);
}

static struct error *find_group(const struct allocation *a, const struct allocate *args, size_t *group)
{
	if (!args->container)
		return find_next(a, args->type, group);
	if (!args->type)
		return find_in_container(a, args->container, group);
	for (size_t g = 0; g < a->request->n_groups; g++)
		if (strcmp(a->request->groups[g].container, args->container) == 0 &&
			strcmp(a->request->groups[g].type, args->type) == 0) {
			*group = g;
			return NULL;
		}
	return mismatch(a->pod.uid, "a container and type it reserved", args->container);
}

/* The agent knows the pod. */
static struct error *find_by_uid(
	struct txn *txn, const struct node *n, const struct allocate *args, const struct allocation **ret, size_t *group)
{
	const struct holding *h = cluster_holding(txn->cluster, args->uid);
	struct error *error;
	if (cluster_lapse(txn->cluster, args->uid, args->node))
		return expired(args->uid, "was bound here and its time ran out");
	if (!h)
		return not_found_error("pod", args->uid);
	const struct allocation *a = *ret = h->record;
	if (h->node != n)
		return conflict_error(a, "it is not on the node that asks");
	if (args->token >= 0 && args->token != a->token)
		return stale_token_error("pod", args->uid, args->token);
	if (a->state == POD_RESERVED)
		return conflict_error(a, "it was not bound yet");
	if ((error = find_group(a, args, group)))
		return error;
	if (args->count && args->count != a->request->groups[*group].devices)
		return count_mismatch(a, *group, args->count);
	return a->state == POD_RELEASING && is_open(a, *group) ? expired(args->uid, "is being released") : NULL;
}

/* The candidates of an anonymous call: whoever has an open group on the node. */
struct candidates {
	const char *types[REQUEST_GROUPS * 2]; /* of first open groups, while there are few enough to tell */
	size_t n_types;
	const char **uids; /* that match */
	size_t n_uids;
	bool bound_matches;
	size_t bound_group;
};

/* Looks at the first open group of each type. */
static void consider(struct candidates *c, const struct allocate *args, const char *uid, const struct request *r,
	uint32_t handed_out, bool bound)
{
	const char *seen[REQUEST_GROUPS];
	size_t n_seen = 0;
	for (size_t g = 0; g < r->n_groups; g++) {
		const struct group *group = &r->groups[g];
		size_t before = n_seen;
		if (handed_out & (UINT32_C(1) << g))
			continue;
		add_name(seen, &n_seen, group->type);
		if (n_seen == before)
			continue;
		if (c->n_types < REQUEST_GROUPS)
			add_name(c->types, &c->n_types, group->type);
		if ((args->type && strcmp(args->type, group->type) != 0) || (args->count && args->count != group->devices))
			continue;
		add_name(c->uids, &c->n_uids, uid);
		if (bound && !c->bound_matches) {
			c->bound_matches = true;
			c->bound_group = g;
		}
	}
}

static size_t count_lapses(const struct node *n)
{
	size_t count = 0;
	for (const struct lapse_entry *l = n->lapses; l; l = l->next)
		count++;
	return count;
}

static void find_candidates(
	const struct node *n, const struct allocate *args, const struct allocation *bound, struct candidates *ret)
{
	*ret = (struct candidates){ .uids = mem_array(n->n_holdings + count_lapses(n) + 1, sizeof *ret->uids) };
	if (bound)
		consider(ret, args, bound->pod.uid, bound->request, bound->handed_out, true);
	for (const struct holding *h = n->holdings; h; h = h->next)
		if (h->record->state == POD_RELEASING)
			consider(ret, args, h->record->pod.uid, h->record->request, h->record->handed_out, false);
	for (const struct lapse_entry *l = n->lapses; l; l = l->next)
		consider(ret, args, l->record->uid, l->record->request, 0, false);
}

static struct error *judge_candidates(
	const struct candidates *c, const struct node *n, const struct allocate *args, const struct allocation *bound)
{
	if (!args->type && c->n_types > 1)
		return ambiguous_types((const char **)(uintptr_t)c->types, c->n_types);
	if (c->n_uids > 1)
		return error_with_strings(
			error_new(ERR_AMBIGUOUS, "more than one pod on node %s may be meant; say which `uid`", args->node),
			"candidates", c->uids, c->n_uids);
	if (c->n_uids == 1 && !c->bound_matches)
		return expired(c->uids[0], "is the only one that could be meant, and it lapsed or is being released");
	if (c->n_uids == 1)
		return NULL;
	if (!bound)
		return not_found_error("pod waiting for devices on node", n->record->name);
	if (!c->n_types)
		return mismatch(bound->pod.uid, "nothing", args->type ? args->type : "a call");
	char got[64];
	(void)snprintf(got, sizeof got, "%lld devices of %.32s", (long long)args->count, args->type ? args->type : "any type");
	return mismatch(bound->pod.uid, "the type and count of its next group", got);
}

/* The agent does not know the pod. */
static struct error *find_anonymous(
	const struct node *n, const struct allocate *args, const struct allocation **ret, size_t *group)
{
	const struct allocation *bound = agent_pending(n);
	struct candidates c;
	if (args->token >= 0 && (!n->lock || n->lock->record->token != args->token))
		return stale_token_error("node", args->node, args->token);
	find_candidates(n, args, bound, &c);
	struct error *error = judge_candidates(&c, n, args, bound);
	*ret = bound;
	*group = c.bound_group;
	free(c.uids);
	return error;
}

static void renew_lock(struct txn *txn, const struct node *n, struct allocation *next)
{
	struct lock lock = *n->lock->record;
	int64_t until = txn->now + lock.ttl;
	if (until <= lock.expires_at)
		return;
	lock.expires_at = next->expires_at = until;
	txn_put(txn, RECORD_LOCK, n->lock->record, lock_new(&lock));
}

static const struct allocation *put_handed_out(
	struct txn *txn, const struct node *n, const struct allocation *a, struct allocation *next)
{
	bool last = next->handed_out == request_all_groups(a->request);
	if (a->state == POD_BOUND && last) {
		next->expires_at = 0;
		const struct allocation *made = pod_move(txn, a, next, POD_ALLOCATED);
		lock_drop(txn, n, made->pod.uid);
		pod_event(txn, made, &(struct event){ .kind = "pod.allocated" });
		return made;
	}
	if (a->state == POD_BOUND)
		renew_lock(txn, n, next);
	const struct allocation *made = pod_put(txn, a, next);
	pod_event(txn, made, &(struct event){ .kind = "pod.claimed" });
	return made;
}

static const struct allocation *hand_out(
	struct txn *txn, const struct node *n, const struct allocation *a, size_t group, const struct allocate *args)
{
	struct allocation next = *a;
	struct handout *handout = NULL;
	next.handed_out |= UINT32_C(1) << group;
	if (args->call || args->n_device_ids) {
		handout = handout_new(&(struct handout){
			.call = args->call, .device_ids = args->device_ids, .n_device_ids = args->n_device_ids });
		next.handouts[group] = handout;
	}
	const struct allocation *made = put_handed_out(txn, n, a, &next);
	handout_unref(handout);
	return made;
}

struct error *agent_allocate(
	struct txn *txn, const struct allocate *args, struct report *report, const struct allocation **ret, size_t *group)
{
	const struct node *n = cluster_node(txn->cluster, args->node);
	struct error *error;
	if (!n)
		return not_found_error("node", args->node);
	if (find_call(n, args->call, ret, group)) {
		bool same = !args->uid || strcmp(args->uid, (*ret)->pod.uid) == 0;
		return same ? NULL : mismatch((*ret)->pod.uid, "the pod that this `call` was answered for", args->uid);
	}
	const struct handout_query again = { .type = args->type, .ids = args->device_ids, .n_ids = args->n_device_ids };
	if (!args->uid && handout_find(n, &again, ret, group))
		return NULL;
	error = args->uid ? find_by_uid(txn, n, args, ret, group) : find_anonymous(n, args, ret, group);
	assert(error || *ret);
	if (error || !is_open(*ret, *group))
		return error;
	error = check_devices_usable(*ret, n, (*ret)->request->groups[*group].claims, report);
	if (!error)
		*ret = hand_out(txn, n, *ret, *group, args);
	return error;
}

/* What is stored: every record where its identity, its node and the orders say, every deadline armed, every counter high enough. */
#include "core/check.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/check_private.h"

bool check_that(const struct check *check, bool holds, const char *format, ...)
{
	char sentence[512];
	va_list args;
	if (holds)
		return true;
	va_start(args, format);
	(void)vsnprintf(sentence, sizeof sentence, format, args);
	va_end(args);
	check->violation(check->context, sentence);
	return false;
}

static bool same(const char *a, const char *b)
{
	return strcmp(a, b) == 0;
}

static void check_number(const struct check *check, const char *what, const char *name, int64_t value, int64_t last)
{
	check_that(check, value > 0 && value <= last, "%s of %s is %lld, but the last one given is %lld", what, name,
		(long long)value, (long long)last);
}

/* `at` is 0 for what does not end by itself. */
static void check_deadline(const struct check *check, const struct deadline *d, int64_t at, const char *name)
{
	struct deadline_tree *tree = (struct deadline_tree *)(uintptr_t)&check->cluster->deadlines;
	struct deadline key = *d;
	bool found = d->armed && RB_FIND(deadline_tree, tree, &key) == d;
	check_that(check, d->armed == (at > 0) && found == d->armed && (!found || d->at == at),
		"the end of %s is %lld, but it is armed for %lld", name, (long long)at, d->armed ? (long long)d->at : 0LL);
}

static void check_device(const struct check *check, const struct node *n, size_t i, uint32_t *stocks)
{
	const struct cluster *c = check->cluster;
	const struct device *d = &n->devices[i];
	const struct device_record *r = d->record;
	const struct device_place *p = cluster_device(c, r->uuid);
	check_number(check, "the revision", r->uuid, r->revision, c->counters.revision);
	check_number(check, "the id", r->uuid, r->id, c->counters.id);
	check_that(check, same(r->node, n->record->name) && r->node_id == n->record->id, "device %s of node %s says it is on %s",
		r->uuid, n->record->name, r->node);
	check_that(check, p && p->record == r && p->node == n, "device %s is not found by its uuid", r->uuid);
	check_that(check, i == 0 || device_order(n->devices[i - 1].record, r) < 0, "device %s is out of order", r->uuid);
	check_that(check,
		d->id == r->id && d->limit == r->max_shares && d->type == cluster_symbol(c, r->type) &&
			d->eligible == (r->healthy && !r->cordoned && !r->missing),
		"device %s differs from its record", r->uuid);
	check_that(check, d->first_stock == *stocks && d->n_stocks == r->n_capacity, "the stocks of device %s are misplaced",
		r->uuid);
	*stocks += d->n_stocks;
	if (*stocks > n->n_stocks)
		return;
	for (size_t k = 0; k < d->n_stocks && k < r->n_capacity; k++) {
		const struct stock *s = &n->stocks[d->first_stock + k];
		check_that(check,
			s->resource == cluster_symbol(c, r->capacity[k].resource) && s->capacity == r->capacity[k].value,
			"stock %s of device %s differs from its record", r->capacity[k].resource, r->uuid);
	}
}

static void check_node(const struct check *check, const struct node *n, size_t i)
{
	const struct cluster *c = check->cluster;
	const char *name = n->record->name;
	uint32_t stocks = 0;
	size_t holdings = 0, promises = 0;
	check_number(check, "the revision", name, n->record->revision, c->counters.revision);
	check_number(check, "the id", name, n->record->id, c->counters.id);
	check_that(check, cluster_node(c, name) == n, "node %s is not found by its name", name);
	check_that(check, i == 0 || strcmp(c->order[i - 1]->record->name, name) < 0, "node %s is out of order", name);
	for (size_t k = 0; k < n->n_devices; k++)
		check_device(check, n, k, &stocks);
	check_that(check, stocks == n->n_stocks, "node %s has %zu stocks, not %u", name, n->n_stocks, stocks);
	for (const struct holding *h = n->holdings; h; h = h->next) {
		check_that(check, cluster_holding(c, h->record->pod.uid) == h && h->node == n, "pod %s is not found",
			h->record->pod.uid);
		holdings++;
	}
	for (const struct promise *p = n->promises; p; p = p->next) {
		check_that(check, cluster_promise(c, p->record->pod.uid) == p && p->node == n,
			"the nomination of %s is not found", p->record->pod.uid);
		check_that(check, !p->next || nomination_order(p->record, p->next->record) < 0,
			"the nomination of %s is out of order", p->record->pod.uid);
		promises++;
	}
	check_that(check, holdings == n->n_holdings && promises == n->n_promises, "node %s has miscounted its pods", name);
	if (stocks == n->n_stocks)
		check_use(check, n);
}

/* Invariant 3, second half: bound is who holds the node's lock. */
static void check_bound(const struct check *check, const struct holding *h)
{
	const struct allocation *a = h->record;
	const struct lock *l = h->node->lock ? h->node->lock->record : NULL;
	if (a->state != POD_BOUND)
		return;
	bool locked = l && same(l->uid, a->pod.uid);
	check_that(check, locked, "pod %s is bound but does not hold the lock of node %s", a->pod.uid, a->node);
	if (!locked)
		return;
	check_that(check, l->token == a->token, "pod %s is bound under token %lld, but the lock of node %s has %lld", a->pod.uid,
		(long long)a->token, a->node, (long long)l->token);
	check_that(check, l->expires_at == a->expires_at, "pod %s and the lock it is bound under expire at different times",
		a->pod.uid);
}

static void check_progress(const struct check *check, const struct allocation *a)
{
	const char *uid = a->pod.uid;
	bool ends = a->state == POD_RESERVED || a->state == POD_BOUND;
	check_that(check, a->state > POD_NONE && a->state < POD_STATES, "pod %s is in no state", uid);
	check_that(check, ends == (a->expires_at > 0), "pod %s is %s and expires at %lld", uid, pod_state_name(a->state),
		(long long)a->expires_at);
	check_that(
		check, a->state != POD_RESERVED || (!a->token && !a->handed_out), "pod %s is reserved but was bound before", uid);
	check_that(check, a->state != POD_BOUND || a->handed_out != request_all_groups(a->request),
		"pod %s is bound but has everything", uid);
	check_that(check, !(a->handed_out & ~request_all_groups(a->request)),
		"pod %s was handed out groups that it does not have", uid);
	for (size_t g = 0; g < REQUEST_GROUPS; g++)
		check_that(check, !a->handouts[g] || a->handed_out & (UINT32_C(1) << g),
			"pod %s has a handout of group %zu without having it", uid, g);
}

static void check_holding(const struct check *check, const struct holding *h)
{
	const struct cluster *c = check->cluster;
	const struct allocation *a = h->record;
	struct holding *key = (struct holding *)(uintptr_t)h;
	check_number(check, "the revision", a->pod.uid, a->revision, c->counters.revision);
	check_number(check, "the id", a->pod.uid, a->id, c->counters.id);
	check_that(check, a->token >= 0 && a->token <= c->counters.token, "the token of pod %s was never given out", a->pod.uid);
	check_that(check, h->node == cluster_node(c, a->node) && h->node->record->id == a->node_id, "pod %s is not on node %s",
		a->pod.uid, a->node);
	check_that(check, RB_FIND(holding_tree, (struct holding_tree *)(uintptr_t)&c->holdings_by_uid, key) == h,
		"pod %s is missing in the order of uids", a->pod.uid);
	check_that(check, RB_FIND(holding_names, (struct holding_names *)(uintptr_t)&c->holdings_by_name, key) == h,
		"pod %s is missing in the order of names", a->pod.uid);
	check_deadline(check, &h->deadline, a->state == POD_RESERVED ? a->expires_at : 0, a->pod.uid);
	check_progress(check, a);
	check_bound(check, h);
}

static void check_promise(const struct check *check, const struct promise *p)
{
	const struct cluster *c = check->cluster;
	const struct nomination *r = p->record;
	const char *uid = r->pod.uid;
	check_number(check, "the revision of the nomination", uid, r->revision, c->counters.revision);
	check_number(check, "the id of the nomination", uid, r->id, c->counters.id);
	check_that(check, p->node == cluster_node(c, r->node) && p->node->record->id == r->node_id,
		"pod %s is not nominated to %s", uid, r->node);
	check_that(check,
		RB_FIND(promise_tree, (struct promise_tree *)(uintptr_t)&c->promises_by_uid, (struct promise *)(uintptr_t)p) == p,
		"the nomination of %s is missing in the order of uids", uid);
	check_that(check, !cluster_holding(c, uid), "pod %s holds devices and is nominated", uid);
	check_deadline(check, &p->deadline, r->expires_at, uid);
	for (size_t i = 0; i < r->n_victims; i++) {
		const struct holding *v = cluster_holding(c, r->victims[i]);
		check_that(
			check, i == 0 || strcmp(r->victims[i - 1], r->victims[i]) < 0, "the victims of %s are out of order", uid);
		check_that(
			check, v && v->node == p->node, "victim %s of %s holds nothing on node %s", r->victims[i], uid, r->node);
		check_that(check, !v || v->record->pod.priority < r->pod.priority, "victim %s is as important as %s",
			r->victims[i], uid);
	}
}

static void check_lock(const struct check *check, const struct node *n, const struct lock_entry *e, size_t *count)
{
	const struct cluster *c = check->cluster;
	if (!e)
		return;
	(*count)++;
	const struct lock *l = e->record;
	check_number(check, "the token of the lock", n->record->name, l->token, c->counters.token);
	check_that(check, e->node == n && same(l->node, n->record->name) && l->node_id == n->record->id,
		"the lock of node %s says it is of %s", n->record->name, l->node);
	check_that(check, RB_FIND(lock_tree, (struct lock_tree *)(uintptr_t)&c->locks, (struct lock_entry *)(uintptr_t)e) == e,
		"the lock of node %s is missing in the order of uids", l->node);
	check_deadline(check, &e->deadline, l->expires_at, l->node);
}

static int by_token(const void *a_, const void *b_)
{
	const struct lock *a = *(const struct lock *const *)a_, *b = *(const struct lock *const *)b_;
	return a->token < b->token ? -1 : a->token > b->token;
}

static void check_tokens(const struct check *check, size_t n_locks)
{
	const struct cluster *c = check->cluster;
	const struct lock **locks = mem_array(n_locks, sizeof(struct lock *));
	size_t n = 0;
	for (size_t i = 0; i < c->n_nodes; i++)
		if (c->order[i]->lock)
			locks[n++] = c->order[i]->lock->record;
	qsort(locks, n, sizeof(struct lock *), by_token);
	for (size_t i = 1; i < n; i++)
		check_that(check, locks[i - 1]->token != locks[i]->token, "nodes %s and %s are locked under one token",
			locks[i - 1]->node, locks[i]->node);
	free(locks);
}

static void check_lapses(const struct check *check, const struct node *n, size_t *count)
{
	for (const struct lapse_entry *e = n->lapses; e; e = e->next) {
		const struct lapse *l = e->record;
		(*count)++;
		check_that(check,
			cluster_lapse(check->cluster, l->uid, l->node) == e && e->node == n && same(l->node, n->record->name) &&
				l->node_id == n->record->id,
			"the lapse of %s on node %s is not found", l->uid, l->node);
		check_deadline(check, &e->deadline, l->expires_at, l->uid);
	}
}

static void check_refusal(const struct check *check, const struct refusal_entry *e)
{
	check_that(check, cluster_refusal(check->cluster, e->record->pod.uid) == e, "the refusal of %s is not found",
		e->record->pod.uid);
	check_deadline(check, &e->deadline, e->record->expires_at, e->record->pod.uid);
}

/* That nothing is kept beside what was looked at. */
static void check_sums(const struct check *check, size_t locks, size_t lapses)
{
	const struct cluster *c = check->cluster;
	struct deadline_tree *tree = (struct deadline_tree *)(uintptr_t)&c->deadlines;
	size_t devices = 0, holdings = 0, promises = 0, armed = 0,
	       expected = HASH_COUNT(c->promises) + HASH_COUNT(c->refusals) + locks + lapses;
	struct deadline *d;
	for (size_t i = 0; i < c->n_nodes; i++) {
		devices += c->order[i]->n_devices;
		holdings += c->order[i]->n_holdings;
		promises += c->order[i]->n_promises;
	}
	for (const struct holding *h = c->holdings; h; h = h->hh.next)
		expected += h->record->state == POD_RESERVED;
	RB_FOREACH (d, deadline_tree, tree)
		armed++;
	check_that(check, HASH_COUNT(c->nodes) == c->n_nodes, "%u nodes by name, but %zu in order", HASH_COUNT(c->nodes),
		c->n_nodes);
	check_that(check, HASH_COUNT(c->devices) == devices, "%u devices by uuid, but %zu on nodes", HASH_COUNT(c->devices),
		devices);
	check_that(check, HASH_COUNT(c->holdings) == holdings, "%u pods by uid, but %zu on nodes", HASH_COUNT(c->holdings),
		holdings);
	check_that(check, HASH_COUNT(c->promises) == promises, "%u nominations by uid, but %zu on nodes", HASH_COUNT(c->promises),
		promises);
	check_that(check, c->n_locks == locks && c->n_lapses == lapses, "locks or lapses are miscounted");
	check_that(check, armed == expected, "%zu deadlines are armed, but %zu things can end", armed, expected);
}

void cluster_check(const struct cluster *c, void (*violation)(void *context, const char *sentence), void *context)
{
	const struct check check = { .cluster = c, .violation = violation, .context = context };
	size_t locks = 0, lapses = 0;
	for (size_t i = 0; i < c->n_nodes; i++) {
		check_node(&check, c->order[i], i);
		check_lapses(&check, c->order[i], &lapses);
	}
	for (const struct holding *h = c->holdings; h; h = h->hh.next)
		check_holding(&check, h);
	for (const struct promise *p = c->promises; p; p = p->hh.next)
		check_promise(&check, p);
	for (size_t i = 0; i < c->n_nodes; i++)
		check_lock(&check, c->order[i], c->order[i]->lock, &locks);
	check_tokens(&check, locks);
	for (const struct refusal_entry *e = c->refusals; e; e = e->hh.next)
		check_refusal(&check, e);
	check_sums(&check, locks, lapses);
}

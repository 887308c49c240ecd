/* Entries of the cluster for what pods have: allocations, nominations, locks, lapses, refusals. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "base/mem.h"
#include "core/cluster_private.h"

static void deadline_clear(struct cluster *c, struct deadline *d)
{
	if (d->armed)
		RB_REMOVE(deadline_tree, &c->deadlines, d);
	d->armed = false;
}

/* Arms a deadline that is not armed; `at` 0: there is none. `old`: it was set before the start. The keys must live as long as it is armed. */
static void deadline_set(
	struct cluster *c, struct deadline *d, enum deadline_kind kind, int64_t at, bool old, const char *key, const char *key2)
{
	assert(!d->armed);
	if (!at)
		return;
	*d = (struct deadline){ .at = at, .due = at, .kind = kind, .key = key, .key2 = key2, .armed = true };
	if (old && d->due < c->grace.until)
		d->due = c->grace.until;
	RB_INSERT(deadline_tree, &c->deadlines, d);
}

void cluster_grace(struct cluster *c, int64_t until)
{
	struct deadline *d;
	c->grace = (struct grace){ .until = until, .revision = c->counters.revision, .token = c->counters.token };
	while ((d = RB_MIN(deadline_tree, &c->deadlines)) && d->due < until) {
		RB_REMOVE(deadline_tree, &c->deadlines, d);
		d->due = until;
		RB_INSERT(deadline_tree, &c->deadlines, d);
	}
}

static void holding_link(struct cluster *c, struct holding *h, const struct allocation *r)
{
	h->record = record_ref(r);
	h->node = cluster_node(c, r->node);
	assert(h->node);
	DL_APPEND(h->node->holdings, h);
	h->node->n_holdings++;
	c->n_over += r->over;
	shared_request_add(c, r->request);
	devices_count(h->node, r->shares, r->n_shares, 1);
	RB_INSERT(holding_tree, &c->holdings_by_uid, h);
	RB_INSERT(holding_names, &c->holdings_by_name, h);
	HASH_ADD_KEYPTR(hh, c->holdings, r->pod.uid, strlen(r->pod.uid), h);
	deadline_set(c, &h->deadline, DEADLINE_RESERVATION, r->state == POD_RESERVED ? r->expires_at : 0,
		r->revision <= c->grace.revision, r->pod.uid, "");
}

static void holding_unlink(struct cluster *c, struct holding *h)
{
	deadline_clear(c, &h->deadline);
	HASH_DEL(c->holdings, h);
	RB_REMOVE(holding_names, &c->holdings_by_name, h);
	RB_REMOVE(holding_tree, &c->holdings_by_uid, h);
	devices_count(h->node, h->record->shares, h->record->n_shares, -1);
	DL_DELETE(h->node->holdings, h);
	h->node->n_holdings--;
	c->n_over -= h->record->over;
	shared_request_drop(c, h->record->request);
	record_unref(RECORD_ALLOCATION, h->record);
}

void holdings_apply(struct cluster *c, const struct allocation *before, const struct allocation *after)
{
	struct holding *h = before ? cluster_holding(c, before->pod.uid) : mem_alloc(sizeof *h);
	assert(h && (!before || h->record == before));
	if (before)
		holding_unlink(c, h);
	if (after)
		holding_link(c, h, after);
	else
		free(h);
}

static int promise_importance(const struct promise *a, const struct promise *b)
{
	return nomination_order(a->record, b->record);
}

static void promise_link(struct cluster *c, struct promise *p, const struct nomination *r)
{
	p->record = record_ref(r);
	p->node = cluster_node(c, r->node);
	assert(p->node);
	DL_INSERT_INORDER(p->node->promises, p, promise_importance);
	p->node->n_promises++;
	RB_INSERT(promise_tree, &c->promises_by_uid, p);
	HASH_ADD_KEYPTR(hh, c->promises, r->pod.uid, strlen(r->pod.uid), p);
	deadline_set(c, &p->deadline, DEADLINE_NOMINATION, r->expires_at, r->revision <= c->grace.revision, r->pod.uid, "");
}

static void promise_unlink(struct cluster *c, struct promise *p)
{
	deadline_clear(c, &p->deadline);
	HASH_DEL(c->promises, p);
	RB_REMOVE(promise_tree, &c->promises_by_uid, p);
	DL_DELETE(p->node->promises, p);
	p->node->n_promises--;
	record_unref(RECORD_NOMINATION, p->record);
}

void promises_apply(struct cluster *c, const struct nomination *before, const struct nomination *after)
{
	struct promise *p = before ? cluster_promise(c, before->pod.uid) : mem_alloc(sizeof *p);
	assert(p && (!before || p->record == before));
	if (before)
		promise_unlink(c, p);
	if (after)
		promise_link(c, p, after);
	else
		free(p);
}

void locks_apply(struct cluster *c, const struct lock *before, const struct lock *after)
{
	struct node *n = cluster_node(c, before ? before->node : after->node);
	assert(n && (before ? n->lock && n->lock->record == before : !n->lock));
	struct lock_entry *e = before ? n->lock : mem_alloc(sizeof *e);
	if (before) {
		deadline_clear(c, &e->deadline);
		RB_REMOVE(lock_tree, &c->locks, e);
		c->n_locks--;
		record_unref(RECORD_LOCK, before);
	}
	if (!after) {
		n->lock = NULL;
		free(e);
		return;
	}
	n->lock = e;
	e->node = n;
	e->record = record_ref(after);
	RB_INSERT(lock_tree, &c->locks, e);
	c->n_locks++;
	deadline_set(c, &e->deadline, DEADLINE_LOCK, after->expires_at, after->token <= c->grace.token, after->node, "");
}

void lapses_apply(struct cluster *c, const struct lapse *before, const struct lapse *after)
{
	struct lapse_entry *e = before ? cluster_lapse(c, before->uid, before->node) : mem_alloc(sizeof *e);
	assert(e && (!before || e->record == before));
	if (before) {
		deadline_clear(c, &e->deadline);
		RB_REMOVE(lapse_tree, &c->lapses, e);
		c->n_lapses--;
		DL_DELETE(e->node->lapses, e);
		record_unref(RECORD_LAPSE, before);
	}
	if (!after) {
		free(e);
		return;
	}
	e->record = record_ref(after);
	e->node = cluster_node(c, after->node);
	assert(e->node);
	DL_APPEND(e->node->lapses, e);
	RB_INSERT(lapse_tree, &c->lapses, e);
	c->n_lapses++;
	deadline_set(c, &e->deadline, DEADLINE_LAPSE, after->expires_at, false, after->uid, after->node);
}

void refusals_apply(struct cluster *c, const struct refusal *before, const struct refusal *after)
{
	struct refusal_entry *e = before ? cluster_refusal(c, before->pod.uid) : mem_alloc(sizeof *e);
	assert(e && (!before || e->record == before));
	if (before) {
		deadline_clear(c, &e->deadline);
		HASH_DEL(c->refusals, e);
		record_unref(RECORD_REFUSAL, before);
	}
	if (!after) {
		free(e);
		return;
	}
	e->record = record_ref(after);
	HASH_ADD_KEYPTR(hh, c->refusals, after->pod.uid, strlen(after->pod.uid), e);
	deadline_set(c, &e->deadline, DEADLINE_REFUSAL, after->expires_at, false, after->pod.uid, "");
}

#include "core/pods.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"

struct error *conflict_error(const struct allocation *a, const char *sentence)
{
	struct error *e = error_new(
		ERR_CONFLICT, "pod %s is %s on node %s: %s", a->pod.uid, pod_state_name(a->state), a->node, sentence);
	error_with_string(e, "state", pod_state_name(a->state));
	error_with_string(e, "node", a->node);
	return error_with_integer(e, "revision", a->revision);
}

struct error *not_found_error(const char *kind, const char *name)
{
	struct error *e = error_new(ERR_NOT_FOUND, "there is no %s %s", kind, name);
	error_with_string(e, "kind", kind);
	return error_with_string(e, "name", name);
}

struct error *stale_token_error(const char *kind, const char *name, int64_t token)
{
	struct error *e = error_new(
		ERR_STALE_TOKEN, "%s %s is not bound or locked under token %lld", kind, name, (long long)token);
	return error_with_integer(e, "token", token);
}

struct error *check_revision(int64_t wanted, int64_t revision)
{
	if (wanted < 0 || wanted == revision)
		return NULL;
	struct error *e = error_new(
		ERR_CONFLICT, "the record is at revision %lld, not %lld", (long long)revision, (long long)wanted);
	return error_with_integer(e, "revision", revision);
}

/* The life of a pod (contract, section 3); POD_NONE is left by pod.reserve and pod.adopt and reached by pod_drop. */
static const bool allowed_moves[POD_STATES][POD_STATES] = {
	[POD_RESERVED] = { [POD_BOUND] = true, [POD_ALLOCATED] = true },
	[POD_BOUND] = { [POD_ALLOCATED] = true, [POD_RELEASING] = true },
	[POD_ALLOCATED] = { [POD_RELEASING] = true },
};

const struct allocation *pod_put(struct txn *txn, const struct allocation *now, struct allocation *next)
{
	next->revision = txn_revision(txn);
	const struct allocation *made = allocation_new(next);
	txn_put(txn, RECORD_ALLOCATION, now, made);
	return made;
}

const struct allocation *pod_move(struct txn *txn, const struct allocation *now, struct allocation *next, enum pod_state state)
{
	assert(allowed_moves[now->state][state]);
	next->state = state;
	next->state_at = txn->now;
	return pod_put(txn, now, next);
}

void pod_event(struct txn *txn, const struct allocation *a, const struct event *like)
{
	struct event e = *like;
	e.node = a->node;
	e.uid = a->pod.uid;
	e.subject_kind = SUBJECT_ALLOCATION;
	e.subject = a;
	txn_event(txn, &e);
}

void lock_drop(struct txn *txn, const struct node *n, const char *uid)
{
	if (n->lock && strcmp(n->lock->record->uid, uid) == 0)
		txn_put(txn, RECORD_LOCK, n->lock->record, NULL);
}

static const struct nomination *victim_of(const struct node *n, const char *uid)
{
	for (const struct promise *p = n->promises; p; p = p->next)
		if (nomination_has_victim(p->record, uid))
			return p->record;
	return NULL;
}

void victim_forget(struct txn *txn, const struct node *n, const char *uid)
{
	const struct nomination *old;
	while ((old = victim_of(n, uid))) {
		struct nomination next = *old;
		const char **left = mem_array(old->n_victims, sizeof *left);
		next.n_victims = 0;
		for (size_t i = 0; i < old->n_victims; i++)
			if (strcmp(old->victims[i], uid) != 0)
				left[next.n_victims++] = old->victims[i];
		next.victims = left;
		next.revision = txn_revision(txn);
		txn_put(txn, RECORD_NOMINATION, old, nomination_new(&next));
		free(left);
	}
}

void pod_give_way(struct txn *txn, const struct holding *h, const struct event *why)
{
	const struct node *n = h->node;
	const struct allocation *a = record_ref(h->record);
	txn_put(txn, RECORD_ALLOCATION, a, NULL);
	lock_drop(txn, n, a->pod.uid);
	victim_forget(txn, n, a->pod.uid);
	pod_event(txn, a, why);
	record_unref(RECORD_ALLOCATION, a);
}

void pod_drop(struct txn *txn, const struct holding *h, const struct event *why)
{
	struct node *n = h->node;
	pod_give_way(txn, h, why);
	missing_sweep(txn, n);
}

bool lapse_drop(struct txn *txn, const char *uid, const char *node)
{
	const struct lapse_entry *e = cluster_lapse(txn->cluster, uid, node);
	if (e)
		txn_put(txn, RECORD_LAPSE, e->record, NULL);
	return e;
}

bool lapses_drop(struct txn *txn, const char *uid)
{
	struct lapse_entry *e;
	bool any = false;
	while ((e = cluster_lapse_from(txn->cluster, uid)) && strcmp(e->record->uid, uid) == 0) {
		txn_put(txn, RECORD_LAPSE, e->record, NULL);
		any = true;
	}
	return any;
}

static bool device_is_nominated(const struct node *n, int64_t id)
{
	for (const struct promise *p = n->promises; p; p = p->next)
		for (size_t i = 0; i < p->record->n_shares; i++)
			if (p->record->shares[i].device_id == id)
				return true;
	return false;
}

static const struct device_record *unwanted_device(const struct node *n)
{
	for (size_t i = 0; i < n->n_devices; i++) {
		const struct device *d = &n->devices[i];
		if (d->record->missing && !d->record->cordoned && !d->shares && !device_is_nominated(n, d->id))
			return d->record;
	}
	return NULL;
}

void missing_sweep(struct txn *txn, struct node *n)
{
	const struct device_record *r;
	while ((r = unwanted_device(n))) {
		record_ref(r);
		txn_put(txn, RECORD_DEVICE, r, NULL);
		txn_event(txn, &(struct event){
				       .kind = "device.removed", .node = r->node, .subject_kind = SUBJECT_DEVICE, .subject = r });
		record_unref(RECORD_DEVICE, r);
	}
}

struct error *node_list_make(struct cluster *c, const char *node, const char *const *names, size_t n, struct node_list *ret)
{
	*ret = (struct node_list){ 0 };
	if (node) {
		struct node *found = cluster_node(c, node);
		if (!found)
			return not_found_error("node", node);
		ret->nodes = mem_copy(&found, sizeof(struct node *));
		ret->n = 1;
	} else if (names) {
		ret->nodes = mem_array(n, sizeof(struct node *));
		for (size_t i = 0; i < n; i++)
			ret->nodes[i] = cluster_node(c, names[i]);
		ret->names = names;
		ret->n = n;
	} else {
		ret->nodes = mem_copy(c->order, c->n_nodes * sizeof(struct node *));
		ret->n = c->n_nodes;
	}
	return NULL;
}

void node_list_free(struct node_list *list)
{
	free(list->nodes);
	*list = (struct node_list){ 0 };
}

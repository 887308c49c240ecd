/* The whole cluster as a list of inserts, and what differs between two such lists. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/state.h"

static void add(struct change_list *list, enum record_kind kind, const void *record)
{
	change_list_add(list, kind, NULL, record_ref(record));
}

void cluster_snapshot(const struct cluster *c, struct change_list *ret)
{
	for (size_t i = 0; i < c->n_nodes; i++)
		add(ret, RECORD_NODE, c->order[i]->record);
	for (size_t i = 0; i < c->n_nodes; i++)
		for (size_t k = 0; k < c->order[i]->n_devices; k++)
			add(ret, RECORD_DEVICE, c->order[i]->devices[k].record);
	for (const struct holding *h = c->holdings; h; h = h->hh.next)
		add(ret, RECORD_ALLOCATION, h->record);
	for (const struct promise *p = c->promises; p; p = p->hh.next)
		add(ret, RECORD_NOMINATION, p->record);
	for (size_t i = 0; i < c->n_nodes; i++)
		if (c->order[i]->lock)
			add(ret, RECORD_LOCK, c->order[i]->lock->record);
	for (size_t i = 0; i < c->n_nodes; i++)
		for (const struct lapse_entry *l = c->order[i]->lapses; l; l = l->next)
			add(ret, RECORD_LAPSE, l->record);
	for (const struct refusal_entry *r = c->refusals; r; r = r->hh.next)
		add(ret, RECORD_REFUSAL, r->record);
}

/* What makes two records of a kind the same one, as two strings. */
static void identity(enum record_kind kind, const void *r, const char **first, const char **second)
{
	*second = "";
	switch (kind) {
	case RECORD_NODE:
		*first = ((const struct node_record *)r)->name;
		break;
	case RECORD_DEVICE:
		*first = ((const struct device_record *)r)->uuid;
		break;
	case RECORD_ALLOCATION:
		*first = ((const struct allocation *)r)->pod.uid;
		break;
	case RECORD_NOMINATION:
		*first = ((const struct nomination *)r)->pod.uid;
		break;
	case RECORD_LOCK:
		*first = ((const struct lock *)r)->node;
		break;
	case RECORD_LAPSE:
		*first = ((const struct lapse *)r)->uid;
		*second = ((const struct lapse *)r)->node;
		break;
	default:
		assert(kind == RECORD_REFUSAL);
		*first = ((const struct refusal *)r)->pod.uid;
		break;
	}
}

const char *record_name(enum record_kind kind, const void *record)
{
	const char *first, *second;
	identity(kind, record, &first, &second);
	return first;
}

static int compare(const void *a_, const void *b_)
{
	const struct change *a = *(const struct change *const *)a_, *b = *(const struct change *const *)b_;
	const char *a1, *a2, *b1, *b2;
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	identity(a->kind, a->after, &a1, &a2);
	identity(b->kind, b->after, &b1, &b2);
	int first = strcmp(a1, b1);
	return first ? first : strcmp(a2, b2);
}

static const struct change **sorted(const struct change_list *list)
{
	const struct change **order = mem_array(list->n, sizeof(struct change *));
	for (size_t i = 0; i < list->n; i++)
		order[i] = &list->changes[i];
	qsort(order, list->n, sizeof(struct change *), compare);
	return order;
}

/* Deletes come first and from the leaves to the roots, then the inserts and updates from the roots to the leaves. */
static void arrange(struct change_list *mixed, struct change_list *ret)
{
	for (int kind = RECORD_KINDS - 1; kind >= 0; kind--)
		for (size_t i = 0; i < mixed->n; i++)
			if ((int)mixed->changes[i].kind == kind && !mixed->changes[i].after)
				change_list_add(ret, mixed->changes[i].kind, record_ref(mixed->changes[i].before), NULL);
	for (int kind = 0; kind < RECORD_KINDS; kind++)
		for (size_t i = 0; i < mixed->n; i++)
			if ((int)mixed->changes[i].kind == kind && mixed->changes[i].after)
				change_list_add(ret, mixed->changes[i].kind, record_ref(mixed->changes[i].before),
					record_ref(mixed->changes[i].after));
}

static bool same_place(
	const char *node_a, const struct share *a, size_t n_a, const char *node_b, const struct share *b, size_t n_b)
{
	if (strcmp(node_a, node_b) != 0 || n_a != n_b)
		return false;
	for (size_t i = 0; i < n_a; i++)
		if (a[i].device_id != b[i].device_id)
			return false;
	return true;
}

/* Whether a record lies where it lay. One that moved to other devices or another node goes and comes, so that these may go and come too. */
static bool stayed(enum record_kind kind, const void *before, const void *after)
{
	const struct allocation *a = before, *b = after;
	const struct nomination *p = before, *q = after;
	switch (kind) {
	case RECORD_DEVICE:
		return strcmp(((const struct device_record *)before)->node, ((const struct device_record *)after)->node) == 0;
	case RECORD_ALLOCATION:
		return same_place(a->node, a->shares, a->n_shares, b->node, b->shares, b->n_shares);
	case RECORD_NOMINATION:
		return same_place(p->node, p->shares, p->n_shares, q->node, q->shares, q->n_shares);
	default:
		return true;
	}
}

void snapshot_difference(const struct change_list *from, const struct change_list *to, struct change_list *ret)
{
	const struct change **a = sorted(from), **b = sorted(to);
	struct change_list mixed = { 0 };
	size_t i = 0, k = 0;
	while (i < from->n || k < to->n) {
		int order = i == from->n ? 1 : k == to->n ? -1 : compare(&a[i], &b[k]);
		const void *before = order <= 0 ? a[i]->after : NULL, *after = order >= 0 ? b[k]->after : NULL;
		enum record_kind kind = order <= 0 ? a[i]->kind : b[k]->kind;
		if (order == 0 && !stayed(kind, before, after)) {
			change_list_add(&mixed, kind, record_ref(before), NULL);
			change_list_add(&mixed, kind, NULL, record_ref(after));
		} else if (order || !record_equal(kind, before, after)) {
			change_list_add(&mixed, kind, record_ref(before), record_ref(after));
		}
		i += order <= 0;
		k += order >= 0;
	}
	arrange(&mixed, ret);
	change_list_free(&mixed);
	free(a);
	free(b);
}

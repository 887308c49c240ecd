#include "core/txn.h"

#include <assert.h>

#include "core/cluster.h"

struct txn txn_begin(struct cluster *cluster, struct change_list *list, int64_t now, const char *actor)
{
	return (struct txn){ .cluster = cluster, .list = list, .start = list->n, .now = now, .actor = actor };
}

int64_t txn_revision(struct txn *txn)
{
	if (!txn->revision)
		txn->revision = ++cluster_counters(txn->cluster)->revision;
	return txn->revision;
}

void txn_put(struct txn *txn, enum record_kind kind, const void *before, const void *after_take)
{
	assert(kind != RECORD_EVENT && (before || after_take));
	change_list_add(txn->list, kind, record_ref(before), after_take);
	cluster_apply(txn->cluster, &txn->list->changes[txn->list->n - 1]);
}

void txn_event(struct txn *txn, const struct event *like)
{
	struct event e = *like;
	e.revision = txn_revision(txn);
	e.n = txn->events++;
	e.actor = txn->actor;
	if (!e.at)
		e.at = txn->now;
	change_list_add(txn->list, RECORD_EVENT, NULL, event_new(&e));
}

void txn_undo(struct txn *txn)
{
	for (size_t i = txn->list->n; i > txn->start; i--)
		cluster_unapply(txn->cluster, &txn->list->changes[i - 1]);
	change_list_truncate(txn->list, txn->start);
	txn->revision = 0;
	txn->events = 0;
}

void txn_abandon(struct txn *txn)
{
	struct counters *counters = cluster_counters(txn->cluster);
	int64_t revision = txn->revision;
	txn_undo(txn);
	assert(!revision || counters->revision == revision);
	counters->revision -= revision ? 1 : 0;
}

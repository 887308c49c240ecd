/* The cluster in memory: all records, found by name and uid, in order, and what follows from them (how much of each
 * device is held, who expires when). Changes move it and nothing else does; derived values are never stored.
 * No I/O, no clock, no SQL, no JSON. One thread at a time. */
#ifndef ALLOTD_CORE_CLUSTER_H
#define ALLOTD_CORE_CLUSTER_H

#include "core/change.h"

struct cluster;

/* Each restore moves the counters on to a multiple of this, so that nothing is used twice. */
#define EPOCH_TOKENS (INT64_C(1) << 41)

/* The counters of a cluster that outlive its records. None of them is ever undone. */
struct counters {
	int64_t revision; /* last used */
	int64_t token;    /* last used */
	int64_t id;       /* last used row id of nodes, devices, allocations and nominations */
};

/* An empty cluster; its end with everything in it. */
struct cluster *cluster_new(void);
void cluster_free(struct cluster *c); /* NULL is legal */

/* Applies one change. It must fit what is there (assert): before is the present record, parents exist.
 * Events are ignored. Raises the counters of ids and tokens over those it sees. Does not take references from the change; takes its own. */
void cluster_apply(struct cluster *c, const struct change *change);

/* Applies the opposite of a change that was just applied. */
void cluster_unapply(struct cluster *c, const struct change *change);

/* The counters; the caller may raise them (load, restore). cluster_apply raises `id` over every id it sees. */
struct counters *cluster_counters(struct cluster *c);

/* After loading, at a start: nothing that is there ends before `until` (Unix ms), so that whoever could not renew it while the server was
 * away still can. What is made or renewed afterwards ends on time. */
void cluster_grace(struct cluster *c, int64_t until);

/* A fresh row id. */
int64_t cluster_next_id(struct cluster *c);

/* Every record but events, as inserts in an order in which they can be applied to an empty cluster; references are taken.
 * The snapshot may be used by another thread. */
void cluster_snapshot(const struct cluster *c, struct change_list *ret);

/* The changes that turn the records `from` into the records `to` (two snapshots), in an order in which they can be applied. Compares with
 * record_equal, by identity. References are taken. */
void snapshot_difference(const struct change_list *from, const struct change_list *to, struct change_list *ret);

/* The name or uid that makes a record (not an event) what it is; the record's memory. */
const char *record_name(enum record_kind kind, const void *record);

/* How many records of each kind there are, for server.info. */
struct cluster_counts {
	size_t nodes, devices, allocations, nominations, locks, lapses, refusals;
};
struct cluster_counts cluster_count(const struct cluster *c);

#endif

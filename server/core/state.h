/* What the cluster is made of, for the core's decisions and for whoever prints it. Read-only outside cluster.c, inventory.c and
 * the other files that cluster_apply calls: everything moves by changes.
 *
 * Invariants
 *  1. Every entry points to the present record and holds one reference to it.
 *  2. A node's devices are in (type, minor, uuid) order, contiguous; stock k of a device belongs to capacity[k] of its record.
 *  3. `held`, `shares` and `wholes` of a device are the sums over the holdings of its node; nothing else is counted.
 *  4. An entry is in the deadline tree exactly when it can expire.
 *  5. Pointers to devices are valid until the next change of a device of that node; all others while the entry lives. */
#ifndef ALLOTD_CORE_STATE_H
#define ALLOTD_CORE_STATE_H

#include <bsd/sys/cdefs.h>
#include <bsd/sys/tree.h>
#include <uthash.h>

#include "core/cluster.h"

/* A device type or resource name as a small number; SYMBOL_NONE: no device ever had it. */
typedef uint32_t symbol;
enum { SYMBOL_NONE = 0 };

/* What can end by itself. */
enum deadline_kind { DEADLINE_LOCK, DEADLINE_RESERVATION, DEADLINE_NOMINATION, DEADLINE_LAPSE, DEADLINE_REFUSAL };

/* When something ends by itself; in the order of `due`, `at`, kind and keys. */
struct deadline {
	RB_ENTRY(deadline) link;
	int64_t at;  /* when its time is over: what ends is dated then */
	int64_t due; /* when it ends: `at`, or later for what was there before the start (cluster_grace) */
	enum deadline_kind kind;
	const char *key;  /* uid or node, of the entry's record */
	const char *key2; /* node of a lapse, else "" */
	bool armed;       /* is in the tree */
};
RB_HEAD(deadline_tree, deadline);

/* One resource of one device. */
struct stock {
	symbol resource;
	int64_t capacity;
	int64_t held; /* by all holdings */
};

/* A device in memory, and how much of it is held. */
struct device {
	const struct device_record *record;
	int64_t id;
	symbol type;
	bool eligible;        /* present, healthy and not cordoned; the node's flags count besides */
	uint32_t first_stock; /* index into the node's stocks */
	uint32_t n_stocks;
	int64_t limit;  /* max_shares of the record, 0 = none */
	int64_t shares; /* claims that hold something on it */
	int64_t wholes; /* those that hold it whole */
};

/* A holding: an allocation in memory, which holds devices of its node from the reservation on. */
struct holding {
	const struct allocation *record;
	struct node *node;
	struct holding *prev, *next; /* on the node, utlist */
	struct deadline deadline;    /* armed while reserved */
	UT_hash_handle hh;           /* by uid */
	RB_ENTRY(holding) by_uid;
	RB_ENTRY(holding) by_name; /* namespace, name, uid */
};
RB_HEAD(holding_tree, holding);
RB_HEAD(holding_names, holding);

/* A promise: a nomination in memory, which keeps devices of its node free for its pod. */
struct promise {
	const struct nomination *record;
	struct node *node;
	struct promise *prev, *next; /* on the node, most important first */
	struct deadline deadline;
	UT_hash_handle hh; /* by uid */
	RB_ENTRY(promise) by_uid;
};
RB_HEAD(promise_tree, promise);

/* The lock of a node in memory. */
struct lock_entry {
	const struct lock *record;
	struct node *node;
	struct deadline deadline;
	RB_ENTRY(lock_entry) by_uid; /* uid, node */
};
RB_HEAD(lock_tree, lock_entry);

/* A bind that ran out, in memory: its agent is told so for a while. */
struct lapse_entry {
	const struct lapse *record;
	struct node *node;
	struct lapse_entry *prev, *next; /* on the node */
	struct deadline deadline;
	RB_ENTRY(lapse_entry) by_uid; /* uid, node */
};
RB_HEAD(lapse_tree, lapse_entry);

/* Why a pod was refused last, in memory. */
struct refusal_entry {
	const struct refusal *record;
	struct deadline deadline;
	UT_hash_handle hh; /* by uid */
};

/* What every filter reads comes first, on one cache line. */
struct node {
	struct device *devices;
	size_t n_devices;
	struct stock *stocks;
	size_t n_stocks;
	size_t n_promises;
	bool closed; /* cordoned or unverified: nothing is given out */
	const struct node_record *record;
	struct promise *promises;
	size_t devices_room, stocks_room;
	struct holding *holdings;
	size_t n_holdings;
	struct lapse_entry *lapses;
	struct lock_entry *lock; /* NULL = free */
	UT_hash_handle hh;       /* by name */
};

/* Where a device is, by uuid. */
struct device_place {
	const struct device_record *record;
	struct node *node;
	UT_hash_handle hh;
};

struct symbol_entry;
struct shared_request;

/* The whole: each kind of entry by its keys, in the orders in which it is read, and all that ends by itself. */
struct cluster {
	struct counters counters;
	struct symbol_entry *symbols;
	struct node *nodes;  /* hash by name */
	struct node **order; /* by name */
	size_t n_nodes, order_room;
	struct device_place *devices; /* hash by uuid */
	struct holding *holdings;     /* hash by uid */
	struct holding_tree holdings_by_uid;
	struct holding_names holdings_by_name;
	struct shared_request *requests; /* hash by text */
	size_t n_over;                   /* allocations that were forced in beyond what fits */
	struct promise *promises;        /* hash by uid */
	struct promise_tree promises_by_uid;
	struct lock_tree locks;
	size_t n_locks;
	struct lapse_tree lapses;
	size_t n_lapses;
	struct refusal_entry *refusals; /* hash by uid */
	struct deadline_tree deadlines;
	struct grace {
		int64_t until;    /* Unix ms; 0 = none */
		int64_t revision; /* what was last changed by then, or has a token up to this, was there before */
		int64_t token;
	} grace;
};

RB_PROTOTYPE(deadline_tree, deadline, link, deadline_compare)
RB_PROTOTYPE(holding_tree, holding, by_uid, holding_compare_uid)
RB_PROTOTYPE(holding_names, holding, by_name, holding_compare_name)
RB_PROTOTYPE(promise_tree, promise, by_uid, promise_compare)
RB_PROTOTYPE(lock_tree, lock_entry, by_uid, lock_compare)
RB_PROTOTYPE(lapse_tree, lapse_entry, by_uid, lapse_compare)

/* Look-ups; NULL when there is none. */
struct node *cluster_node(const struct cluster *c, const char *name);
struct device_place *cluster_device(const struct cluster *c, const char *uuid);
struct holding *cluster_holding(const struct cluster *c, const char *uid);
struct promise *cluster_promise(const struct cluster *c, const char *uid);
struct refusal_entry *cluster_refusal(const struct cluster *c, const char *uid);
struct lapse_entry *cluster_lapse(const struct cluster *c, const char *uid, const char *node);
symbol cluster_symbol(const struct cluster *c, const char *name);

/* The request that allocations with an equal one share; `r` itself when there is none. */
const struct request *cluster_shared_request(const struct cluster *c, const struct request *r);

/* The first entry whose uid is at or after (`after` false) or strictly after (`after` true) `uid`; NULL at the end.
 * Go on with RB_NEXT. */
struct holding *cluster_holding_from(struct cluster *c, const char *uid, bool after);
struct promise *cluster_promise_from(struct cluster *c, const char *uid, bool after);
struct lock_entry *cluster_lock_from(struct cluster *c, const char *uid);
struct lapse_entry *cluster_lapse_from(struct cluster *c, const char *uid);

/* The holding of (namespace, name) with the smallest uid; more may follow by RB_NEXT on by_name. */
struct holding *cluster_holding_named(struct cluster *c, const char *namespace, const char *name);

/* Index in c->order of the first node whose name is at or after `name` (after it, if `after`). */
size_t cluster_node_index(const struct cluster *c, const char *name, bool after);

/* Whether a pod that was forced in by pod.adopt has a device that more is held of than it has. */
bool cluster_over_subscribed(const struct cluster *c);

/* A device of the node by row id or by uuid; NULL when it is not there. */
struct device *node_device(const struct node *n, int64_t id);
struct device *node_device_uuid(const struct node *n, const char *uuid);

/* The order of devices within a node: type, minor, uuid. */
int device_order(const struct device_record *a, const struct device_record *b);

/* The most important nomination that counts on the pod leaving its node; NULL when none. */
const struct nomination *holding_preemptor(const struct holding *h);

/* Whether the nomination names the uid as a victim. */
bool nomination_has_victim(const struct nomination *n, const char *uid);

/* Most important first: higher priority, then older. */
int nomination_order(const struct nomination *a, const struct nomination *b);

#endif

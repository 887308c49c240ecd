/* The records of the cluster: what the database has as rows and the wire as objects.
 *
 * A record is an immutable value. It is made complete by X_new from a template whose strings and arrays may live
 * anywhere, is one block of memory that owns all it points to, and is shared by counting references (X_ref, X_unref;
 * unref of NULL is legal; safe from any thread). A change replaces one record by another; nobody edits one.
 * Other records a record points to (a request, a handout) are held by reference.
 *
 * Strings are never NULL unless said so. Times are Unix milliseconds, amounts are in the operator's unit. */
#ifndef ALLOTD_CORE_RECORD_H
#define ALLOTD_CORE_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/request.h"

/* One key and value; lists of labels are sorted by key. */
struct label {
	const char *key;
	const char *value;
};

/* How much of one resource; lists of amounts are sorted by resource. */
struct amount {
	const char *resource;
	int64_t value;
};

/* Who asks: the identity and the weight of a pod. */
struct pod {
	const char *uid; /* the identity */
	const char *namespace;
	const char *name;
	const char *gang; /* "" = none; scoped by namespace */
	int32_t priority;
	bool preemptible;
	bool external; /* never released by reconcile */
};

struct node_record {
	int64_t id;       /* row id, never reused */
	const char *name; /* the identity */
	bool cordoned;
	bool unverified;      /* nothing is given out until its agent has reconciled */
	const char *reason;   /* of the last cordon or verify, "" = none */
	int64_t last_seen_at; /* when its agent last spoke */
	int64_t revision;     /* of the last change */
	const struct label *labels;
	size_t n_labels;
};

struct device_record {
	int64_t id; /* row id, never reused */
	int64_t node_id;
	const char *node; /* its node's name */
	const char *uuid; /* the identity */
	const char *type;
	int64_t minor;
	const char *model;
	bool healthy;
	bool cordoned;
	bool missing;       /* no longer listed by the node, kept because held, nominated or cordoned */
	int64_t max_shares; /* 0 = no limit */
	int64_t numa;       /* -1 = unknown */
	int64_t socket;     /* -1 = unknown */
	const char *pcie;   /* "" = unknown */
	const char *bus_id;
	const char *reason; /* of the last device.update, "" = none */
	int64_t revision;
	const struct amount *capacity;
	size_t n_capacity;
	const struct label *labels;
	size_t n_labels;
};

/* What one claim holds (or is promised) on one device. */
struct share {
	int64_t device_id;
	const char *uuid;
	int64_t minor;
	size_t claim; /* index into the request */
	bool whole;   /* the device is held alone; amounts are its capacity at that time */
	const struct amount *amounts;
	size_t n_amounts;
};

/* The states that hold devices; POD_NONE is the state of a uid without an allocation. */
enum pod_state { POD_NONE, POD_RESERVED, POD_BOUND, POD_ALLOCATED, POD_RELEASING, POD_STATES };

/* What a node agent said when it handed out one group. */
struct handout {
	const char *call;              /* idempotency key, "" = none */
	const char *const *device_ids; /* sorted */
	size_t n_device_ids;
	int64_t confirmed_at; /* 0 = not confirmed */
	const char *detail;   /* JSON text of plugin.confirm's detail, "" = none */
};

struct allocation {
	int64_t id;     /* row id, rising with age, never reused */
	struct pod pod; /* pod.uid is the identity */
	int64_t node_id;
	const char *node;
	enum pod_state state;
	bool over; /* forced in by pod.adopt beyond what fits */
	const struct request *request;
	uint32_t handed_out; /* bit g: group g of the request was handed out */
	int64_t created_at;
	int64_t state_at;   /* when the present state began */
	int64_t expires_at; /* reserved: of the reservation; bound: of the lock; else 0 */
	int64_t token;      /* lock token it was bound under, 0 = never bound */
	int64_t revision;
	const struct share *shares; /* by claim, then minor; claims that reuse have none */
	size_t n_shares;
	const struct handout *handouts[REQUEST_GROUPS]; /* by group; NULL = nothing to remember */
};

struct nomination {
	int64_t id;
	struct pod pod; /* pod.uid is the identity */
	int64_t node_id;
	const char *node;
	const struct request *request;
	int64_t expires_at;
	int64_t revision;
	const struct share *shares;
	size_t n_shares;
	const char *const *victims; /* uids, sorted */
	size_t n_victims;
};

/* The lock of a node. */
struct lock {
	int64_t node_id;
	const char *node; /* the identity */
	const char *uid;  /* the pod that holds it */
	int64_t token;    /* rises, never used twice */
	int64_t acquired_at;
	int64_t expires_at;
	int64_t ttl; /* ms; each group handed out renews expires_at by it */
};

/* A bind of (node, uid) that ran out before anything was handed out; kept for 24 h. */
struct lapse {
	int64_t node_id;
	const char *node;
	const char *uid;               /* with `node` the identity */
	const struct request *request; /* what was asked: late calls are matched against its groups */
	int64_t at;
	int64_t expires_at;
};

/* How many nodes were refused for one reason. */
struct slug_count {
	const char *slug;
	int64_t count;
};

/* Why a pod is pending: its last refusals. */
struct refusal {
	struct pod pod;      /* pod.uid is the identity */
	const char *reason;  /* "insufficient", or "failed" after plugin.fail */
	const char *message; /* the reason plugin.fail gave, else "" */
	int64_t first_at;
	int64_t last_at;
	int64_t count; /* refusals since first_at */
	int64_t expires_at;
	const struct request *request;   /* NULL when unknown */
	const struct slug_count *counts; /* sorted by slug */
	size_t n_counts;
	const char *const *nodes; /* at most 20 names */
	size_t n_nodes;
};

/* What an event's data is: the record after the change (for what is gone: as it last was). */
enum event_subject {
	SUBJECT_NONE,
	SUBJECT_NODE,
	SUBJECT_DEVICE,
	SUBJECT_ALLOCATION,
	SUBJECT_NOMINATION,
	SUBJECT_LOCK,
	SUBJECT_LAPSE,
	SUBJECT_REFUSAL
};

struct event {
	int64_t revision;
	int64_t n; /* place within the revision, from 0 */
	int64_t at;
	const char *kind; /* "pod.reserved" ... */
	const char *node; /* "" = none */
	const char *uid;  /* "" = none */
	const char *actor;
	const char *reason; /* the caller's reason or the cause; "" = none */
	const char *cause;  /* what made the server do it ("external", "expired", ...); "" = none */
	const char *by;     /* the uid that caused it; "" = none */
	int64_t unclaimed;  /* groups never handed out, 0 = does not apply */
	enum event_subject subject_kind;
	const void *subject; /* the record, held by reference; NULL for SUBJECT_NONE */
};

/* X_new copies the template deeply and returns the first reference. A template is not a record: it is never referenced. */
struct node_record *node_record_new(const struct node_record *like);
struct device_record *device_record_new(const struct device_record *like);
struct handout *handout_new(const struct handout *like);
struct allocation *allocation_new(const struct allocation *like);
struct nomination *nomination_new(const struct nomination *like);
struct lock *lock_new(const struct lock *like);
struct lapse *lapse_new(const struct lapse *like);
struct refusal *refusal_new(const struct refusal *like);
struct event *event_new(const struct event *like);

/* Handouts are also held on their own, by the allocations that share them. */
void handout_unref(const struct handout *h);

/* The kinds of records a change can carry; also the subjects' order of loading. */
enum record_kind {
	RECORD_NODE,
	RECORD_DEVICE,
	RECORD_ALLOCATION,
	RECORD_NOMINATION,
	RECORD_LOCK,
	RECORD_LAPSE,
	RECORD_REFUSAL,
	RECORD_EVENT,
	RECORD_KINDS
};

/* One more reference to a record of any kind / one less; the last one releases it. NULL is legal. */
const void *record_ref(const void *record);
void record_unref(enum record_kind kind, const void *record);

/* Whether two records of one kind say the same (ids included, references not). `last_seen_at` counts. */
bool record_equal(enum record_kind kind, const void *a, const void *b);

/* "reserved", "bound", ...; "none" for POD_NONE. */
const char *pod_state_name(enum pod_state state);

/* The state of that name; POD_NONE when there is none. */
enum pod_state pod_state_parse(const char *name);

/* Whether two pods have the same identity and attributes. */
bool pod_equal(const struct pod *a, const struct pod *b);

/* Whether both are of one gang (same namespace, same non-empty gang). */
bool pod_same_gang(const struct pod *a, const struct pod *b);

/* Value of a resource in a sorted list of amounts; `otherwise` when it is not in it. */
int64_t amount_of(const struct amount *amounts, size_t n, const char *resource, int64_t otherwise);

#endif

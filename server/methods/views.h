/* How records look on the wire. Each prints one object as the member `key` (NULL in an array); X_members prints what is inside it.
 * What is derived from the rest of the cluster is passed in, so events can be printed on another thread. */
#ifndef ALLOTD_METHODS_VIEWS_H
#define ALLOTD_METHODS_VIEWS_H

#include "core/report.h"
#include "core/state.h"
#include "rpc/json_out.h"
#include "rpc/method.h"

/* A pod: who it is. */
void view_pod(struct json_out *o, const char *key, const struct pod *pod);

/* What an allocation's own record does not say; NULL in events. */
struct view_extra {
	const char *preempted_by; /* NULL = nobody */
	bool says_existing;       /* whether `existing` is printed */
	bool existing;
};

/* An allocation by its record and what is known besides. */
void view_allocation_members(struct json_out *o, const struct allocation *a, const struct view_extra *extra);

/* An allocation as it is in the cluster now. */
void view_holding(struct json_out *o, const char *key, const struct holding *h);

/* The answer of a method whose result is an Allocation: the members, with `existing`. */
void view_allocation_result(struct json_out *o, const struct cluster *c, const struct allocation *a, bool existing);

/* `ignored` NULL: no such member. */
void view_nomination(
	struct json_out *o, const char *key, const struct nomination *n, const char *const *ignored, size_t n_ignored);

void view_nomination_members(struct json_out *o, const struct nomination *n, const char *const *ignored, size_t n_ignored);

/* The other records as they are. */
void view_lock_members(struct json_out *o, const struct lock *l);
void view_lock(struct json_out *o, const char *key, const struct lock *l);
void view_node(struct json_out *o, const char *key, const struct node *n);
void view_node_flags(struct json_out *o, const struct node_record *r); /* members: node, cordoned, unverified */
void view_refusal_members(struct json_out *o, const struct refusal *r);
void view_refusal(struct json_out *o, const char *key, const struct refusal *r);

/* A device with its holders; `node` is its node and `d` its place there. */
void view_device(struct json_out *o, const char *key, const struct node *n, const struct device *d);
void view_device_members(struct json_out *o, const struct node *n, const struct device *d);

/* What one pod holds on a device by one claim: an element of `holders`. */
void view_holder(struct json_out *o, const struct allocation *a, const struct share *s);

/* Only what its record says. */
void view_device_record(struct json_out *o, const struct device_record *r);

/* The array `devices` of a set of shares, for the claims in `mask`; `a` (may be NULL) says what was handed out. */
void view_shares(struct json_out *o, const char *key, const struct request *request, const struct share *shares, size_t n_shares,
	uint32_t mask, const struct allocation *a);

/* The groups of a pending pod. */
void view_groups(struct json_out *o, const char *key, const struct allocation *a);

/* {key: value} and {resource: amount}. */
void view_labels(struct json_out *o, const char *key, const struct label *labels, size_t n);
void view_amounts(struct json_out *o, const char *key, const struct amount *amounts, size_t n);

/* {slug: n} and {node: [Reason]}, for at most `most` nodes. */
void view_counts(struct json_out *o, const char *key, const struct report *report);
void view_reasons(struct json_out *o, const char *key, const struct report *report, size_t most);

/* Adds `counts` and `nodes` to an ERR_INSUFFICIENT; any other error (or NULL) is returned as it is. */
struct error *with_report(struct error *e, const struct report *report);

/* An event's data, for store_codec. Callable from any thread. */
void view_event_data(const struct event *event, struct text *to);

/* What the views look like, for the OpenRPC document. */
extern const struct rpc_type *const view_types[];
extern const size_t n_view_types;
extern const struct rpc_member allocation_members[], nomination_members[], device_members[];

#endif

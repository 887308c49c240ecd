/* Parameters that several methods share, and how they become the core's values. */
#ifndef ALLOTD_METHODS_SHAPES_H
#define ALLOTD_METHODS_SHAPES_H

#include "core/lifecycle.h"
#include "rpc/field.h"

/* Pod. */
struct pod_params {
	const char *uid, *namespace, *name, *gang;
	int32_t priority;
	bool preemptible, external;
};
extern const struct rpc_shape pod_shape;
struct pod pod_of(const struct pod_params *params);

/* Claim, the element of a request. */
struct claim_params {
	const char *type;
	int64_t count;
	const char *container;
	struct rpc_portions resources;
	struct rpc_strings models;
	struct rpc_labels labels;
	struct rpc_strings uuids, exclude_uuids;
	unsigned same; /* enum topology */
	const char *together;
	bool agent;
	const char *reuse;
};
extern const struct rpc_shape claim_shape;

/* The request that a list of decoded claims makes; a fresh reference (request_unref). ERR_INVALID_PARAMS with `path`. */
struct error *request_of(const struct rpc_list *claims, struct request **ret) __attribute__((warn_unused_result));

/* The same from the canonical text, for the store. Callable from any thread. */
struct error *request_parse(const char *text, struct request **ret) __attribute__((warn_unused_result));

/* binpack, spread. */
extern const struct rpc_name policy_names[];

/* Fields that many tables have; see rpc/field.h for the rules. */
#define FIELD_TTL(type, seconds, doc) OPTIONAL(type, ttl, doc, RANGE(1, 86400), DEFAULT(seconds))
#define FIELD_IF_REVISION(type) \
	OPTIONAL(type, if_revision, "`conflict` unless the record is at this revision.", RANGE(0, RPC_INTEGER_MAX), DEFAULT(-1))
#define FIELD_REQUEST(type)                                                                                       \
	REQUIRED(type, request, "What it asks for, in the order in which the kubelet asks.", SHAPE(&claim_shape), \
		ITEMS(1, REQUEST_CLAIMS))
#define FIELD_LIMIT(type) OPTIONAL(type, limit, "At most so many.", RANGE(1, 5000), DEFAULT(1000))
#define FIELD_AFTER(type) OPTIONAL(type, after, "Go on after this: the `next` of the page before.", TEXT(2048))

#endif

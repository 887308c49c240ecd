/* Nodes and devices: registering, verifying, cordoning, removing. */
#ifndef ALLOTD_CORE_INVENTORY_H
#define ALLOTD_CORE_INVENTORY_H

#include "core/pods.h"

enum { NODE_DEVICES = 1024 }; /* of one node, missing ones included */

/* A device as its node reports it. */
struct device_report {
	struct device_record record; /* ids, node, flags and revision are ignored, but `healthy` counts if it was said */
	bool says_healthy;
};

struct register_node {
	const char *node;
	const struct device_report *devices;
	size_t n_devices;
	const struct label *labels; /* sorted; NULL = unchanged */
	size_t n_labels;
	const char *const *types; /* NULL = the list is full for every type */
	size_t n_types;
	bool allow_empty;
	bool verify; /* a new node starts unverified */
};

struct registered {
	int64_t added, updated, missing, removed;
	int64_t revision;
};

/* ERR_INVALID_PARAMS (a repeated device, a type outside `types`), ERR_CONFLICT (a uuid of another node; an empty list), ERR_OVERLOADED
 * (too many devices). */
struct error *node_register(struct txn *txn, const struct register_node *args, struct registered *ret)
	__attribute__((warn_unused_result));

/* Each returns the node after the call; nothing happens when it is so already (another reason for a cordon is noted). ERR_NOT_FOUND. */
struct error *node_verify(struct txn *txn, const char *node, const char *reason, const struct node_record **ret)
	__attribute__((warn_unused_result));
struct error *node_cordon(struct txn *txn, const char *node, bool cordoned, const char *reason, const struct node_record **ret)
	__attribute__((warn_unused_result));

/* `*released` is an array of owned strings, sorted. ERR_NOT_FOUND, ERR_CONFLICT without force. */
struct error *node_remove(struct txn *txn, const char *node, bool force, char ***released, size_t *n)
	__attribute__((warn_unused_result));

enum said { SAID_NOTHING, SAID_NO, SAID_YES };

/* Returns the device after the call, with a reference of its own (it may be gone: a missing one that is no longer cordoned).
 * ERR_NOT_FOUND. */
struct error *device_update(struct txn *txn, const char *node, const char *uuid, enum said healthy, enum said cordoned,
	const char *reason, const struct device_record **ret) __attribute__((warn_unused_result));

/* Notes that the node's agent spoke; a change without a revision, at most once in ten seconds. */
void node_seen(struct txn *txn, const struct node *n);

#endif

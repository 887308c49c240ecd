/* Between the files that move the cluster: cluster.c (dispatch), devices.c (the arrays of a node), holdings.c (allocations and
 * nominations), symbols.c. Nobody else includes this. */
#ifndef ALLOTD_CORE_CLUSTER_PRIVATE_H
#define ALLOTD_CORE_CLUSTER_PRIVATE_H

#include "core/state.h"

/* The symbol of a name, made when there is none yet. */
symbol symbol_intern(struct cluster *c, const char *name);
void symbols_free(struct cluster *c);

/* An allocation with this request comes; goes. */
void shared_request_add(struct cluster *c, const struct request *r);
void shared_request_drop(struct cluster *c, const struct request *r);

/* Replaces a device record by another; either may be NULL. */
void devices_apply(struct cluster *c, const struct device_record *before, const struct device_record *after);

/* Adds (sign 1) or takes away (sign -1) what shares hold on the node's devices. */
void devices_count(struct node *n, const struct share *shares, size_t n_shares, int64_t sign);

/* The same for the other kinds of records. */
void holdings_apply(struct cluster *c, const struct allocation *before, const struct allocation *after);
void promises_apply(struct cluster *c, const struct nomination *before, const struct nomination *after);
void locks_apply(struct cluster *c, const struct lock *before, const struct lock *after);
void lapses_apply(struct cluster *c, const struct lapse *before, const struct lapse *after);
void refusals_apply(struct cluster *c, const struct refusal *before, const struct refusal *after);

#endif

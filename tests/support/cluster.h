/* Small clusters for tests: the standard devices of the scenario files, and the usual calls on them. */
#ifndef TESTS_SUPPORT_CLUSTER_H
#define TESTS_SUPPORT_CLUSTER_H

#include <jansson.h>

#include "support/wire.h"

/* The standard device `i` of the `n` devices of a type: uuid "n1-gpu-0"; gpu {core 100, memory 80}, rdma {vf 30}, host {cpu 64000,
 * memory 262144}; of more than one, half are on numa 0 and half on numa 1, and two on each pcie. */
json_t *standard_device(const char *node, const char *type, int n, int i);

/* Registers a node with `n` standard GPUs. */
void register_gpus(struct wire *w, const char *node, int n);

/* pod.reserve parameters: `count` whole GPUs of the node. */
json_t *whole_gpus(const char *uid, const char *node, int count);

/* Takes the pod from nothing to allocated with that many whole GPUs. */
void run_pod(struct wire *w, const char *uid, const char *node, int count);

#endif

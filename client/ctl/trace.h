/* A cluster and its workload as CSV files describe them (the format of the openb trace), and how they map to devices and claims:
 *
 *   node   `gpu` devices of type gpu with { milli: 1000 } and the model, one device of type host with { cpu, memory }
 *   pod    a claim of num_gpu GPUs with gpu_milli each (whole ones for 1000) of the models in gpu_spec, and a claim on the host
 *
 * A resource that the nodes' file does not tell is not asked for either. */
#ifndef ALLOTCTL_TRACE_H
#define ALLOTCTL_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

enum { TRACE_MILLI = 1000 }; /* of one GPU */

/* A line of the nodes' file. */
struct trace_node {
	char *name;
	char *model;
	int64_t cpu;    /* milli */
	int64_t memory; /* MiB */
	int64_t gpus;
};

/* A line of the pods' file. */
struct trace_pod {
	char *name;
	char *models; /* "A|B", "" = any */
	int64_t cpu;
	int64_t memory;
	int64_t gpus;
	int64_t milli;   /* of each GPU */
	int64_t created; /* seconds in the trace's time */
	int64_t deleted; /* < 0 = never */
};

/* Both files. */
struct trace {
	struct trace_node *nodes;
	size_t n_nodes, room_nodes;
	struct trace_pod *pods;
	size_t n_pods, room_pods;
	bool has_cpu, has_memory; /* the nodes' file tells them */
	bool has_times;           /* the pods' file tells creation times */
};

/* Reads both files. On failure NULL and *error is a sentence naming file and line (free()). Ended with trace_free. */
struct trace *trace_read(const char *nodes_file, const char *pods_file, char **error);
void trace_free(struct trace *trace);

/* The params of node.register for a node; a new reference. */
json_t *trace_register_params(const struct trace_node *node);

/* The params of pod.reserve for a pod; `policy` may be NULL. A new reference. */
json_t *trace_reserve_params(const struct trace *trace, const struct trace_pod *pod, const char *policy);

/* One thing to do with a pod. */
struct trace_step {
	size_t pod;   /* index */
	bool release; /* else reserve */
};

/* What to do in which order, `*ret_n` steps of new memory. Without `churn` every pod is reserved in the order of the file; with it pods are
 * reserved and released at their times (at the same time releases come first). With a `seed` (NULL = none) the pods are shuffled first. */
struct trace_step *trace_steps(const struct trace *trace, bool churn, const int64_t *seed, size_t *ret_n);

#endif

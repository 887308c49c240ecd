/* The parts of the load generator. Each prints one line of words NAME=VALUE, so that tests/bench/run can pick what it needs. */
#ifndef TESTS_BENCH_LOAD_H
#define TESTS_BENCH_LOAD_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "allot.h"

struct load {
	const char *socket; /* path */
	size_t connections;
	size_t nodes;    /* of the cluster */
	size_t per_node; /* allocations on each node */
	double seconds;  /* of a measurement */
	size_t calls;    /* of a measurement */
	pid_t pid;       /* of the server, for its memory */
	size_t first;    /* node on which the first connection works */
};

enum { LOAD_GPUS = 8 }; /* devices of a node */

/* Ends the program with a sentence; what a benchmark cannot do it does not survive. */
_Noreturn void load_die(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A connection by liballot, for everything that is not measured. */
struct allot_conn *load_connect(const struct load *load);

/* A call that must succeed; the result is a new reference. */
json_t *load_call(struct allot_conn *conn, const char *method, json_t *params_take);

/* Monotonic time in ns; the resident memory of a process in KiB. */
int64_t load_now(void);
long load_rss(pid_t pid);

/* Registers the nodes load-00000 ... with 8 GPUs each. */
void load_cluster(const struct load *load);

/* Puts per_node allocated pods on each of the nodes, each taking an eighth of a GPU. */
void load_fill(const struct load *load);

/* The measurement: each connection cycles pod.reserve, pod.bind, plugin.allocate, pod.release on its own node, one call at a time. */
void load_cycle(const struct load *load);

/* The median of pod.filter with detail "counts" over all nodes. */
void load_filter(const struct load *load);

/* What idle connections cost the server. */
void load_idle(const struct load *load);

#endif

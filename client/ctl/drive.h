/* Drives a workload through the server: every pod is reserved, bound and allocated, some are released.
 *
 * Placement depends on the order of reserves and releases only, so these go over one connection, pipelined, in the order of
 * the steps. Binding and allocating change nothing for others but the node's lock, so they go over further connections,
 * all of a node over the same one, in order: they never find a lock taken, and the result is the same in every run. */
#ifndef ALLOTCTL_DRIVE_H
#define ALLOTCTL_DRIVE_H

#include "ctl/ctl.h"
#include "ctl/latency.h"
#include "ctl/trace.h"

/* What is measured apart. */
enum drive_call { CALL_RESERVE, CALL_BIND, CALL_ALLOCATE, CALL_RELEASE, DRIVE_CALLS };

/* The method's name. */
extern const char *const drive_call_names[DRIVE_CALLS];

/* What became of the pods. */
struct drive_result {
	size_t placed;  /* pods reserved, bound and allocated */
	size_t refused; /* pods that were not reserved */
	size_t failed;  /* pods that were reserved but not bound, allocated or released */
	size_t released;
	int64_t peak_milli; /* the most that placed pods held of the GPUs at one time */
	json_t *reasons;    /* object: what was answered to the refused and failed, "pod.reserve: insufficient" -> how often */
	struct latency latencies[DRIVE_CALLS];
	size_t calls;
	double seconds;
};

/* Registers the trace's nodes over the given connection. */
int drive_register(struct ctl *ctl, const struct trace *trace);

/* Carries out the steps. CTL_OK also when pods were refused; *result is ended with drive_result_free in any case. */
int drive(
	struct ctl *ctl, const struct trace *trace, const struct trace_step *steps, size_t n_steps, struct drive_result *result);
void drive_result_free(struct drive_result *result);

#endif

/* Latencies of calls: kept all, told as percentiles. */
#ifndef ALLOTCTL_LATENCY_H
#define ALLOTCTL_LATENCY_H

#include <stddef.h>
#include <stdint.h>

/* Begins zeroed, ended with latency_free. */
struct latency {
	int64_t *samples; /* ns */
	size_t n;
	size_t room;
};

/* Keeps one sample. */
void latency_add(struct latency *latency, int64_t ns);

/* Releases the samples; the struct is zeroed and usable again. */
void latency_free(struct latency *latency);

/* The smallest sample that at least `part` (0-1) of all do not exceed, in ns; 0 without samples. Sorts the samples. */
int64_t latency_percentile(struct latency *latency, double part);

/* Monotonic time, ns. */
int64_t latency_now(void);

#endif

/* Latencies; see latency.h. */
#include "ctl/latency.h"

#include <stdlib.h>
#include <time.h>

#include "ctl/mem.h"

void latency_add(struct latency *latency, int64_t ns)
{
	latency->samples = mem_grow(latency->samples, latency->n, &latency->room, sizeof(*latency->samples));
	latency->samples[latency->n++] = ns;
}

void latency_free(struct latency *latency)
{
	free(latency->samples);
	*latency = (struct latency){ 0 };
}

static int by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

int64_t latency_percentile(struct latency *latency, double part)
{
	size_t at;

	if (latency->n == 0) {
		return 0;
	}
	qsort(latency->samples, latency->n, sizeof(*latency->samples), by_value);
	at = (size_t)(part * (double)latency->n);
	return latency->samples[at < latency->n ? at : latency->n - 1];
}

int64_t latency_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

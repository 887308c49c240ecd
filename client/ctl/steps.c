/* The order in which a replay does things; see trace_steps in trace.h. The same files and seed give the same order on every machine. */
#include <stdlib.h>

#include "ctl/mem.h"
#include "ctl/trace.h"

/* A step with what it is sorted by. */
struct timed {
	struct trace_step step;
	int64_t at;
	size_t rank; /* place among steps of the same time and kind */
};

/* splitmix64 */
static uint64_t next_random(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

static size_t *shuffled(size_t n, const int64_t *seed)
{
	size_t *order = mem_array(n, sizeof(*order)), i;
	uint64_t state = seed ? (uint64_t)*seed : 0;

	for (i = 0; i < n; i++) {
		order[i] = i;
	}
	for (i = n; seed && i > 1; i--) {
		size_t other = (size_t)(next_random(&state) % i), spare = order[i - 1];

		order[i - 1] = order[other];
		order[other] = spare;
	}
	return order;
}

static int by_time(const void *a, const void *b)
{
	const struct timed *x = a, *y = b;

	if (x->at != y->at) {
		return x->at < y->at ? -1 : 1;
	}
	if (x->step.release != y->step.release) {
		return x->step.release ? -1 : 1;
	}
	return x->rank < y->rank ? -1 : x->rank > y->rank;
}

/* A pod that is deleted at its creation or before is deleted right after it: one second later. */
static int64_t release_time(const struct trace_pod *pod)
{
	return pod->deleted > pod->created ? pod->deleted : pod->created + 1;
}

struct trace_step *trace_steps(const struct trace *trace, bool churn, const int64_t *seed, size_t *ret_n)
{
	size_t *order = shuffled(trace->n_pods, seed), n = 0, i;
	struct timed *timed = mem_array(2 * trace->n_pods, sizeof(*timed));
	struct trace_step *steps = mem_array(2 * trace->n_pods, sizeof(*steps));

	for (i = 0; i < trace->n_pods; i++) {
		const struct trace_pod *pod = &trace->pods[order[i]];

		timed[n++] = (struct timed){ { order[i], false }, churn ? pod->created : 0, i };
		if (churn && pod->deleted >= 0) {
			timed[n++] = (struct timed){ { order[i], true }, release_time(pod), i };
		}
	}
	qsort(timed, n, sizeof(*timed), by_time);
	for (i = 0; i < n; i++) {
		steps[i] = timed[i].step;
	}
	free(timed);
	free(order);
	*ret_n = n;
	return steps;
}

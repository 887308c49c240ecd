/* Random small clusters and requests for the oracles: at most six devices, some of them shared, promised, cordoned or ill. */
#ifndef ALLOTD_TESTS_CASES_H
#define ALLOTD_TESTS_CASES_H

#include "property/random.h"
#include "unit/core/lab.h"

struct case_shape {
	size_t nodes; /* 1-3 */
	size_t steps; /* decisions made beforehand */
	bool nominations;
	bool defects; /* devices and nodes that are cordoned, unhealthy or missing */
};

/* A cluster in which pods hold and were promised devices. Ended with lab_free. */
struct lab *case_cluster(struct random *random, const struct case_shape *shape);

/* A request of up to `claims` claims for up to `count` devices each; a fresh reference. */
struct request *case_request(struct random *random, size_t claims, size_t count);

/* A pod with a random priority (-2 to 4), gang, and so on; `uid` is its memory. */
struct pod case_pod(struct random *random, const char *uid);

/* The seed of case `i`, and how many cases to try: `otherwise`, or what ALLOT_CASES says. */
static inline struct random case_random(size_t i)
{
	return (struct random){ .state = 0x5eed0000 + i };
}

static inline size_t case_count(size_t otherwise)
{
	const char *text = getenv("ALLOT_CASES");
	return text ? strtoul(text, NULL, 10) : otherwise;
}

/* The cluster as lines, for a failure. */
void case_print(const struct cluster *c);
void case_print_request(const struct pod *pod, const struct request *request);

#endif

/* Between the files of cluster_check: check.c (what is stored), check_use.c (what is held and promised). */
#ifndef ALLOTD_CORE_CHECK_PRIVATE_H
#define ALLOTD_CORE_CHECK_PRIVATE_H

#include "core/state.h"

struct check {
	const struct cluster *cluster;
	void (*violation)(void *context, const char *sentence);
	void *context;
};

/* Reports a violation unless `holds`; returns `holds`. */
bool check_that(const struct check *check, bool holds, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* That the node's devices are used as its holdings say, that no more is held and promised than there is. */
void check_use(const struct check *check, const struct node *n);

#endif

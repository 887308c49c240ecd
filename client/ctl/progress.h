/* A progress bar on a terminal's stderr; silent elsewhere. */
#ifndef ALLOTCTL_PROGRESS_H
#define ALLOTCTL_PROGRESS_H

#include "ctl/ctl.h"

/* One bar. */
struct progress {
	FILE *out;        /* NULL = silent */
	const char *what; /* the word before the bar; borrowed */
	size_t total;     /* steps */
	int64_t started;  /* ns */
	int64_t shown;    /* ns, when last drawn */
};

/* Begins a bar of `total` steps; ended with progress_end. */
struct progress progress_begin(const struct ctl *ctl, const char *what, size_t total);

/* Redraws at most ten times a second. */
void progress_show(struct progress *progress, size_t done);

/* Removes the bar. */
void progress_end(struct progress *progress);

#endif

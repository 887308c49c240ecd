/* The server's time in Unix milliseconds. It never goes back: it starts at the later of the wall clock and the time
 * the database last knew, and from then on follows the machine's boot clock, so a step of the wall clock does not
 * expire anything. The manual clock stands still until it is advanced; tests use it. */
#ifndef ALLOTD_BASE_CLOCK_H
#define ALLOTD_BASE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

/* Follows the machine, or stands still until it is advanced. */
enum clock_kind { CLOCK_SYSTEM, CLOCK_MANUAL };

struct clock {
	enum clock_kind kind;
	int64_t start;  /* the time at clock_start, Unix ms; for the manual clock: the present time */
	int64_t origin; /* CLOCK_BOOTTIME at clock_start, ms */
};

/* Starts a clock. `stored` is the last time the database knew, 0 for a new database. */
struct clock clock_start(enum clock_kind kind, int64_t stored);

/* The present time, Unix ms. */
int64_t clock_now(const struct clock *clock);

/* Moves the manual clock forward by `ms` >= 0; a system clock may not be moved (assert). */
void clock_advance(struct clock *clock, int64_t ms);

/* How far the wall clock is from this clock, in ms (wall - ours): nonzero after somebody set the wall clock. 0 for the manual clock. */
int64_t clock_skew(const struct clock *clock);

#endif

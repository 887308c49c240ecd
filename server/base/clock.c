#include "base/clock.h"

#include <assert.h>
#include <time.h>

static int64_t read_ms(clockid_t id)
{
	struct timespec t;
	(void)clock_gettime(id, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

struct clock clock_start(enum clock_kind kind, int64_t stored)
{
	int64_t wall = read_ms(CLOCK_REALTIME);
	bool resume = stored > wall || (kind == CLOCK_MANUAL && stored > 0);
	return (struct clock){ .kind = kind, .start = resume ? stored : wall, .origin = read_ms(CLOCK_BOOTTIME) };
}

int64_t clock_now(const struct clock *clock)
{
	if (clock->kind == CLOCK_MANUAL)
		return clock->start;
	return clock->start + read_ms(CLOCK_BOOTTIME) - clock->origin;
}

void clock_advance(struct clock *clock, int64_t ms)
{
	assert(clock->kind == CLOCK_MANUAL && ms >= 0);
	clock->start += ms;
}

int64_t clock_skew(const struct clock *clock)
{
	return clock->kind == CLOCK_MANUAL ? 0 : read_ms(CLOCK_REALTIME) - clock_now(clock);
}

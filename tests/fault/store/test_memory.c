/* SQLite runs out of memory: the Nth allocation of a history fails, once or from then on. Our own code ends the process when it gets no memory
 * (crash-only); SQLite's failures are answers, which must be true.
 *
 * ALLOT_FAULTS says about how many are tried (80); 0 = every N. */
#include <stdio.h>
#include <stdlib.h>

#include <sqlite3.h>

#include "faults.h"
#include "support/check.h"

enum { FEW = 80 };

/* What SQLite allocates with: its own allocator, and the fault. One thread. */
static struct {
	sqlite3_mem_methods real;
	long count, nth; /* allocations so far; which one fails, 0 = none */
	bool armed, for_ever, struck;
} memory;

static bool fails(void)
{
	if (!memory.armed)
		return false;
	long n = ++memory.count;
	bool hit = memory.nth > 0 && (n == memory.nth || (memory.for_ever && n > memory.nth));
	memory.struck |= hit;
	return hit;
}

static void *allocate(int size)
{
	return fails() ? NULL : memory.real.xMalloc(size);
}

static void *reallocate(void *old, int size)
{
	return fails() ? NULL : memory.real.xRealloc(old, size);
}

/* Must come before SQLite is used at all. */
static void install(void)
{
	if (sqlite3_config(SQLITE_CONFIG_GETMALLOC, &memory.real) != SQLITE_OK)
		abort();
	sqlite3_mem_methods methods = memory.real;
	methods.xMalloc = allocate;
	methods.xRealloc = reallocate;
	if (sqlite3_config(SQLITE_CONFIG_MALLOC, &methods) != SQLITE_OK ||
		sqlite3_config(SQLITE_CONFIG_LOOKASIDE, 0, 0) != SQLITE_OK)
		abort();
}

static void arm(void *context)
{
	(void)context;
	memory.count = 0;
	memory.struck = false;
	memory.armed = true;
}

static void disarm(void *context)
{
	(void)context;
	memory.armed = false;
}

/* Plays the history with the fault; how many allocations it made. */
static long strike(struct rig *rig, long nth, bool for_ever)
{
	const struct fault_hooks hooks = { arm, disarm, NULL, false };
	char where[64];
	(void)snprintf(where, sizeof where, "allocation %ld fails %s", nth, for_ever ? "for ever" : "once");
	memory.nth = nth;
	memory.for_ever = for_ever;
	(void)faults_play(rig, &hooks, where);
	rig->points += memory.struck;
	return memory.count;
}

static void nothing_is_lost(void **state)
{
	struct rig *rig = *state;
	long count = strike(rig, 0, false), few = number_from("ALLOT_FAULTS", check_instrumented() ? FEW / 4 : FEW);
	long step = few > 0 ? count / few : 1;
	for (long n = 1; n <= count; n += step) {
		(void)strike(rig, n, false);
		(void)strike(rig, n + step / 2, true);
	}
	print_message("# %ld faults, a history has %ld allocations\n", rig->points, count);
}

static int setup(void **state)
{
	*state = rig_new(FAULT_CHAPTERS, FAULT_BEGUN);
	return 0;
}

static int teardown(void **state)
{
	rig_free(*state);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(nothing_is_lost) };
	install();
	return cmocka_run_group_tests(tests, setup, teardown);
}

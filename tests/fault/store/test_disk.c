/* A disk that fails: the Nth read, write, sync, ... of a history fails, once or from then on, for every N. Whatever the store answers must be
 * true, and what it reported as done must be there when the disk works again.
 *
 * ALLOT_FAULTS says about how many of each kind are tried (9); 0 = every N. */
#include <stdio.h>
#include <string.h>

#include "faults.h"
#include "support/check.h"

enum { FEW = 9 };

struct kind {
	enum disk_operation operation;
	int code;
};

static const struct kind kinds[] = {
	{ DISK_READ, SQLITE_IOERR_READ },
	{ DISK_WRITE, SQLITE_IOERR_WRITE },
	{ DISK_WRITE, SQLITE_FULL },
	{ DISK_SYNC, SQLITE_IOERR_FSYNC },
	{ DISK_TRUNCATE, SQLITE_IOERR_TRUNCATE },
	{ DISK_OPEN, SQLITE_CANTOPEN },
	{ DISK_LOCK, SQLITE_IOERR_LOCK },
	{ DISK_LOCK, SQLITE_BUSY },
	{ DISK_SHARED_LOCK, SQLITE_IOERR_SHMLOCK },
	{ DISK_SHARED_LOCK, SQLITE_BUSY },
	{ DISK_SHARED_MAP, SQLITE_IOERR_SHMMAP },
	{ DISK_SIZE, SQLITE_IOERR_FSTAT },
	{ DISK_DELETE, SQLITE_IOERR_DELETE },
};
enum { KINDS = sizeof kinds / sizeof *kinds };

struct fault {
	struct rig *rig;
	struct disk_fault fault;
	long counts[DISK_OPERATIONS]; /* of the last play */
	bool struck;
};

static void arm(void *context)
{
	struct fault *f = context;
	disk_watch(f->rig->disk, f->rig->live, false);
	f->rig->disk->fault = f->fault;
}

static void disarm(void *context)
{
	struct fault *f = context;
	memcpy(f->counts, f->rig->disk->counts, sizeof f->counts);
	f->struck = f->rig->disk->struck;
	disk_watch(f->rig->disk, NULL, false);
}

/* Plays the history with the fault; whether it came to that. */
static bool strike(struct fault *f)
{
	const struct fault_hooks hooks = { arm, disarm, f, f->fault.code == SQLITE_IOERR_FSYNC };
	char where[96];
	(void)snprintf(where, sizeof where, "%s %ld fails %s with %d", disk_operation_name(f->fault.operation), f->fault.nth,
		f->fault.for_ever ? "for ever" : "once", f->fault.code);
	(void)faults_play(f->rig, &hooks, where);
	f->rig->points += f->struck;
	return f->struck;
}

static void strike_everywhere(struct fault *f, const struct kind *kind, long count, bool for_ever)
{
	long few = number_from("ALLOT_FAULTS", check_instrumented() ? FEW / 4 : FEW),
	     step = few > 0 && count > few ? count / few : 1;
	for (long n = 1; n <= count; n += step) {
		f->fault = (struct disk_fault){ kind->operation, n, for_ever, kind->code };
		if (!strike(f) && n == 1)
			check_failed("there is no %s", disk_operation_name(kind->operation));
	}
}

static void nothing_is_lost(void **state)
{
	struct rig *rig = *state;
	struct fault f = { .rig = rig, .fault = { .nth = 0 } };
	assert_false(strike(&f));
	long counts[DISK_OPERATIONS];
	memcpy(counts, f.counts, sizeof counts);
	for (size_t i = 0; i < KINDS; i++) {
		long before = rig->points;
		strike_everywhere(&f, &kinds[i], counts[kinds[i].operation], false);
		strike_everywhere(&f, &kinds[i], counts[kinds[i].operation], true);
		print_message("# %s, code %d: %ld faults of %ld places\n", disk_operation_name(kinds[i].operation), kinds[i].code,
			rig->points - before, 2 * counts[kinds[i].operation]);
	}
}

/* The play without a fault reaches the end. */
static void without_a_fault_all_is_done(void **state)
{
	struct rig *rig = *state;
	struct fault f = { .rig = rig, .fault = { .nth = 0 } };
	const struct fault_hooks hooks = { arm, disarm, &f, false };
	assert_int_equal(faults_play(rig, &hooks, "without a fault"), FAULT_CHAPTERS);
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
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_a_fault_all_is_done),
		cmocka_unit_test(nothing_is_lost),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}

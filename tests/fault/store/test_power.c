/* Power failures. A history of decisions is played on a disk that remembers what was not synced; at each of its syncs, and at the end, the
 * power fails in several ways: all that was pending is lost, or any part of it has reached the disk, in any order, in whole sectors or torn
 * ones. The database must open on what is left, with every commit that was reported as done, and of the one that was under way all or nothing.
 *
 * ALLOT_OUTAGES says how many random ways are tried at each point (2). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "files.h"
#include "rig.h"
#include "store/store_private.h"
#include "support/check.h"

enum { CHAPTERS = 36, BEGUN = 8, REOPEN_EVERY = 11, TIDY_EVERY = 5, WAYS = 2 };

/* A moment at which the power may fail. */
struct point {
	struct image *images;
	struct bytes record; /* the high-water record, which is written past SQLite */
	char what[64];       /* what was being synced */
	size_t done;         /* chapters whose commit was reported as done */
	bool under_way;      /* the next one was being committed */
	const char *doing;
	struct point *next;
};

/* The history being played. */
struct play {
	struct rig *rig;
	struct random random;
	size_t done;
	bool under_way;
	const char *doing;
	struct point *points; /* not tried yet, newest first */
};

static char *record_in(const char *directory)
{
	return mem_format("%s/allotd.highwater", directory);
}

/* Keeps the moment; it is tried when SQLite has returned. */
static void at_sync(void *context, const char *what)
{
	struct play *p = context;
	struct point *point = mem_alloc(sizeof *point);
	char *record = record_in(p->rig->live);
	*point = (struct point){ .images = images_copy(p->rig->disk->images),
		.record = file_bytes(record),
		.done = p->done,
		.under_way = p->under_way,
		.doing = p->doing,
		.next = p->points };
	(void)snprintf(point->what, sizeof point->what, "%s", what);
	free(record);
	p->points = point;
}

static void fail_power(struct play *p, const struct point *point, const struct outage *outage)
{
	struct rig *rig = p->rig;
	char where[192], *record = record_in(rig->left);
	(void)snprintf(where, sizeof where, "%s, %zu done, before the sync of %s, %d%% of the sectors of %zu, random state %llu",
		point->doing, point->done, point->what, outage->percent, outage->sector, (unsigned long long)p->random.state);
	directory_copy(NULL, rig->left);
	disk_crash(point->images, outage, &p->random, rig->left);
	if (point->record.n > 0)
		file_put(record, point->record.data, point->record.n);
	free(record);
	(void)story_verify(rig->story, rig->left, point->done, point->under_way, where);
	rig->states++;
}

static void fail_power_in_many_ways(struct play *p, const struct point *point)
{
	static const int percents[] = { 50, 90, 10, 50 };
	const struct outage nothing = { .sector = 4096, .percent = 0, .in_order = true },
			    all = { .sector = 4096, .percent = 100, .in_order = true };
	fail_power(p, point, &nothing);
	fail_power(p, point, &all);
	for (long i = 0; i < number_from("ALLOT_OUTAGES", check_instrumented() ? 1 : WAYS); i++) {
		const struct outage some = { .sector = i % 2 ? 4096 : 512, .percent = percents[i % 4], .in_order = i % 8 >= 6 };
		fail_power(p, point, &some);
	}
	p->rig->points++;
}

static void try_points(struct play *p)
{
	while (p->points) {
		struct point *point = p->points;
		p->points = point->next;
		fail_power_in_many_ways(p, point);
		images_free(point->images);
		free(point->record.data);
		free(point);
	}
}

static void begin(struct play *p, const char *doing)
{
	try_points(p);
	p->doing = doing;
}

static struct store *open_live(struct play *p)
{
	struct store *store = NULL;
	begin(p, "opening");
	struct error *e = story_open(p->rig->live, &store);
	if (!e)
		e = story_load(p->rig->story, store, p->done, "before the fault");
	if (e)
		check_failed("%s", e->message);
	return store;
}

static void commit_next(struct play *p, struct store *store)
{
	char *why = NULL;
	begin(p, "committing");
	p->under_way = true;
	if (story_commit(p->rig->story, store, p->done + 1, &why) != STORE_OK)
		check_failed("commit %zu: %s", p->done + 1, why);
	p->under_way = false;
	p->done++;
}

/* Housekeeping with a checkpoint, which it does by itself only when there is more to move. */
static void tidy(struct play *p, struct store *store)
{
	const struct store_retention keep_all = { 0 };
	char *why = NULL;
	begin(p, "housekeeping");
	if (store_tidy(store, &keep_all, p->rig->story->chapters[p->done].meta.now, &why) != STORE_OK)
		check_failed("tidy: %s", why);
	store_checkpoint(store);
}

static void play(struct play *p)
{
	struct store *store = open_live(p);
	while (p->done + 1 < p->rig->story->n) {
		commit_next(p, store);
		if (p->done % TIDY_EVERY == 0)
			tidy(p, store);
		if (p->done % REOPEN_EVERY == 0) {
			begin(p, "closing");
			store_close(store);
			store = open_live(p);
		}
	}
	at_sync(p, "nothing");
	begin(p, "closing");
	store_close(store);
	begin(p, "nothing");
	at_sync(p, "nothing");
	try_points(p);
}

static void power_fails_at_each_sync(struct rig *rig, bool from_nothing)
{
	struct play p = { .rig = rig, .random = { 1 }, .done = from_nothing ? 0 : rig->begun };
	rig_begin(rig, from_nothing);
	disk_watch(rig->disk, rig->live, true);
	rig->disk->before_sync = at_sync;
	rig->disk->context = &p;
	play(&p);
	disk_watch(rig->disk, NULL, false);
	print_message("# %ld points, %ld power failures\n", rig->points, rig->states);
	assert_true(rig->points > 40);
}

static void in_a_history(void **state)
{
	power_fails_at_each_sync(*state, false);
}

static void from_the_creation_on(void **state)
{
	power_fails_at_each_sync(*state, true);
}

/* Commits until the sync that is to fail; the outcome must be unknown. */
static void commit_until_failure(struct play *p, struct store *store)
{
	char *why = NULL;
	while (!p->rig->disk->struck) {
		assert_true(p->done + 1 < p->rig->story->n);
		enum store_outcome outcome = story_commit(p->rig->story, store, p->done + 1, &why);
		assert_int_equal(outcome, p->rig->disk->struck ? STORE_UNKNOWN : STORE_OK);
		p->done += outcome == STORE_OK;
	}
	free(why);
}

/* After a failed sync the system shows what it has not written, and a later sync succeeds without writing it. A process that starts now must
 * not build on that: what it reports as done must survive a power failure. */
static void power_fails_after_a_failed_sync(void **state)
{
	struct rig *rig = *state;
	for (long nth = 1; nth <= 6; nth++) {
		struct play p = { .rig = rig, .random = { (uint64_t)nth }, .done = rig->begun };
		rig_begin(rig, false);
		disk_watch(rig->disk, rig->live, true);
		struct store *store = open_live(&p);
		rig->disk->fault = (struct disk_fault){ DISK_SYNC, rig->disk->counts[DISK_SYNC] + nth, false,
			SQLITE_IOERR_FSYNC };
		commit_until_failure(&p, store);
		store_close(store);
		struct error *e = story_open(rig->live, &store);
		if (!e)
			e = story_find(rig->story, store, &p.done, "after a failed sync");
		if (e)
			check_failed("%s", e->message);
		rig->disk->before_sync = at_sync;
		rig->disk->context = &p;
		for (int i = 0; i < 6; i++)
			commit_next(&p, store);
		begin(&p, "nothing, after a failed sync");
		at_sync(&p, "nothing");
		try_points(&p);
		store_close(store);
		try_points(&p);
		disk_watch(rig->disk, NULL, false);
	}
	print_message("# %ld points, %ld power failures\n", rig->points, rig->states);
}

static int setup(void **state)
{
	*state = rig_new(CHAPTERS, BEGUN);
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
		cmocka_unit_test_setup_teardown(in_a_history, setup, teardown),
		cmocka_unit_test_setup_teardown(from_the_creation_on, setup, teardown),
		cmocka_unit_test_setup_teardown(power_fails_after_a_failed_sync, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Random histories of all decisions on a small cluster. After every step:
 *  - the invariants hold, and nothing but a changed capacity or force makes more held than there is;
 *  - a step with changes has one revision, at least one event, and all of it says that revision; a failed one leaves at most a refusal;
 *  - a cluster rebuilt from the snapshot before comes to the same decision, and taking that back restores the snapshot exactly.
 *  - now and then: the difference to an older snapshot turns a cluster of that one into the present one.
 * HISTORY_SEED and HISTORY_STEPS choose one history instead of the fixed ones; a failure prints what to set them to. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/text.h"
#include "core/check.h"
#include "core/expire.h"
#include "core/state.h"
#include "property/history.h"

struct world {
	struct cluster *cluster;
	struct random random;
	int64_t now;
	uint64_t seed;
	size_t step;
	const char *name; /* of the step */
	struct text violations;
	struct counters highest; /* ever seen */
	size_t carried_out;
	struct change_list past; /* an older snapshot */
};

static void broken(const struct world *w, const char *what, const char *details)
{
	fail_msg("HISTORY_SEED=%llu HISTORY_STEPS=%zu: %s: %s: %s", (unsigned long long)w->seed, w->step + 1, w->name, what,
		details);
}

static void note_violation(void *context, const char *sentence)
{
	text_printf(context, "%s; ", sentence);
}

static void check_invariants(struct world *w)
{
	text_clear(&w->violations);
	cluster_check(w->cluster, note_violation, &w->violations);
	if (w->violations.length)
		broken(w, "invariants", text_string(&w->violations));
}

static void check_same(const struct world *w, const struct change_list *a, const struct change_list *b, const char *what)
{
	char *difference = history_difference(a, b);
	if (difference)
		broken(w, what, difference);
	free(difference);
}

/* How much more is held than there is, all devices together; as after the step, with the devices of the step's own records. */
static int64_t excess(const struct cluster *c)
{
	int64_t sum = 0;
	for (size_t i = 0; i < c->n_nodes; i++) {
		const struct node *n = c->order[i];
		for (size_t k = 0; k < n->n_stocks; k++)
			sum += n->stocks[k].held > n->stocks[k].capacity ? n->stocks[k].held - n->stocks[k].capacity : 0;
		for (size_t k = 0; k < n->n_devices; k++) {
			const struct device *d = &n->devices[k];
			sum += d->limit && d->shares > d->limit ? d->shares - d->limit : 0;
			sum += d->wholes && d->shares > 1 ? d->shares - 1 : 0;
		}
	}
	return sum;
}

/* The revision a record carries; 0 when its kind carries none. */
static int64_t revision_of(enum record_kind kind, const void *r)
{
	switch (kind) {
	case RECORD_NODE:
		return ((const struct node_record *)r)->revision;
	case RECORD_DEVICE:
		return ((const struct device_record *)r)->revision;
	case RECORD_ALLOCATION:
		return ((const struct allocation *)r)->revision;
	case RECORD_NOMINATION:
		return ((const struct nomination *)r)->revision;
	case RECORD_EVENT:
		return ((const struct event *)r)->revision;
	default:
		return 0;
	}
}

/* Only what may be written at leisure: when a node was last seen, how often a pod was refused. */
static bool is_soft(const struct change *c)
{
	if (c->kind == RECORD_REFUSAL)
		return c->before && c->after;
	if (c->kind != RECORD_NODE || !c->before || !c->after)
		return false;
	struct node_record as_before = *(const struct node_record *)c->after;
	as_before.last_seen_at = ((const struct node_record *)c->before)->last_seen_at;
	return record_equal(RECORD_NODE, c->before, &as_before);
}

static void check_revision_of(const struct world *w, const struct txn *txn)
{
	int64_t events = 0;
	for (size_t i = txn->start; i < txn->list->n; i++) {
		const struct change *c = &txn->list->changes[i];
		int64_t revision = c->after ? revision_of(c->kind, c->after) : 0;
		if (!txn->revision && !is_soft(c))
			broken(w, "no revision", "but a change that needs one");
		if (txn->revision && revision && revision != txn->revision && !is_soft(c))
			broken(w, "revision", "a record carries another one than the step");
		if (c->kind == RECORD_EVENT && ((const struct event *)c->after)->n != events++)
			broken(w, "events", "are not numbered 0, 1, 2 ...");
	}
	if (txn->revision && !events)
		broken(w, "revision", "without an event");
}

static void check_counters(struct world *w, const struct txn *txn)
{
	const struct counters *now = cluster_counters(w->cluster);
	if (now->revision < w->highest.revision || now->token < w->highest.token || now->id < w->highest.id)
		broken(w, "counters", "went back");
	if (txn->revision && txn->revision <= w->highest.revision)
		broken(w, "revision", "used twice");
	for (size_t i = txn->start; i < txn->list->n; i++) {
		const struct change *c = &txn->list->changes[i];
		if (c->kind == RECORD_LOCK && !c->before && ((const struct lock *)c->after)->token <= w->highest.token)
			broken(w, "token", "used twice");
	}
	w->highest = *now;
}

/* A failed step leaves nothing, or the refusal of one pod and what tells of it. */
static void check_failed(const struct world *w, const struct step *step, const struct txn *txn)
{
	for (size_t i = txn->start; i < txn->list->n; i++)
		if (!step->may_note ||
			(txn->list->changes[i].kind != RECORD_REFUSAL && txn->list->changes[i].kind != RECORD_EVENT))
			broken(w, "failed", "but left something behind");
}

/* A step, or what ends by itself when `random` is NULL. */
static struct step make_step(struct random *random, struct txn *txn)
{
	struct step step = { .name = "expiry" };
	if (random)
		return history_step(random, txn);
	if (!expire_one(txn->cluster, txn))
		step.name = NULL;
	return step;
}

/* The same step on a cluster rebuilt from `before` must lead to `after`, and taken back to `before` again. */
static void check_rebuilt(struct world *w, struct random *same, const struct counters *counters, const struct change_list *before,
	const struct change_list *after)
{
	struct change_list changes = { 0 }, again = { 0 }, undone = { 0 };
	struct random order = { w->seed ^ w->step };
	struct cluster *c = history_rebuild(&order, before, counters);
	struct txn txn = txn_begin(c, &changes, w->now, "test");
	struct step step = make_step(same, &txn);
	cluster_snapshot(c, &again);
	check_same(w, after, &again, "a rebuilt cluster decided differently");
	txn_undo(&txn);
	cluster_snapshot(c, &undone);
	check_same(w, before, &undone, "undo did not restore");
	error_free(step.error);
	change_list_free(&changes);
	change_list_free(&again);
	change_list_free(&undone);
	cluster_free(c);
}

/* One step with all its checks; false when nothing was due. */
static bool checked_step(struct world *w, struct random *random)
{
	struct change_list changes = { 0 }, before = { 0 }, after = { 0 };
	struct random same = random ? *random : (struct random){ 0 };
	struct counters counters = *cluster_counters(w->cluster);
	struct txn txn = txn_begin(w->cluster, &changes, w->now, "test");
	int64_t excess_before = excess(w->cluster);
	cluster_snapshot(w->cluster, &before);
	struct step step = make_step(random, &txn);
	w->name = step.name;
	if (!step.name) {
		change_list_free(&before);
		return false;
	}
	cluster_snapshot(w->cluster, &after);
	check_invariants(w);
	check_revision_of(w, &txn);
	check_counters(w, &txn);
	if (step.error)
		check_failed(w, &step, &txn);
	if (!step.may_exceed && excess(w->cluster) > excess_before)
		broken(w, "capacity", "more was given out than there is");
	check_rebuilt(w, random ? &same : NULL, &counters, &before, &after);
	w->carried_out += txn.revision != 0;
	error_free(step.error);
	change_list_free(&changes);
	change_list_free(&before);
	change_list_free(&after);
	return true;
}

/* What an outside writer did while we looked away is found as a difference and applied. */
static void check_catching_up(struct world *w)
{
	struct change_list now = { 0 }, difference = { 0 }, then = { 0 };
	struct random order = { w->seed + w->step };
	struct cluster *c = history_rebuild(&order, &w->past, cluster_counters(w->cluster));
	cluster_snapshot(w->cluster, &now);
	snapshot_difference(&w->past, &now, &difference);
	for (size_t i = 0; i < difference.n; i++)
		cluster_apply(c, &difference.changes[i]);
	cluster_snapshot(c, &then);
	check_same(w, &now, &then, "the difference does not lead there");
	for (size_t i = difference.n; i > 0; i--)
		cluster_unapply(c, &difference.changes[i - 1]);
	cluster_free(c);
	change_list_free(&w->past);
	change_list_free(&difference);
	change_list_free(&then);
	w->past = now;
}

static void play(uint64_t seed, size_t steps)
{
	struct world w = { .cluster = cluster_new(), .random = { seed }, .now = 1000000000000, .seed = seed };
	for (w.step = 0; w.step < steps; w.step++) {
		w.now += history_pause(&w.random);
		while (checked_step(&w, NULL))
			continue;
		(void)checked_step(&w, &w.random);
		if (random_once_in(&w.random, 20))
			check_catching_up(&w);
	}
	if (steps >= 1000)
		assert_in_range(w.carried_out, steps / 4, 100 * steps); /* a history in which nothing happens tests nothing */
	change_list_free(&w.past);
	text_free(&w.violations);
	cluster_free(w.cluster);
}

static size_t from_environment(const char *name, size_t otherwise)
{
	const char *value = getenv(name);
	return value ? strtoull(value, NULL, 10) : otherwise;
}

static void histories(void **state)
{
	size_t steps = from_environment("HISTORY_STEPS", 2500);
	if (getenv("HISTORY_SEED")) {
		play(from_environment("HISTORY_SEED", 0), steps);
		return;
	}
	for (uint64_t seed = 1; seed <= 10; seed++)
		play(seed, steps);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(histories),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

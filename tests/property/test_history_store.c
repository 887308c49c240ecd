/* Random histories on disk: what is decided in memory is committed a few steps at a time, with the database's guards on, and the database is
 * loaded again and again, sometimes after closing and opening it: it must say what memory says (contract, invariant 7), and the guards must
 * agree with every decision (invariant 6). HISTORY_SEED and HISTORY_STEPS as in test_history. */
#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"
#include "core/expire.h"
#include "property/history.h"
#include "store/store.h"
#include "unit/core/brief.h"

static void print_event(const struct event *event, struct text *to)
{
	(void)event;
	text_puts(to, "{}");
}

static struct error *parse_request(const char *text, struct request **ret)
{
	*ret = brief_request(text);
	return NULL;
}

static const struct store_codec codec = { .print_event = print_event, .parse_request = parse_request };
static const struct log quiet = { .level = LOG_ERROR };

struct world {
	const char *directory;
	struct store *store;
	struct store_meta meta, committed;
	struct cluster *cluster;
	struct change_list turn;
	struct random random;
	int64_t now;
	uint64_t seed;
	size_t step, n_steps;
	const char *name; /* of the last step */
};

static void broken(const struct world *w, const char *what, const char *details)
{
	fail_msg("HISTORY_SEED=%llu HISTORY_STEPS=%zu: last step %s: %s: %s", (unsigned long long)w->seed, w->n_steps, w->name,
		what, details);
}

static void open_store(struct world *w)
{
	const struct store_options options = {
		.directory = w->directory, .codec = &codec, .log = &quiet, .guard = true, .now = w->now
	};
	struct error *error = store_open(&options, &w->store);
	if (error)
		broken(w, "open", error->message);
}

/* What the database says must be what memory says. */
static void compare(struct world *w)
{
	struct change_list disk = { 0 }, memory = { 0 };
	struct error *error = store_load(w->store, &disk, &w->meta);
	if (error)
		broken(w, "load", error->message);
	cluster_snapshot(w->cluster, &memory);
	char *difference = history_difference(&memory, &disk);
	if (difference)
		broken(w, "memory and disk differ", difference);
	const struct store_meta *want = &w->committed, *got = &w->meta;
	if (got->revision != want->revision || got->token != want->token || got->now != want->now ||
		strcmp(got->db_id, want->db_id) != 0)
		broken(w, "counters", "are not as they were committed");
	change_list_free(&disk);
	change_list_free(&memory);
}

static void commit(struct world *w)
{
	struct counters *counters = cluster_counters(w->cluster);
	char *why;
	w->meta.revision = counters->revision;
	w->meta.token = counters->token;
	w->meta.now = w->now;
	enum store_outcome outcome = store_commit(w->store, &w->turn, &w->meta, &why);
	if (outcome != STORE_OK)
		broken(w, "commit", why ? why : "no reason");
	change_list_free(&w->turn);
	w->committed = w->meta;
	compare(w);
}

static void reopen(struct world *w)
{
	store_close(w->store);
	open_store(w);
	compare(w);
}

static void step(struct world *w)
{
	struct txn txn = txn_begin(w->cluster, &w->turn, w->now, "test");
	while (expire_one(w->cluster, &txn))
		txn = txn_begin(w->cluster, &w->turn, w->now, "test");
	struct step made = history_step(&w->random, &txn);
	w->name = made.name;
	error_free(made.error);
}

static void play(const char *directory, uint64_t seed, size_t steps)
{
	struct world w = { .directory = directory,
		.cluster = cluster_new(),
		.random = { seed },
		.now = 1000000000000,
		.seed = seed,
		.n_steps = steps,
		.name = "none" };
	open_store(&w);
	w.committed = w.meta = store_meta(w.store);
	compare(&w);
	for (w.step = 0; w.step < steps; w.step++) {
		w.now += history_pause(&w.random);
		step(&w);
		if (random_once_in(&w.random, 4) || w.step + 1 == steps)
			commit(&w);
		if (random_once_in(&w.random, 300) && !w.turn.n)
			reopen(&w);
	}
	reopen(&w);
	store_close(w.store);
	cluster_free(w.cluster);
}

static size_t from_environment(const char *name, size_t otherwise)
{
	const char *value = getenv(name);
	return value ? strtoull(value, NULL, 10) : otherwise;
}

static void histories(void **state)
{
	size_t steps = from_environment("HISTORY_STEPS", 1500);
	uint64_t first = from_environment("HISTORY_SEED", 1), last = getenv("HISTORY_SEED") ? first : 4;
	for (uint64_t seed = first; seed <= last; seed++) {
		char *directory = mem_format("%s/%llu", (const char *)*state, (unsigned long long)seed);
		play(directory, seed, steps);
		free(directory);
	}
}

static int new_directory(void **state)
{
	*state = strdup("/tmp/allotd-history-XXXXXX");
	return mkdtemp(*state) ? 0 : -1;
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *ftw)
{
	(void)status;
	(void)kind;
	(void)ftw;
	return remove(path);
}

static int remove_directory(void **state)
{
	int rc = nftw(*state, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	free(*state);
	return rc;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(histories, new_directory, remove_directory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

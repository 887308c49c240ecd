#include "faults.h"

#include <stdlib.h>
#include <sysexits.h>

#include "base/error.h"
#include "store/store_private.h"
#include "support/check.h"

enum { TRIES = 3, PATIENCE_MS = 20000, TIDY_EVERY = 3, READ_EVERY = 4, CLOSE_AT = 13 };

struct play {
	struct rig *rig;
	const struct fault_hooks *hooks;
	const char *where;
	struct store *store;
	size_t done;
	bool maybe; /* the outcome of the next one is unknown */
	bool over;
};

static int exit_status(const struct error *e)
{
	return e->n_details > 0 ? (int)e->details[0].integer : -1;
}

/* A start that fails says so as what it is: nothing is wrong with the data. */
static void refused_rightly(const struct play *p, struct error *e)
{
	int status = exit_status(e);
	if (status != EX_IOERR && status != EX_OSERR && status != EX_CANTCREAT && status != EX_TEMPFAIL)
		check_failed("%s: the start failed with status %d: %s", p->where, status, e->message);
	error_free(e);
}

static void open_store(struct play *p)
{
	struct error *e = NULL;
	for (int i = 0; i < TRIES && !p->store; i++) {
		e = story_open(p->rig->live, &p->store);
		if (e)
			refused_rightly(p, e);
	}
	p->over = !p->store;
	for (int i = 0; i < TRIES && p->store; i++) {
		e = story_load(p->rig->story, p->store, p->done, p->where);
		p->over = e != NULL;
		if (!e)
			return;
		refused_rightly(p, e);
	}
}

static void close_store(struct play *p)
{
	store_close(p->store);
	p->store = NULL;
}

/* Nothing may be written any more. */
static void is_broken(struct play *p)
{
	const struct store_retention keep_all = { 0 };
	char *why = NULL;
	size_t next = p->done + 1 < p->rig->story->n ? p->done + 1 : p->done; /* at the end any will do */
	p->over = true;
	if (story_commit(p->rig->story, p->store, next, &why) != STORE_UNKNOWN)
		check_failed("%s: the store goes on after an unknown outcome", p->where);
	free(why);
	if (store_tidy(p->store, &keep_all, 0, &why) != STORE_UNKNOWN)
		check_failed("%s: housekeeping goes on after an unknown outcome", p->where);
	free(why);
}

/* SQLite starts its counting anew after some failures, which looks like somebody else's work. Reading again shows that it was nobody's. */
static void load_again(struct play *p)
{
	struct error *e = story_load(p->rig->story, p->store, p->done, p->where);
	p->over |= e != NULL;
	if (e)
		refused_rightly(p, e);
}

static void commit_failed(struct play *p, enum store_outcome outcome, const char *why)
{
	switch (outcome) {
	case STORE_UNKNOWN:
		p->maybe = true;
		is_broken(p);
		break;
	case STORE_EXTERNAL:
		load_again(p);
		break;
	case STORE_BUSY:
	case STORE_FULL:
	case STORE_NOMEM:
		if (p->hooks->syncs_fail)
			check_failed("%s: outcome %d after a failed sync: %s", p->where, outcome, why);
		break;
	default:
		check_failed("%s: commit %zu has outcome %d: %s", p->where, p->done + 1, outcome, why);
	}
}

static void commit_next(struct play *p)
{
	for (int i = 0; i < TRIES && !p->over; i++) {
		char *why = NULL;
		enum store_outcome outcome = story_commit(p->rig->story, p->store, p->done + 1, &why);
		if (outcome == STORE_OK) {
			p->done++;
			return;
		}
		commit_failed(p, outcome, why);
		free(why);
	}
	p->over = true;
}

/* Housekeeping, with the checkpoint that it does by itself when there is more to move. */
static void tidy(struct play *p)
{
	const struct store_retention keep_all = { 0 };
	char *why = NULL;
	enum store_outcome outcome = store_tidy(p->store, &keep_all, 0, &why);
	if (outcome == STORE_OK)
		store_checkpoint(p->store);
	if (outcome == STORE_EXTERNAL)
		load_again(p);
	if (outcome == STORE_CONSTRAINT)
		check_failed("%s: housekeeping has outcome %d: %s", p->where, outcome, why);
	free(why);
	if (outcome == STORE_UNKNOWN || p->store->broken)
		is_broken(p);
}

static void read_back(struct play *p)
{
	struct error *e = story_read(p->rig->story, p->store, p->done, p->where);
	if (!e)
		e = story_load(p->rig->story, p->store, p->done, p->where);
	if (e)
		refused_rightly(p, e);
	if (store_changed_outside(p->store))
		load_again(p);
}

static void play(struct play *p)
{
	open_store(p);
	while (!p->over && p->done + 1 < p->rig->story->n) {
		commit_next(p);
		if (!p->over && p->done % TIDY_EVERY == 0)
			tidy(p);
		if (!p->over && p->done % READ_EVERY == 0)
			read_back(p);
		if (!p->over && p->done == CLOSE_AT) {
			close_store(p);
			open_store(p);
		}
	}
	close_store(p);
}

size_t faults_play(struct rig *rig, const struct fault_hooks *hooks, const char *where)
{
	struct play p = { .rig = rig, .hooks = hooks, .where = where, .done = rig->begun };
	int64_t begin = check_now();
	rig_begin(rig, false);
	hooks->arm(hooks->context);
	play(&p);
	hooks->disarm(hooks->context);
	if (check_now() - begin > PATIENCE_MS)
		check_failed("%s: took %lld ms", where, (long long)(check_now() - begin));
	rig->states++;
	return story_verify(rig->story, rig->live, p.done, p.maybe, where);
}

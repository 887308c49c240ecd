/* The engine as others see it: calls come in, turns go to the storage thread, answers come out. */
#include "engine/engine.h"

#include <assert.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/error.h"
#include "base/mem.h"
#include "core/expire.h"
#include "engine/internal.h"
#include "engine/threads.h"

static void errors_new(struct engine *e)
{
	e->errors[FAIL_BUSY] = error_new(ERR_UNAVAILABLE, "the database could not be written now; nothing was done");
	e->errors[FAIL_READ_ONLY] = error_with_string(
		error_new(ERR_READ_ONLY, "no space for more; releases still work"), "alarm", "disk_full");
	e->errors[FAIL_FULL] = error_with_string(
		error_new(ERR_READ_ONLY, "the disk is so full that nothing more can be written; make room on it"), "alarm",
		"disk_full");
	e->errors[FAIL_LOW] = error_with_string(
		error_new(ERR_READ_ONLY, "there is little room left on the disk; releases still work"), "alarm", "disk_low");
	e->errors[FAIL_QUOTA] = error_with_string(
		error_new(ERR_READ_ONLY, "the database is near its limit; releases still work"), "alarm", "quota");
	e->errors[FAIL_UNKNOWN] = error_new(
		ERR_OUTCOME_UNKNOWN, "the disk failed during the commit; the change may or may not be there");
	e->errors[FAIL_INTERNAL] = error_new(ERR_INTERNAL, "the database refuses what memory allows; nothing was done");
	e->errors[FAIL_BROKEN] = error_new(ERR_UNAVAILABLE, "the disk failed and the server ends; nothing was done");
	e->errors[FAIL_OUTSIDE] = error_new(ERR_UNAVAILABLE, "somebody else keeps writing into the database; nothing was done");
}

struct engine *engine_new(const struct engine_options *options)
{
	struct engine *e = mem_alloc(sizeof *e);
	e->options = *options;
	e->cluster = options->cluster;
	e->meta = options->meta;
	if (!e->options.busy_patience)
		e->options.busy_patience = BUSY_PATIENCE_MS;
	e->started_at = clock_now(options->clock);
	if (options->restart_grace)
		cluster_grace(e->cluster, e->started_at + options->restart_grace);
	e->told = mem_alloc(sizeof *e->told);
	e->open = &e->turns[0];
	e->unsettled = true;
	e->notify = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (e->notify < 0)
		abort(); /* no descriptors at the start */
	errors_new(e);
	for (size_t i = 0; i < READERS; i++)
		e->readers[i] = reader_start(options->store, e->notify);
	e->storage = storage_start(options->store, &options->retention, options->log, e->notify);
	return e;
}

struct reader *engine_reader(struct engine *e, const struct engine_call *call)
{
	if (call->slow)
		return reader_is_free(e->readers[SLOW_READER]) ? e->readers[SLOW_READER] : NULL;
	for (size_t i = 0; i < READERS; i++)
		if (i != SLOW_READER && reader_is_free(e->readers[i]))
			return e->readers[i];
	return NULL;
}

/* A call with work that must wait for a reader stands aside, so that others do not wait with it. */
static bool stand_aside(struct engine *e, struct engine_call *call)
{
	if (!call->class->work || engine_reader(e, call))
		return false;
	call_list_add(&e->work_waiting[call->slow], call);
	return true;
}

static size_t held_back(const struct engine *e)
{
	return e->waiting.n + e->work_waiting[0].n + e->work_waiting[1].n + e->open->early.n + e->open->held.n;
}

static bool is_full(const struct engine *e)
{
	size_t bytes = e->waiting.bytes + e->work_waiting[0].bytes + e->work_waiting[1].bytes + e->open->early.bytes +
		       e->open->held.bytes;
	return held_back(e) >= TURN_CALLS || bytes >= TURN_BYTES || e->open->changes.n * CHANGE_BYTES >= TURN_BYTES;
}

void engine_submit(struct engine *e, struct engine_call *call)
{
	assert(!e->deciding);
	call->failure = NULL;
	call->changed = false;
	if (e->broken) {
		call->failure = e->errors[FAIL_BROKEN];
		call_list_add(&e->ready, call);
	} else if (e->waiting.n > 0 || !turn_begin(e)) {
		call_list_add(&e->waiting, call);
	} else if (!stand_aside(e, call)) {
		turn_decide(e, call);
	}
	e->was_full |= is_full(e);
}

bool engine_full(const struct engine *e)
{
	return !e->broken && is_full(e);
}

int engine_descriptor(const struct engine *e)
{
	return e->notify;
}

/* The second tries are over when nothing of them is left anywhere. */
static void end_carefulness(struct engine *e)
{
	if (e->again == 0 && !e->committing && e->open->changes.n == 0)
		e->careful = false;
}

/* Those that stood aside, as far as there are readers for them. */
static void decide_aside(struct engine *e, struct call_list *aside)
{
	while (aside->n > 0 && e->waiting.n == 0 && engine_reader(e, aside->first) && turn_begin(e))
		turn_decide(e, call_list_pop(aside));
}

/* Decides what waits, as far as the open turn takes it. */
static void decide_waiting(struct engine *e)
{
	end_carefulness(e);
	while (e->waiting.n > 0 && turn_begin(e)) {
		struct engine_call *call = call_list_pop(&e->waiting);
		if (!stand_aside(e, call))
			turn_decide(e, call);
		if (e->again > 0)
			e->again--;
		end_carefulness(e);
	}
	for (size_t i = 0; i < 2; i++)
		decide_aside(e, &e->work_waiting[i]);
}

/* Whether the kept soft changes are due. */
static bool flush_due(const struct engine *e)
{
	const struct turn *t = e->open;
	if (t->changes.n == 0 || thread_now_ms() < e->hold_until)
		return false;
	return e->stopping || t->changes.n > SOFT_CHANGES || thread_now_ms() - t->soft_since >= e->options.flush_interval;
}

static bool wants_commit(const struct engine *e)
{
	return e->open->hard || e->open->sealed || flush_due(e);
}

/* With nothing committing, who saw nothing of the open turn may be answered. */
static void answer_early(struct engine *e)
{
	struct turn *t = e->open;
	t->operations -= t->early.n < t->operations ? t->early.n : t->operations;
	call_list_append(&e->ready, &t->early);
	turn_keep(t);
}

static void hand_over(struct engine *e)
{
	struct turn *t = e->open;
	const struct counters *counters = cluster_counters(e->cluster);
	answer_early(e);
	if (!t->dated)
		t->now = clock_now(e->options.clock);
	e->committing = t;
	e->open = t == &e->turns[0] ? &e->turns[1] : &e->turns[0];
	e->job = (struct job){
		.kind = JOB_COMMIT,
		.changes = &t->changes,
		.empty = t->changes.n == 0 && !t->advanced,
		.revision = counters->revision,
		.token = counters->token,
		.now = t->now,
		.patience_ms = t->alone ? 0 : e->options.busy_patience,
		.reader = t->reader,
	};
	storage_give(e->storage, &e->job);
}

/* After a commit that went well the space is there again if something grew. */
static void note_space(struct engine *e, const struct turn *t)
{
	if (!e->read_only || !t->grows)
		return;
	e->read_only = false;
	(void)alarms_set(&e->alarms, "disk_full", false);
	log_write(e->options.log, LOG_WARN, "there is space again");
}

static void committed(struct engine *e)
{
	struct turn *t = e->committing;
	e->meta = e->job.meta;
	e->commits += !e->job.empty;
	e->external_rounds = 0;
	note_space(e, t);
	call_list_append(&e->ready, &t->held);
	e->committing = NULL;
	turn_clear(t);
}

static void release_ready(struct engine *e)
{
	while (e->ready.n > 0) {
		struct engine_call *call = call_list_pop(&e->ready);
		call->class->release(call, call->failure);
	}
	if (e->broken && !e->broken_told) {
		e->broken_told = true;
		e->options.on_broken(e->options.context);
	}
	if (e->was_full && !engine_full(e)) {
		e->was_full = false;
		e->options.on_room(e->options.context);
	}
}

/* Answers the works that have ended, after the calls of their turns: one whose commit was not collected yet waits for that. */
static void collect_works(struct engine *e)
{
	for (size_t i = 0; i < READERS; i++) {
		const struct error *failure = NULL;
		if (e->committing && e->committing->reader == e->readers[i])
			continue;
		struct engine_call *call = reader_collect(e->readers[i], &failure);
		if (!call)
			continue;
		release_ready(e);
		call->class->release(call, failure);
		reader_free_again(e->readers[i]);
	}
}

static void collect_job(struct engine *e)
{
	struct job *job = storage_take(e->storage);
	if (!job)
		return;
	if (job->kind == JOB_LOAD)
		engine_loaded(e);
	else if (job->outcome == STORE_OK)
		committed(e);
	else
		engine_commit_failed(e);
}

/* What the storage thread found out while it had nothing to do. While it works, the work itself will tell. */
static void collect_news(struct engine *e)
{
	struct storage_news news = storage_news(e->storage);
	if (e->broken || e->committing || e->loading)
		return;
	if (news.broken) {
		engine_break(e);
	} else if (news.outside) {
		size_t n = engine_undo(e, false);
		e->again += e->careful ? n : 0;
		engine_load(e, LOAD_EXTERNAL);
	}
}

/* The answers of a commit are left for engine_pass, which first gives the storage thread its next turn. */
void engine_collect(struct engine *e)
{
	uint64_t n;
	ssize_t got = read(e->notify, &n, sizeof n);
	(void)got; /* not readable: nothing is lost by looking */
	collect_job(e);
	collect_news(e);
	collect_works(e);
}

/* While the disk is full: once a second, something small but real is written to see whether there is space again. */
static void probe(struct engine *e)
{
	struct turn *t = e->open;
	if (!e->read_only || e->stopping || e->committing || thread_now_ms() < e->hold_until || wants_commit(e) || !turn_begin(e))
		return;
	if (t->hard)
		return; /* something has expired, that will do */
	struct txn txn = txn_begin(e->cluster, &t->changes, t->now, "server");
	txn_event(&txn, &(struct event){ .kind = "server.alarm", .reason = "disk_full cleared" });
	turn_harden(t, txn.start);
	t->grows = true;
	t->sealed = true;
}

static bool expiry_due(const struct engine *e)
{
	int64_t now = clock_now(e->options.clock);
	return !e->open->hard && expire_next(e->cluster) <= now && expiry_allowed(e);
}

/* Hands over the open turn if that is due and possible; otherwise who need not wait for it is answered. */
static void hand_over_if_due(struct engine *e)
{
	if (e->committing || e->loading)
		return;
	if (wants_commit(e))
		hand_over(e);
	else
		answer_early(e);
}

void engine_pass(struct engine *e)
{
	e->was_full |= is_full(e);
	if (!e->broken) {
		decide_waiting(e);
		if ((expiry_due(e) || e->unsettled) && !e->stopping)
			(void)turn_begin(e);
		probe(e);
		hand_over_if_due(e);
		decide_waiting(e);
	}
	release_ready(e);
	if (!e->open->hard)
		e->open->dated = false; /* nothing was decided at that time that is not over */
}

static int64_t sooner(int64_t a, int64_t b)
{
	int64_t wait = b > 0 ? b : 0;
	return a < 0 || wait < a ? wait : a;
}

/* When the next expiry may happen, in ms from now; -1 = not by the passing of time. */
static int64_t until_expiry(const struct engine *e)
{
	int64_t now = clock_now(e->options.clock), next = expire_next(e->cluster);
	int64_t hold = e->hold_until - thread_now_ms();
	if (next == INT64_MAX || e->open->hard || e->open->sealed || (e->careful && e->committing))
		return -1;
	if (next > now && e->options.clock->kind == CLOCK_MANUAL)
		return -1;
	return next - now > hold ? next - now : hold;
}

int64_t engine_timeout(const struct engine *e)
{
	int64_t wait = -1, mono = thread_now_ms();
	if (e->ready.n > 0)
		return 0;
	if (e->broken || e->loading)
		return -1;
	int64_t expiry = until_expiry(e);
	if (expiry != -1)
		wait = sooner(wait, expiry);
	if (e->committing)
		return wait;
	if (wants_commit(e) || e->waiting.n > 0 || e->open->early.n > 0)
		return 0;
	if (e->open->changes.n > 0)
		wait = sooner(wait, e->hold_until > e->open->soft_since + e->options.flush_interval
					    ? e->hold_until - mono
					    : e->open->soft_since + e->options.flush_interval - mono);
	if (e->read_only)
		wait = sooner(wait, e->hold_until - mono);
	return wait;
}

struct engine_status engine_status(const struct engine *e)
{
	const char *store_slugs[STORE_ALARMS];
	size_t n = store_alarms(e->options.store, store_slugs);
	*e->told = e->alarms;
	for (size_t i = 0; i < n; i++)
		(void)alarms_set(e->told, store_slugs[i], true);
	const char *shortage = store_shortage(e->options.store);
	if (shortage)
		(void)alarms_set(e->told, shortage, true);
	return (struct engine_status){
		.durable_revision = e->meta.revision,
		.now = clock_now(e->options.clock),
		.started_at = e->started_at,
		.read_only = engine_shortage(e) != NULL,
		.alarms = e->told->slugs,
		.n_alarms = e->told->n,
		.meta = e->meta,
		.commits = e->commits,
		.operations = e->operations,
	};
}

void engine_alarm(struct engine *e, const char *slug, bool raised)
{
	(void)alarms_set(&e->alarms, slug, raised);
}

static bool readers_idle(struct engine *e)
{
	for (size_t i = 0; i < READERS; i++)
		if (!reader_is_free(e->readers[i]))
			return false;
	return true;
}

static bool finished(struct engine *e)
{
	if (e->ready.n > 0 || !readers_idle(e))
		return false;
	if (e->broken)
		return true;
	return !e->committing && !e->loading && held_back(e) == 0 && !e->open->worker && e->open->changes.n == 0;
}

void engine_stop(struct engine *e)
{
	e->stopping = true;
	for (engine_pass(e); !finished(e); engine_pass(e)) {
		struct pollfd readable = { .fd = e->notify, .events = POLLIN };
		int64_t wait = engine_timeout(e);
		(void)poll(&readable, 1, wait < 0 || wait > 1000 ? 1000 : (int)wait);
		engine_collect(e);
	}
	storage_stop(e->storage);
	for (size_t i = 0; i < READERS; i++)
		reader_stop(e->readers[i]);
	e->storage = NULL;
}

void engine_free(struct engine *e)
{
	if (!e)
		return;
	assert(!e->storage);
	for (size_t i = 0; i < 2; i++)
		turn_clear(&e->turns[i]);
	for (size_t i = 0; i < ENGINE_ERRORS; i++)
		error_free(e->errors[i]);
	(void)close(e->notify);
	free(e->told);
	free(e);
}

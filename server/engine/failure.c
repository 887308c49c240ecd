/* When a commit fails. With a known outcome nothing is on disk: memory goes back to the durable revision and the calls decide once more,
 * one per transaction; who fails again is answered. With an unknown outcome the server says so and ends. */
#include <assert.h>
#include <stdlib.h>

#include "base/error.h"
#include "engine/internal.h"
#include "engine/threads.h"

/* The calls of a turn, in the order of their decisions, go to the end of `to`. */
static void take_calls(struct turn *t, struct call_list *to)
{
	call_list_append(to, &t->early);
	call_list_append(to, &t->held);
	if (t->reader)
		reader_cancel(t->reader);
	if (t->worker)
		call_list_add(to, t->worker);
	t->worker = NULL;
	t->reader = NULL;
}

/* Takes back a turn but for what it keeps, which goes to `kept`. */
static void undo_turn(struct engine *e, struct turn *t, bool keep_soft, struct change_list *kept)
{
	turn_undo(e, t, t->kept);
	for (size_t i = 0; i < t->kept; i++) {
		const struct change *c = &t->changes.changes[i];
		if (keep_soft || c->kind == RECORD_EVENT)
			change_list_add(kept, c->kind, record_ref(c->before), record_ref(c->after));
	}
	if (!keep_soft)
		turn_undo(e, t, 0);
}

/* The open turn begins anew with changes that are applied to memory already. */
static void open_with(struct engine *e, const struct change_list *kept)
{
	turn_clear(e->open);
	e->open->changes = *kept;
	e->open->kept = kept->n;
	e->open->soft_since = kept->n ? thread_now_ms() : 0;
}

size_t engine_undo(struct engine *e, bool keep_soft)
{
	struct change_list kept = { 0 };
	struct call_list calls = { 0 };
	e->unsettled = true; /* that may be undone too */
	undo_turn(e, e->open, keep_soft, &kept);
	if (e->committing) {
		undo_turn(e, e->committing, keep_soft, &kept);
		take_calls(e->committing, &calls);
		turn_clear(e->committing);
		e->committing = NULL;
	}
	take_calls(e->open, &calls);
	open_with(e, &kept);
	size_t n = calls.n;
	call_list_prepend(&e->waiting, &calls);
	return n;
}

static void fail_calls(struct engine *e, struct turn *t, const struct error *failure)
{
	struct call_list calls = { 0 };
	take_calls(t, &calls);
	call_list_fail(&e->ready, &calls, failure);
}

void engine_break(struct engine *e)
{
	const struct error *unknown = e->errors[FAIL_UNKNOWN], *broken = e->errors[FAIL_BROKEN];
	e->broken = true;
	if (e->committing) {
		struct call_list calls = { 0 };
		take_calls(e->committing, &calls);
		while (calls.n) {
			struct engine_call *call = call_list_pop(&calls);
			call->failure = call->changed ? unknown : broken;
			call_list_add(&e->ready, call);
		}
		e->committing = NULL;
	}
	fail_calls(e, e->open, broken);
	call_list_fail(&e->ready, &e->waiting, broken);
	for (size_t i = 0; i < 2; i++)
		call_list_fail(&e->ready, &e->work_waiting[i], broken);
	e->again = 0;
}

static const char *outcome_name(enum store_outcome outcome)
{
	static const char *const names[] = { "ok", "busy", "changed by somebody else", "no space", "refused", "no memory",
		"unknown outcome" };
	return names[outcome];
}

/* Nothing more is tried for this turn. What it kept survives unless it is what does not fit. */
static void fail_for_good(struct engine *e, enum store_outcome outcome)
{
	struct turn *t = e->committing;
	enum engine_error failure = outcome == STORE_FULL         ? (t->grows ? FAIL_READ_ONLY : FAIL_FULL)
				    : outcome == STORE_CONSTRAINT ? FAIL_INTERNAL
								  : FAIL_BUSY;
	bool given_up = outcome == STORE_FULL || outcome == STORE_CONSTRAINT || e->stopping;
	if (outcome == STORE_FULL || (!t->held.n && !t->worker))
		e->hold_until = thread_now_ms() + PROBE_MS;
	fail_calls(e, t, e->errors[failure]);
	if (given_up)
		t->kept = 0;
	(void)engine_undo(e, true);
	if (outcome == STORE_FULL) {
		e->read_only = true;
		(void)alarms_set(&e->alarms, "disk_full", true);
	}
	if (outcome == STORE_CONSTRAINT) {
		(void)alarms_set(&e->alarms, "diverged", true);
		(void)engine_undo(e, false);
		engine_load(e, LOAD_DIVERGED);
	}
}

/* Somebody else wrote. The calls are decided again on what is there now, together; they did nothing wrong. */
static void start_again_from_disk(struct engine *e)
{
	size_t n = engine_undo(e, false);
	if (e->careful)
		e->again += n;
	if (++e->external_rounds > EXTERNAL_ROUNDS) {
		call_list_fail(&e->ready, &e->waiting, e->errors[FAIL_OUTSIDE]);
		e->again = 0;
	}
	engine_load(e, LOAD_EXTERNAL);
}

void engine_commit_failed(struct engine *e)
{
	struct turn *t = e->committing;
	enum store_outcome outcome = e->job.outcome;
	bool final = t->alone || (t->held.n == 0 && !t->worker);
	log_write(e->options.log,
		outcome == STORE_EXTERNAL  ? LOG_INFO
		: outcome == STORE_UNKNOWN ? LOG_ERROR
					   : LOG_WARN,
		"commit of %zu calls: %s%s%s", t->held.n + (t->worker != NULL), outcome_name(outcome), e->job.why ? ": " : "",
		e->job.why ? e->job.why : "");
	free(e->job.why);
	e->job.why = NULL;
	if (outcome == STORE_UNKNOWN) {
		engine_break(e);
	} else if (outcome == STORE_EXTERNAL) {
		start_again_from_disk(e);
	} else if (final) {
		fail_for_good(e, outcome);
	} else {
		e->again = engine_undo(e, true);
		e->careful = true;
	}
}

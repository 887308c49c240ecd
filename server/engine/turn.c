/* A turn: decisions that will be written together. */
#include <assert.h>
#include <string.h>

#include "core/expire.h"
#include "core/settle.h"
#include "engine/internal.h"
#include "engine/threads.h"

static const char server_actor[] = "server";

void turn_harden(struct turn *t, size_t from)
{
	if (t->hard)
		return;
	t->hard = true;
	t->first_hard = from;
}

void turn_undo(struct engine *e, struct turn *t, size_t from)
{
	for (size_t i = t->changes.n; i > from; i--)
		cluster_unapply(e->cluster, &t->changes.changes[i - 1]);
	change_list_truncate(&t->changes, from);
	if (t->advanced)
		e->options.clock->start = t->clock_before;
	t->advanced = false;
}

void turn_keep(struct turn *t)
{
	t->kept = t->hard ? t->first_hard : t->changes.n;
}

void turn_clear(struct turn *t)
{
	assert(!t->early.n && !t->held.n);
	change_list_free(&t->changes);
	*t = (struct turn){ 0 };
}

bool expiry_allowed(const struct engine *e)
{
	return thread_now_ms() >= e->hold_until;
}

/* Lets expire whatever is due, at most as much as a turn may hold. */
static void turn_expire(struct engine *e, struct turn *t, size_t at_most)
{
	if (!expiry_allowed(e))
		return;
	for (size_t i = 0; i < at_most && expire_next(e->cluster) <= t->now; i++) {
		struct txn txn = txn_begin(e->cluster, &t->changes, t->now, server_actor);
		if (!expire_one(e->cluster, &txn))
			break;
		turn_harden(t, txn.start);
		t->operations++;
	}
}

static bool turn_is_full(const struct turn *t)
{
	size_t bytes = t->early.bytes + t->held.bytes + t->changes.n * CHANGE_BYTES;
	return t->operations >= TURN_CALLS || bytes >= TURN_BYTES;
}

/* Nobody else may join: the turn is a second try. */
static void seal_alone(struct turn *t)
{
	t->sealed = t->alone = true;
}

static void watch_wall_clock(struct engine *e)
{
	int64_t skew = clock_skew(e->options.clock);
	bool off = skew > SKEW_MS || skew < -SKEW_MS;
	if (alarms_set(&e->alarms, "clock_skew", off))
		log_write(e->options.log, LOG_WARN,
			off ? "the wall clock is off by %lld ms; time goes on as before" : "the wall clock agrees again",
			(long long)skew);
}

/* After a load: what a hand left undone is done before anybody decides. */
static void settle(struct engine *e, struct turn *t)
{
	struct txn txn = txn_begin(e->cluster, &t->changes, t->now, server_actor);
	if (!e->unsettled)
		return;
	e->unsettled = false;
	cluster_settle(&txn);
	if (t->changes.n == txn.start)
		return;
	turn_harden(t, txn.start);
	t->operations++;
}

/* The turn's time; what is overdue goes before anybody can see it. */
static void date(struct engine *e, struct turn *t)
{
	watch_wall_clock(e);
	t->now = clock_now(e->options.clock);
	t->dated = true;
	settle(e, t);
	turn_expire(e, t, TURN_CALLS);
	if (e->careful && t->hard)
		seal_alone(t);
}

bool turn_begin(struct engine *e)
{
	struct turn *t = e->open;
	if (e->broken || e->loading || t->sealed || (e->careful && e->committing))
		return false;
	if (e->careful && t->changes.n > 0) { /* kept changes go first */
		turn_harden(t, t->changes.n);
		seal_alone(t);
	}
	if (!t->sealed && !t->dated)
		date(e, t);
	return !t->sealed && !turn_is_full(t);
}

const struct error *engine_shortage(const struct engine *e)
{
	if (e->read_only)
		return e->errors[FAIL_READ_ONLY];
	const char *slug = store_shortage(e->options.store);
	if (!slug)
		return NULL;
	return e->errors[strcmp(slug, "quota") == 0 ? FAIL_QUOTA : FAIL_LOW];
}

/* While the disk is full nothing that grows is even tried, but for what is on its second try; memory stays equal to the disk. */
static bool refuse_growth(struct engine *e, struct engine_call *call, struct txn *txn, bool hard)
{
	const struct error *shortage = call->frees || e->again > 0 || e->advancing ? NULL : engine_shortage(e);
	if (!shortage)
		return false;
	txn_undo(txn);
	if (hard)
		call->failure = shortage;
	return true;
}

static void note_changes(struct engine *e, struct engine_call *call, const struct txn *txn, bool hard)
{
	struct turn *t = e->open;
	if (hard) {
		turn_harden(t, txn->start);
		t->grows |= !call->frees;
		call->changed = true;
	} else if (!t->soft_since) {
		t->soft_since = thread_now_ms();
	}
	if (e->careful)
		seal_alone(t);
}

/* A call with work closes its turn, so that its snapshot shows what it saw and nothing else; what it changed itself is not kept
 * when the turn fails. */
static void seal_for_work(struct engine *e, struct engine_call *call, size_t from)
{
	struct turn *t = e->open;
	turn_harden(t, from);
	t->worker = call;
	t->reader = engine_reader(e, call);
	assert(t->reader);
	reader_reserve(t->reader, call);
	t->sealed = true;
	t->alone |= e->careful;
}

void turn_decide(struct engine *e, struct engine_call *call)
{
	struct turn *t = e->open;
	struct txn txn = txn_begin(e->cluster, &t->changes, t->now, call->actor);
	call->no_work = call->changed = false;
	call->failure = NULL;
	e->deciding = true;
	e->advancing = false;
	call->class->decide(call, &txn);
	e->deciding = false;
	e->operations++;
	t->operations++;
	bool any = e->advancing || t->changes.n > txn.start;
	bool hard = e->advancing || (any && txn.revision != 0);
	if (any && !refuse_growth(e, call, &txn, hard))
		note_changes(e, call, &txn, hard);
	if (call->class->work && !call->no_work && !call->failure)
		seal_for_work(e, call, txn.start);
	else
		call_list_add(t->hard ? &t->held : &t->early, call);
}

int64_t engine_advance(struct engine *e, struct txn *txn, int64_t ms)
{
	struct turn *t = e->open;
	assert(e->deciding);
	if (!t->advanced)
		t->clock_before = e->options.clock->start;
	t->advanced = e->advancing = true;
	clock_advance(e->options.clock, ms);
	t->now = txn->now = clock_now(e->options.clock);
	turn_expire(e, t, SIZE_MAX);
	return t->now;
}

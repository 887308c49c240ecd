/* When somebody else wrote into the database: memory becomes what is there, by changes like all others, and history tells it by ordinary
 * events with the cause "external". Also the way back when memory and disk have diverged; then nothing is told. */
#include <assert.h>
#include <string.h>

#include "base/error.h"
#include "engine/internal.h"

static const char cause[] = "external";

static void tell_node(struct txn *txn, const struct node_record *before, const struct node_record *after)
{
	const struct node_record *node = after ? after : before;
	const char *kind = "node.registered";
	if (!after)
		kind = "node.removed";
	else if (before && before->cordoned != after->cordoned)
		kind = after->cordoned ? "node.cordoned" : "node.uncordoned";
	else if (before && before->unverified && !after->unverified)
		kind = "node.verified";
	txn_event(txn, &(struct event){ .kind = kind, .node = node->name, .uid = "", .reason = "", .cause = cause, .by = "", .unclaimed = -1,
		.subject_kind = SUBJECT_NODE, .subject = node });
}

static void tell_device(struct txn *txn, const struct device_record *before, const struct device_record *after)
{
	const struct device_record *device = after ? after : before;
	const char *kind = "device.updated";
	if (!before)
		kind = "device.added";
	else if (!after)
		kind = "device.removed";
	else if (!before->missing && after->missing)
		kind = "device.missing";
	txn_event(txn, &(struct event){ .kind = kind, .node = device->node, .uid = "", .reason = "", .cause = cause, .by = "", .unclaimed = -1,
		.subject_kind = SUBJECT_DEVICE, .subject = device });
}

static const char *allocation_kind(const struct allocation *before, const struct allocation *after)
{
	static const char *const arrived[POD_STATES] = { "pod.released", "pod.reserved", "pod.bound", "pod.allocated", "pod.releasing" };
	if (!after)
		return "pod.released";
	if (!before && after->state == POD_ALLOCATED)
		return "pod.adopted";
	if (!before || before->state != after->state)
		return arrived[after->state];
	return before->handed_out != after->handed_out ? "pod.claimed" : "pod.renewed";
}

static void tell_allocation(struct txn *txn, const struct allocation *before, const struct allocation *after)
{
	const struct allocation *a = after ? after : before;
	txn_event(txn, &(struct event){ .kind = allocation_kind(before, after), .node = a->node, .uid = a->pod.uid, .reason = "", .cause = cause,
		.by = "", .unclaimed = -1, .subject_kind = SUBJECT_ALLOCATION, .subject = a });
}

static void tell_nomination(struct txn *txn, const struct nomination *before, const struct nomination *after)
{
	const struct nomination *n = after ? after : before;
	const char *kind = !before ? "nomination.set" : !after ? "nomination.cleared" : "nomination.moved";
	txn_event(txn, &(struct event){ .kind = kind, .node = n->node, .uid = n->pod.uid, .reason = "", .cause = cause, .by = "", .unclaimed = -1,
		.subject_kind = SUBJECT_NOMINATION, .subject = n });
}

static void tell_lock(struct txn *txn, const struct lock *after, const struct lock *lock)
{
	txn_event(txn, &(struct event){ .kind = after ? "lock.acquired" : "lock.released", .node = lock->node, .uid = lock->uid, .reason = "",
		.cause = cause, .by = "", .unclaimed = -1, .subject_kind = SUBJECT_LOCK, .subject = lock });
}

static void tell_lapse(struct txn *txn, const struct lapse *after, const struct lapse *lapse)
{
	txn_event(txn, &(struct event){ .kind = after ? "pod.lapsed" : "pod.forgotten", .node = lapse->node, .uid = lapse->uid, .reason = "",
		.cause = cause, .by = "", .unclaimed = -1, .subject_kind = SUBJECT_LAPSE, .subject = lapse });
}

static void tell_refusal(struct txn *txn, const struct refusal *after, const struct refusal *refusal)
{
	txn_event(txn, &(struct event){ .kind = after ? "pod.refused" : "pod.forgotten", .node = "", .uid = refusal->pod.uid, .reason = "",
		.cause = cause, .by = "", .unclaimed = -1, .subject_kind = SUBJECT_REFUSAL, .subject = refusal });
}

static void tell(struct txn *txn, const struct change *change)
{
	const void *before = change->before, *after = change->after, *either = after ? after : before;
	switch (change->kind) {
	case RECORD_NODE:
		tell_node(txn, before, after);
		break;
	case RECORD_DEVICE:
		tell_device(txn, before, after);
		break;
	case RECORD_ALLOCATION:
		tell_allocation(txn, before, after);
		break;
	case RECORD_NOMINATION:
		tell_nomination(txn, before, after);
		break;
	case RECORD_LOCK:
		tell_lock(txn, after, either);
		break;
	case RECORD_LAPSE:
		tell_lapse(txn, after, either);
		break;
	default:
		assert(change->kind == RECORD_REFUSAL);
		tell_refusal(txn, after, either);
		break;
	}
}

static void raise_counter(int64_t *counter, int64_t to)
{
	if (*counter < to)
		*counter = to;
}

/* Applies to memory what differs there from what was read. */
static void become(struct engine *e, const struct change_list *loaded, struct change_list *difference)
{
	struct change_list mine = { 0 };
	struct counters *counters = cluster_counters(e->cluster);
	cluster_snapshot(e->cluster, &mine);
	snapshot_difference(&mine, loaded, difference);
	change_list_free(&mine);
	for (size_t i = 0; i < difference->n; i++)
		cluster_apply(e->cluster, &difference->changes[i]);
	raise_counter(&counters->revision, e->job.meta.revision);
	raise_counter(&counters->token, e->job.meta.token);
}

/* The events are on the open turn's account and stay there until they are written. */
static void tell_all(struct engine *e, const struct change_list *difference)
{
	struct turn *t = e->open;
	size_t from = t->changes.n;
	struct txn txn = txn_begin(e->cluster, &t->changes, clock_now(e->options.clock), "server");
	for (size_t i = 0; i < difference->n; i++)
		tell(&txn, &difference->changes[i]);
	t->kept = t->changes.n;
	if (t->changes.n > from)
		turn_harden(t, t->changes.n);
}

void engine_load(struct engine *e, enum load_reason reason)
{
	assert(!e->committing && !e->loading);
	e->loading = reason;
	e->job = (struct job){ .kind = JOB_LOAD };
	storage_give(e->storage, &e->job);
}

void engine_loaded(struct engine *e)
{
	enum load_reason reason = e->loading;
	struct change_list difference = { 0 };
	e->loading = LOAD_NOT;
	if (e->job.error) {
		log_write(e->options.log, LOG_ERROR, "cannot read the database again: %s", e->job.error->message);
		error_free(e->job.error);
		change_list_free(&e->job.loaded);
		engine_break(e);
		return;
	}
	become(e, &e->job.loaded, &difference);
	if (reason == LOAD_EXTERNAL)
		tell_all(e, &difference);
	if (difference.n > 0 || reason == LOAD_DIVERGED)
		log_write(e->options.log, LOG_WARN, "%s: took over %zu records from disk",
			reason == LOAD_DIVERGED ? "memory and disk differed" : "somebody else wrote into the database", difference.n);
	change_list_free(&difference);
	change_list_free(&e->job.loaded);
}

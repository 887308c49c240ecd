/* When somebody else wrote into the database: memory becomes what is there, by changes like all others, and history tells it by ordinary
 * events with the cause "external". Also the way back when memory and disk have diverged; then nothing is told. */
#include <assert.h>
#include <string.h>

#include "base/error.h"
#include "engine/internal.h"

static const char cause[] = "external";

static void tell(struct txn *txn, const char *kind, const char *node, const char *uid, enum event_subject subject_kind,
	const void *subject)
{
	txn_event(txn, &(struct event){ .kind = kind,
			       .node = node,
			       .uid = uid,
			       .cause = cause,
			       .subject_kind = subject_kind,
			       .subject = subject });
}

static const char *node_kind(const struct node_record *before, const struct node_record *after)
{
	if (!after)
		return "node.removed";
	if (before && before->cordoned != after->cordoned)
		return after->cordoned ? "node.cordoned" : "node.uncordoned";
	return before && before->unverified && !after->unverified ? "node.verified" : "node.registered";
}

static const char *device_kind(const struct device_record *before, const struct device_record *after)
{
	if (!before)
		return "device.added";
	if (!after)
		return "device.removed";
	return !before->missing && after->missing ? "device.missing" : "device.updated";
}

static const char *allocation_kind(const struct allocation *before, const struct allocation *after)
{
	static const char *const arrived[POD_STATES] = { "pod.released", "pod.reserved", "pod.bound", "pod.allocated",
		"pod.releasing" };
	if (!after)
		return "pod.released";
	if (!before && after->state == POD_ALLOCATED)
		return "pod.adopted";
	if (!before || before->state != after->state)
		return arrived[after->state];
	return before->handed_out != after->handed_out ? "pod.claimed" : "pod.renewed";
}

static void tell_node(struct txn *txn, const struct node_record *before, const struct node_record *after)
{
	const struct node_record *n = after ? after : before;
	tell(txn, node_kind(before, after), n->name, "", SUBJECT_NODE, n);
}

static void tell_device(struct txn *txn, const struct device_record *before, const struct device_record *after)
{
	const struct device_record *d = after ? after : before;
	tell(txn, device_kind(before, after), d->node, "", SUBJECT_DEVICE, d);
}

static void tell_allocation(struct txn *txn, const struct allocation *before, const struct allocation *after)
{
	const struct allocation *a = after ? after : before;
	tell(txn, allocation_kind(before, after), a->node, a->pod.uid, SUBJECT_ALLOCATION, a);
}

static void tell_nomination(struct txn *txn, const struct nomination *before, const struct nomination *after)
{
	const struct nomination *n = after ? after : before;
	const char *kind = !after ? "nomination.cleared" : before ? "nomination.moved" : "nomination.set";
	tell(txn, kind, n->node, n->pod.uid, SUBJECT_NOMINATION, n);
}

static void tell_lock(struct txn *txn, bool there, const struct lock *l)
{
	tell(txn, there ? "lock.acquired" : "lock.released", l->node, l->uid, SUBJECT_LOCK, l);
}

static void tell_lapse(struct txn *txn, bool there, const struct lapse *l)
{
	tell(txn, there ? "pod.lapsed" : "pod.forgotten", l->node, l->uid, SUBJECT_LAPSE, l);
}

static void tell_refusal(struct txn *txn, bool there, const struct refusal *r)
{
	tell(txn, there ? "pod.refused" : "pod.forgotten", "", r->pod.uid, SUBJECT_REFUSAL, r);
}

static void tell_change(struct txn *txn, const struct change *change)
{
	const void *before = change->before, *after = change->after, *either = after ? after : before;
	assert(either);
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
		tell_lock(txn, after != NULL, either);
		break;
	case RECORD_LAPSE:
		tell_lapse(txn, after != NULL, either);
		break;
	default:
		assert(change->kind == RECORD_REFUSAL);
		tell_refusal(txn, after != NULL, either);
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
		tell_change(&txn, &difference->changes[i]);
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
	e->unsettled = true;
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
			reason == LOAD_DIVERGED ? "memory and disk differed" : "somebody else wrote into the database",
			difference.n);
	change_list_free(&difference);
	change_list_free(&e->job.loaded);
}

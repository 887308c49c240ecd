/* Why a pod is pending: its refusals, remembered for a day. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/pods.h"

enum {
	REFUSALS = 10000,  /* remembered at most; the one that was refused longest ago gives way */
	REFUSAL_NODES = 20 /* nodes named in one */
};

bool refusal_drop(struct txn *txn, const char *uid)
{
	const struct refusal_entry *e = cluster_refusal(txn->cluster, uid);
	if (e)
		txn_put(txn, RECORD_REFUSAL, e->record, NULL);
	return e;
}

/* Makes room for one more. */
static void make_room(struct txn *txn)
{
	const struct refusal_entry *oldest = NULL;
	if (HASH_COUNT(txn->cluster->refusals) < REFUSALS)
		return;
	for (const struct refusal_entry *e = txn->cluster->refusals; e; e = e->hh.next)
		if (!oldest || e->record->last_at < oldest->record->last_at)
			oldest = e;
	txn_put(txn, RECORD_REFUSAL, oldest->record, NULL);
}

static bool same_slugs(const struct refusal *a, const struct refusal *b)
{
	if (a->n_counts != b->n_counts || strcmp(a->reason, b->reason) != 0)
		return false;
	for (size_t i = 0; i < a->n_counts; i++)
		if (strcmp(a->counts[i].slug, b->counts[i].slug) != 0)
			return false;
	return true;
}

/* Puts the refusal over the one before; tells only when it says something new. */
static void put(struct txn *txn, struct refusal *next)
{
	const struct refusal_entry *e = cluster_refusal(txn->cluster, next->pod.uid);
	const struct refusal *before = e ? e->record : NULL;
	bool news = !before || !same_slugs(before, next);
	if (!before)
		make_room(txn);
	next->first_at = before ? before->first_at : txn->now;
	next->count = before ? before->count + 1 : 1;
	next->last_at = txn->now;
	next->expires_at = txn->now + DAY;
	const struct refusal *made = refusal_new(next);
	txn_put(txn, RECORD_REFUSAL, before, made);
	if (news)
		txn_event(txn,
			&(struct event){
				.kind = "pod.refused", .uid = made->pod.uid, .subject_kind = SUBJECT_REFUSAL, .subject = made });
}

static int by_slug(const void *a, const void *b)
{
	return strcmp(((const struct slug_count *)a)->slug, ((const struct slug_count *)b)->slug);
}

void refusal_note(struct txn *txn, const struct pod *pod, const struct request *request, const struct report *report)
{
	struct slug_count counts[SLUGS];
	const char *nodes[REFUSAL_NODES];
	struct refusal next = { .pod = *pod, .reason = "insufficient", .request = request, .counts = counts, .nodes = nodes };
	for (enum slug s = 0; s < SLUGS; s++)
		if (report_count(report, s))
			counts[next.n_counts++] = (struct slug_count){ slug_name(s), report_count(report, s) };
	qsort(counts, next.n_counts, sizeof *counts, by_slug);
	while (next.n_nodes < REFUSAL_NODES && next.n_nodes < report->n_nodes) {
		nodes[next.n_nodes] = report->nodes[next.n_nodes].node;
		next.n_nodes++;
	}
	put(txn, &next);
}

void refusal_failed(struct txn *txn, const struct allocation *a, const char *message)
{
	struct refusal next = {
		.pod = a->pod, .reason = "failed", .message = message, .request = a->request, .nodes = &a->node, .n_nodes = 1
	};
	put(txn, &next);
}

/* node.verify, node.cordon, node.uncordon, node.remove, device.update. */
#include "core/inventory.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/text.h"

enum { SEEN_INTERVAL = 10 * SECOND };

void node_seen(struct txn *txn, const struct node *n)
{
	struct node_record next = *n->record;
	if (txn->now - next.last_seen_at < SEEN_INTERVAL)
		return;
	next.last_seen_at = txn->now;
	txn_put(txn, RECORD_NODE, n->record, node_record_new(&next));
}

static const struct node_record *put_node(
	struct txn *txn, const struct node *n, struct node_record *next, const char *kind, const char *reason)
{
	next->reason = reason;
	next->revision = txn_revision(txn);
	const struct node_record *made = node_record_new(next);
	txn_put(txn, RECORD_NODE, n->record, made);
	txn_event(
		txn, &(struct event){
			     .kind = kind, .node = made->name, .reason = reason, .subject_kind = SUBJECT_NODE, .subject = made });
	return made;
}

struct error *node_verify(struct txn *txn, const char *node, const char *reason, const struct node_record **ret)
{
	const struct node *n = cluster_node(txn->cluster, node);
	if (!n)
		return not_found_error("node", node);
	struct node_record next = *n->record;
	next.unverified = false;
	*ret = n->record->unverified ? put_node(txn, n, &next, "node.verified", reason) : n->record;
	return NULL;
}

struct error *node_cordon(struct txn *txn, const char *node, bool cordoned, const char *reason, const struct node_record **ret)
{
	struct node *n = cluster_node(txn->cluster, node);
	if (!n)
		return not_found_error("node", node);
	struct node_record next = *n->record;
	next.cordoned = cordoned;
	bool says_why = *reason && strcmp(reason, n->record->reason) != 0;
	if (n->record->cordoned != cordoned || (cordoned && says_why)) {
		put_node(txn, n, &next, cordoned ? "node.cordoned" : "node.uncordoned", reason);
		promises_recheck(txn, n, "node_cordoned", NULL);
	}
	*ret = n->record;
	return NULL;
}

static void release_all(struct txn *txn, struct node *n, char ***released, size_t *count)
{
	size_t i = 0;
	*released = mem_array(n->n_holdings, sizeof **released);
	for (const struct holding *h = n->holdings; h; h = h->next)
		(*released)[i++] = mem_string(h->record->pod.uid);
	*count = i;
	if (i)
		qsort(*released, i, sizeof **released, string_order);
	for (i = 0; i < *count; i++)
		pod_drop(txn, cluster_holding(txn->cluster, (*released)[i]),
			&(struct event){ .kind = "pod.released", .cause = "node_removed" });
	while (n->promises)
		promise_drop(txn, n->promises->record->pod.uid, "nomination.invalidated", "node_removed");
}

static void remove_leaves(struct txn *txn, const struct node *n)
{
	while (n->n_devices)
		txn_put(txn, RECORD_DEVICE, n->devices[n->n_devices - 1].record, NULL);
	while (n->lapses)
		txn_put(txn, RECORD_LAPSE, n->lapses->record, NULL);
	if (n->lock)
		txn_put(txn, RECORD_LOCK, n->lock->record, NULL);
}

struct error *node_remove(struct txn *txn, const char *node, bool force, char ***released, size_t *n_released)
{
	struct node *n = cluster_node(txn->cluster, node);
	*released = NULL;
	*n_released = 0;
	if (!n)
		return not_found_error("node", node);
	if (!force && (n->n_holdings || n->n_promises))
		return error_with_string(
			error_new(ERR_CONFLICT,
				"node %s: %zu pods hold devices and %zu are nominated there; release them or use force", node,
				n->n_holdings, n->n_promises),
			"node", node);
	const struct node_record *r = record_ref(n->record);
	release_all(txn, n, released, n_released);
	remove_leaves(txn, n);
	txn_put(txn, RECORD_NODE, r, NULL);
	txn_event(txn, &(struct event){ .kind = "node.removed", .node = r->name, .subject_kind = SUBJECT_NODE, .subject = r });
	record_unref(RECORD_NODE, r);
	return NULL;
}

struct error *device_update(struct txn *txn, const char *node, const char *uuid, enum said healthy, enum said cordoned,
	const char *reason, const struct device_record **ret)
{
	struct node *n = cluster_node(txn->cluster, node);
	if (!n)
		return not_found_error("node", node);
	const struct device *d = node_device_uuid(n, uuid);
	if (!d)
		return not_found_error("device", uuid);
	const struct device_record *old = d->record;
	struct device_record next = *old;
	next.healthy = healthy == SAID_NOTHING ? old->healthy : healthy == SAID_YES;
	next.cordoned = cordoned == SAID_NOTHING ? old->cordoned : cordoned == SAID_YES;
	next.reason = reason ? reason : old->reason;
	*ret = record_ref(old);
	if (next.healthy == old->healthy && next.cordoned == old->cordoned && strcmp(next.reason, old->reason) == 0)
		return NULL;
	next.revision = txn_revision(txn);
	const struct device_record *made = device_record_new(&next);
	txn_put(txn, RECORD_DEVICE, old, record_ref(made));
	record_unref(RECORD_DEVICE, *ret);
	*ret = made;
	txn_event(txn, &(struct event){ .kind = "device.updated",
			       .node = node,
			       .reason = reason,
			       .subject_kind = SUBJECT_DEVICE,
			       .subject = made });
	promises_recheck(txn, n, made->healthy ? "device_cordoned" : "device_unhealthy", NULL);
	missing_sweep(txn, n);
	return NULL;
}

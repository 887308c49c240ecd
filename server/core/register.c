/* node.register: bringing what the cluster knows of a node in line with what its agent lists. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "core/inventory.h"

static bool in_scope(const struct register_node *args, const char *type)
{
	for (size_t i = 0; i < args->n_types; i++)
		if (strcmp(args->types[i], type) == 0)
			return true;
	return !args->types;
}

static struct error *bad_device(size_t index, const char *member, const char *sentence)
{
	char *path = mem_format("devices[%zu].%s", index, member);
	struct error *e = error_invalid(path, "%s: %s", path, sentence);
	free(path);
	return e;
}

/* The listed devices, to be found by uuid and by slot. */
struct listed {
	const struct device_report *report;
	size_t index;
	UT_hash_handle hh;
};

static struct error *check_list(const struct register_node *args, struct listed *all, struct listed **by_uuid)
{
	for (size_t i = 0; i < args->n_devices; i++) {
		const struct device_record *r = &args->devices[i].record;
		struct listed *twin;
		HASH_FIND_STR(*by_uuid, r->uuid, twin);
		if (twin)
			return bad_device(i, "uuid", "the same uuid is listed twice");
		if (!in_scope(args, r->type))
			return bad_device(i, "type", "is not among `types`");
		all[i] = (struct listed){ .report = &args->devices[i], .index = i };
		HASH_ADD_KEYPTR(hh, *by_uuid, r->uuid, strlen(r->uuid), &all[i]);
	}
	return NULL;
}

static int by_slot(const void *a_, const void *b_)
{
	const struct listed *a = *(const struct listed *const *)a_, *b = *(const struct listed *const *)b_;
	int types = strcmp(a->report->record.type, b->report->record.type);
	if (types)
		return types;
	if (a->report->record.minor != b->report->record.minor)
		return a->report->record.minor < b->report->record.minor ? -1 : 1;
	return a->index < b->index ? -1 : 1;
}

static struct error *check_slots(const struct register_node *args, struct listed *all)
{
	struct listed **order = mem_array(args->n_devices, sizeof(struct listed *));
	struct error *error = NULL;
	for (size_t i = 0; i < args->n_devices; i++)
		order[i] = &all[i];
	if (args->n_devices)
		qsort(order, args->n_devices, sizeof(struct listed *), by_slot);
	for (size_t i = 1; i < args->n_devices && !error; i++) {
		const struct device_record *a = &order[i - 1]->report->record, *b = &order[i]->report->record;
		if (a->minor == b->minor && strcmp(a->type, b->type) == 0)
			error = bad_device(order[i]->index, "minor", "another device of that type has the same minor");
	}
	free(order);
	return error;
}

static struct error *check_owners(const struct cluster *c, const struct register_node *args)
{
	for (size_t i = 0; i < args->n_devices; i++) {
		const struct device_record *r = &args->devices[i].record;
		const struct device_place *p = cluster_device(c, r->uuid);
		if (!p)
			continue;
		if (strcmp(p->node->record->name, args->node) != 0) {
			struct error *e = error_new(ERR_CONFLICT, "device %s is on node %s already and cannot be on node %s too",
				r->uuid, p->node->record->name, args->node);
			error_with_string(e, "node", p->node->record->name);
			return error_with_string(e, "name", r->uuid);
		}
		if (strcmp(p->record->type, r->type) != 0 && node_device(p->node, p->record->id)->shares)
			return error_with_string(error_new(ERR_CONFLICT, "device %s is held as a %s and cannot become a %s",
							 r->uuid, p->record->type, r->type),
				"node", args->node);
	}
	return NULL;
}

static struct error *check_empty(const struct node *n, const struct register_node *args)
{
	if (args->n_devices || args->allow_empty || !n)
		return NULL;
	for (size_t i = 0; i < n->n_devices; i++)
		if (in_scope(args, n->devices[i].record->type) && !n->devices[i].record->missing)
			return error_with_string(
				error_new(ERR_CONFLICT, "node %s has devices; an empty list needs allow_empty", args->node),
				"node", args->node);
	return NULL;
}

/* A node has a limited number of devices, whatever the number of agents that list them; missing ones count. */
static struct error *check_number(const struct node *n, const struct register_node *args, struct listed *by_uuid)
{
	size_t number = args->n_devices;
	for (size_t i = 0; n && i < n->n_devices; i++) {
		const struct device *d = &n->devices[i];
		struct listed *found;
		HASH_FIND_STR(by_uuid, d->record->uuid, found);
		bool stays = !in_scope(args, d->record->type) || d->record->missing || d->shares || d->record->cordoned;
		number += !found && stays;
	}
	if (number <= NODE_DEVICES)
		return NULL;
	return error_with_string(
		error_new(ERR_OVERLOADED, "node %s would have %zu devices, more than %d", args->node, number, NODE_DEVICES),
		"limit", "devices");
}

static void tell_device(struct txn *txn, const char *kind, const struct device_record *r)
{
	txn_event(txn, &(struct event){ .kind = kind, .node = r->node, .subject_kind = SUBJECT_DEVICE, .subject = r });
}

static const struct device_record *put_device(struct txn *txn, const struct device_record *old, struct device_record *next)
{
	next->revision = txn_revision(txn);
	const struct device_record *made = device_record_new(next);
	txn_put(txn, RECORD_DEVICE, old, made);
	return made;
}

static void add_device(struct txn *txn, const struct node *n, const struct device_report *report)
{
	struct device_record next = report->record;
	next.id = cluster_next_id(txn->cluster);
	next.node_id = n->record->id;
	next.node = n->record->name;
	next.healthy = !report->says_healthy || report->record.healthy;
	next.cordoned = next.missing = false;
	tell_device(txn, "device.added", put_device(txn, NULL, &next));
}

/* What the device becomes when it is listed like that. Returns whether that differs from what it is. */
static bool updated_device(const struct device_record *old, const struct device_report *report, struct device_record *next)
{
	*next = report->record;
	next->id = old->id;
	next->node_id = old->node_id;
	next->node = old->node;
	next->healthy = report->says_healthy ? report->record.healthy : old->healthy;
	next->cordoned = old->cordoned;
	next->reason = old->reason;
	next->missing = false;
	next->revision = old->revision;
	struct device_record *twin = device_record_new(next);
	bool differs = !record_equal(RECORD_DEVICE, old, twin);
	record_unref(RECORD_DEVICE, twin);
	return differs;
}

static void merge_listed(struct txn *txn, const struct node *n, const struct register_node *args, struct registered *ret)
{
	for (size_t i = 0; i < args->n_devices; i++) {
		const struct device_place *p = cluster_device(txn->cluster, args->devices[i].record.uuid);
		struct device_record next;
		if (!p) {
			add_device(txn, n, &args->devices[i]);
			ret->added++;
		} else if (updated_device(p->record, &args->devices[i], &next)) {
			tell_device(txn, "device.updated", put_device(txn, p->record, &next));
			ret->updated++;
		}
	}
}

static bool is_promised(const struct node *n, int64_t device)
{
	for (const struct promise *p = n->promises; p; p = p->next)
		for (size_t i = 0; i < p->record->n_shares; i++)
			if (p->record->shares[i].device_id == device)
				return true;
	return false;
}

/* A device that is no longer listed: kept as missing while something needs it, else removed. */
static void lose_device(struct txn *txn, const struct node *n, const struct device *d, struct registered *ret)
{
	const struct device_record *old = record_ref(d->record);
	struct device_record next = *old;
	next.missing = true;
	if (d->shares || d->record->cordoned || is_promised(n, d->id)) {
		tell_device(txn, "device.missing", put_device(txn, old, &next));
		ret->missing++;
	} else {
		txn_put(txn, RECORD_DEVICE, old, NULL);
		tell_device(txn, "device.removed", old);
		ret->removed++;
	}
	record_unref(RECORD_DEVICE, old);
}

static void drop_unlisted(
	struct txn *txn, const struct node *n, const struct register_node *args, struct listed *by_uuid, struct registered *ret)
{
	for (size_t i = n->n_devices; i > 0; i--) {
		const struct device *d = &n->devices[i - 1];
		struct listed *found;
		HASH_FIND_STR(by_uuid, d->record->uuid, found);
		if (!found && !d->record->missing && in_scope(args, d->record->type))
			lose_device(txn, n, d, ret);
	}
}

static bool labels_differ(const struct node_record *r, const struct register_node *args)
{
	if (!args->labels)
		return false;
	struct node_record next = *r;
	next.labels = args->labels;
	next.n_labels = args->n_labels;
	return !record_equal(RECORD_NODE, r, &next);
}

/* Puts the node's record: new, or changed with its devices. */
static void put_node(struct txn *txn, const struct node *n, const struct register_node *args)
{
	struct node_record next = n ? *n->record
				    : (struct node_record){
					      .id = cluster_next_id(txn->cluster), .name = args->node, .unverified = args->verify
				      };
	if (args->labels) {
		next.labels = args->labels;
		next.n_labels = args->n_labels;
	}
	next.last_seen_at = txn->now;
	next.revision = txn_revision(txn);
	const struct node_record *made = node_record_new(&next);
	txn_put(txn, RECORD_NODE, n ? n->record : NULL, made);
	txn_event(txn,
		&(struct event){ .kind = "node.registered", .node = made->name, .subject_kind = SUBJECT_NODE, .subject = made });
}

static void carry_out(struct txn *txn, const struct register_node *args, struct listed *by_uuid, struct registered *ret)
{
	struct node *n = cluster_node(txn->cluster, args->node);
	bool told = !n || labels_differ(n->record, args);
	if (told)
		put_node(txn, n, args);
	n = cluster_node(txn->cluster, args->node);
	drop_unlisted(txn, n, args, by_uuid, ret);
	merge_listed(txn, n, args, ret);
	if (txn->revision) {
		if (!told)
			put_node(txn, n, args);
		promises_recheck(txn, n, "inventory", NULL);
		missing_sweep(txn, n);
	} else {
		node_seen(txn, n);
	}
	ret->revision = n->record->revision;
}

struct error *node_register(struct txn *txn, const struct register_node *args, struct registered *ret)
{
	struct listed *all = mem_array(args->n_devices, sizeof *all), *by_uuid = NULL;
	*ret = (struct registered){ 0 };
	struct error *error = check_list(args, all, &by_uuid);
	if (!error)
		error = check_slots(args, all);
	if (!error)
		error = check_owners(txn->cluster, args);
	if (!error)
		error = check_empty(cluster_node(txn->cluster, args->node), args);
	if (!error)
		error = check_number(cluster_node(txn->cluster, args->node), args, by_uuid);
	if (!error)
		carry_out(txn, args, by_uuid, ret);
	HASH_CLEAR(hh, by_uuid);
	free(all);
	return error;
}

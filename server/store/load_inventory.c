/* node, node_label, device, device_label and capacity. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/mem.h"
#include "store/load_private.h"

static const char nodes_select[] = "SELECT id, name, cordoned, unverified, reason, last_seen_at, revision FROM node ORDER BY id";

static const char node_labels_select[] = "SELECT node_id, key, value FROM node_label ORDER BY node_id, key";

static const char devices_select[] =
	"SELECT id, node_id, uuid, type, minor, model, healthy, cordoned, missing, numa, socket, pcie, bus_id, reason, revision "
	"FROM device ORDER BY id";

static const char device_labels_select[] = "SELECT device_id, key, value FROM device_label ORDER BY device_id, key";

static const char capacity_select[] = "SELECT device_id, resource, amount FROM capacity ORDER BY device_id, resource";

int load_inventory_prepare(struct loader *l, sqlite3 *db)
{
	const struct statement_source sources[] = {
		{ &l->nodes, nodes_select },
		{ &l->node_labels, node_labels_select },
		{ &l->devices, devices_select },
		{ &l->device_labels, device_labels_select },
		{ &l->capacity, capacity_select },
	};
	return statement_prepare(db, sources, sizeof sources / sizeof *sources);
}

/* A list of labels that is used again for each owner. */
struct labels {
	struct label *list;
	size_t n, room;
};

static void collect_labels(struct loading *l, struct labels *labels, struct rows *rows, int64_t owner)
{
	labels->n = 0;
	for (; rows_belong(rows, owner); rows_next(rows)) {
		labels->list = mem_grow(labels->list, labels->n, &labels->room, sizeof *labels->list);
		labels->list[labels->n++] = (struct label){
			.key = intern_string(l->intern, statement_column_text(rows->statement, 1)),
			.value = intern_string(l->intern, statement_column_text(rows->statement, 2)),
		};
	}
}

static void add_node(struct loading *l, const struct labels *labels)
{
	const struct statement *s = &l->loader->nodes;
	const struct node_record like = {
		.id = statement_column_integer(s, 0),
		.name = statement_column_text(s, 1),
		.cordoned = statement_column_integer(s, 2) != 0,
		.unverified = statement_column_integer(s, 3) != 0,
		.reason = statement_column_text(s, 4),
		.last_seen_at = statement_column_integer(s, 5),
		.revision = statement_column_integer(s, 6),
		.labels = labels->list,
		.n_labels = labels->n,
	};
	const struct node_record *node = node_record_new(&like);
	l->nodes = mem_grow(l->nodes, l->n_nodes, &l->room_nodes, sizeof(void *));
	l->nodes[l->n_nodes++] = node;
	change_list_add(l->list, RECORD_NODE, NULL, node);
}

struct error *load_nodes(struct loading *l)
{
	struct statement *s = &l->loader->nodes;
	struct labels labels = { 0 };
	struct rows label_rows = rows_start(&l->loader->node_labels);
	int rc;
	while ((rc = statement_step(s)) == SQLITE_ROW) {
		collect_labels(l, &labels, &label_rows, statement_column_integer(s, 0));
		add_node(l, &labels);
	}
	free(labels.list);
	return rc == SQLITE_DONE ? rows_end(l, &label_rows, "node_label") : load_failed(l, rc);
}

static int compare_node(const void *id, const void *element)
{
	const struct node_record *node = *(const struct node_record *const *)element;
	int64_t key = *(const int64_t *)id;
	return key < node->id ? -1 : key > node->id;
}

const struct node_record *loading_node(const struct loading *l, int64_t id)
{
	const struct node_record **found = l->n_nodes ? bsearch(&id, l->nodes, l->n_nodes, sizeof *l->nodes, compare_node) : NULL;
	return found ? *found : NULL;
}

static int compare_device(const void *id, const void *element)
{
	const struct device_record *device = *(const struct device_record *const *)element;
	int64_t key = *(const int64_t *)id;
	return key < device->id ? -1 : key > device->id;
}

const struct device_record *loading_device(const struct loading *l, int64_t id)
{
	const struct device_record **found = l->n_devices
						     ? bsearch(&id, l->devices, l->n_devices, sizeof *l->devices, compare_device)
						     : NULL;
	return found ? *found : NULL;
}

/* What a device has, and how many shares it may be cut into. */
struct capacities {
	struct amount *list;
	size_t n, room;
	int64_t max_shares;
};

static void collect_capacity(struct loading *l, struct capacities *c, struct rows *rows, int64_t device)
{
	c->n = 0;
	c->max_shares = 0;
	for (; rows_belong(rows, device); rows_next(rows)) {
		const char *resource = statement_column_text(rows->statement, 1);
		int64_t amount = statement_column_integer(rows->statement, 2);
		if (!*resource) {
			c->max_shares = amount;
			continue;
		}
		c->list = mem_grow(c->list, c->n, &c->room, sizeof *c->list);
		c->list[c->n++] = (struct amount){ .resource = intern_string(l->intern, resource), .value = amount };
	}
}

static struct error *add_device(struct loading *l, const struct capacities *capacity, const struct labels *labels)
{
	const struct statement *s = &l->loader->devices;
	const struct node_record *node = loading_node(l, statement_column_integer(s, 1));
	if (!node)
		return load_damaged("device %s is on node id %" PRId64 ", which is not there", statement_column_text(s, 2),
			statement_column_integer(s, 1));
	const struct device_record like = {
		.id = statement_column_integer(s, 0),
		.node_id = node->id,
		.node = node->name,
		.uuid = statement_column_text(s, 2),
		.type = statement_column_text(s, 3),
		.minor = statement_column_integer(s, 4),
		.model = statement_column_text(s, 5),
		.healthy = statement_column_integer(s, 6) != 0,
		.cordoned = statement_column_integer(s, 7) != 0,
		.missing = statement_column_integer(s, 8) != 0,
		.max_shares = capacity->max_shares,
		.numa = statement_column_integer(s, 9),
		.socket = statement_column_integer(s, 10),
		.pcie = statement_column_text(s, 11),
		.bus_id = statement_column_text(s, 12),
		.reason = statement_column_text(s, 13),
		.revision = statement_column_integer(s, 14),
		.capacity = capacity->list,
		.n_capacity = capacity->n,
		.labels = labels->list,
		.n_labels = labels->n,
	};
	const struct device_record *device = device_record_new(&like);
	l->devices = mem_grow(l->devices, l->n_devices, &l->room_devices, sizeof(void *));
	l->devices[l->n_devices++] = device;
	change_list_add(l->list, RECORD_DEVICE, NULL, device);
	return NULL;
}

struct error *load_devices(struct loading *l)
{
	struct statement *s = &l->loader->devices;
	struct labels labels = { 0 };
	struct capacities capacity = { 0 };
	struct rows label_rows = rows_start(&l->loader->device_labels), capacity_rows = rows_start(&l->loader->capacity);
	struct error *e = NULL;
	int rc = SQLITE_DONE;
	while (!e && (rc = statement_step(s)) == SQLITE_ROW) {
		collect_labels(l, &labels, &label_rows, statement_column_integer(s, 0));
		collect_capacity(l, &capacity, &capacity_rows, statement_column_integer(s, 0));
		e = add_device(l, &capacity, &labels);
	}
	free(labels.list);
	free(capacity.list);
	if (!e && rc != SQLITE_DONE)
		e = load_failed(l, rc);
	if (!e)
		e = rows_end(l, &label_rows, "device_label");
	return e ? e : rows_end(l, &capacity_rows, "capacity");
}

/* allotctl nodes: one line per node; wide: its devices by resource, and the cluster's total. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/human.h"
#include "ctl/inventory.h"
#include "ctl/mem.h"
#include "ctl/table.h"
#include "ctl/views.h"

static void status_cell(struct table *table, const json_t *node)
{
	bool cordoned = get_bool(node, "cordoned"), unverified = get_bool(node, "unverified");

	table_cell(table, "%s",
		cordoned && unverified ? "Cordoned,Unverified"
		: cordoned             ? "Cordoned"
		: unverified           ? "Unverified"
				       : "Ready");
	table_style(table, cordoned || unverified ? STYLE_WARN : STYLE_GOOD);
}

/* The lock's holder; the member may be the lock object or the holder's uid. */
static const char *lock_holder(const json_t *node)
{
	const json_t *lock = json_object_get(node, "lock");

	return json_is_string(lock) ? json_string_value(lock) : get_string(lock, "uid");
}

static void node_cells(struct table *table, const json_t *node, int64_t now)
{
	int64_t seen = get_integer(node, "last_seen_at");

	table_row(table);
	table_cell(table, "%s", get_string(node, "node"));
	status_cell(table, node);
	table_cell(table, "%" PRId64, get_integer(node, "devices"));
	table_cell(table, "%" PRId64, get_integer(node, "allocations"));
	table_cell(table, "%" PRId64, get_integer(node, "nominations"));
	table_cell(table, "%s", lock_holder(node));
	table_cell(table, "%s", seen ? human_duration(now - seen).text : "");
}

static void columns(struct table *table)
{
	table_column(table, "NODE", TABLE_LEFT);
	table_column(table, "STATUS", TABLE_BLANK);
	table_column(table, "DEVICES", TABLE_RIGHT | TABLE_BLANK);
	table_column(table, "PODS", TABLE_RIGHT | TABLE_BLANK);
	table_column(table, "NOMINATED", TABLE_RIGHT | TABLE_BLANK);
	table_column(table, "LOCKED BY", TABLE_OPTIONAL | TABLE_BLANK);
	table_column(table, "SEEN", TABLE_RIGHT | TABLE_BLANK);
}

static void wide_columns(struct table *table, const struct inventory *inventory)
{
	size_t k;

	for (k = 0; k < inventory->n_kinds; k++) {
		char *title = inventory_title(&inventory->kinds[k]);

		table_column(table, title, TABLE_RIGHT | TABLE_BLANK);
		free(title);
	}
	table_column(table, "LABELS", TABLE_OPTIONAL | TABLE_BLANK);
	table_column(table, "REASON", TABLE_OPTIONAL | TABLE_BLANK);
}

static void sum_cells(struct table *table, const struct inventory *inventory, const char *node)
{
	size_t k;

	for (k = 0; k < inventory->n_kinds; k++) {
		struct usage sum = inventory_sum(inventory, &inventory->kinds[k], node);

		table_cell(table, "%s", sum.total ? human_usage_percent(sum.used, sum.total).text : "");
		table_style(table, sum.used >= sum.total ? STYLE_WARN : STYLE_PLAIN);
	}
}

static void total_row(struct table *table, const struct inventory *inventory)
{
	int i;

	table_row(table);
	table_cell(table, "TOTAL");
	table_style(table, STYLE_BOLD);
	for (i = 0; i < 6; i++) {
		table_cell(table, "%s", "");
	}
	sum_cells(table, inventory, NULL);
}

static void print(struct ctl *ctl, const json_t *nodes, const struct inventory *inventory, int64_t now)
{
	struct table *table = table_new();
	const json_t *node;
	size_t i;

	columns(table);
	if (inventory) {
		wide_columns(table, inventory);
	}
	json_array_foreach ((json_t *)nodes, i, node) {
		node_cells(table, node, now);
		if (inventory) {
			char *labels = join_members(json_object_get(node, "labels"));

			sum_cells(table, inventory, get_string(node, "node"));
			table_cell(table, "%s", labels);
			table_cell(table, "%s", get_string(node, "reason"));
			free(labels);
		}
	}
	if (inventory) {
		total_row(table, inventory);
	}
	table_print(table, ctl->out, ctl->colour);
	table_free(table);
}

/* Whether the node has a device of the kinds that --type and --resource ask for. */
static bool has_kind(const struct inventory *inventory, const char *node)
{
	size_t k;

	for (k = 0; k < inventory->n_kinds; k++) {
		if (inventory_sum(inventory, &inventory->kinds[k], node).total) {
			return true;
		}
	}
	return false;
}

/* Removes the nodes that the command line does not ask for; node.list has no filters. */
static void filter(const struct options *o, json_t *nodes, const struct inventory *inventory)
{
	bool by_kind = o->type || o->resource;
	size_t i = json_array_size(nodes);

	while (i-- > 0) {
		const char *name = get_string(json_array_get(nodes, i), "node");

		if ((o->node && strcmp(name, o->node) != 0) || (by_kind && !has_kind(inventory, name))) {
			json_array_remove(nodes, i);
		}
	}
}

static int show(struct ctl *ctl, const json_t *nodes, const struct inventory *inventory)
{
	int64_t now;
	int status;

	if (ctl->options.format == FORMAT_JSON) {
		return ctl_print_json(ctl, json_pack("{s:O}", "nodes", nodes));
	}
	status = ctl_now(ctl, &now);
	if (status == CTL_OK) {
		print(ctl, nodes, ctl->options.format == FORMAT_WIDE ? inventory : NULL, now);
	}
	return status;
}

int nodes_run(struct ctl *ctl, char **arguments, int n)
{
	const struct options *o = &ctl->options;
	struct inventory *inventory = NULL;
	json_t *nodes;
	int status = ctl_list(ctl, "node.list", NULL, "nodes", &nodes);

	(void)arguments;
	(void)n;
	if (status != CTL_OK) {
		return status;
	}
	if (o->type || o->resource || o->format == FORMAT_WIDE) {
		status = inventory_read(ctl, &inventory);
	}
	if (status == CTL_OK) {
		filter(o, nodes, inventory);
		status = json_array_size(nodes) ? CTL_OK : ctl_node_exists(ctl);
	}
	if (status == CTL_OK) {
		status = show(ctl, nodes, inventory);
	}
	inventory_free(inventory);
	json_decref(nodes);
	return status;
}

/* allotctl top: per type of device a table with the usage of each device of each node, in the spirit of `kubectl inspect gpushare`:
 *
 *   NODE    RESOURCE   GPU0       GPU1     ALLOCATED
 *   n1      milli      460/1000   0/1000   460/2000 (23%)
 *   TOTAL   milli                          460/2000 (23%)
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/human.h"
#include "ctl/inventory.h"
#include "ctl/mem.h"
#include "ctl/table.h"
#include "ctl/views.h"

enum { CELLS = 64 }; /* devices of a type on one node that get a column of their own */

/* Where the devices of one type of one node stand in its row. */
struct cells {
	const json_t *devices[CELLS];
	size_t n;    /* columns up to the last device */
	size_t more; /* devices without a column */
};

static bool eligible(const json_t *device)
{
	return get_bool(device, "healthy") && !get_bool(device, "cordoned") && !get_bool(device, "missing");
}

/* A device stands in the column of its minor; where that is taken or too far out, in the first free one. */
static void place(struct cells *cells, const json_t *device)
{
	size_t at = (size_t)get_integer(device, "minor");

	if (at >= CELLS || cells->devices[at]) {
		for (at = 0; at < CELLS && cells->devices[at]; at++) {
		}
	}
	if (at == CELLS) {
		cells->more++;
		return;
	}
	cells->devices[at] = device;
	if (at >= cells->n) {
		cells->n = at + 1;
	}
}

static struct cells cells_of(const struct inventory *v, const struct node_devices *node, const char *type)
{
	struct cells cells = { 0 };
	size_t i;

	for (i = node->first; i < node->first + node->n; i++) {
		const json_t *device = json_array_get(v->devices, i);

		if (strcmp(get_string(device, "type"), type) == 0) {
			place(&cells, device);
		}
	}
	return cells;
}

static void device_cell(struct table *table, const json_t *device, const struct kind *kind)
{
	struct usage usage = { 0, 0 };

	if (device) {
		usage = device_usage(device, kind);
	}
	if (!usage.total) {
		table_cell(table, "%s", "");
		return;
	}
	table_cell(table, "%s%s", human_usage(usage.used, usage.total).text, eligible(device) ? "" : "!");
	table_style(table, !eligible(device)           ? STYLE_BAD
			   : usage.used >= usage.total ? STYLE_WARN
			   : usage.used                ? STYLE_PLAIN
						       : STYLE_GOOD);
}

static void columns(struct table *table, const char *type, size_t n)
{
	size_t i;

	table_column(table, "NODE", TABLE_LEFT);
	table_column(table, "RESOURCE", TABLE_OPTIONAL);
	for (i = 0; i < n; i++) {
		char *title = mem_format("%s%zu", type, i), *c;

		for (c = title; *c; c++) {
			*c = (char)toupper((unsigned char)*c);
		}
		table_column(table, title, TABLE_RIGHT | TABLE_OPTIONAL | TABLE_BLANK);
		free(title);
	}
	table_column(table, "ALLOCATED", TABLE_RIGHT);
}

static void node_row(
	struct table *table, const struct inventory *v, const struct node_devices *node, const struct kind *kind, size_t n)
{
	struct cells cells = cells_of(v, node, kind->type);
	struct usage sum = inventory_sum(v, kind, node->node);
	size_t i;

	if (!sum.total) {
		return;
	}
	table_row(table);
	table_cell(table, "%s", node->node);
	table_cell(table, "%s", kind->resource);
	for (i = 0; i < n; i++) {
		device_cell(table, i < cells.n ? cells.devices[i] : NULL, kind);
	}
	table_cell(table, "%s", human_usage_percent(sum.used, sum.total).text);
}

static void total_row(struct table *table, const struct inventory *v, const struct kind *kind, size_t n)
{
	struct usage sum = inventory_sum(v, kind, NULL);

	table_row(table);
	table_cell(table, "TOTAL");
	table_style(table, STYLE_BOLD);
	table_cell(table, "%s", kind->resource);
	while (n--) {
		table_cell(table, "%s", "");
	}
	table_cell(table, "%s", human_usage_percent(sum.used, sum.total).text);
	table_style(table, STYLE_BOLD);
}

static size_t widest(const struct inventory *v, const char *type)
{
	size_t n = 0, i;

	for (i = 0; i < v->n_nodes; i++) {
		struct cells cells = cells_of(v, &v->nodes[i], type);

		n = cells.n > n ? cells.n : n;
	}
	return n;
}

/* One table for the kinds first .. first + n - 1, which are of one type. */
static void print_type(struct ctl *ctl, const struct inventory *v, size_t first, size_t n)
{
	const char *type = v->kinds[first].type;
	struct table *table = table_new();
	size_t width = widest(v, type), i, k;

	columns(table, type, width);
	for (i = 0; i < v->n_nodes; i++) {
		for (k = first; k < first + n; k++) {
			node_row(table, v, &v->nodes[i], &v->kinds[k], width);
		}
	}
	for (k = first; k < first + n; k++) {
		total_row(table, v, &v->kinds[k], width);
	}
	table_print(table, ctl->out, ctl->colour);
	table_free(table);
}

static bool any_ineligible(const struct inventory *v)
{
	const json_t *device;
	size_t i;

	json_array_foreach (v->devices, i, device) {
		if (!eligible(device)) {
			return true;
		}
	}
	return false;
}

static void print(struct ctl *ctl, const struct inventory *v)
{
	size_t first, n;

	for (first = 0; first < v->n_kinds; first += n) {
		for (n = 1; first + n < v->n_kinds && strcmp(v->kinds[first + n].type, v->kinds[first].type) == 0; n++) {
		}
		if (first) {
			putc('\n', ctl->out);
		}
		print_type(ctl, v, first, n);
	}
	if (v->n_kinds == 0) {
		fputs("There are no such devices.\n", ctl->out);
	}
	if (any_ineligible(v)) {
		fputs("! not eligible: unhealthy, cordoned or missing\n", ctl->out);
	}
}

int top_run(struct ctl *ctl, char **arguments, int n)
{
	struct inventory *inventory;
	int status = inventory_read(ctl, &inventory);

	(void)arguments;
	(void)n;
	if (status != CTL_OK) {
		return status;
	}
	if (ctl->options.format == FORMAT_JSON) {
		status = ctl_print_json(ctl, json_pack("{s:O}", "devices", inventory->devices));
	} else {
		print(ctl, inventory);
	}
	inventory_free(inventory);
	return status;
}

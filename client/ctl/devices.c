/* allotctl devices: one line per device with the usage of each of its resources and who holds it. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/human.h"
#include "ctl/inventory.h"
#include "ctl/mem.h"
#include "ctl/table.h"
#include "ctl/views.h"

/* The resources of all devices in order of appearance: each gets a column. Borrowed from the list. */
struct resources {
	const char **names;
	size_t n;
	size_t room;
};

static void collect(struct resources *r, const json_t *devices)
{
	const json_t *device, *amount;
	const char *name;
	size_t i, k;

	json_array_foreach ((json_t *)devices, i, device) {
		json_object_foreach (json_object_get(device, "capacity"), name, amount) {
			for (k = 0; k < r->n && strcmp(r->names[k], name) != 0; k++) {
			}
			if (k == r->n) {
				r->names = mem_grow(r->names, r->n, &r->room, sizeof(*r->names));
				r->names[r->n++] = name;
			}
		}
	}
}

static void columns(struct table *table, const struct resources *r, bool wide)
{
	static const char *const more[] = { "UUID", "NUMA", "SOCKET", "PCIE", "BUS-ID", "NOMINATED", "LABELS", "REASON" };
	size_t i;

	table_column(table, "NODE", TABLE_LEFT);
	table_column(table, "DEVICE", TABLE_LEFT);
	table_column(table, "MODEL", TABLE_OPTIONAL);
	for (i = 0; i < r->n; i++) {
		char *title = inventory_title(&(struct kind){ r->names[i], "" });

		table_column(table, title, TABLE_RIGHT);
		free(title);
	}
	table_column(table, "SHARES", TABLE_RIGHT);
	table_column(table, "HEALTH", TABLE_LEFT);
	for (i = 0; wide && i < sizeof(more) / sizeof(more[0]); i++) {
		table_column(table, more[i], TABLE_OPTIONAL);
	}
	table_column(table, "HELD BY", TABLE_OPTIONAL);
}

static void health_cell(struct table *table, const json_t *device)
{
	bool missing = get_bool(device, "missing"), healthy = get_bool(device, "healthy"),
	     cordoned = get_bool(device, "cordoned");

	table_cell(table, "%s%s%s%s%s", missing ? "missing" : "", missing && !healthy ? "," : "", healthy ? "" : "unhealthy",
		cordoned && (missing || !healthy) ? "," : "",
		cordoned              ? "cordoned"
		: missing || !healthy ? ""
				      : "ok");
	table_style(table, missing || !healthy ? STYLE_BAD : cordoned ? STYLE_WARN : STYLE_GOOD);
}

static void shares_cell(struct table *table, const json_t *device)
{
	int64_t most = get_integer(device, "max_shares");

	if (get_bool(device, "whole")) {
		table_cell(table, "whole");
	} else if (most) {
		table_cell(table, "%s", human_usage(get_integer(device, "shares"), most).text);
	} else {
		table_cell(table, "%" PRId64, get_integer(device, "shares"));
	}
}

/* A number whose unknown is -1. */
static void known_cell(struct table *table, const json_t *device, const char *key)
{
	const json_t *value = json_object_get(device, key);

	if (value && json_integer_value(value) >= 0) {
		table_cell(table, "%" PRId64, get_integer(device, key));
	} else {
		table_cell(table, "%s", "");
	}
}

static void members_cell(struct table *table, const json_t *object)
{
	char *text = join_members(object);

	table_cell(table, "%s", text);
	free(text);
}

/* What is promised on the device: only amounts above zero say something. */
static json_t *promised(const json_t *device)
{
	json_t *amounts = mem_must(json_object()), *amount;
	const char *name;

	json_object_foreach (json_object_get(device, "nominated"), name, amount) {
		if (json_integer_value(amount) > 0) {
			json_object_set(amounts, name, amount);
		}
	}
	return amounts;
}

static void wide_cells(struct table *table, const json_t *device)
{
	json_t *promises = promised(device);

	table_cell(table, "%s", get_string(device, "uuid"));
	known_cell(table, device, "numa");
	known_cell(table, device, "socket");
	table_cell(table, "%s", get_string(device, "pcie"));
	table_cell(table, "%s", get_string(device, "bus_id"));
	members_cell(table, promises);
	members_cell(table, json_object_get(device, "labels"));
	table_cell(table, "%s", get_string(device, "reason"));
	json_decref(promises);
}

static void holders_cell(struct table *table, const json_t *holders, size_t most)
{
	json_t *names = mem_must(json_array());
	const json_t *holder;
	char *joined;
	size_t i;

	json_array_foreach ((json_t *)holders, i, holder) {
		char *name = pod_name(holder);

		json_array_append_new(names, json_string(name));
		free(name);
	}
	joined = join_strings(names, ", ", most);
	table_cell(table, "%s", joined);
	free(joined);
	json_decref(names);
}

static void device_row(struct table *table, const json_t *device, const struct resources *r, bool wide)
{
	size_t i;

	table_row(table);
	table_cell(table, "%s", get_string(device, "node"));
	table_cell(table, "%s:%" PRId64, get_string(device, "type"), get_integer(device, "minor"));
	table_cell(table, "%s", get_string(device, "model"));
	for (i = 0; i < r->n; i++) {
		struct usage usage = device_usage(device, &(struct kind){ get_string(device, "type"), r->names[i] });

		table_cell(table, "%s", usage.total || usage.used ? human_usage(usage.used, usage.total).text : "");
		table_style(table, usage.used >= usage.total ? STYLE_WARN : STYLE_PLAIN);
	}
	shares_cell(table, device);
	health_cell(table, device);
	if (wide) {
		wide_cells(table, device);
	}
	holders_cell(table, json_object_get(device, "holders"), wide ? SIZE_MAX : 3);
}

int devices_run(struct ctl *ctl, char **arguments, int n)
{
	bool wide = ctl->options.format == FORMAT_WIDE;
	struct resources resources = { 0 };
	struct table *table = table_new();
	json_t *devices;
	const json_t *device;
	size_t i;
	int status = ctl_list(ctl, "device.list", ctl_filters(ctl, "node type uuid"), "devices", &devices);

	(void)arguments;
	(void)n;
	if (status == CTL_OK && ctl->options.format == FORMAT_JSON) {
		status = ctl_print_json(ctl, json_pack("{s:o}", "devices", devices));
	} else if (status == CTL_OK) {
		collect(&resources, devices);
		columns(table, &resources, wide);
		json_array_foreach (devices, i, device) {
			device_row(table, device, &resources, wide);
		}
		table_print(table, ctl->out, ctl->colour);
		json_decref(devices);
	}
	free(resources.names);
	table_free(table);
	return status;
}

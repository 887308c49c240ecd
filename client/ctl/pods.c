/* allotctl pods: one line per pod that holds devices. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/human.h"
#include "ctl/mem.h"
#include "ctl/table.h"
#include "ctl/views.h"

/* Whether an earlier device of the list is the same one (two claims may share it). */
static bool seen(const json_t *devices, size_t index)
{
	const char *uuid = get_string(json_array_get(devices, index), "uuid");
	size_t i;

	for (i = 0; i < index; i++) {
		if (strcmp(get_string(json_array_get(devices, i), "uuid"), uuid) == 0) {
			return true;
		}
	}
	return false;
}

char *device_names(const json_t *devices, bool amounts)
{
	const char *before = "";
	const json_t *device;
	size_t size, i;
	char *names;
	FILE *out = mem_must(open_memstream(&names, &size));

	json_array_foreach ((json_t *)devices, i, device) {
		const char *type = get_string(device, "type");
		char *taken = join_members(json_object_get(device, "resources"));

		if (amounts || !seen(devices, i)) {
			if (strcmp(before, type) != 0) {
				fprintf(out, "%s%s:", *before ? " " : "", type);
			} else {
				putc(',', out);
			}
			fprintf(out, "%" PRId64, get_integer(device, "minor"));
			before = type;
			if (amounts) {
				fprintf(out, "{%s}", get_bool(device, "whole") ? "whole" : taken);
			}
		}
		free(taken);
	}
	fclose(out);
	return names;
}

static enum table_style state_style(const char *state)
{
	return strcmp(state, "allocated") == 0 ? STYLE_GOOD : strcmp(state, "releasing") == 0 ? STYLE_WARN : STYLE_PLAIN;
}

static void columns(struct table *table, bool wide)
{
	table_column(table, "NAMESPACE", TABLE_LEFT);
	table_column(table, "NAME", TABLE_LEFT);
	table_column(table, "STATE", TABLE_LEFT);
	table_column(table, "NODE", TABLE_LEFT);
	table_column(table, "DEVICES", TABLE_LEFT);
	table_column(table, "AGE", TABLE_RIGHT);
	table_column(table, "EXPIRES", TABLE_RIGHT | TABLE_OPTIONAL);
	table_column(table, "PREEMPTED BY", TABLE_OPTIONAL);
	if (wide) {
		table_column(table, "UID", TABLE_LEFT);
		table_column(table, "PRIORITY", TABLE_RIGHT);
		table_column(table, "GANG", TABLE_OPTIONAL);
		table_column(table, "TOKEN", TABLE_RIGHT | TABLE_OPTIONAL);
		table_column(table, "REVISION", TABLE_RIGHT);
	}
}

static void wide_cells(struct table *table, const json_t *allocation)
{
	const json_t *pod = json_object_get(allocation, "pod");
	int64_t token = get_integer(allocation, "token");

	table_cell(table, "%s", get_string(pod, "uid"));
	table_cell(table, "%" PRId64, get_integer(pod, "priority"));
	table_cell(table, "%s", get_string(pod, "gang"));
	if (token) {
		table_cell(table, "%" PRId64, token);
	} else {
		table_cell(table, "%s", "");
	}
	table_cell(table, "%" PRId64, get_integer(allocation, "revision"));
}

static void pod_row(struct table *table, const json_t *allocation, int64_t now, bool wide)
{
	const json_t *pod = json_object_get(allocation, "pod");
	const char *state = get_string(allocation, "state");
	char *devices = device_names(json_object_get(allocation, "devices"), wide);
	int64_t expires = get_integer(allocation, "expires_at");

	table_row(table);
	table_cell(table, "%s", get_string(pod, "namespace"));
	table_cell(table, "%s", get_string(pod, "name"));
	table_cell(table, "%s%s", state, get_bool(allocation, "over") ? " (over)" : "");
	table_style(table, state_style(state));
	table_cell(table, "%s", get_string(allocation, "node"));
	table_cell(table, "%s", devices);
	table_cell(table, "%s", human_duration(now - get_integer(allocation, "created_at")).text);
	table_cell(table, "%s%s", expires ? "in " : "", expires ? human_duration(expires - now).text : "");
	table_cell(table, "%s", get_string(allocation, "preempted_by"));
	if (wide) {
		wide_cells(table, allocation);
	}
	free(devices);
}

int pods_run(struct ctl *ctl, char **arguments, int n)
{
	bool wide = ctl->options.format == FORMAT_WIDE;
	json_t *pods;
	const json_t *allocation;
	struct table *table;
	int64_t now;
	size_t i;
	int status = ctl_list(ctl, "pod.list", ctl_filters(ctl, "node state namespace"), "pods", &pods);

	(void)arguments;
	(void)n;
	if (status != CTL_OK) {
		return status;
	}
	if (ctl->options.format == FORMAT_JSON) {
		return ctl_print_json(ctl, json_pack("{s:o}", "pods", pods));
	}
	status = ctl_now(ctl, &now);
	if (status == CTL_OK) {
		table = table_new();
		columns(table, wide);
		json_array_foreach (pods, i, allocation) {
			pod_row(table, allocation, now, wide);
		}
		table_print(table, ctl->out, ctl->colour);
		table_free(table);
	}
	json_decref(pods);
	return status;
}

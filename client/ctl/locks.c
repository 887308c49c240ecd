/* allotctl locks and allotctl nominations: who is about to get something. */
#include <inttypes.h>
#include <stdlib.h>

#include "ctl/human.h"
#include "ctl/mem.h"
#include "ctl/table.h"
#include "ctl/views.h"

/* What the two commands differ in. */
struct promise {
	const char *method;
	const char *key;
	void (*columns)(struct table *table);
	void (*row)(struct table *table, const json_t *item, int64_t now);
};

static void lock_columns(struct table *table)
{
	table_column(table, "NODE", TABLE_LEFT);
	table_column(table, "POD", TABLE_LEFT);
	table_column(table, "TOKEN", TABLE_RIGHT);
	table_column(table, "AGE", TABLE_RIGHT);
	table_column(table, "EXPIRES", TABLE_RIGHT);
}

static void lock_row(struct table *table, const json_t *lock, int64_t now)
{
	table_cell(table, "%s", get_string(lock, "node"));
	table_cell(table, "%s", get_string(lock, "uid"));
	table_cell(table, "%" PRId64, get_integer(lock, "token"));
	table_cell(table, "%s", human_duration(now - get_integer(lock, "acquired_at")).text);
	table_cell(table, "in %s", human_duration(get_integer(lock, "expires_at") - now).text);
}

static void nomination_columns(struct table *table)
{
	table_column(table, "NAMESPACE", TABLE_LEFT);
	table_column(table, "NAME", TABLE_LEFT);
	table_column(table, "PRIORITY", TABLE_RIGHT);
	table_column(table, "NODE", TABLE_LEFT);
	table_column(table, "DEVICES", TABLE_LEFT);
	table_column(table, "EXPIRES", TABLE_RIGHT);
	table_column(table, "WAITS FOR", TABLE_OPTIONAL);
}

static void nomination_row(struct table *table, const json_t *nomination, int64_t now)
{
	const json_t *pod = json_object_get(nomination, "pod");
	char *devices = device_names(json_object_get(nomination, "devices"), false);
	char *victims = join_strings(json_object_get(nomination, "victims"), ", ", 8);

	table_cell(table, "%s", get_string(pod, "namespace"));
	table_cell(table, "%s", get_string(pod, "name"));
	table_cell(table, "%" PRId64, get_integer(pod, "priority"));
	table_cell(table, "%s", get_string(nomination, "node"));
	table_cell(table, "%s", devices);
	table_cell(table, "in %s", human_duration(get_integer(nomination, "expires_at") - now).text);
	table_cell(table, "%s", victims);
	free(devices);
	free(victims);
}

static int run(struct ctl *ctl, const struct promise *promise)
{
	json_t *rows;
	const json_t *row;
	struct table *table;
	int64_t now;
	size_t i;
	int status = ctl_list(ctl, promise->method, ctl_filters(ctl, "node"), promise->key, &rows);

	if (status != CTL_OK) {
		return status;
	}
	if (ctl->options.format == FORMAT_JSON) {
		return ctl_print_json(ctl, json_pack("{s:o}", promise->key, rows));
	}
	status = ctl_now(ctl, &now);
	if (status == CTL_OK) {
		table = table_new();
		promise->columns(table);
		json_array_foreach (rows, i, row) {
			table_row(table);
			promise->row(table, row, now);
		}
		table_print(table, ctl->out, ctl->colour);
		table_free(table);
	}
	json_decref(rows);
	return status;
}

int locks_run(struct ctl *ctl, char **arguments, int n)
{
	static const struct promise locks = { "lock.list", "locks", lock_columns, lock_row };

	(void)arguments;
	(void)n;
	return run(ctl, &locks);
}

int nominations_run(struct ctl *ctl, char **arguments, int n)
{
	static const struct promise nominations = { "nomination.list", "nominations", nomination_columns, nomination_row };

	(void)arguments;
	(void)n;
	return run(ctl, &nominations);
}

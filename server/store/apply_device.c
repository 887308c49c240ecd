/* device, device_label and capacity. The limit of shares is the capacity of the resource ''. */
#include "store/apply.h"

#include <string.h>

static const char capacity_put[] =
	"INSERT INTO capacity (device_id, resource, amount) VALUES (:device, :resource, :amount)"
	" ON CONFLICT (device_id, resource) DO UPDATE SET amount = excluded.amount";

static int put_capacity(struct device_writer *w, int64_t device, const char *resource, int64_t amount)
{
	statement_integer(&w->capacity_put, ":device", device);
	statement_text(&w->capacity_put, ":resource", resource);
	statement_integer(&w->capacity_put, ":amount", amount);
	return statement_run(&w->capacity_put);
}

static const char capacity_remove[] = "DELETE FROM capacity WHERE device_id = :device AND resource = :resource";

static int remove_capacity(struct device_writer *w, int64_t device, const char *resource)
{
	statement_integer(&w->capacity_remove, ":device", device);
	statement_text(&w->capacity_remove, ":resource", resource);
	return statement_run(&w->capacity_remove);
}

/* The limit of shares, 0 = none. */
static int change_limit(struct device_writer *w, int64_t device, int64_t before, int64_t after)
{
	if (before == after)
		return SQLITE_OK;
	return after ? put_capacity(w, device, "", after) : remove_capacity(w, device, "");
}

/* Walks both sorted lists and writes what differs. */
static int change_capacity(struct device_writer *w, int64_t device, const struct amount *before, size_t n_before,
	const struct amount *after, size_t n_after)
{
	int rc = SQLITE_OK;
	for (size_t b = 0, a = 0; rc == SQLITE_OK && (b < n_before || a < n_after);) {
		int order = b == n_before ? 1 : a == n_after ? -1 : strcmp(before[b].resource, after[a].resource);
		if (order < 0)
			rc = remove_capacity(w, device, before[b].resource);
		else if (order > 0 || before[b].value != after[a].value)
			rc = put_capacity(w, device, after[a].resource, after[a].value);
		b += order <= 0;
		a += order >= 0;
	}
	return rc;
}

static const char device_insert[] =
	"INSERT INTO device (id, node_id, uuid, type, minor, model, healthy, cordoned, missing, numa, socket, pcie, bus_id, "
	"reason, revision)"
	" VALUES (:id, :node, :uuid, :type, :minor, :model, :healthy, :cordoned, :missing, :numa, :socket, :pcie, :bus_id, "
	":reason, :revision)";

static int insert(struct device_writer *w, const struct device_record *device)
{
	struct statement *s = &w->insert;
	statement_integer(s, ":id", device->id);
	statement_integer(s, ":node", device->node_id);
	statement_text(s, ":uuid", device->uuid);
	statement_text(s, ":type", device->type);
	statement_integer(s, ":minor", device->minor);
	statement_text(s, ":model", device->model);
	statement_integer(s, ":healthy", device->healthy);
	statement_integer(s, ":cordoned", device->cordoned);
	statement_integer(s, ":missing", device->missing);
	statement_integer(s, ":numa", device->numa);
	statement_integer(s, ":socket", device->socket);
	statement_text(s, ":pcie", device->pcie);
	statement_text(s, ":bus_id", device->bus_id);
	statement_text(s, ":reason", device->reason);
	statement_integer(s, ":revision", device->revision);
	int rc = statement_run(s);
	if (rc == SQLITE_OK)
		rc = change_limit(w, device->id, 0, device->max_shares);
	if (rc == SQLITE_OK)
		rc = change_capacity(w, device->id, NULL, 0, device->capacity, device->n_capacity);
	return rc == SQLITE_OK ? apply_labels(&w->labels, device->id, device->labels, device->n_labels) : rc;
}

static const char device_label_insert[] = "INSERT INTO device_label (device_id, key, value) VALUES (:owner, :key, :value)";

static const char device_label_clear[] = "DELETE FROM device_label WHERE device_id = :device";

static int clear_labels(struct device_writer *w, const struct device_record *device)
{
	if (device->n_labels == 0)
		return SQLITE_OK;
	statement_integer(&w->labels.clear, ":device", device->id);
	return statement_run(&w->labels.clear);
}

static int change_labels(struct device_writer *w, const struct device_record *before, const struct device_record *after)
{
	if (labels_same(before->labels, before->n_labels, after->labels, after->n_labels))
		return SQLITE_OK;
	int rc = clear_labels(w, before);
	return rc == SQLITE_OK ? apply_labels(&w->labels, after->id, after->labels, after->n_labels) : rc;
}

static const char device_update[] =
	"UPDATE device SET type = :type, minor = :minor, model = :model, healthy = :healthy, cordoned = :cordoned, missing = "
	":missing, numa = :numa,"
	" socket = :socket, pcie = :pcie, bus_id = :bus_id, reason = :reason, revision = :revision WHERE id = :id";

static int update(struct device_writer *w, const struct device_record *before, const struct device_record *after)
{
	struct statement *s = &w->update;
	statement_text(s, ":type", after->type);
	statement_integer(s, ":minor", after->minor);
	statement_text(s, ":model", after->model);
	statement_integer(s, ":healthy", after->healthy);
	statement_integer(s, ":cordoned", after->cordoned);
	statement_integer(s, ":missing", after->missing);
	statement_integer(s, ":numa", after->numa);
	statement_integer(s, ":socket", after->socket);
	statement_text(s, ":pcie", after->pcie);
	statement_text(s, ":bus_id", after->bus_id);
	statement_text(s, ":reason", after->reason);
	statement_integer(s, ":revision", after->revision);
	statement_integer(s, ":id", after->id);
	int rc = statement_run_on_row(s);
	if (rc == SQLITE_OK)
		rc = change_limit(w, after->id, before->max_shares, after->max_shares);
	if (rc == SQLITE_OK)
		rc = change_capacity(w, after->id, before->capacity, before->n_capacity, after->capacity, after->n_capacity);
	return rc == SQLITE_OK ? change_labels(w, before, after) : rc;
}

static const char device_remove[] = "DELETE FROM device WHERE id = :id";

static int remove_device(struct device_writer *w, const struct device_record *device)
{
	statement_integer(&w->remove, ":id", device->id);
	int rc = statement_run_on_row(&w->remove);
	if (rc == SQLITE_OK)
		rc = change_limit(w, device->id, device->max_shares, 0);
	if (rc == SQLITE_OK)
		rc = change_capacity(w, device->id, device->capacity, device->n_capacity, NULL, 0);
	return rc == SQLITE_OK ? clear_labels(w, device) : rc;
}

int apply_device(struct device_writer *w, const struct device_record *before, const struct device_record *after)
{
	if (before && after && before->id == after->id && before->node_id == after->node_id)
		return update(w, before, after);
	int rc = before ? remove_device(w, before) : SQLITE_OK;
	return rc == SQLITE_OK && after ? insert(w, after) : rc;
}

int device_writer_prepare(struct device_writer *w, sqlite3 *db)
{
	const struct statement_source sources[] = {
		{ &w->insert, device_insert },
		{ &w->update, device_update },
		{ &w->remove, device_remove },
		{ &w->capacity_put, capacity_put },
		{ &w->capacity_remove, capacity_remove },
		{ &w->labels.insert, device_label_insert },
		{ &w->labels.clear, device_label_clear },
	};
	return statement_prepare(db, sources, sizeof sources / sizeof *sources);
}

/* node.register */
#include <string.h>

#include "base/error.h"
#include "core/inventory.h"
#include "methods/methods.h"
#include "methods/shapes.h"
#include "methods/world.h"

struct device_params {
	const char *uuid, *type;
	int64_t minor;
	const char *model;
	struct rpc_maybe healthy;
	struct rpc_amounts resources;
	int64_t max_shares, numa, socket;
	const char *pcie, *bus_id;
	struct rpc_labels labels;
};

static const struct rpc_field device_fields[] = {
	REQUIRED(struct device_params, uuid, "The identity: the same minor with another uuid is another device."),
	REQUIRED(struct device_params, type, "Type: gpu, rdma, host ..."),
	REQUIRED(struct device_params, minor, "Number on the node.", RANGE(0, RPC_INTEGER_MAX)),
	OPTIONAL(struct device_params, model, "Model.", DEFAULT_TEXT("")),
	OPTIONAL(struct device_params, healthy, "Absent: unchanged, true for a new device."),
	OPTIONAL(struct device_params, resources, "Capacity of each resource, in a unit of the operator's choice.",
		RANGE(0, RPC_AMOUNT_MAX), ITEMS(0, DEVICE_RESOURCES)),
	OPTIONAL(struct device_params, max_shares, "Claims at a time; 0 = no limit.", RANGE(0, RPC_AMOUNT_MAX)),
	OPTIONAL(struct device_params, numa, "NUMA node; -1 = unknown.", RANGE(-1, RPC_AMOUNT_MAX), DEFAULT(-1)),
	OPTIONAL(struct device_params, socket, "Socket; -1 = unknown.", RANGE(-1, RPC_AMOUNT_MAX), DEFAULT(-1)),
	OPTIONAL(struct device_params, pcie, "PCIe switch; \"\" = unknown.", DEFAULT_TEXT("")),
	OPTIONAL(struct device_params, bus_id, "PCI address.", DEFAULT_TEXT("")),
	OPTIONAL(struct device_params, labels, "Labels.", ITEMS(0, 32)),
};
static const struct rpc_shape device_shape = {
	.name = "Device", .doc = "A device as its node reports it.", SHAPE_OF(struct device_params, device_fields)
};

struct register_params {
	const char *node;
	struct rpc_list devices;
	struct rpc_labels labels;
	struct rpc_strings types;
	bool allow_empty, verify;
};

static const struct rpc_field fields[] = {
	REQUIRED(struct register_params, node, "The node."),
	REQUIRED(struct register_params, devices, "Its devices: the full list.", SHAPE(&device_shape), ITEMS(0, NODE_DEVICES)),
	OPTIONAL(struct register_params, labels, "Labels of the node; absent: unchanged.", ITEMS(0, 32)),
	OPTIONAL(struct register_params, types, "The list is full for these device types only.", ITEMS(0, 64)),
	OPTIONAL(struct register_params, allow_empty, "An empty list for a node that has devices is meant."),
	OPTIONAL(struct register_params, verify, "A node seen for the first time starts unverified."),
};
static const struct rpc_shape shape = { SHAPE_OF(struct register_params, fields) };

static const struct label *labels_of(const struct rpc_labels *from, struct arena *arena)
{
	struct label *to = arena_alloc(arena, from->n * sizeof *to);
	for (size_t i = 0; i < from->n; i++)
		to[i] = (struct label){ .key = from->items[i].key, .value = from->items[i].value };
	return from->items ? to : NULL;
}

static const struct amount *capacity_of(const struct rpc_amounts *from, struct arena *arena)
{
	struct amount *to = arena_alloc(arena, from->n * sizeof *to);
	for (size_t i = 0; i < from->n; i++)
		to[i] = (struct amount){ .resource = from->items[i].name, .value = from->items[i].value };
	return to;
}

static struct device_report report_of(const struct device_params *p, struct arena *arena)
{
	return (struct device_report){
		.says_healthy = p->healthy.given,
		.record = {
			.uuid = p->uuid,
			.type = p->type,
			.minor = p->minor,
			.model = p->model,
			.healthy = p->healthy.value,
			.max_shares = p->max_shares,
			.numa = p->numa,
			.socket = p->socket,
			.pcie = p->pcie,
			.bus_id = p->bus_id,
			.reason = "",
			.capacity = capacity_of(&p->resources, arena),
			.n_capacity = p->resources.n,
			.labels = labels_of(&p->labels, arena),
			.n_labels = p->labels.n,
		},
	};
}

static struct rpc_done handle(struct rpc_call *call, const void *params, void *world)
{
	const struct register_params *p = params;
	const struct device_params *devices = p->devices.items;
	struct arena *arena = rpc_call_arena(call);
	struct device_report *reports = arena_alloc(arena, p->devices.n * sizeof *reports);
	struct registered r;
	for (size_t i = 0; i < p->devices.n; i++)
		reports[i] = report_of(&devices[i], arena);
	const struct register_node args = {
		.node = p->node,
		.devices = reports,
		.n_devices = p->devices.n,
		.labels = labels_of(&p->labels, arena),
		.n_labels = p->labels.n,
		.types = p->types.items,
		.n_types = p->types.n,
		.allow_empty = p->allow_empty,
		.verify = p->verify,
	};

	struct error *error = node_register(((struct world *)world)->txn, &args, &r);
	if (error)
		return rpc_refuse(call, error);

	struct json_out *o = rpc_result(call);
	out_string(o, "node", p->node);
	out_int(o, "added", r.added);
	out_int(o, "updated", r.updated);
	out_int(o, "missing", r.missing);
	out_int(o, "removed", r.removed);
	out_int(o, "revision", r.revision);
	return rpc_done(call);
}

static const struct rpc_member result[] = {
	{ "node", "string", "The node." },
	{ "added", "integer", "Devices." },
	{ "updated", "integer", "Devices." },
	{ "missing", "integer", "Devices no longer listed that are held, nominated or cordoned." },
	{ "removed", "integer", "Devices no longer listed." },
	{ "revision", "integer", "Of the node." },
	{ 0 },
};

const struct rpc_method node_register_method = {
	.name = "node.register",
	.summary = "Tells which devices a node has.",
	.description =
		"The full list (with `types`: full for these types). A device no longer listed is kept as missing while it is "
		"held, nominated or cordoned, else removed. The same list again changes nothing. Capacity below use is accepted.",
	.roles = ROLE_PLUGIN,
	.writes = true,
	.params = &shape,
	.result = result,
	.errors = RPC_ERROR(ERR_CONFLICT) | RPC_ERROR(ERR_OVERLOADED),
	.handle = handle,
};

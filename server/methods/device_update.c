/* device.update */
#include "base/error.h"
#include "core/inventory.h"
#include "methods/methods.h"
#include "methods/shapes.h"
#include "methods/views.h"
#include "methods/world.h"

struct update_params {
	const char *node, *uuid;
	struct rpc_maybe healthy, cordoned;
	const char *reason;
};

static const struct rpc_field fields[] = {
	REQUIRED(struct update_params, node, "Its node."),
	REQUIRED(struct update_params, uuid, "The device."),
	OPTIONAL(struct update_params, healthy, "Absent: unchanged."),
	OPTIONAL(struct update_params, cordoned, "Absent: unchanged. Only an admin may say it."),
	OPTIONAL(struct update_params, reason, "Why, for people; absent: unchanged.", TEXT(RPC_TEXT_MAX)),
};
static const struct rpc_shape shape = { SHAPE_OF(struct update_params, fields) };

static enum said said_of(struct rpc_maybe m)
{
	return !m.given ? SAID_NOTHING : m.value ? SAID_YES : SAID_NO;
}

static struct rpc_done handle(struct rpc_call *call, const void *params, void *world)
{
	const struct update_params *p = params;
	const struct world *w = world;
	const struct device_record *r;

	if (p->cordoned.given && !(rpc_call_peer(call)->roles & ROLE_ADMIN))
		return rpc_refuse(
			call, error_with_string(error_new(ERR_FORBIDDEN, "only an admin may cordon a device"), "role", "admin"));

	struct error *error = device_update(w->txn, p->node, p->uuid, said_of(p->healthy), said_of(p->cordoned), p->reason, &r);
	if (error)
		return rpc_refuse(call, error);

	const struct node *n = cluster_node(w->cluster, p->node);
	const struct device *d = node_device_uuid(n, p->uuid);
	if (d)
		view_device_members(rpc_result(call), n, d);
	else
		view_device_record(rpc_result(call), r);
	record_unref(RECORD_DEVICE, r);
	return rpc_done(call);
}

const struct rpc_method device_update_method = {
	.name = "device.update",
	.summary = "Tells that a device is sick or well, or takes it out of service.",
	.roles = ROLE_PLUGIN,
	.writes = true,
	.params = &shape,
	.result = device_members,
	.errors = RPC_ERROR(ERR_NOT_FOUND),
	.handle = handle,
};

/* pod.adopt */
#include <string.h>

#include "base/error.h"
#include "core/lifecycle.h"
#include "methods/methods.h"
#include "methods/shapes.h"
#include "methods/views.h"
#include "methods/world.h"

enum { ADOPT_DEVICES = REQUEST_CLAIMS * CLAIM_COUNT };

struct adopt_device_params {
	const char *uuid, *container;
	struct rpc_portions resources;
};

static const struct rpc_field device_fields[] = {
	REQUIRED(struct adopt_device_params, uuid, "The device."),
	OPTIONAL(struct adopt_device_params, container, "Container that uses it.", DEFAULT_TEXT("")),
	OPTIONAL(struct adopt_device_params, resources, "How much of it; without: the whole device.", ITEMS(1, DEVICE_RESOURCES)),
};
static const struct rpc_shape device_shape = {
	.name = "AdoptedDevice", .doc = "A device that is in use.", SHAPE_OF(struct adopt_device_params, device_fields)
};

struct adopt_params {
	struct pod_params pod;
	const char *node;
	struct rpc_list devices;
	bool force;
};

static const struct rpc_field fields[] = {
	REQUIRED(struct adopt_params, pod, "Who.", SHAPE(&pod_shape)),
	REQUIRED(struct adopt_params, node, "Where it runs."),
	REQUIRED(struct adopt_params, devices, "What it uses.", SHAPE(&device_shape), ITEMS(1, ADOPT_DEVICES)),
	OPTIONAL(struct adopt_params, force, "Record it even if it does not fit: `over`, and an alarm."),
};
static const struct rpc_shape shape = { SHAPE_OF(struct adopt_params, fields) };

static bool same_portions(const struct rpc_portions *a, const struct rpc_portions *b)
{
	if (a->n != b->n)
		return false;
	for (size_t i = 0; i < a->n; i++)
		if (strcmp(a->items[i].name, b->items[i].name) != 0 || a->items[i].amount != b->items[i].amount ||
			a->items[i].percent != b->items[i].percent)
			return false;
	return true;
}

/* The claims that would have led to these devices. */
struct described {
	struct claim_params claims[REQUEST_CLAIMS];
	const char *uuids[REQUEST_CLAIMS][CLAIM_UUIDS];
	size_t n;
};

/* The claim that a device belongs to; a new one if none fits. d->n when there are too many. */
static size_t claim_for(struct described *d, const char *type, const struct adopt_device_params *p)
{
	size_t i = 0;
	for (; i < d->n; i++) {
		const struct claim_params *c = &d->claims[i];
		bool repeated = false;
		for (size_t k = 0; k < c->uuids.n; k++)
			repeated |= strcmp(c->uuids.items[k], p->uuid) == 0;
		if (!repeated && c->uuids.n < CLAIM_UUIDS && strcmp(c->type, type) == 0 &&
			strcmp(c->container, p->container) == 0 && same_portions(&c->resources, &p->resources))
			return i;
	}
	if (i < REQUEST_CLAIMS)
		d->claims[d->n++] = (struct claim_params){ .type = type,
			.container = p->container,
			.resources = p->resources,
			.uuids = { .items = d->uuids[i] },
			.together = "",
			.agent = true,
			.reuse = "" };
	return i;
}

static struct error *describe(
	const struct cluster *c, const struct adopt_params *p, struct described *d, struct adopt_device *devices)
{
	const struct adopt_device_params *params = p->devices.items;
	for (size_t i = 0; i < p->devices.n; i++) {
		const struct device_place *place = cluster_device(c, params[i].uuid);
		if (!place || strcmp(place->node->record->name, p->node) != 0)
			return not_found_error("device", params[i].uuid);
		size_t claim = claim_for(d, place->record->type, &params[i]);
		if (claim == REQUEST_CLAIMS)
			return error_invalid(
				"devices", "more than %d different uses (container, type, resources)", REQUEST_CLAIMS);
		struct claim_params *of = &d->claims[claim];
		d->uuids[claim][of->uuids.n++] = params[i].uuid;
		of->count = (int64_t)of->uuids.n;
		devices[i] = (struct adopt_device){ .uuid = params[i].uuid, .claim = claim };
	}
	return NULL;
}

static struct rpc_done adopt(struct rpc_call *call, const struct adopt_params *p, const struct request *request,
	const struct adopt_device *devices, struct world *w)
{
	const struct pod pod = pod_of(&p->pod);
	const struct adopt args = {
		.pod = &pod, .request = request, .node = p->node, .devices = devices, .n_devices = p->devices.n, .force = p->force
	};
	struct report report = report_new(request, REPORT_NODES);
	const struct allocation *a = NULL;

	struct error *error = with_report(pod_adopt(w->txn, &args, &report, &a), &report);
	report_free(&report);
	if (error)
		return rpc_refuse(call, error);

	view_allocation_result(rpc_result(call), w->cluster, a, !w->txn->revision);
	return rpc_done(call);
}

static struct rpc_done handle(struct rpc_call *call, const void *params, void *world)
{
	const struct adopt_params *p = params;
	struct world *w = world;
	struct described *d = arena_alloc(rpc_call_arena(call), sizeof *d);
	struct adopt_device *devices = arena_alloc(rpc_call_arena(call), p->devices.n * sizeof *devices);
	struct request *request;

	if (!cluster_node(w->cluster, p->node))
		return rpc_refuse(call, not_found_error("node", p->node));

	struct error *error = describe(w->cluster, p, d, devices);
	if (!error)
		error = request_of(&(struct rpc_list){ .items = d->claims, .n = d->n }, &request);
	if (error)
		return rpc_refuse(call, error);

	struct rpc_done done = adopt(call, p, request, devices, w);
	request_unref(request);
	return done;
}

const struct rpc_method pod_adopt_method = {
	.name = "pod.adopt",
	.summary = "Takes over what already runs on a node, as an allocation.",
	.description =
		"Eligibility and nominations do not matter; nominations in the way are moved or dropped. Replaces a record of "
		"the uid on that node.",
	.roles = ROLE_PLUGIN,
	.writes = true,
	.params = &shape,
	.result = allocation_members,
	.errors = RPC_ERROR(ERR_NOT_FOUND) | RPC_ERROR(ERR_CONFLICT) | RPC_ERROR(ERR_INSUFFICIENT),
	.handle = handle,
};

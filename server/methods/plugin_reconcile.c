/* plugin.reconcile */
#include "base/error.h"
#include "core/agent.h"
#include "core/inventory.h"
#include "methods/methods.h"
#include "methods/shapes.h"
#include "methods/world.h"

struct reconcile_params {
	const char *node;
	struct rpc_strings uids;
	int64_t as_of;
	bool dry_run;
};

static const struct rpc_field fields[] = {
	REQUIRED(struct reconcile_params, node, "The node."),
	REQUIRED(struct reconcile_params, uids, "Pods on the node that have not finished.", ITEMS(0, 4096)),
	REQUIRED(struct reconcile_params, as_of, "The revision read before listing them.", RANGE(0, RPC_INTEGER_MAX)),
	OPTIONAL(struct reconcile_params, dry_run, "Only tell."),
};
static const struct rpc_shape shape = { SHAPE_OF(struct reconcile_params, fields) };

static void print_conflicts(struct json_out *o, const struct reconciled *r)
{
	out_array(o, "conflicts");
	for (size_t i = 0; i < r->n_conflicts; i++) {
		out_object(o, NULL);
		out_string(o, "uid", r->conflicts[i].uid);
		out_string_if(o, "node", r->conflicts[i].node);
		out_string(o, "state", r->conflicts[i].state);
		out_end(o);
	}
	out_end(o);
}

static struct rpc_done handle(struct rpc_call *call, const void *params, void *world)
{
	const struct reconcile_params *p = params;
	const struct world *w = world;
	const struct reconcile args = {
		.node = p->node, .uids = p->uids.items, .n_uids = p->uids.n, .as_of = p->as_of, .dry_run = p->dry_run
	};
	struct reconciled r;

	struct error *error = agent_reconcile(w->txn, &args, &r);
	if (error)
		return rpc_refuse(call, error);

	struct json_out *o = rpc_result(call);
	out_strings(o, "released", (const char *const *)r.released, r.n_released);
	out_strings(o, "unknown", r.unknown, r.n_unknown);
	print_conflicts(o, &r);
	out_int(o, "revision", cluster_counters(w->cluster)->revision);
	reconciled_free(&r);
	if (!p->dry_run)
		node_seen(w->txn, cluster_node(w->cluster, p->node));
	return rpc_done(call);
}

static const struct rpc_member result[] = {
	{ "released", "[string]", "Pods whose devices are free now." },
	{ "unknown", "[string]", "Listed pods of which nothing is recorded." },
	{ "conflicts", "[ReconcileConflict]", "Listed pods that are recorded elsewhere, or whose bind ran out here." },
	{ "revision", "integer", "What the answer shows." },
	{ 0 },
};

const struct rpc_method plugin_reconcile_method = {
	.name = "plugin.reconcile",
	.summary = "Releases what no longer runs on a node.",
	.description =
		"Allocated and releasing pods that are not listed, not external, and did not change after `as_of` are released; "
		"lapses not listed end. A node without unknown pods and conflicts becomes verified.",
	.roles = ROLE_PLUGIN,
	.writes = true,
	.frees = true,
	.params = &shape,
	.result = result,
	.errors = RPC_ERROR(ERR_NOT_FOUND),
	.handle = handle,
};

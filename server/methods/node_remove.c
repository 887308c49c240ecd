/* node.remove */
#include <stdlib.h>

#include "base/error.h"
#include "core/inventory.h"
#include "methods/methods.h"
#include "methods/shapes.h"
#include "methods/world.h"

struct remove_params {
	const char *node;
	bool force;
};

static const struct rpc_field fields[] = {
	REQUIRED(struct remove_params, node, "The node."),
	OPTIONAL(struct remove_params, force, "Release what is held and drop what is nominated there."),
};
static const struct rpc_shape shape = { SHAPE_OF(struct remove_params, fields) };

static struct rpc_done handle(struct rpc_call *call, const void *params, void *world)
{
	const struct remove_params *p = params;
	char **released;
	size_t n;

	struct error *error = node_remove(((struct world *)world)->txn, p->node, p->force, &released, &n);
	if (error)
		return rpc_refuse(call, error);

	struct json_out *o = rpc_result(call);
	out_bool(o, "removed", true);
	out_strings(o, "released", (const char *const *)released, n);
	for (size_t i = 0; i < n; i++)
		free(released[i]);
	free(released);
	return rpc_done(call);
}

static const struct rpc_member result[] = {
	{ "removed", "boolean", "Always true." },
	{ "released", "[string]", "Pods that held something there, by uid." },
	{ 0 },
};

const struct rpc_method node_remove_method = {
	.name = "node.remove",
	.summary = "Forgets a node and its devices.",
	.description = "Without `force`: conflict while anything is held or nominated there.",
	.roles = ROLE_SCHEDULER,
	.writes = true,
	.frees = true,
	.params = &shape,
	.result = result,
	.errors = RPC_ERROR(ERR_NOT_FOUND) | RPC_ERROR(ERR_CONFLICT),
	.handle = handle,
};

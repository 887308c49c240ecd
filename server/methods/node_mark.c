/* node.verify, node.cordon, node.uncordon */
#include "base/error.h"
#include "core/inventory.h"
#include "methods/methods.h"
#include "methods/shapes.h"
#include "methods/views.h"
#include "methods/world.h"

struct mark_params {
	const char *node, *reason;
};

static const struct rpc_field fields[] = {
	REQUIRED(struct mark_params, node, "The node."),
	OPTIONAL(struct mark_params, reason, "Why, for people.", TEXT(RPC_TEXT_MAX), DEFAULT_TEXT("")),
};
static const struct rpc_shape shape = { SHAPE_OF(struct mark_params, fields) };

static struct rpc_done answer(struct rpc_call *call, struct error *error, const struct node_record *r)
{
	if (error)
		return rpc_refuse(call, error);
	view_node_flags(rpc_result(call), r);
	return rpc_done(call);
}

static struct rpc_done verify(struct rpc_call *call, const void *params, void *world)
{
	const struct mark_params *p = params;
	const struct node_record *r = NULL;
	struct error *error = node_verify(((struct world *)world)->txn, p->node, p->reason, &r);
	return answer(call, error, r);
}

static struct rpc_done cordon(struct rpc_call *call, const void *params, void *world)
{
	const struct mark_params *p = params;
	const struct node_record *r = NULL;
	struct error *error = node_cordon(((struct world *)world)->txn, p->node, true, p->reason, &r);
	return answer(call, error, r);
}

static struct rpc_done uncordon(struct rpc_call *call, const void *params, void *world)
{
	const struct mark_params *p = params;
	const struct node_record *r = NULL;
	struct error *error = node_cordon(((struct world *)world)->txn, p->node, false, p->reason, &r);
	return answer(call, error, r);
}

static const struct rpc_member result[] = {
	{ "node", "string", "The node." },
	{ "cordoned", "boolean", "After the call." },
	{ "unverified", "boolean", "After the call." },
	{ 0 },
};

const struct rpc_method node_verify_method = {
	.name = "node.verify",
	.summary = "Declares that what is recorded of a node is true, so that its devices are given out.",
	.roles = ROLE_ADMIN,
	.writes = true,
	.params = &shape,
	.result = result,
	.errors = RPC_ERROR(ERR_NOT_FOUND),
	.handle = verify,
};

const struct rpc_method node_cordon_method = {
	.name = "node.cordon",
	.summary = "Gives nothing more out on a node; what is held stays held.",
	.roles = ROLE_ADMIN,
	.writes = true,
	.params = &shape,
	.result = result,
	.errors = RPC_ERROR(ERR_NOT_FOUND),
	.handle = cordon,
};

const struct rpc_method node_uncordon_method = {
	.name = "node.uncordon",
	.summary = "Ends node.cordon.",
	.roles = ROLE_ADMIN,
	.writes = true,
	.params = &shape,
	.result = result,
	.errors = RPC_ERROR(ERR_NOT_FOUND),
	.handle = uncordon,
};

/* lock.acquire, lock.release, lock.list */
#include "base/error.h"
#include "core/locks.h"
#include "methods/methods.h"
#include "methods/page.h"
#include "methods/shapes.h"
#include "methods/views.h"
#include "methods/world.h"

struct acquire_params {
	const char *node, *uid;
	int64_t ttl;
};

static const struct rpc_field acquire_fields[] = {
	REQUIRED(struct acquire_params, node, "The node."),
	REQUIRED(struct acquire_params, uid, "For which pod."),
	FIELD_TTL(struct acquire_params, 300, "Seconds until it ends."),
};
static const struct rpc_shape acquire_shape = { SHAPE_OF(struct acquire_params, acquire_fields) };

static struct rpc_done acquire(struct rpc_call *call, const void *params, void *world)
{
	const struct acquire_params *p = params;
	const struct lock *l;

	struct error *error = lock_acquire(((struct world *)world)->txn, p->node, p->uid, p->ttl * SECOND, &l);
	if (error)
		return rpc_refuse(call, error);

	out_int(rpc_result(call), "token", l->token);
	out_int(rpc_result(call), "expires_at", l->expires_at);
	return rpc_done(call);
}

static const struct rpc_member acquire_result[] = {
	{ "token", "integer", "Needed to release it." },
	{ "expires_at", "integer", "Unix ms." },
	{ 0 },
};

const struct rpc_method lock_acquire_method = {
	.name = "lock.acquire",
	.summary = "Takes the lock of a node by hand.",
	.description = "Re-entrant for the same uid, also by a later pod.bind, and never shortened.",
	.roles = ROLE_SCHEDULER | ROLE_PLUGIN,
	.writes = true,
	.params = &acquire_shape,
	.result = acquire_result,
	.errors = RPC_ERROR(ERR_NOT_FOUND) | RPC_ERROR(ERR_LOCKED),
	.handle = acquire,
};

struct release_params {
	const char *node;
	int64_t token;
};

static const struct rpc_field release_fields[] = {
	REQUIRED(struct release_params, node, "The node."),
	REQUIRED(struct release_params, token, "Its token.", RANGE(0, RPC_INTEGER_MAX)),
};
static const struct rpc_shape release_shape = { SHAPE_OF(struct release_params, release_fields) };

static struct rpc_done release(struct rpc_call *call, const void *params, void *world)
{
	const struct release_params *p = params;

	struct error *error = lock_release(((struct world *)world)->txn, p->node, p->token);
	if (error)
		return rpc_refuse(call, error);

	out_bool(rpc_result(call), "released", true);
	return rpc_done(call);
}

static const struct rpc_member release_result[] = { { "released", "boolean", "Always true." }, { 0 } };

const struct rpc_method lock_release_method = {
	.name = "lock.release",
	.summary = "Gives the lock of a node back.",
	.description = "A lock that a pod is bound under ends with the bind.",
	.roles = ROLE_SCHEDULER | ROLE_PLUGIN,
	.writes = true,
	.frees = true,
	.params = &release_shape,
	.result = release_result,
	.errors = RPC_ERROR(ERR_NOT_FOUND) | RPC_ERROR(ERR_STALE_TOKEN) | RPC_ERROR(ERR_CONFLICT),
	.handle = release,
};

struct list_params {
	const char *node;
	int64_t limit;
	const char *after;
};

static const struct rpc_field list_fields[] = {
	OPTIONAL(struct list_params, node, "Only of this node."),
	FIELD_LIMIT(struct list_params),
	FIELD_AFTER(struct list_params),
};
static const struct rpc_shape list_shape = { SHAPE_OF(struct list_params, list_fields) };

static struct rpc_done list(struct rpc_call *call, const void *params, void *world)
{
	const struct list_params *p = params;
	const struct world *w = world;
	const struct cluster *c = w->cluster;
	struct page page = { .o = rpc_result(call), .left = p->limit };
	size_t i = p->after ? cluster_node_index(c, p->after, true) : 0;

	out_array(page.o, "locks");
	for (; i < c->n_nodes && c->n_locks; i++) {
		const struct node *n = c->order[i];
		if (!n->lock || (p->node && strcmp(n->record->name, p->node) != 0))
			continue;
		if (!page_take(&page, n->record->name))
			break;
		view_lock(page.o, NULL, n->lock->record);
	}
	out_end(page.o);
	page_end(&page, w->cluster);
	return rpc_done(call);
}

static const struct rpc_member list_result[] = {
	{ "locks", "[Lock]", "By node." },
	{ "next", "string?", "Pass as `after` for the next page." },
	{ "revision", "integer", "What the page shows." },
	{ 0 },
};

const struct rpc_method lock_list_method = {
	.name = "lock.list",
	.summary = "Lists node locks.",
	.roles = ROLE_ALL,
	.params = &list_shape,
	.result = list_result,
	.handle = list,
};

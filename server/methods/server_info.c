/* server.info, clock.advance */
#include "base/error.h"
#include "core/cluster.h"
#include "core/pods.h"
#include "methods/methods.h"
#include "methods/shapes.h"
#include "methods/world.h"

static const char *const features[] = { "unix", "tcp", "batch", "nominations", "preemption", "gangs", "explain", "backup",
	"history" };

static void print_counts(struct json_out *o, const struct cluster *c, const struct world_status *s)
{
	struct cluster_counts n = cluster_count(c);
	out_object(o, "counts");
	out_int(o, "nodes", (int64_t)n.nodes);
	out_int(o, "devices", (int64_t)n.devices);
	out_int(o, "allocations", (int64_t)n.allocations);
	out_int(o, "nominations", (int64_t)n.nominations);
	out_int(o, "locks", (int64_t)n.locks);
	out_int(o, "lapses", (int64_t)n.lapses);
	out_int(o, "refusals", (int64_t)n.refusals);
	out_int(o, "commits", s->commits);
	out_int(o, "operations", s->operations);
	out_end(o);
}

static struct rpc_done info(struct rpc_call *call, const void *params, void *world)
{
	const struct world *w = world;
	struct world_status s;
	struct json_out *o = rpc_result(call);
	(void)params;

	w->services->status(w->server, &s);
	out_string(o, "version", s.version);
	out_string(o, "contract", "1.0");
	out_strings(o, "features", features, sizeof features / sizeof features[0]);
	out_int(o, "revision", cluster_counters(w->cluster)->revision);
	out_int(o, "epoch", s.epoch);
	out_string(o, "db_id", s.db_id);
	out_int(o, "now", w->txn->now);
	out_int(o, "started_at", s.started_at);
	print_counts(o, w->cluster, &s);
	out_bool(o, "read_only", s.read_only);
	out_strings(o, "alarms", s.alarms, s.n_alarms);
	return rpc_done(call);
}

static const struct rpc_member info_result[] = {
	{ "version", "string", "Of the server." },
	{ "contract", "string", "Version of the contract." },
	{ "features", "[string]", "What this server can do." },
	{ "revision", "integer", "The last one." },
	{ "epoch", "integer", "Rises with each restore." },
	{ "db_id", "string", "Identity of the database." },
	{ "now", "integer", "The server's time, Unix ms." },
	{ "started_at", "integer", "Unix ms." },
	{ "counts", "{integer}", "Records by kind; commits and operations since the start." },
	{ "read_only", "boolean", "No growing writes now." },
	{ "alarms", "[string]", "What needs an operator." },
	{ 0 },
};

const struct rpc_method server_info_method = {
	.name = "server.info",
	.summary = "Tells about the server.",
	.roles = ROLE_ALL,
	.result = info_result,
	.handle = info,
};

struct advance_params {
	int64_t seconds;
};

static const struct rpc_field advance_fields[] = {
	REQUIRED(struct advance_params, seconds, "How far.", RANGE(0, 10 * 366 * 86400)),
};
static const struct rpc_shape advance_shape = { SHAPE_OF(struct advance_params, advance_fields) };

static struct rpc_done advance(struct rpc_call *call, const void *params, void *world)
{
	const struct advance_params *p = params;
	const struct world *w = world;

	int64_t now = w->services->advance(w->server, w->txn, p->seconds * SECOND);
	if (now < 0)
		return rpc_refuse(call, error_new(ERR_CONFLICT, "the server does not run with --clock=manual"));

	out_int(rpc_result(call), "now", now);
	return rpc_done(call);
}

static const struct rpc_member advance_result[] = { { "now", "integer", "Unix ms." }, { 0 } };

const struct rpc_method clock_advance_method = {
	.name = "clock.advance",
	.summary = "Moves the clock of a server that runs with --clock=manual.",
	.roles = ROLE_ADMIN,
	.writes = true,
	.params = &advance_shape,
	.result = advance_result,
	.errors = RPC_ERROR(ERR_CONFLICT),
	.handle = advance,
};

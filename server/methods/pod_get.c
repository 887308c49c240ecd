/* pod.get */
#include <string.h>

#include "base/error.h"
#include "methods/methods.h"
#include "methods/pod_named.h"
#include "methods/shapes.h"
#include "methods/views.h"
#include "methods/world.h"

struct get_params {
	const char *uid, *namespace, *name;
};

static const struct rpc_field fields[] = {
	OPTIONAL(struct get_params, uid, "The pod."),
	OPTIONAL(struct get_params, namespace, "Instead of the uid, with `name`."),
	OPTIONAL(struct get_params, name, "Instead of the uid, with `namespace`."),
};
static const struct rpc_shape shape = { SHAPE_OF(struct get_params, fields) };

static void print_lapses(struct json_out *o, struct cluster *c, const char *uid)
{
	struct lapse_entry *e = cluster_lapse_from(c, uid);
	if (!e || strcmp(e->record->uid, uid) != 0)
		return;
	out_array(o, "lapses");
	for (; e && strcmp(e->record->uid, uid) == 0; e = RB_NEXT(lapse_tree, &c->lapses, e)) {
		out_object(o, NULL);
		out_string(o, "node", e->record->node);
		out_int(o, "at", e->record->at);
		out_end(o);
	}
	out_end(o);
}

static struct rpc_done handle(struct rpc_call *call, const void *params, void *world)
{
	const struct get_params *p = params;
	const struct world *w = world;

	if (!p->uid && !(p->namespace && p->name))
		return rpc_refuse(call, error_invalid("uid", "give `uid`, or `namespace` and `name`"));
	if (p->uid && (p->namespace || p->name))
		return rpc_refuse(call, error_invalid("uid", "give `uid` or the name, not both"));

	const char *uid = p->uid ? p->uid : pod_named(w->cluster, p->namespace, p->name);
	if (!uid)
		return rpc_done(call);

	struct json_out *o = rpc_result(call);
	const struct holding *h = cluster_holding(w->cluster, uid);
	const struct promise *n = cluster_promise(w->cluster, uid);
	const struct refusal_entry *r = cluster_refusal(w->cluster, uid);
	if (h)
		view_holding(o, "allocation", h);
	if (n)
		view_nomination(o, "nomination", n->record, NULL, 0);
	if (r)
		view_refusal(o, "refusal", r->record);
	print_lapses(o, w->cluster, uid);
	return rpc_done(call);
}

static const struct rpc_member result[] = {
	{ "allocation", "Allocation?", "What it holds." },
	{ "nomination", "Nomination?", "What it is promised." },
	{ "refusal", "Refusal?", "Why it is pending." },
	{ "lapses", "[Lapse]?", "Binds that ran out." },
	{ 0 },
};

const struct rpc_method pod_get_method = {
	.name = "pod.get",
	.summary = "Tells all that is known of a pod; nothing for an unknown one.",
	.roles = ROLE_ALL,
	.params = &shape,
	.result = result,
	.handle = handle,
};

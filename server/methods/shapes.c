#include "methods/shapes.h"

#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/text.h"
#include "core/request.h"
#include "rpc/value.h"

static struct error *finish_pod(void *object, struct arena *arena)
{
	struct pod_params *p = object;
	(void)arena;
	if (!p->name)
		p->name = p->uid;
	return NULL;
}

static const struct rpc_field pod_fields[] = {
	REQUIRED(struct pod_params, uid, "The identity: the same name with a new uid is another pod."),
	OPTIONAL(struct pod_params, namespace, "Namespace.", DEFAULT_TEXT("default")),
	OPTIONAL(struct pod_params, name, "Name; the uid when absent."),
	OPTIONAL(struct pod_params, priority, "Higher is more important."),
	OPTIONAL(struct pod_params, preemptible, "Whether a more important pod may take its devices.", DEFAULT(true)),
	OPTIONAL(struct pod_params, gang, "Pods of one gang (in one namespace) do not keep promises from each other.",
		DEFAULT_TEXT("")),
	OPTIONAL(struct pod_params, external,
		"Static container, other scheduler, bare docker: never released by plugin.reconcile."),
};
const struct rpc_shape pod_shape = {
	.name = "Pod", .doc = "Who asks.", SHAPE_OF(struct pod_params, pod_fields), .finish = finish_pod
};

struct pod pod_of(const struct pod_params *p)
{
	return (struct pod){ .uid = p->uid,
		.namespace = p->namespace,
		.name = p->name,
		.gang = p->gang,
		.priority = p->priority,
		.preemptible = p->preemptible,
		.external = p->external };
}

static const struct rpc_name topology_names[] = { { "numa", TOPOLOGY_NUMA }, { "socket", TOPOLOGY_SOCKET },
	{ "pcie", TOPOLOGY_PCIE }, { 0 } };

static const struct rpc_field claim_fields[] = {
	REQUIRED(struct claim_params, type, "Device type."),
	OPTIONAL(struct claim_params, count, "Distinct devices.", RANGE(1, CLAIM_COUNT), DEFAULT(1)),
	OPTIONAL(struct claim_params, container, "Container that gets them.", DEFAULT_TEXT("")),
	OPTIONAL(struct claim_params, resources, "How much of each resource, on each device; without it: whole devices.",
		ITEMS(1, DEVICE_RESOURCES)),
	OPTIONAL(struct claim_params, models, "Any of these models.", ITEMS(0, 64)),
	OPTIONAL(struct claim_params, labels, "Labels the device must have.", ITEMS(0, 32)),
	OPTIONAL(struct claim_params, uuids, "Only these devices.", ITEMS(0, CLAIM_UUIDS)),
	OPTIONAL(struct claim_params, exclude_uuids, "Not these devices.", ITEMS(0, CLAIM_UUIDS)),
	OPTIONAL(struct claim_params, same, "Topology key whose value the devices must share.", NAMES(topology_names)),
	OPTIONAL(struct claim_params, together, "Claims with this tag share one value of `same`.", DEFAULT_TEXT("")),
	OPTIONAL(struct claim_params, agent, "A node agent hands it out; false: it counts as handed out at bind.", DEFAULT(true)),
	OPTIONAL(struct claim_params, reuse, "Container whose devices it uses, taking nothing of its own.", DEFAULT_TEXT("")),
};
const struct rpc_shape claim_shape = {
	.name = "Claim", .doc = "Devices asked for.", SHAPE_OF(struct claim_params, claim_fields)
};

const struct rpc_name policy_names[] = { { "binpack", POLICY_BINPACK }, { "spread", POLICY_SPREAD }, { 0 } };

static const struct need *needs_of(const struct rpc_portions *from, struct arena *arena)
{
	struct need *to = arena_alloc(arena, from->n * sizeof *to);
	for (size_t i = 0; i < from->n; i++)
		to[i] = (struct need){
			.resource = from->items[i].name, .amount = from->items[i].amount, .percent = from->items[i].percent
		};
	return to;
}

static const struct selector *selectors_of(const struct rpc_labels *from, struct arena *arena)
{
	struct selector *to = arena_alloc(arena, from->n * sizeof *to);
	for (size_t i = 0; i < from->n; i++)
		to[i] = (struct selector){ .key = from->items[i].key, .value = from->items[i].value };
	return to;
}

static struct claim claim_of(const struct claim_params *p, struct arena *arena)
{
	return (struct claim){
		.type = p->type,
		.count = p->count,
		.container = p->container,
		.reuse = p->reuse,
		.together = p->together,
		.same = (enum topology)p->same,
		.agent = p->agent,
		.needs = needs_of(&p->resources, arena),
		.n_needs = p->resources.n,
		.models = p->models.items,
		.n_models = p->models.n,
		.uuids = p->uuids.items,
		.n_uuids = p->uuids.n,
		.exclude_uuids = p->exclude_uuids.items,
		.n_exclude_uuids = p->exclude_uuids.n,
		.labels = selectors_of(&p->labels, arena),
		.n_labels = p->labels.n,
	};
}

/* Makes the request; `text` NULL: it is printed from the claims. */
static struct error *make_request(const struct rpc_list *list, const char *text, struct arena *arena, struct request **ret)
{
	const struct claim_params *params = list->items;
	struct claim claims[REQUEST_CLAIMS];
	for (size_t i = 0; i < list->n; i++)
		claims[i] = claim_of(&params[i], arena);
	struct error *error = request_check(claims, list->n);
	if (error)
		return error;
	struct text canonical = { 0 };
	if (!text) {
		struct json_out o = json_out_start(&canonical);
		rpc_encode_list(&claim_shape, list, &o, NULL);
		text = text_string(&canonical);
	}
	*ret = request_new(claims, list->n, text);
	text_free(&canonical);
	return NULL;
}

struct error *request_of(const struct rpc_list *claims, struct request **ret)
{
	struct arena *arena = arena_new();
	struct error *error = make_request(claims, NULL, arena, ret);
	arena_free(arena);
	return error;
}

struct error *request_parse(const char *text, struct request **ret)
{
	struct arena *arena = arena_new();
	struct rpc_list list;
	struct error *error = rpc_decode_list_text(&claim_shape, text, arena, &list);
	if (!error && (list.n < 1 || list.n > REQUEST_CLAIMS))
		error = error_new(ERR_INTERNAL, "a stored request has %zu claims", list.n);
	if (!error)
		error = make_request(&list, text, arena, ret);
	arena_free(arena);
	return error;
}

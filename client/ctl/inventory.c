/* Sums over the devices of the cluster; see inventory.h. */
#include "ctl/inventory.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/human.h"
#include "ctl/mem.h"

static void add_kind(struct inventory *v, const char *type, const char *resource)
{
	size_t at = v->n_kinds, i;

	for (i = 0; i < v->n_kinds; i++) {
		if (strcmp(v->kinds[i].type, type) == 0) {
			if (strcmp(v->kinds[i].resource, resource) == 0) {
				return;
			}
			at = i + 1;
		}
	}
	v->kinds = mem_grow(v->kinds, v->n_kinds, &v->room_kinds, sizeof(*v->kinds));
	memmove(&v->kinds[at + 1], &v->kinds[at], (v->n_kinds - at) * sizeof(*v->kinds));
	v->kinds[at] = (struct kind){ type, resource };
	v->n_kinds++;
}

static void add_kinds(struct inventory *v, const json_t *device, const char *wanted)
{
	const json_t *capacity = json_object_get(device, "capacity"), *amount;
	const char *resource, *type = get_string(device, "type");

	if (!json_object_size(capacity)) {
		if (!wanted) {
			add_kind(v, type, "");
		}
		return;
	}
	json_object_foreach ((json_t *)capacity, resource, amount) {
		if (!wanted || strcmp(wanted, resource) == 0) {
			add_kind(v, type, resource);
		}
	}
}

static void add_device(struct inventory *v, const json_t *device, size_t index)
{
	const char *node = get_string(device, "node");

	if (v->n_nodes == 0 || strcmp(v->nodes[v->n_nodes - 1].node, node) != 0) {
		v->nodes = mem_grow(v->nodes, v->n_nodes, &v->room_nodes, sizeof(*v->nodes));
		v->nodes[v->n_nodes++] = (struct node_devices){ .node = node, .first = index };
	}
	v->nodes[v->n_nodes - 1].n++;
}

int inventory_read(struct ctl *ctl, struct inventory **ret)
{
	struct inventory *v = mem_array(1, sizeof(*v));
	int status = ctl_list(ctl, "device.list", ctl_filters(ctl, "node type"), "devices", &v->devices);
	const json_t *device;
	size_t i;

	if (status != CTL_OK) {
		free(v);
		return status;
	}
	json_array_foreach (v->devices, i, device) {
		add_device(v, device, i);
		add_kinds(v, device, ctl->options.resource);
	}
	*ret = v;
	return CTL_OK;
}

void inventory_free(struct inventory *inventory)
{
	if (inventory) {
		json_decref(inventory->devices);
		free(inventory->kinds);
		free(inventory->nodes);
		free(inventory);
	}
}

struct usage device_usage(const json_t *device, const struct kind *kind)
{
	const json_t *capacity = json_object_get(device, "capacity");

	if (strcmp(get_string(device, "type"), kind->type) != 0) {
		return (struct usage){ 0, 0 };
	}
	if (!*kind->resource) {
		return json_object_size(capacity) ? (struct usage){ 0, 0 }
						  : (struct usage){ get_integer(device, "shares") > 0, 1 };
	}
	return (struct usage){ get_integer(json_object_get(device, "used"), kind->resource),
		get_integer(capacity, kind->resource) };
}

static int by_name(const void *name, const void *node)
{
	return strcmp(name, ((const struct node_devices *)node)->node);
}

/* The range of devices of a node, all of them for NULL. */
static struct node_devices range(const struct inventory *v, const char *node)
{
	const struct node_devices *found;

	if (!node) {
		return (struct node_devices){ .n = json_array_size(v->devices) };
	}
	found = v->n_nodes ? bsearch(node, v->nodes, v->n_nodes, sizeof(*v->nodes), by_name) : NULL;
	return found ? *found : (struct node_devices){ 0 };
}

struct usage inventory_sum(const struct inventory *inventory, const struct kind *kind, const char *node)
{
	struct node_devices of = range(inventory, node);
	struct usage sum = { 0, 0 };
	size_t i;

	for (i = of.first; i < of.first + of.n; i++) {
		struct usage one = device_usage(json_array_get(inventory->devices, i), kind);

		sum.used += one.used;
		sum.total += one.total;
	}
	return sum;
}

char *inventory_title(const struct kind *kind)
{
	char *title = mem_format("%s%s%s", kind->type, *kind->resource ? " " : "", kind->resource), *c;

	for (c = title; *c; c++) {
		*c = (char)toupper((unsigned char)*c);
	}
	return title;
}

/* device.list */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "methods/methods.h"
#include "methods/page.h"
#include "methods/shapes.h"
#include "methods/views.h"
#include "methods/world.h"

struct list_params {
	const char *node, *type, *uuid;
	int64_t limit;
	const char *after;
};

static const struct rpc_field fields[] = {
	OPTIONAL(struct list_params, node, "Only of this node."),
	OPTIONAL(struct list_params, type, "Only of this type."),
	OPTIONAL(struct list_params, uuid, "Only this device."),
	FIELD_LIMIT(struct list_params),
	FIELD_AFTER(struct list_params),
};
static const struct rpc_shape shape = { SHAPE_OF(struct list_params, fields) };

/* A cursor is the place of a device in the list: node, type, minor and uuid, one per line (names have no control characters). */
static char *cursor_make(struct arena *arena, const struct device_record *r)
{
	size_t size = strlen(r->node) + strlen(r->type) + strlen(r->uuid) + 32;
	char *text = arena_alloc(arena, size);
	(void)snprintf(text, size, "%s\n%s\n%lld\n%s", r->node, r->type, (long long)r->minor, r->uuid);
	return text;
}

static bool cursor_parse(struct arena *arena, const char *cursor, struct device_record *ret)
{
	char *text = arena_string(arena, cursor, strlen(cursor)), *rest = text;
	ret->node = strsep(&rest, "\n");
	ret->type = rest ? strsep(&rest, "\n") : NULL;
	const char *minor = rest ? strsep(&rest, "\n") : NULL;
	ret->uuid = rest;
	ret->minor = minor ? strtoll(minor, NULL, 10) : 0;
	return ret->uuid;
}

static bool wanted(const struct list_params *p, const struct device_record *r)
{
	return (!p->type || strcmp(p->type, r->type) == 0) && (!p->uuid || strcmp(p->uuid, r->uuid) == 0);
}

/* Lists the devices of a node behind `after`; false when the page is full. */
static bool list_node(const struct list_params *p, const struct node *n, const struct device_record *after, struct page *page,
	const struct device_record **last)
{
	bool here = after && strcmp(after->node, n->record->name) == 0;
	for (size_t i = 0; i < n->n_devices; i++) {
		const struct device *d = &n->devices[i];
		if ((here && device_order(d->record, after) <= 0) || !wanted(p, d->record))
			continue;
		if (!page_take(page, ""))
			return false;
		*last = d->record;
		view_device(page->o, NULL, n, d);
	}
	return true;
}

static void list_devices(const struct list_params *p, const struct cluster *c, const struct device_record *after,
	struct page *page, const struct device_record **last)
{
	const struct device_place *place = p->uuid ? cluster_device(c, p->uuid) : NULL;
	const char *only = p->node ? p->node : place ? place->node->record->name : NULL;
	const struct node *n = only ? cluster_node(c, only) : NULL;
	if (n)
		list_node(p, n, after, page, last);
	if (p->node || p->uuid)
		return;
	size_t i = after ? cluster_node_index(c, after->node, false) : 0;
	while (i < c->n_nodes && list_node(p, c->order[i], after, page, last))
		i++;
}

static struct rpc_done handle(struct rpc_call *call, const void *params, void *world)
{
	const struct list_params *p = params;
	const struct world *w = world;
	struct device_record after = { 0 };
	const struct device_record *last = NULL;

	if (p->after && !cursor_parse(rpc_call_arena(call), p->after, &after))
		return rpc_refuse(call, error_invalid("after", "after is not the `next` of a page of devices"));

	struct page page = { .o = rpc_result(call), .left = p->limit };
	out_array(page.o, "devices");
	list_devices(p, w->cluster, p->after ? &after : NULL, &page, &last);
	out_end(page.o);
	assert(!page.more || last); /* a page has room for one */
	if (page.more)
		page.next = cursor_make(rpc_call_arena(call), last);
	page_end(&page, w->cluster);
	return rpc_done(call);
}

static const struct rpc_member result[] = {
	{ "devices", "[DeviceView]", "By node, type, minor, uuid." },
	{ "next", "string?", "Pass as `after` for the next page; opaque." },
	{ "revision", "integer", "What the page shows." },
	{ 0 },
};

const struct rpc_method device_list_method = {
	.name = "device.list",
	.summary = "Lists devices and who holds them.",
	.roles = ROLE_ALL,
	.params = &shape,
	.result = result,
	.handle = handle,
};

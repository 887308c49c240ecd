/* event.list */
#include "base/error.h"
#include "methods/methods.h"
#include "methods/shapes.h"
#include "methods/world.h"

struct list_params {
	int64_t after, limit;
	const char *uid, *node;
};

static const struct rpc_field fields[] = {
	OPTIONAL(struct list_params, after, "Events of later revisions.", RANGE(0, RPC_INTEGER_MAX), DEFAULT(0)),
	FIELD_LIMIT(struct list_params),
	OPTIONAL(struct list_params, uid, "Only of this pod."),
	OPTIONAL(struct list_params, node, "Only of this node."),
};
static const struct rpc_shape shape = { SHAPE_OF(struct list_params, fields) };

void view_event(void *context, const struct world_event *e)
{
	struct json_out *o = context;
	out_object(o, NULL);
	out_int(o, "revision", e->revision);
	out_int(o, "at", e->at);
	out_string(o, "kind", e->kind);
	out_string_if(o, "node", e->node);
	out_string_if(o, "uid", e->uid);
	out_string(o, "actor", e->actor);
	out_raw(o, "data", e->data);
	out_end(o);
}

/* Bytes of a page; what is left of the largest answer is for the rest of it. */
enum { PAGE_BYTES = 7 << 20 };

struct page {
	struct text text;
	struct json_out out;
	bool brief; /* without the events' data */
	bool full;  /* it became too large: what is in it is no page */
};

static void add_event(void *context, const struct world_event *event)
{
	struct page *page = context;
	struct world_event e = *event;
	page->full |= page->text.length > PAGE_BYTES;
	if (page->full)
		return;
	if (page->brief)
		e.data = "{\"omitted\":true}";
	view_event(&page->out, &e);
}

static struct error *print_page(const struct world *w, void *reader, const struct world_event_query *query, struct page *page)
{
	int64_t last;
	text_clear(&page->text);
	page->out = json_out_start(&page->text);
	page->full = false;
	out_object(&page->out, NULL);
	out_array(&page->out, "events");
	struct error *error = w->services->events(reader, query, add_event, page, &last);
	if (error || page->full)
		return error;
	out_end(&page->out);
	out_int(&page->out, "last", last);
	out_end(&page->out);
	page->full = page->text.length > PAGE_BYTES;
	return NULL;
}

/* A page that fits into an answer: with fewer events if need be, and if one revision alone is too much, without their data; a
 * reader always gets on. */
static struct error *print_some(const struct world *w, void *reader, struct world_event_query *query, struct page *page)
{
	struct error *error = print_page(w, reader, query, page);
	while (!error && page->full && !page->brief) {
		page->brief = query->limit == 1;
		query->limit = (query->limit + 3) / 4;
		error = print_page(w, reader, query, page);
	}
	return error;
}

static struct rpc_done handle(struct rpc_call *call, const void *params, void *world)
{
	(void)params;
	(void)world;
	return rpc_later(call); /* history is on disk, and the disk is not for the loop */
}

static struct rpc_done work(struct rpc_call *call, const void *params, void *world, void *reader)
{
	const struct list_params *p = params;
	struct world_event_query query = { .after = p->after, .limit = p->limit, .uid = p->uid, .node = p->node };
	struct page page = { .brief = false };

	struct error *error = print_some(world, reader, &query, &page);
	if (!error)
		rpc_result_text(call, text_string(&page.text));
	text_free(&page.text);
	return error ? rpc_refuse(call, error) : rpc_done(call);
}

static const struct rpc_member result[] = {
	{ "events", "[Event]", "In order; a revision is never split over pages." },
	{ "last", "integer", "Complete up to this revision: the next `after`." },
	{ 0 },
};

const struct rpc_method event_list_method = {
	.name = "event.list",
	.summary = "Tells what happened.",
	.roles = ROLE_ALL,
	.params = &shape,
	.result = result,
	.errors = RPC_ERROR(ERR_COMPACTED),
	.handle = handle,
	.work = work,
};

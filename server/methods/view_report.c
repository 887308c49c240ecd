/* Why a request fits nowhere, on the wire. */
#include "base/error.h"
#include "methods/views.h"

void view_counts(struct json_out *o, const char *key, const struct report *report)
{
	out_object(o, key);
	for (enum slug s = 0; s < SLUGS; s++) {
		int64_t count = report_count(report, s);
		if (count)
			out_int(o, slug_name(s), count);
	}
	out_end(o);
}

static void view_reason(struct json_out *o, const struct report_node *n)
{
	const struct reason *r = &n->reason;
	out_object(o, NULL);
	out_string(o, "reason", slug_name(r->slug));
	out_int(o, "claim", (int64_t)r->claim);
	out_string(o, "type", r->type);
	out_int(o, "need", r->need);
	out_int(o, "have", r->have);
	if (n->n_by)
		out_strings(o, "by", n->by, n->n_by);
	out_bool(o, "resolvable", slug_resolvable(r->slug));
	out_end(o);
}

void view_reasons(struct json_out *o, const char *key, const struct report *report, size_t most)
{
	out_object(o, key);
	for (size_t i = 0; i < report->n_nodes && i < most; i++) {
		out_array(o, report->nodes[i].node);
		view_reason(o, &report->nodes[i]);
		out_end(o);
	}
	out_end(o);
}

struct error *with_report(struct error *e, const struct report *report)
{
	struct text counts = { 0 }, nodes = { 0 };
	if (!e || e->code != ERR_INSUFFICIENT)
		return e;
	struct json_out o = json_out_start(&counts);
	view_counts(&o, NULL, report);
	o = json_out_start(&nodes);
	view_reasons(&o, NULL, report, REPORT_NODES);
	error_with_json(e, "counts", text_take(&counts));
	return error_with_json(e, "nodes", text_take(&nodes));
}

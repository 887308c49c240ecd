/* An event's data: the record after the change, and what made it. */
#include "methods/views.h"

static void view_node_record(struct json_out *o, const struct node_record *r)
{
	view_node_flags(o, r);
	view_labels(o, "labels", r->labels, r->n_labels);
	out_int(o, "revision", r->revision);
}

static void view_lapse(struct json_out *o, const struct lapse *l)
{
	out_string(o, "node", l->node);
	out_string(o, "uid", l->uid);
	out_int(o, "at", l->at);
}

static void view_subject(struct json_out *o, const struct event *e)
{
	switch (e->subject_kind) {
	case SUBJECT_NONE:
		break;
	case SUBJECT_NODE:
		view_node_record(o, e->subject);
		break;
	case SUBJECT_DEVICE:
		view_device_record(o, e->subject);
		break;
	case SUBJECT_ALLOCATION:
		view_allocation_members(o, e->subject, NULL);
		break;
	case SUBJECT_NOMINATION:
		view_nomination_members(o, e->subject, NULL, 0);
		break;
	case SUBJECT_LOCK:
		view_lock_members(o, e->subject);
		break;
	case SUBJECT_LAPSE:
		view_lapse(o, e->subject);
		break;
	case SUBJECT_REFUSAL:
		view_refusal_members(o, e->subject);
		break;
	}
}

/* Devices and refusals have a reason of their own. */
static bool says_reason(const struct event *e)
{
	return e->subject_kind == SUBJECT_DEVICE || e->subject_kind == SUBJECT_REFUSAL;
}

void view_event_data(const struct event *e, struct text *to)
{
	struct json_out o = json_out_start(to);
	out_object(&o, NULL);
	view_subject(&o, e);
	if (!says_reason(e))
		out_string_if(&o, "reason", e->reason);
	out_string_if(&o, "cause", e->cause);
	out_string_if(&o, "by", e->by);
	out_int_if(&o, "unclaimed", e->unclaimed);
	out_end(&o);
}

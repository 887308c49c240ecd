#include "methods/pod_named.h"

#include <string.h>

static bool is_named(const struct pod *p, const char *namespace, const char *name)
{
	return strcmp(p->name, name) == 0 && strcmp(p->namespace, namespace) == 0;
}

const char *pod_named(struct cluster *c, const char *namespace, const char *name)
{
	const struct allocation *youngest = NULL;
	struct holding *h = cluster_holding_named(c, namespace, name);
	for (; h && is_named(&h->record->pod, namespace, name); h = RB_NEXT(holding_names, &c->holdings_by_name, h))
		if (!youngest || h->record->id > youngest->id)
			youngest = h->record;
	if (youngest)
		return youngest->pod.uid;
	for (const struct promise *p = c->promises; p; p = p->hh.next)
		if (is_named(&p->record->pod, namespace, name))
			return p->record->pod.uid;
	for (const struct refusal_entry *r = c->refusals; r; r = r->hh.next)
		if (is_named(&r->record->pod, namespace, name))
			return r->record->pod.uid;
	return NULL;
}

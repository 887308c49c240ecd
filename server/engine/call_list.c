#include "engine/call_list.h"

#include <assert.h>

void call_list_add(struct call_list *list, struct engine_call *call)
{
	call->next = NULL;
	if (list->last)
		list->last->next = call;
	else
		list->first = call;
	list->last = call;
	list->n++;
	list->bytes += call->size;
}

struct engine_call *call_list_pop(struct call_list *list)
{
	struct engine_call *call = list->first;
	assert(call && list->n > 0);
	list->first = call->next;
	if (!list->first)
		list->last = NULL;
	list->n--;
	list->bytes = list->n && list->bytes > call->size ? list->bytes - call->size : 0;
	call->next = NULL;
	return call;
}

void call_list_append(struct call_list *list, struct call_list *from)
{
	if (!from->first)
		return;
	if (list->last)
		list->last->next = from->first;
	else
		list->first = from->first;
	list->last = from->last;
	list->n += from->n;
	list->bytes += from->bytes;
	*from = (struct call_list){ 0 };
}

void call_list_prepend(struct call_list *list, struct call_list *from)
{
	call_list_append(from, list);
	*list = *from;
	*from = (struct call_list){ 0 };
}

void call_list_fail(struct call_list *list, struct call_list *from, const struct error *failure)
{
	for (struct engine_call *call = from->first; call; call = call->next)
		call->failure = failure;
	call_list_append(list, from);
}

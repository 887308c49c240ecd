#include "core/change.h"

#include <stdlib.h>

#include "base/mem.h"

void change_list_add(struct change_list *list, enum record_kind kind, const void *before_take, const void *after_take)
{
	list->changes = mem_grow(list->changes, list->n, &list->room, sizeof *list->changes);
	list->changes[list->n++] = (struct change){ .kind = kind, .before = before_take, .after = after_take };
}

void change_list_truncate(struct change_list *list, size_t from)
{
	while (list->n > from) {
		const struct change *c = &list->changes[--list->n];
		record_unref(c->kind, c->before);
		record_unref(c->kind, c->after);
	}
}

void change_list_free(struct change_list *list)
{
	change_list_truncate(list, 0);
	free(list->changes);
	*list = (struct change_list){ 0 };
}

/* Calls in order, linked through engine_call.next. */
#ifndef ALLOTD_ENGINE_CALL_LIST_H
#define ALLOTD_ENGINE_CALL_LIST_H

#include "engine/engine.h"

struct call_list {
	struct engine_call *first, *last;
	size_t n;
	size_t bytes; /* the sum of their sizes when they were added */
};

/* Appends one call. */
void call_list_add(struct call_list *list, struct engine_call *call);

/* Takes the first call out; the list must not be empty. */
struct engine_call *call_list_pop(struct call_list *list);

/* Moves all calls of `from` to the end of `list`. */
void call_list_append(struct call_list *list, struct call_list *from);

/* Moves all calls of `from` to the start of `list`. */
void call_list_prepend(struct call_list *list, struct call_list *from);

/* Moves all calls of `from` to the end of `list`, each with that failure. */
void call_list_fail(struct call_list *list, struct call_list *from, const struct error *failure);

#endif

/* Immutable values that are shared by counting references. The count lies before the value, so the value is plain data: it can be copied
 * into a template without touching the count. Safe from any thread. */
#ifndef ALLOTD_CORE_COUNTED_H
#define ALLOTD_CORE_COUNTED_H

#include <stdbool.h>
#include <stddef.h>

/* `size` bytes set to zero, with one reference. */
void *counted_new(size_t size);

/* One more reference; returns the value. NULL is legal. */
const void *counted_ref(const void *value);

/* One reference less; true when it was the last one: release what the value holds, then counted_free. NULL is legal (false). */
bool counted_drop(const void *value);

/* Releases the memory of a value without references. */
void counted_free(const void *value);

#endif

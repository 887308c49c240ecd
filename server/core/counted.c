#include "core/counted.h"

#include <assert.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/mem.h"

struct counted {
	alignas(8) atomic_uint references;
	alignas(8) char value[];
};

static struct counted *head_of(const void *value)
{
	return (struct counted *)((uintptr_t)value - offsetof(struct counted, value));
}

void *counted_new(size_t size)
{
	struct counted *c = mem_alloc(sizeof *c + size);
	atomic_init(&c->references, 1);
	return c->value;
}

const void *counted_ref(const void *value)
{
	if (value)
		atomic_fetch_add_explicit(&head_of(value)->references, 1, memory_order_relaxed);
	return value;
}

bool counted_drop(const void *value)
{
	if (!value)
		return false;
	unsigned before = atomic_fetch_sub_explicit(&head_of(value)->references, 1, memory_order_acq_rel);
	assert(before > 0);
	return before == 1;
}

void counted_free(const void *value)
{
	free(head_of(value));
}

/* An arena: many small allocations that end together. Used for the parameters of one request. */
#ifndef ALLOTD_BASE_ARENA_H
#define ALLOTD_BASE_ARENA_H

#include <stddef.h>

struct arena;

/* A new empty arena; ended with arena_free. */
struct arena *arena_new(void);

/* Releases the arena and everything taken from it; NULL is legal. */
void arena_free(struct arena *arena);

/* `size` bytes set to zero, aligned for any type, alive until arena_free. */
void *arena_alloc(struct arena *arena, size_t size);

/* A copy of the first `length` bytes of `from`, terminated. */
char *arena_string(struct arena *arena, const char *from, size_t length);

#endif

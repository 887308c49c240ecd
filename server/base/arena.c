#include "base/arena.h"

#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { BLOCK_SIZE = 4096 };

struct block {
	struct block *next;
	size_t used, size;
	alignas(max_align_t) char bytes[];
};

struct arena {
	struct block *blocks; /* the newest first */
};

struct arena *arena_new(void)
{
	return mem_alloc(sizeof(struct arena));
}

void arena_free(struct arena *arena)
{
	if (!arena)
		return;
	for (struct block *b = arena->blocks, *next; b; b = next) {
		next = b->next;
		free(b);
	}
	free(arena);
}

static struct block *block_add(struct arena *arena, size_t least)
{
	size_t size = least > BLOCK_SIZE ? least : BLOCK_SIZE;
	struct block *b = mem_resize(NULL, 1, sizeof *b + size);
	*b = (struct block){ .next = arena->blocks, .size = size };
	arena->blocks = b;
	return b;
}

void *arena_alloc(struct arena *arena, size_t size)
{
	const size_t align = alignof(max_align_t);
	size_t rounded = (size + align - 1) / align * align;
	struct block *b = arena->blocks;
	if (!b || b->size - b->used < rounded)
		b = block_add(arena, rounded);
	void *p = b->bytes + b->used;
	b->used += rounded;
	return memset(p, 0, rounded);
}

char *arena_string(struct arena *arena, const char *from, size_t length)
{
	char *to = arena_alloc(arena, length + 1);
	memcpy(to, from, length);
	return to;
}

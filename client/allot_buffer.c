/* A queue of bytes: added at the end, dropped from the front. */
#include <stdlib.h>
#include <string.h>

#include "allot_internal.h"

size_t allot_buffer_used(const struct allot_buffer *b)
{
	return b->end - b->start;
}

void allot_buffer_free(struct allot_buffer *b)
{
	free(b->bytes);
	*b = (struct allot_buffer){ 0 };
}

bool allot_buffer_reserve(struct allot_buffer *b, size_t size)
{
	size_t used = allot_buffer_used(b), room = b->room ? b->room : 4096;
	char *bytes;

	if (b->room - b->end >= size) {
		return true;
	}
	if (b->start >= used && b->room - used >= size) {
		memcpy(b->bytes, b->bytes + b->start, used);
		b->start = 0;
		b->end = used;
		return true;
	}
	while (room - used < size) {
		room *= 2;
	}
	bytes = malloc(room);
	if (!bytes) {
		return false;
	}
	if (used) {
		memcpy(bytes, b->bytes + b->start, used);
	}
	free(b->bytes);
	*b = (struct allot_buffer){ .bytes = bytes, .end = used, .room = room };
	return true;
}

bool allot_buffer_add(struct allot_buffer *b, const char *bytes, size_t size)
{
	if (!allot_buffer_reserve(b, size)) {
		return false;
	}
	memcpy(b->bytes + b->end, bytes, size);
	b->end += size;
	return true;
}

void allot_buffer_drop(struct allot_buffer *b, size_t size)
{
	b->start += size;
	if (b->start < b->end) {
		return;
	}
	b->start = b->end = 0;
	if (b->room > ALLOT_KEEP) {
		allot_buffer_free(b);
	}
}

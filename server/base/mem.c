#include "base/mem.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *checked(void *p)
{
	if (!p) {
		fputs("allotd: out of memory\n", stderr);
		abort();
	}
	return p;
}

static size_t product(size_t count, size_t size)
{
	if (size && count > SIZE_MAX / size)
		checked(NULL);
	return count * size > 0 ? count * size : 1;
}

void *mem_alloc(size_t size)
{
	return checked(calloc(1, size ? size : 1));
}

void *mem_array(size_t count, size_t size)
{
	return checked(calloc(1, product(count, size)));
}

void *mem_resize(void *old, size_t count, size_t size)
{
	return checked(realloc(old, product(count, size)));
}

void *mem_copy(const void *from, size_t size)
{
	void *to = checked(malloc(size ? size : 1));
	if (size)
		memcpy(to, from, size);
	return to;
}

char *mem_string(const char *from)
{
	return from ? mem_copy(from, strlen(from) + 1) : NULL;
}

char *mem_format(const char *format, ...)
{
	va_list args;
	va_start(args, format);
	char *text = mem_vformat(format, args);
	va_end(args);
	return text;
}

char *mem_vformat(const char *format, va_list args)
{
	char *text = NULL;
	int n = vasprintf(&text, format, args);
	return checked(n < 0 ? NULL : text);
}

void *mem_grow(void *array, size_t used, size_t *room, size_t size)
{
	if (used < *room)
		return array;
	*room = *room ? *room * 2 : 8;
	return mem_resize(array, *room, size);
}

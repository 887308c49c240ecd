/* Memory that cannot fail; see mem.h. */
#include "ctl/mem.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *mem_must(void *pointer)
{
	if (!pointer) {
		fputs("allotctl: out of memory\n", stderr);
		abort();
	}
	return pointer;
}

void *mem_array(size_t count, size_t size)
{
	return mem_must(calloc(count ? count : 1, size));
}

void *mem_grow(void *array, size_t used, size_t *room, size_t size)
{
	if (used < *room) {
		return array;
	}
	*room = *room ? *room * 2 : 16;
	return mem_must(reallocarray(array, *room, size));
}

char *mem_string(const char *from)
{
	return mem_must(strdup(from));
}

char *mem_prefix(const char *from, size_t length)
{
	return mem_must(strndup(from, length));
}

char *mem_vformat(const char *format, va_list arguments)
{
	char *string;

	return mem_must(vasprintf(&string, format, arguments) < 0 ? NULL : string);
}

char *mem_format(const char *format, ...)
{
	va_list arguments;
	char *string;

	va_start(arguments, format);
	string = mem_vformat(format, arguments);
	va_end(arguments);
	return string;
}

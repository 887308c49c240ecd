#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* Makes room for `more` bytes and the terminator. */
static void reserve(struct text *t, size_t more)
{
	size_t need = t->length + more + 1;
	if (need <= t->room)
		return;
	size_t room = t->room ? t->room : 64;
	while (room < need)
		room *= 2;
	t->bytes = mem_resize(t->bytes, room, 1);
	t->room = room;
}

void text_free(struct text *t)
{
	free(t->bytes);
	*t = (struct text){ 0 };
}

void text_clear(struct text *t)
{
	t->length = 0;
	if (t->bytes)
		t->bytes[0] = '\0';
}

void text_add(struct text *t, const char *bytes, size_t length)
{
	reserve(t, length);
	if (length)
		memcpy(t->bytes + t->length, bytes, length);
	t->length += length;
	t->bytes[t->length] = '\0';
}

void text_puts(struct text *t, const char *string)
{
	text_add(t, string, strlen(string));
}

void text_putc(struct text *t, char c)
{
	text_add(t, &c, 1);
}

char *text_room(struct text *t, size_t more)
{
	reserve(t, more);
	return t->bytes + t->length;
}

void text_printf(struct text *t, const char *format, ...)
{
	va_list args, again;
	va_start(args, format);
	va_copy(again, args);
	int n = vsnprintf(NULL, 0, format, args);
	va_end(args);
	if (n > 0) {
		reserve(t, (size_t)n);
		(void)vsnprintf(t->bytes + t->length, (size_t)n + 1, format, again);
		t->length += (size_t)n;
	}
	va_end(again);
}

const char *text_string(const struct text *t)
{
	return t->bytes ? t->bytes : "";
}

char *text_take(struct text *t)
{
	char *bytes = t->bytes ? t->bytes : mem_string("");
	*t = (struct text){ 0 };
	return bytes;
}

int string_order(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* A growing text. Always terminated, so `bytes` is a C string as long as no NUL was added. */
#ifndef ALLOTD_BASE_TEXT_H
#define ALLOTD_BASE_TEXT_H

#include <stddef.h>

struct text {
	char *bytes;   /* owned; NULL while empty and never written */
	size_t length; /* bytes in use, without the terminator */
	size_t room;   /* bytes allocated */
};

/* Releases the bytes; the text is empty and usable again. */
void text_free(struct text *t);

/* Forgets the content and keeps the memory. */
void text_clear(struct text *t);

/* Appends `length` bytes. */
void text_add(struct text *t, const char *bytes, size_t length);

/* Appends a C string. */
void text_puts(struct text *t, const char *string);

/* Appends one byte. */
void text_putc(struct text *t, char c);

/* Makes room for `more` further bytes and the terminator and returns where they go; nothing is added yet. */
char *text_room(struct text *t, size_t more);

/* Appends formatted text. */
void text_printf(struct text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The content as a C string; "" when nothing was written. Owned by the text. */
const char *text_string(const struct text *t);

/* Hands the bytes over to the caller (free()); the text is empty afterwards. Never NULL. */
char *text_take(struct text *t);

/* The order of an array of C strings by bytes, for qsort and bsearch. */
int string_order(const void *a, const void *b);

#endif

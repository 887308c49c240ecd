/* Memory for allotctl: running out of it ends the program, so no caller checks for NULL. Released with free(). */
#ifndef ALLOTCTL_MEM_H
#define ALLOTCTL_MEM_H

#include <stdarg.h>
#include <stddef.h>

/* `count` elements of `size` bytes set to zero. */
void *mem_array(size_t count, size_t size);

/* Makes room for one more element in a growing array: doubles `*room` when `used` has reached it. Returns the array. */
void *mem_grow(void *array, size_t used, size_t *room, size_t size);

/* A copy of the string. */
char *mem_string(const char *from);

/* The first `length` bytes of `from` as a string. */
char *mem_prefix(const char *from, size_t length);

/* A formatted string. */
char *mem_format(const char *format, ...) __attribute__((format(printf, 1, 2)));
char *mem_vformat(const char *format, va_list arguments) __attribute__((format(printf, 1, 0)));

/* The pointer itself, which must not be NULL: `mem_must(json_object())`. */
void *mem_must(void *pointer);

#endif

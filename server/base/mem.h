/* Memory that cannot fail: running out of it ends the process (crash-only, rule 6 of the engine), so no
 * caller checks for NULL. Everything returned is released with free(). */
#ifndef ALLOTD_BASE_MEM_H
#define ALLOTD_BASE_MEM_H

#include <stdarg.h>
#include <stddef.h>

/* `size` bytes set to zero; a size of 0 yields a valid pointer. */
void *mem_alloc(size_t size);

/* `count` elements of `size` bytes set to zero; aborts when the product overflows. */
void *mem_array(size_t count, size_t size);

/* Resizes `old` to `count` elements of `size` bytes; what is new is not set to zero. */
void *mem_resize(void *old, size_t count, size_t size);

/* A copy of `size` bytes. */
void *mem_copy(const void *from, size_t size);

/* A copy of the string; NULL stays NULL. */
char *mem_string(const char *from);

/* A formatted string. */
char *mem_format(const char *format, ...) __attribute__((format(printf, 1, 2)));
char *mem_vformat(const char *format, va_list args) __attribute__((format(printf, 1, 0)));

/* Makes room for one more element in a growing array: doubles `*room` when `used` has reached it. Returns the array. */
void *mem_grow(void *array, size_t used, size_t *room, size_t size);

#endif

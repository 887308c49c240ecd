/* Files as bytes. Whatever fails ends the running test. */
#ifndef TESTS_FAULT_STORE_FILES_H
#define TESTS_FAULT_STORE_FILES_H

#include "image.h"

/* The content of a file, the caller's; nothing when it is not there. */
struct bytes file_bytes(const char *path);

/* Makes or replaces a file. */
void file_put(const char *path, const void *data, size_t n);

/* Makes the directory hold copies of the regular files of another one, and nothing else. `from` NULL empties it. */
void directory_copy(const char *from, const char *to);

#endif

/* Temporary directories. */
#ifndef TESTS_SUPPORT_DIRECTORY_H
#define TESTS_SUPPORT_DIRECTORY_H

/* Makes an empty directory below TMPDIR (/tmp); the caller owns the path and ends it with directory_remove. */
char *directory_new(void);

/* Removes the directory with all it holds and releases the path; NULL is legal. */
void directory_remove(char *path);

/* The content of a file as a string (owned by the caller); "" when it cannot be read. */
char *file_read(const char *path);

#endif

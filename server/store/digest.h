/* SHA-256 of files, as hex. The only file that needs libcrypto. */
#ifndef ALLOTD_STORE_DIGEST_H
#define ALLOTD_STORE_DIGEST_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { DIGEST_HEX = 64 };

/* Reads the descriptor from its start to its end. False with errno when it cannot be read (ECANCELED: `*stop` became true; it may be NULL). */
bool digest_file(int fd, const atomic_bool *stop, char ret[DIGEST_HEX + 1], int64_t *size);

#endif

#include "store/digest.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"

enum { CHUNK = 1 << 20 };

static void to_hex(const unsigned char *bytes, unsigned n, char *ret)
{
	static const char digits[] = "0123456789abcdef";
	for (unsigned i = 0; i < n; i++) {
		ret[2 * i] = digits[bytes[i] >> 4];
		ret[2 * i + 1] = digits[bytes[i] & 15];
	}
	ret[2 * (size_t)n] = '\0';
}

/* Feeds the file to the digest; the number of bytes, or -1 with errno. */
static int64_t feed(EVP_MD_CTX *digest, int fd, unsigned char *chunk, const atomic_bool *stop)
{
	int64_t at = 0;
	for (ssize_t n; (n = pread(fd, chunk, CHUNK, (off_t)at)) != 0; at += n) {
		if (n < 0)
			return -1;
		if (stop && *stop) {
			errno = ECANCELED;
			return -1;
		}
		if (EVP_DigestUpdate(digest, chunk, (size_t)n) != 1)
			abort();
	}
	return at;
}

bool digest_file(int fd, const atomic_bool *stop, char ret[DIGEST_HEX + 1], int64_t *size)
{
	unsigned char sum[EVP_MAX_MD_SIZE];
	unsigned n = 0;
	unsigned char *chunk = mem_alloc(CHUNK);
	EVP_MD_CTX *digest = EVP_MD_CTX_new();
	if (!digest || EVP_DigestInit_ex(digest, EVP_sha256(), NULL) != 1)
		abort(); /* no memory */
	*size = feed(digest, fd, chunk, stop);
	if (*size >= 0 && EVP_DigestFinal_ex(digest, sum, &n) != 1)
		abort();
	EVP_MD_CTX_free(digest);
	free(chunk);
	if (*size < 0)
		return false;
	to_hex(sum, n, ret);
	return true;
}

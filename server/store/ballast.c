#include "store/ballast.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

enum { CHUNK = 64 * 1024 };

void ballast_begin(struct ballast *b, const char *directory, int64_t size)
{
	struct stat st;
	*b = (struct ballast){ .path = mem_format("%s/allotd.ballast", directory), .size = size };
	b->present = size > 0 && stat(b->path, &st) == 0 && st.st_size == size;
}

void ballast_end(struct ballast *b)
{
	free(b->path);
	*b = (struct ballast){ 0 };
}

/* Bytes without any pattern (splitmix64). */
static void fill_chunk(uint64_t *words, size_t n, uint64_t *state)
{
	for (size_t i = 0; i < n; i++) {
		uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
		z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
		z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
		words[i] = z ^ (z >> 31);
	}
}

static bool write_all(int fd, int64_t size)
{
	uint64_t *words = mem_alloc(CHUNK), state = 1;
	int64_t done = 0;
	while (done < size) {
		size_t n = size - done < CHUNK ? (size_t)(size - done) : CHUNK;
		fill_chunk(words, CHUNK / sizeof *words, &state);
		if (pwrite(fd, words, n, done) != (ssize_t)n)
			break;
		done += (int64_t)n;
	}
	free(words);
	return done == size;
}

void ballast_fill(struct ballast *b)
{
	if (b->present || b->size == 0)
		return;
	int fd = open(b->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0)
		return;
	b->present = write_all(fd, b->size);
	close(fd);
	if (!b->present)
		(void)unlink(b->path);
}

bool ballast_give_up(struct ballast *b)
{
	struct stat st;
	bool gives = b->path && stat(b->path, &st) == 0 && st.st_blocks > 0;
	b->present = false;
	return gives && unlink(b->path) == 0;
}

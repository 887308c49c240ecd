#include "image.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

struct image *image_new(const char *name, unsigned char *data_take, size_t n)
{
	struct image *image = mem_alloc(sizeof *image);
	image->name = mem_string(name);
	image->durable = (struct bytes){ data_take, n };
	return image;
}

static void forget_pending(struct image *image)
{
	for (size_t i = 0; i < image->n_pending; i++)
		free(image->pending[i].bytes.data);
	image->n_pending = 0;
}

void image_free(struct image *image)
{
	if (!image)
		return;
	forget_pending(image);
	free(image->pending);
	free(image->durable.data);
	free(image->name);
	free(image);
}

void images_free(struct image *first)
{
	while (first) {
		struct image *next = first->next;
		image_free(first);
		first = next;
	}
}

static void add(struct image *image, struct pending pending)
{
	if (image->n_pending == image->room) {
		image->room = image->room ? 2 * image->room : 64;
		image->pending = mem_resize(image->pending, image->room, sizeof *image->pending);
	}
	image->pending[image->n_pending++] = pending;
}

void image_write(struct image *image, size_t at, const void *data, size_t n)
{
	add(image, (struct pending){ at, { mem_copy(data, n), n } });
}

void image_truncate(struct image *image, size_t to)
{
	add(image, (struct pending){ to, { NULL, 0 } });
}

struct image *images_copy(const struct image *first)
{
	struct image *copies = NULL;
	for (const struct image *i = first; i; i = i->next) {
		struct image *copy = image_new(i->name, mem_copy(i->durable.data, i->durable.n), i->durable.n);
		for (size_t k = 0; k < i->n_pending; k++) {
			const struct bytes *b = &i->pending[k].bytes;
			add(copy, (struct pending){ i->pending[k].at, { b->data ? mem_copy(b->data, b->n) : NULL, b->n } });
		}
		copy->gone = i->gone;
		copy->next = copies;
		copies = copy;
	}
	return copies;
}

static void resize(struct bytes *file, size_t n)
{
	file->data = mem_resize(file->data, n + 1, 1);
	if (n > file->n)
		memset(file->data + file->n, 0, n - file->n);
	file->n = n;
}

/* Carries out a part of a pending one: the bytes of a write from `from` to `to`, or a truncation. */
static void apply(struct bytes *file, const struct pending *p, size_t from, size_t to)
{
	if (!p->bytes.data) {
		resize(file, p->at);
		return;
	}
	if (file->n < p->at + to)
		resize(file, p->at + to);
	memcpy(file->data + p->at + from, p->bytes.data + from, to - from);
}

void image_sync(struct image *image)
{
	for (size_t i = 0; i < image->n_pending; i++)
		apply(&image->durable, &image->pending[i], 0, image->pending[i].bytes.n);
	forget_pending(image);
}

void image_drop(struct image *image)
{
	forget_pending(image);
}

/* A part of a pending one that reaches the disk or does not. */
struct piece {
	const struct pending *of;
	size_t from, to; /* relative to the write */
};

/* The pieces of everything pending, cut at the sectors; `room` is known to suffice. */
static size_t cut(const struct image *image, size_t sector, struct piece *pieces)
{
	size_t n = 0;
	for (size_t i = 0; i < image->n_pending; i++) {
		const struct pending *p = &image->pending[i];
		size_t from = 0;
		do {
			size_t to = ((p->at + from) / sector + 1) * sector - p->at;
			to = to < p->bytes.n ? to : p->bytes.n;
			pieces[n++] = (struct piece){ p, from, to };
			from = to;
		} while (from < p->bytes.n);
	}
	return n;
}

static size_t count_pieces(const struct image *image, size_t sector)
{
	size_t n = 0;
	for (size_t i = 0; i < image->n_pending; i++)
		n += image->pending[i].bytes.n / sector + 2;
	return n;
}

static void shuffle(struct piece *pieces, size_t n, struct random *random)
{
	for (size_t i = n; i > 1; i--) {
		size_t k = random_below(random, i);
		struct piece other = pieces[k];
		pieces[k] = pieces[i - 1];
		pieces[i - 1] = other;
	}
}

struct bytes image_after(const struct image *image, const struct outage *outage, struct random *random)
{
	struct bytes file = { mem_alloc(image->durable.n + 1), image->durable.n };
	struct piece *pieces = mem_array(count_pieces(image, outage->sector) + 1, sizeof *pieces);
	size_t n = cut(image, outage->sector, pieces);
	if (image->durable.n)
		memcpy(file.data, image->durable.data, image->durable.n);
	if (!outage->in_order)
		shuffle(pieces, n, random);
	for (size_t i = 0; i < n; i++)
		if ((int)random_below(random, 100) < outage->percent)
			apply(&file, pieces[i].of, pieces[i].from, pieces[i].to);
	free(pieces);
	return file;
}

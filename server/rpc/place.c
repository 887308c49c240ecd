#include "rpc/place.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "rpc/field.h"
#include "rpc/parse.h"

enum { KEY_SHOWN = 256 }; /* bytes of a foreign key that are repeated in an error */

static void print_place(const struct place *at, struct text *out)
{
	if (at->up)
		print_place(at->up, out);
	if (!at->key) {
		text_printf(out, "[%zu]", at->index);
		return;
	}
	if (at->up)
		text_putc(out, '.');
	size_t length = rpc_cut(at->key, KEY_SHOWN);
	text_add(out, at->key, length);
	if (at->key[length])
		text_puts(out, "...");
}

struct error *place_refuse(const struct place *at, const char *format, ...)
{
	struct text path = { 0 };
	va_list args;

	va_start(args, format);
	char *what = mem_vformat(format, args);
	va_end(args);
	if (at)
		print_place(at, &path);

	struct error *e = error_invalid(text_string(&path), "%s %s", at ? text_string(&path) : "the value", what);
	free(what);
	text_free(&path);
	return e;
}

struct error *place_below(const struct place *at, struct error *e)
{
	if (!e || !at)
		return e;
	struct text path = { 0 };
	print_place(at, &path);
	e = rpc_path_below(text_string(&path), e);
	text_free(&path);
	return e;
}

struct error *rpc_path_below(const char *prefix, struct error *e)
{
	for (size_t i = 0; i < e->n_details; i++) {
		struct error_detail *d = &e->details[i];
		if (strcmp(d->key, "path") != 0 || d->kind != DETAIL_STRING)
			continue;
		bool dot = *prefix && *d->string && *d->string != '[';
		char *path = mem_format("%s%s%s", prefix, dot ? "." : "", d->string);
		free(d->string);
		d->string = path;
	}
	return e;
}

#include "base/error.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/text.h"

static const struct {
	const char *slug;
	int number;
} names[ERR_CODES] = {
	[ERR_PARSE] = { "parse_error", -32700 },
	[ERR_INVALID_REQUEST] = { "invalid_request", -32600 },
	[ERR_UNKNOWN_METHOD] = { "unknown_method", -32601 },
	[ERR_INVALID_PARAMS] = { "invalid_params", -32602 },
	[ERR_INTERNAL] = { "internal", -32603 },
	[ERR_INSUFFICIENT] = { "insufficient", -32001 },
	[ERR_NOT_FOUND] = { "not_found", -32002 },
	[ERR_CONFLICT] = { "conflict", -32003 },
	[ERR_LOCKED] = { "locked", -32004 },
	[ERR_STALE_TOKEN] = { "stale_token", -32005 },
	[ERR_AMBIGUOUS] = { "ambiguous", -32006 },
	[ERR_EXPIRED] = { "expired", -32007 },
	[ERR_MISMATCH] = { "mismatch", -32008 },
	[ERR_EXHAUSTED] = { "exhausted", -32009 },
	[ERR_FORBIDDEN] = { "forbidden", -32010 },
	[ERR_UNAUTHENTICATED] = { "unauthenticated", -32011 },
	[ERR_READ_ONLY] = { "read_only", -32012 },
	[ERR_OUTCOME_UNKNOWN] = { "outcome_unknown", -32013 },
	[ERR_OVERLOADED] = { "overloaded", -32014 },
	[ERR_COMPACTED] = { "compacted", -32015 },
	[ERR_UNAVAILABLE] = { "unavailable", -32016 },
};

struct error *error_new(enum error_code code, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	struct error *e = error_newv(code, format, args);
	va_end(args);
	return e;
}

struct error *error_newv(enum error_code code, const char *format, va_list args)
{
	struct error *e = mem_alloc(sizeof *e);
	e->code = code;
	e->message = mem_vformat(format, args);
	return e;
}

struct error *error_invalid(const char *path, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	struct error *e = error_newv(ERR_INVALID_PARAMS, format, args);
	va_end(args);
	return error_with_string(e, "path", path);
}

static struct error_detail *detail_add(struct error *e, const char *key, enum error_detail_kind kind)
{
	assert(e->n_details < ERROR_DETAILS);
	struct error_detail *d = &e->details[e->n_details++];
	d->key = key;
	d->kind = kind;
	return d;
}

struct error *error_with_integer(struct error *e, const char *key, int64_t value)
{
	detail_add(e, key, DETAIL_INTEGER)->integer = value;
	return e;
}

struct error *error_with_string(struct error *e, const char *key, const char *value)
{
	detail_add(e, key, DETAIL_STRING)->string = mem_string(value);
	return e;
}

struct error *error_with_strings(struct error *e, const char *key, const char *const *values, size_t count)
{
	struct error_detail *d = detail_add(e, key, DETAIL_STRINGS);
	d->strings = mem_array(count, sizeof *d->strings);
	for (size_t i = 0; i < count; i++)
		d->strings[i] = mem_string(values[i]);
	d->count = count;
	return e;
}

struct error *error_with_json(struct error *e, const char *key, char *json_take)
{
	detail_add(e, key, DETAIL_JSON)->string = json_take;
	return e;
}

void error_free(struct error *e)
{
	if (!e)
		return;
	for (size_t i = 0; i < e->n_details; i++) {
		struct error_detail *d = &e->details[i];
		for (size_t k = 0; k < d->count; k++)
			free(d->strings[k]);
		free(d->strings);
		free(d->string);
	}
	free(e->message);
	free(e);
}

const char *error_slug(enum error_code code)
{
	assert(code < ERR_CODES);
	return names[code].slug;
}

int error_number(enum error_code code)
{
	assert(code < ERR_CODES);
	return names[code].number;
}

#include "store/intern.h"

#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <uthash.h>

#include "base/error.h"
#include "base/mem.h"
#include "store/connection.h"

struct entry {
	UT_hash_handle hh;
	struct request *request; /* NULL for a string */
	char text[];
};

struct intern {
	const struct store_codec *codec;
	struct entry *strings;
	struct entry *requests;
};

struct intern *intern_new(const struct store_codec *codec)
{
	struct intern *in = mem_alloc(sizeof *in);
	in->codec = codec;
	return in;
}

static void clear(struct entry **table)
{
	struct entry *e, *next;
	HASH_ITER (hh, *table, e, next) {
		HASH_DEL(*table, e);
		request_unref(e->request);
		free(e);
	}
}

void intern_free(struct intern *in)
{
	if (!in)
		return;
	clear(&in->strings);
	clear(&in->requests);
	free(in);
}

static struct entry *find(struct entry *table, const char *text, size_t length)
{
	struct entry *e;
	HASH_FIND(hh, table, text, length, e);
	return e;
}

static struct entry *add(struct entry **table, const char *text, size_t length)
{
	struct entry *e = mem_alloc(sizeof *e + length + 1);
	memcpy(e->text, text, length + 1);
	HASH_ADD_KEYPTR(hh, *table, e->text, length, e);
	return e;
}

const char *intern_string(struct intern *in, const char *string)
{
	size_t length = strlen(string);
	struct entry *e = find(in->strings, string, length);
	return e ? e->text : add(&in->strings, string, length)->text;
}

static struct error *unreadable(const char *text, struct error *failure_take)
{
	struct error *e = exit_error(
		EX_DATAERR, "the database has a request that cannot be read: %s: %s", text, failure_take->message);
	error_free(failure_take);
	return e;
}

struct error *intern_request(struct intern *in, const char *text, const struct request **ret)
{
	size_t length = strlen(text);
	struct entry *e = find(in->requests, text, length);
	if (!e) {
		struct request *request = NULL;
		struct error *failure = in->codec->parse_request(text, &request);
		if (failure)
			return unreadable(text, failure);
		e = add(&in->requests, text, length);
		e->request = request;
	}
	*ret = e->request;
	return NULL;
}

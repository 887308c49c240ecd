/* schema/openrpc.json is what the method tables say. With ALLOT_WRITE_SCHEMA=1 it is written anew (make schema). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/text.h"
#include "methods/methods.h"
#include "methods/views.h"
#include "rpc/exchange.h"
#include "rpc/openrpc.h"

static const char path[] = "schema/openrpc.json";

static void read_file(struct text *ret)
{
	char bytes[4096];
	size_t n;
	FILE *f = fopen(path, "r");
	assert_non_null(f);
	while ((n = fread(bytes, 1, sizeof bytes, f)) > 0)
		text_add(ret, bytes, n);
	fclose(f);
}

static void write_file(const struct text *t)
{
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	assert_int_equal(fwrite(t->bytes, 1, t->length, f), t->length);
	assert_int_equal(fclose(f), 0);
}

static void committed_document_is_current(void **state)
{
	struct text document = { 0 }, committed = { 0 };
	struct rpc_server *server = rpc_server_new(all_methods, n_all_methods, view_types, n_view_types, ALLOT_VERSION);
	(void)state;
	rpc_openrpc(server, &document);
	if (getenv("ALLOT_WRITE_SCHEMA"))
		write_file(&document);
	read_file(&committed);
	assert_string_equal(text_string(&document), text_string(&committed));
	text_free(&document);
	text_free(&committed);
	rpc_server_free(server);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(committed_document_is_current) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}

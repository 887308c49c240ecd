/* Every hostile line gets exactly its error, and the exchange after it works. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fake.h"
#include "hostile.h"

static void every_line_gets_its_error(void **state)
{
	struct rpc_server *server = fake_server();
	struct fake_world world = { 0 };

	(void)state;
	for (size_t i = 0; i < HOSTILE_LINES; i++) {
		const struct hostile *h = &hostile_lines[i];
		size_t length;
		char *text = hostile_text(h, &length);
		char *answer = fake_answer(server, text, length, &world);
		if (!strstr(answer, h->reason))
			print_error("%s: %s\n", h->what, answer);
		assert_error(answer, h->id, h->code, h->reason, h->path);
		free(answer);
		free(text);
	}
	assert_int_equal(world.runs, 0);
	assert_answer(server, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"sum\",\"params\":{\"a\":1}}",
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"sum\":1}}");
	rpc_server_free(server);
}

static void there_are_enough(void **state)
{
	(void)state;
	assert_true(HOSTILE_LINES >= 60);
}

/* Whatever part of a good text arrives, it is an error and nothing worse. */
static void every_prefix_is_refused(void **state)
{
	static const char text[] =
		"{\"jsonrpc\":\"2.0\",\"id\":\"a\\u00e9\\ud83d\\ude00\xc3\xa9\",\"method\":\"sum\",\"params\":"
		"{\"a\":-12,\"b\":3,\"c\":0}}";
	struct rpc_server *server = fake_server();
	struct fake_world world = { 0 };

	(void)state;
	for (size_t n = 1; n < sizeof text - 1; n++) {
		char *copy = malloc(n); /* exactly so long, so that a tool sees a read beyond it */
		memcpy(copy, text, n);
		char *answer = fake_answer(server, copy, n, &world);
		assert_error(answer, "null", -32700, "parse_error", NULL);
		free(answer);
		free(copy);
	}
	assert_int_equal(world.runs, 0);
	rpc_server_free(server);
}

/* Every single byte replaced by every other value: no answer is anything but one JSON text. */
static void every_changed_byte_is_answered(void **state)
{
	static const char text[] = "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"sum\",\"params\":{\"a\":1}}";
	struct rpc_server *server = fake_server();
	struct fake_world world = { 0 };
	char changed[sizeof text];

	(void)state;
	for (size_t i = 0; i < sizeof text - 1; i++) {
		for (int c = 0; c < 256; c++) {
			memcpy(changed, text, sizeof text);
			changed[i] = (char)c;
			char *answer = fake_answer(server, changed, sizeof text - 1, &world);
			assert_int_equal(strncmp(answer, "{\"jsonrpc\":\"2.0\",\"id\":", 21), 0);
			free(answer);
		}
	}
	rpc_server_free(server);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(there_are_enough),
		cmocka_unit_test(every_line_gets_its_error),
		cmocka_unit_test(every_prefix_is_refused),
		cmocka_unit_test(every_changed_byte_is_answered),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* The table of hostile lines on the real server: each gets exactly its error and the connection stays usable. */
#include <stdlib.h>
#include <string.h>

#include "support/call.h"
#include "support/check.h"
#include "support/server.h"
#include "unit/rpc/hostile.h"

static void check_answer(const struct hostile *h, const char *line)
{
	json_t *answer = json_loads(line, 0, NULL), *error = json_object_get(answer, "error");
	json_t *id = json_loads(h->id, JSON_DECODE_ANY, NULL);
	const char *path = json_string_value(json_object_get(json_object_get(error, "data"), "path"));
	bool right = json_equal(json_object_get(answer, "id"), id) &&
		     json_integer_value(json_object_get(error, "code")) == h->code &&
		     strcmp(answer_reason(answer), h->reason) == 0 && (!h->path || (path && strcmp(path, h->path) == 0));
	if (!right)
		check_failed("%s: %.1000s", h->what, line);
	json_decref(id);
	json_decref(answer);
}

static void every_line_on_one_connection(void **state)
{
	struct server *s = *state;
	int64_t revision = revision_of(s->wire);
	for (size_t i = 0; i < HOSTILE_LINES; i++) {
		size_t length;
		char *text = hostile_text(&hostile_lines[i], &length);
		assert_true(wire_send(s->wire, text, length) && wire_send(s->wire, "\n", 1));
		char *line = wire_line(s->wire);
		if (!line)
			check_failed("%s: the connection was closed", hostile_lines[i].what);
		check_answer(&hostile_lines[i], line);
		free(line);
		free(text);
	}
	assert_int_equal(revision_of(s->wire), revision);
}

/* A first line is not special, but for HTTP. */
static void every_line_as_the_first(void **state)
{
	struct server *s = *state;
	for (size_t i = 0; i < HOSTILE_LINES; i++) {
		struct wire *w = wire_open(s->socket);
		size_t length;
		char *text = hostile_text(&hostile_lines[i], &length);
		assert_true(wire_send(w, text, length) && wire_send(w, "\r\n", 2));
		char *line = wire_line(w);
		if (!line)
			check_failed("%s: the connection was closed", hostile_lines[i].what);
		check_answer(&hostile_lines[i], line);
		json_decref(call_result(w, "server.info", NULL));
		free(line);
		free(text);
		wire_close(w);
	}
}

static void all_lines_pipelined(void **state)
{
	struct server *s = *state;
	struct wire *w = wire_open(s->socket);
	size_t pending = 0;
	for (size_t i = 0; i < HOSTILE_LINES; i++) {
		size_t length;
		char *text = hostile_text(&hostile_lines[i], &length);
		if (length < 1000) {
			assert_true(wire_send(w, text, length) && wire_send(w, "\n", 1));
			pending++;
		}
		free(text);
	}
	for (size_t i = 0; i < HOSTILE_LINES; i++) {
		size_t length;
		free(hostile_text(&hostile_lines[i], &length));
		if (length >= 1000)
			continue;
		char *line = wire_line(w);
		assert_non_null(line);
		check_answer(&hostile_lines[i], line);
		free(line);
		pending--;
	}
	assert_int_equal(pending, 0);
	wire_close(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_line_on_one_connection),
		cmocka_unit_test(every_line_as_the_first),
		cmocka_unit_test(all_lines_pipelined),
	};
	return cmocka_run_group_tests(tests, server_setup, server_teardown);
}

#include "support/call.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/check.h"
#include "support/match.h"

json_t *json_of(const char *format, ...)
{
	char *text = NULL;
	json_error_t error;
	va_list args;
	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		abort();
	va_end(args);
	for (char *c = text; *c; c++)
		if (*c == '\'')
			*c = '"';
	json_t *value = json_loads(text, JSON_DECODE_ANY, &error);
	if (!value)
		check_failed("the test itself has bad JSON: %s in %s", error.text, text);
	free(text);
	return value;
}

int64_t call_send(struct wire *w, const char *method, json_t *params_take)
{
	json_t *request = json_pack("{s:s, s:I, s:s}", "jsonrpc", "2.0", "id", (json_int_t)++w->next_id, "method", method);
	if (params_take)
		(void)json_object_set_new(request, "params", params_take);
	char *line = json_dumps(request, JSON_COMPACT);
	json_decref(request);
	bool sent = wire_say(w, line);
	free(line);
	if (!sent)
		check_failed("%s: the server has closed the connection", method);
	return w->next_id;
}

json_t *call_receive(struct wire *w, int64_t id)
{
	json_error_t error;
	char *line = wire_line(w);
	if (!line)
		check_failed("the server closed the connection instead of answering");
	json_t *answer = json_loads(line, 0, &error);
	if (!answer)
		check_failed("the answer is no JSON object: %.1000s", line);
	const char *version = json_string_value(json_object_get(answer, "jsonrpc"));
	bool one = (json_object_get(answer, "result") != NULL) != (json_object_get(answer, "error") != NULL);
	if (!version || strcmp(version, "2.0") != 0 || json_integer_value(json_object_get(answer, "id")) != id || !one)
		check_failed("not an answer to call %lld: %.1000s", (long long)id, line);
	free(line);
	return answer;
}

json_t *call(struct wire *w, const char *method, json_t *params_take)
{
	return call_receive(w, call_send(w, method, params_take));
}

json_t *call_result(struct wire *w, const char *method, json_t *params_take)
{
	json_t *answer = call(w, method, params_take);
	json_t *result = json_object_get(answer, "result");
	if (!result) {
		char *text = json_dumps(answer, 0);
		check_failed("%s was refused: %s", method, text);
	}
	json_incref(result);
	json_decref(answer);
	return result;
}

const char *answer_reason(const json_t *answer)
{
	const json_t *error = json_object_get(answer, "error");
	const char *reason = json_string_value(json_object_get(json_object_get(error, "data"), "reason"));
	if (!error)
		return "ok";
	return reason ? reason : "(an error without data.reason)";
}

void expect_match(const json_t *got, json_t *want_take)
{
	char *why = match(want_take, got);
	if (why)
		check_failed("%s", why);
	json_decref(want_take);
}

void expect(struct wire *w, const char *method, json_t *params_take, json_t *want_take)
{
	char *params = params_take ? json_dumps(params_take, 0) : NULL;
	json_t *result = call_result(w, method, params_take);
	char *why = match(want_take, result);
	if (why)
		check_failed("%s %s: %s", method, params ? params : "", why);
	free(params);
	json_decref(result);
	json_decref(want_take);
}

void refused(struct wire *w, const char *method, json_t *params_take, const char *reason, json_t *want_take)
{
	char *params = params_take ? json_dumps(params_take, 0) : NULL;
	json_t *answer = call(w, method, params_take);
	char *text = json_dumps(answer, 0);
	if (strcmp(answer_reason(answer), reason) != 0)
		check_failed("%s %s: want %s, got %.2000s", method, params ? params : "", reason, text);
	if (want_take) {
		char *why = match(want_take, json_object_get(json_object_get(answer, "error"), "data"));
		if (why)
			check_failed("%s %s: %s", method, params ? params : "", why);
		json_decref(want_take);
	}
	free(text);
	free(params);
	json_decref(answer);
}

int64_t revision_of(struct wire *w)
{
	json_t *info = call_result(w, "server.info", NULL);
	int64_t revision = json_integer_value(json_object_get(info, "revision"));
	json_decref(info);
	return revision;
}

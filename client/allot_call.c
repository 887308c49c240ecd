/* Calls and answers: the JSON-RPC envelope. */
#include <stdio.h>
#include <string.h>

#include "allot_internal.h"

static int64_t deadline_of(const struct allot_conn *conn)
{
	return conn->timeout < 0 ? -1 : allot_now() + conn->timeout;
}

static int append(const char *bytes, size_t size, void *out)
{
	return allot_buffer_add(out, bytes, size) ? 0 : -1;
}

/* Prints the envelope into the output buffer; on failure nothing of it stays there. */
static bool queue(struct allot_conn *conn, int64_t id, const char *method, json_t *params)
{
	size_t before = allot_buffer_used(&conn->out);
	json_t *envelope = json_pack("{s:s, s:I, s:s}", "jsonrpc", "2.0", "id", (json_int_t)id, "method", method);
	bool done = envelope && (!params || json_object_set(envelope, "params", params) == 0) &&
		    json_dump_callback(envelope, append, &conn->out, JSON_COMPACT) == 0 && allot_buffer_add(&conn->out, "\n", 1);

	json_decref(envelope);
	if (!done) {
		conn->out.end = conn->out.start + before;
	}
	return done;
}

int allot_send(struct allot_conn *conn, const char *method, json_t *params, int64_t *id, struct allot_error *error)
{
	bool queued;

	if (allot_usable(conn, error) < 0) {
		json_decref(params);
		return -1;
	}
	queued = queue(conn, conn->sent + 1, method, params);
	json_decref(params);
	if (!queued) {
		return allot_fail(error, ALLOT_INVALID, "the call cannot be printed as JSON (invalid UTF-8 or no memory)");
	}
	conn->sent++;
	if (id) {
		*id = conn->sent;
	}
	return allot_buffer_used(&conn->out) > ALLOT_OUT_HIGH ? allot_flush(conn, error) : 0;
}

int allot_flush(struct allot_conn *conn, struct allot_error *error)
{
	int64_t deadline = deadline_of(conn);

	if (allot_usable(conn, error) < 0) {
		return -1;
	}
	while (allot_buffer_used(&conn->out)) {
		if (allot_wait(conn, deadline, error) < 0) {
			return -1;
		}
	}
	return 0;
}

size_t allot_unanswered(const struct allot_conn *conn)
{
	int64_t settled = conn->taken > conn->given_up ? conn->taken : conn->given_up;

	return (size_t)(conn->sent - settled);
}

/* The next complete line of the input without its newline; NULL when there is none. */
static const char *next_line(struct allot_conn *conn, size_t *ret_length)
{
	size_t used = allot_buffer_used(&conn->in);
	const char *line, *newline;

	if (conn->scanned >= used) {
		return NULL;
	}
	line = conn->in.bytes + conn->in.start;
	newline = memchr(line + conn->scanned, '\n', used - conn->scanned);
	if (!newline) {
		conn->scanned = used;
		return NULL;
	}
	*ret_length = (size_t)(newline - line);
	return line;
}

/* An answer whose id is null belongs to the oldest call too: the server could not read that call. Messages with a method come from
 * servers newer than this client and are none of its business. */
static bool is_answer(const json_t *message)
{
	return !json_object_get(message, "method");
}

/* Looks into one answer; takes over `message`. As allot_take: 1, or -1 when it is no answer to the oldest call. */
static int read_answer(struct allot_conn *conn, json_t *message_take, json_t **result, struct allot_error *error)
{
	const json_t *id = json_object_get(message_take, "id"), *refusal = json_object_get(message_take, "error");
	json_t *value = json_object_get(message_take, "result");
	bool ours = conn->taken < conn->sent && (json_integer_value(id) == conn->taken + 1 || (json_is_null(id) && refusal));

	if (!ours || !value == !refusal) {
		json_decref(message_take);
		return allot_break(conn, error, ALLOT_PROTOCOL,
			ours ? "the server sent an answer without result or error"
			     : "the server answered a call that was not made");
	}
	conn->taken++;
	*result = NULL;
	if (refusal) {
		allot_refused(error, refusal);
	} else {
		*result = json_incref(value);
		allot_error_clear(error);
	}
	json_decref(message_take);
	return 1;
}

/* The next answer, also of calls that were given up: as allot_take. */
static int take_any(struct allot_conn *conn, json_t **result, struct allot_error *error)
{
	size_t length;
	const char *line;

	while ((line = next_line(conn, &length))) {
		json_t *message = json_loadb(line, length, JSON_REJECT_DUPLICATES, NULL);

		allot_buffer_drop(&conn->in, length + 1);
		conn->scanned = 0;
		if (!json_is_object(message)) {
			json_decref(message);
			return allot_break(conn, error, ALLOT_PROTOCOL, "the server does not speak JSON-RPC");
		}
		if (is_answer(message)) {
			return read_answer(conn, message, result, error);
		}
		json_decref(message);
	}
	if (allot_buffer_used(&conn->in) > ALLOT_ANSWER_MAX) {
		return allot_break(conn, error, ALLOT_PROTOCOL, "the server sent a line of more than %d bytes", ALLOT_ANSWER_MAX);
	}
	return allot_usable(conn, error);
}

int allot_take(struct allot_conn *conn, int64_t *id, json_t **result, struct allot_error *error)
{
	int taken;

	while ((taken = take_any(conn, result, error)) == 1 && conn->taken <= conn->given_up) {
		json_decref(*result);
		*result = NULL;
	}
	if (taken == 1) {
		*id = conn->taken;
	}
	return taken;
}

int allot_receive(struct allot_conn *conn, int64_t *id, json_t **result, struct allot_error *error)
{
	struct allot_error failure = ALLOT_ERROR_INIT, *into = error ? error : &failure;
	int64_t deadline = deadline_of(conn), number;
	json_t *value = NULL;
	int taken;

	if (!allot_unanswered(conn)) {
		return allot_fail(error, ALLOT_INVALID, "no call is waiting for an answer");
	}
	while ((taken = allot_take(conn, &number, &value, into)) == 0) {
		/* A lost connection is reported by allot_take, after the answers that came before. */
		if (allot_wait(conn, deadline, into) < 0 && into->kind == ALLOT_TIMED_OUT) {
			break;
		}
	}
	if (taken == 1 && id) {
		*id = number;
	}
	if (value && result) {
		*result = json_incref(value);
	}
	json_decref(value);
	allot_error_clear(&failure);
	return value ? 0 : -1;
}

int allot_call(struct allot_conn *conn, const char *method, json_t *params, json_t **result, struct allot_error *error)
{
	int64_t id;

	if (allot_unanswered(conn)) {
		json_decref(params);
		return allot_fail(error, ALLOT_INVALID, "answers to earlier calls must be received first");
	}
	if (allot_send(conn, method, params, &id, error) < 0) {
		return -1;
	}
	if (allot_receive(conn, NULL, result, error) == 0) {
		return 0;
	}
	if (conn->taken < id) {
		conn->given_up = id;
	}
	return -1;
}

/* Errors of liballot: filled from a format or from the error member of an answer. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "allot_internal.h"

void allot_error_clear(struct allot_error *error)
{
	json_decref(error->data);
	*error = (struct allot_error)ALLOT_ERROR_INIT;
}

/* Copies a string that may be too long, cutting between characters. */
static void copy(char *to, size_t room, const char *from)
{
	size_t length = strlen(from);

	if (length >= room) {
		length = room - 1;
		while (length > 0 && ((unsigned char)from[length] & 0xc0) == 0x80) {
			length--;
		}
	}
	memcpy(to, from, length);
	to[length] = '\0';
}

int allot_fail(struct allot_error *error, enum allot_kind kind, const char *format, ...)
{
	va_list arguments;

	if (!error) {
		return -1;
	}
	allot_error_clear(error);
	error->kind = kind;
	va_start(arguments, format);
	vsnprintf(error->message, sizeof(error->message), format, arguments);
	va_end(arguments);
	return -1;
}

int allot_refused(struct allot_error *error, const json_t *refusal)
{
	const char *message = json_string_value(json_object_get(refusal, "message"));
	json_t *data = json_object_get(refusal, "data");
	const char *reason = json_string_value(json_object_get(data, "reason"));

	if (!error) {
		return -1;
	}
	allot_error_clear(error);
	error->kind = ALLOT_REFUSED;
	error->code = (int)json_integer_value(json_object_get(refusal, "code"));
	copy(error->reason, sizeof(error->reason), reason ? reason : "");
	copy(error->message, sizeof(error->message), message && *message ? message : "the server refused without saying why");
	error->data = json_incref(data);
	return -1;
}

int allot_break(struct allot_conn *conn, struct allot_error *error, enum allot_kind kind, const char *format, ...)
{
	va_list arguments;

	conn->broken = kind;
	va_start(arguments, format);
	vsnprintf(conn->broken_message, sizeof(conn->broken_message), format, arguments);
	va_end(arguments);
	return allot_usable(conn, error);
}

int allot_usable(const struct allot_conn *conn, struct allot_error *error)
{
	return conn->broken == ALLOT_OK ? 0 : allot_fail(error, conn->broken, "%s", conn->broken_message);
}

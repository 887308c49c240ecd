/* An error is a value: a code, a sentence for people and data for programs. NULL is success.
 * Whoever receives one owns it: it is either handed on or released with error_free. */
#ifndef ALLOTD_BASE_ERROR_H
#define ALLOTD_BASE_ERROR_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

/* In the order of the contract, section 4; error_slug and error_number give the public names. */
enum error_code {
	ERR_PARSE,
	ERR_INVALID_REQUEST,
	ERR_UNKNOWN_METHOD,
	ERR_INVALID_PARAMS,
	ERR_INTERNAL,
	ERR_INSUFFICIENT,
	ERR_NOT_FOUND,
	ERR_CONFLICT,
	ERR_LOCKED,
	ERR_STALE_TOKEN,
	ERR_AMBIGUOUS,
	ERR_EXPIRED,
	ERR_MISMATCH,
	ERR_EXHAUSTED,
	ERR_FORBIDDEN,
	ERR_UNAUTHENTICATED,
	ERR_READ_ONLY,
	ERR_OUTCOME_UNKNOWN,
	ERR_OVERLOADED,
	ERR_COMPACTED,
	ERR_UNAVAILABLE,
	ERR_CODES /* their number */
};

/* What a member of the data is. */
enum error_detail_kind { DETAIL_INTEGER, DETAIL_STRING, DETAIL_STRINGS, DETAIL_JSON };

/* One member of the error's data. */
struct error_detail {
	const char *key; /* a constant */
	enum error_detail_kind kind;
	int64_t integer; /* DETAIL_INTEGER */
	char *string;    /* DETAIL_STRING; DETAIL_JSON: the text of a JSON value, printed by whoever knows JSON */
	char **strings;  /* DETAIL_STRINGS */
	size_t count;    /* of `strings` */
};

enum { ERROR_DETAILS = 6 };

struct error {
	enum error_code code;
	char *message;                              /* owned */
	struct error_detail details[ERROR_DETAILS]; /* in the order in which they were added */
	size_t n_details;
};

/* An error with a formatted sentence. It begins small and ends without a full stop, so that sentences can be put together. */
struct error *error_new(enum error_code code, const char *format, ...) __attribute__((format(printf, 2, 3), warn_unused_result));
struct error *error_newv(enum error_code code, const char *format, va_list args)
	__attribute__((format(printf, 2, 0), warn_unused_result));

/* ERR_INVALID_PARAMS about the member at `path` ("devices[2].uuid"), which the data names. The sentence is to name it too. */
struct error *error_invalid(const char *path, const char *format, ...) __attribute__((format(printf, 2, 3), warn_unused_result));

/* Each adds one member to the data, copying its value, and returns the error, so that calls can be chained.
 * `key` must be a constant. More than ERROR_DETAILS members is a programming error (assert). */
struct error *error_with_integer(struct error *e, const char *key, int64_t value);
struct error *error_with_string(struct error *e, const char *key, const char *value);
struct error *error_with_strings(struct error *e, const char *key, const char *const *values, size_t count);

/* `json` is the text of one JSON value; taken over. */
struct error *error_with_json(struct error *e, const char *key, char *json_take);

/* Releases the error; NULL is legal. */
void error_free(struct error *e);

/* The public slug of a code ("insufficient") and its JSON-RPC number (-32001). */
const char *error_slug(enum error_code code);
int error_number(enum error_code code);

#endif

/* Lines that no server should choke on, each with the exact error it deserves. The unit test plays them to an exchange, an
 * integration test to the real server; so they only name methods of the contract: rpc.discover (no parameters), pod.renew {uid,
 * ttl: 1-86400} and event.list {after, limit: 1-5000, uid, node}. All are refused before any state is looked at, and the
 * connection stays usable. */
#ifndef ALLOTD_TESTS_RPC_HOSTILE_H
#define ALLOTD_TESTS_RPC_HOSTILE_H

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

struct hostile {
	const char *what;
	const char *head; /* the line is: head, `times` times `unit`, tail */
	size_t head_length;
	const char *unit;
	size_t times;
	const char *tail;
	const char *id; /* of the answer, as JSON text */
	int code;
	const char *reason;
	const char *path; /* data.path; NULL = not looked at */
};

#define HOSTILE_LINE(line) .head = (line), .head_length = sizeof(line) - 1
#define HOSTILE_PARSE .id = "null", .code = -32700, .reason = "parse_error"
#define HOSTILE_INVALID .code = -32600, .reason = "invalid_request"
#define HOSTILE_PARAMS(where) .id = "1", .code = -32602, .reason = "invalid_params", .path = (where)
#define RENEW(params) HOSTILE_LINE("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"pod.renew\",\"params\":" params "}")
#define EVENTS(params) HOSTILE_LINE("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"event.list\",\"params\":" params "}")
#define WITH_ID(id) HOSTILE_LINE("{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"rpc.discover\"}")

static const struct hostile hostile_lines[] = {
	/* not JSON */
	{ "one brace", HOSTILE_LINE("{"), HOSTILE_PARSE },
	{ "one closing brace", HOSTILE_LINE("}"), HOSTILE_PARSE },
	{ "one bracket", HOSTILE_LINE("["), HOSTILE_PARSE },
	{ "a lone quote", HOSTILE_LINE("\""), HOSTILE_PARSE },
	{ "a backslash at the end", HOSTILE_LINE("\"\\"), HOSTILE_PARSE },
	{ "a bare word", HOSTILE_LINE("hello"), HOSTILE_PARSE },
	{ "an HTTP header", HOSTILE_LINE("Host: localhost"), HOSTILE_PARSE },
	{ "truncated after a key", HOSTILE_LINE("{\"jsonrpc\":\"2.0\",\"id\""), HOSTILE_PARSE },
	{ "truncated in a string", HOSTILE_LINE("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"rpc.disc"), HOSTILE_PARSE },
	{ "truncated in a literal", HOSTILE_LINE("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"rpc.discover\",\"params\":tru"),
		HOSTILE_PARSE },
	{ "truncated in an escape", HOSTILE_LINE("{\"jsonrpc\":\"2.0\",\"id\":\"\\u12"), HOSTILE_PARSE },
	{ "two objects on one line",
		HOSTILE_LINE("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"rpc.discover\"}"
			     "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"rpc.discover\"}"),
		HOSTILE_PARSE },
	{ "an object and a word", HOSTILE_LINE("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"rpc.discover\"} x"), HOSTILE_PARSE },
	{ "a trailing comma in an object", HOSTILE_LINE("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"rpc.discover\",}"),
		HOSTILE_PARSE },
	{ "a trailing comma in an array", HOSTILE_LINE("[1,]"), HOSTILE_PARSE },
	{ "single quotes", HOSTILE_LINE("{'jsonrpc':'2.0'}"), HOSTILE_PARSE },
	{ "a key without quotes", HOSTILE_LINE("{jsonrpc:\"2.0\"}"), HOSTILE_PARSE },
	{ "a comment", HOSTILE_LINE("{\"jsonrpc\":\"2.0\"/* */}"), HOSTILE_PARSE },
	{ "mismatched brackets", HOSTILE_LINE("[{]}"), HOSTILE_PARSE },
	{ "a control character in a string", HOSTILE_LINE("{\"jsonrpc\":\"2.0\",\"id\":\"a\tb\",\"method\":\"rpc.discover\"}"),
		HOSTILE_PARSE },
	{ "an unknown escape", HOSTILE_LINE("{\"jsonrpc\":\"2.0\",\"id\":\"\\x41\",\"method\":\"rpc.discover\"}"),
		HOSTILE_PARSE },

	/* depth and repetition */
	{ "33 nested arrays", .unit = "[", .times = 33, .tail = "]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]", HOSTILE_PARSE },
	{ "100,000 brackets that never close", .unit = "[", .times = 100000, HOSTILE_PARSE },
	{ "objects nested 1,000 deep", .unit = "{\"a\":", .times = 1000, HOSTILE_PARSE },
	{ "params nested 33 deep", HOSTILE_LINE("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"rpc.discover\",\"params\":"),
		.unit = "{\"a\":", .times = 32, .tail = "1}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}", HOSTILE_PARSE },
	{ "a duplicate key", HOSTILE_LINE("{\"jsonrpc\":\"2.0\",\"id\":1,\"id\":2,\"method\":\"rpc.discover\"}"), HOSTILE_PARSE },
	{ "a duplicate key in params", RENEW("{\"uid\":\"a\",\"ttl\":1,\"uid\":\"b\"}"), HOSTILE_PARSE },
	{ "a duplicate key, once escaped", RENEW("{\"uid\":\"a\",\"ttl\":1,\"\\u0075id\":\"b\"}"), HOSTILE_PARSE },

	/* numbers */
	{ "an integer beyond 64 bits", WITH_ID("18446744073709551616"), HOSTILE_PARSE },
	{ "an integer of 400 digits", HOSTILE_LINE("{\"jsonrpc\":\"2.0\",\"method\":\"rpc.discover\",\"id\":"), .unit = "9",
		.times = 400, .tail = "}", HOSTILE_PARSE },
	{ "a real beyond a double", WITH_ID("1e400"), HOSTILE_PARSE },
	{ "a negative real beyond a double", RENEW("{\"uid\":\"a\",\"ttl\":-1e999}"), HOSTILE_PARSE },
	{ "a leading zero", WITH_ID("01"), HOSTILE_PARSE },
	{ "a plus sign", WITH_ID("+1"), HOSTILE_PARSE },
	{ "hexadecimal", WITH_ID("0x10"), HOSTILE_PARSE },
	{ "NaN", WITH_ID("NaN"), HOSTILE_PARSE },
	{ "Infinity", WITH_ID("-Infinity"), HOSTILE_PARSE },
	{ "a fraction without digits", WITH_ID("1."), HOSTILE_PARSE },

	/* bytes */
	{ "a raw NUL", HOSTILE_LINE("{\"jsonrpc\":\"2.0\",\0\"id\":1,\"method\":\"rpc.discover\"}"), HOSTILE_PARSE },
	{ "a raw NUL in a string", HOSTILE_LINE("{\"jsonrpc\":\"2.0\",\"id\":\"a\0b\",\"method\":\"rpc.discover\"}"),
		HOSTILE_PARSE },
	{ "a NUL behind a backslash", HOSTILE_LINE("{\"jsonrpc\":\"2.0\",\"id\":\"a\\\0b\",\"method\":\"rpc.discover\"}"),
		HOSTILE_PARSE },
	{ "a NUL at the end", HOSTILE_LINE("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"rpc.discover\"}\0"), HOSTILE_PARSE },
	{ "an escaped NUL", WITH_ID("\"a\\u0000b\""), HOSTILE_PARSE },
	{ "an escaped NUL in a key", RENEW("{\"u\\u0000id\":\"a\"}"), HOSTILE_PARSE },
	{ "a byte that is not UTF-8", WITH_ID("\"\xff\""), HOSTILE_PARSE },
	{ "a UTF-8 character cut short", WITH_ID("\"\xe2\x82\""), HOSTILE_PARSE },
	{ "an overlong slash", WITH_ID("\"\xc0\xaf\""), HOSTILE_PARSE },
	{ "a surrogate in UTF-8", WITH_ID("\"\xed\xa0\x80\""), HOSTILE_PARSE },
	{ "beyond U+10FFFF", WITH_ID("\"\xf4\x90\x80\x80\""), HOSTILE_PARSE },
	{ "Latin-1 outside of strings", HOSTILE_LINE("\xe9"), HOSTILE_PARSE },
	{ "a lone high surrogate", WITH_ID("\"\\ud800\""), HOSTILE_PARSE },
	{ "a lone low surrogate", WITH_ID("\"\\udc00\""), HOSTILE_PARSE },
	{ "a high surrogate and a letter", WITH_ID("\"\\ud800\\u0041\""), HOSTILE_PARSE },
	{ "a byte order mark", HOSTILE_LINE("\xef\xbb\xbf{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"rpc.discover\"}"),
		HOSTILE_PARSE },
	{ "UTF-16", HOSTILE_LINE("\xff\xfe{\0}\0"), HOSTILE_PARSE },

	/* not a call */
	{ "a number", HOSTILE_LINE("42"), HOSTILE_INVALID, .id = "null" },
	{ "a string", HOSTILE_LINE("\"rpc.discover\""), HOSTILE_INVALID, .id = "null" },
	{ "null", HOSTILE_LINE("null"), HOSTILE_INVALID, .id = "null" },
	{ "true", HOSTILE_LINE("true"), HOSTILE_INVALID, .id = "null" },
	{ "an empty object", HOSTILE_LINE("{}"), HOSTILE_INVALID, .id = "null", .path = "jsonrpc" },
	{ "an empty batch", HOSTILE_LINE("[]"), HOSTILE_INVALID, .id = "null" },
	{ "a batch of 129 calls", HOSTILE_LINE("[1"), .unit = ",{\"jsonrpc\":\"2.0\",\"method\":\"rpc.discover\"}", .times = 128,
		.tail = "]", HOSTILE_INVALID, .id = "null" },
	{ "no jsonrpc", HOSTILE_LINE("{\"id\":1,\"method\":\"rpc.discover\"}"), HOSTILE_INVALID, .id = "1", .path = "jsonrpc" },
	{ "jsonrpc 1.0", HOSTILE_LINE("{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"rpc.discover\"}"), HOSTILE_INVALID, .id = "1",
		.path = "jsonrpc" },
	{ "jsonrpc as a number", HOSTILE_LINE("{\"jsonrpc\":2.0,\"id\":1,\"method\":\"rpc.discover\"}"), HOSTILE_INVALID,
		.id = "1", .path = "jsonrpc" },
	{ "no method", HOSTILE_LINE("{\"jsonrpc\":\"2.0\",\"id\":\"x\"}"), HOSTILE_INVALID, .id = "\"x\"", .path = "method" },
	{ "method as a number", HOSTILE_LINE("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":1}"), HOSTILE_INVALID, .id = "1",
		.path = "method" },
	{ "method as null", HOSTILE_LINE("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":null}"), HOSTILE_INVALID, .id = "1",
		.path = "method" },
	{ "an unknown envelope member",
		HOSTILE_LINE("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"rpc.discover\",\"token\":\"x\"}"), HOSTILE_INVALID,
		.id = "1", .path = "token" },
	{ "an answer instead of a call", HOSTILE_LINE("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}"), HOSTILE_INVALID, .id = "1",
		.path = "result" },
	{ "params as a string", RENEW("\"uid\""), HOSTILE_INVALID, .id = "1", .path = "params" },
	{ "params as a number", RENEW("5"), HOSTILE_INVALID, .id = "1", .path = "params" },
	{ "params as null", RENEW("null"), HOSTILE_INVALID, .id = "1", .path = "params" },
	{ "id true", WITH_ID("true"), HOSTILE_INVALID, .id = "null", .path = "id" },
	{ "id 1.0", WITH_ID("1.0"), HOSTILE_INVALID, .id = "null", .path = "id" },
	{ "id 1e0", WITH_ID("1e0"), HOSTILE_INVALID, .id = "null", .path = "id" },
	{ "id as an object", WITH_ID("{}"), HOSTILE_INVALID, .id = "null", .path = "id" },
	{ "id as an array", WITH_ID("[1]"), HOSTILE_INVALID, .id = "null", .path = "id" },
	{ "id 2^53 + 1", WITH_ID("9007199254740993"), HOSTILE_INVALID, .id = "null", .path = "id" },
	{ "id -2^53 - 1", WITH_ID("-9007199254740993"), HOSTILE_INVALID, .id = "null", .path = "id" },
	{ "an id of 257 bytes", HOSTILE_LINE("{\"jsonrpc\":\"2.0\",\"method\":\"rpc.discover\",\"id\":\""), .unit = "i",
		.times = 257, .tail = "\"}", HOSTILE_INVALID, .id = "null", .path = "id" },
	{ "an id of 1 MB", HOSTILE_LINE("{\"jsonrpc\":\"2.0\",\"method\":\"rpc.discover\",\"id\":\""), .unit = "i",
		.times = 1000000, .tail = "\"}", HOSTILE_INVALID, .id = "null", .path = "id" },
	{ "an envelope member of 1 MB", HOSTILE_LINE("{\"jsonrpc\":\"2.0\",\"id\":1,\""), .unit = "k", .times = 1000000,
		.tail = "\":1}", HOSTILE_INVALID, .id = "1" },

	/* no such method */
	{ "an unknown method", HOSTILE_LINE("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"pod.destroy\"}"), .id = "1",
		.code = -32601, .reason = "unknown_method" },
	{ "an empty method", HOSTILE_LINE("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\"}"), .id = "1", .code = -32601,
		.reason = "unknown_method" },
	{ "a method in capitals", HOSTILE_LINE("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"RPC.DISCOVER\"}"), .id = "1",
		.code = -32601, .reason = "unknown_method" },
	{ "a method of 1 MB", HOSTILE_LINE("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\""), .unit = "\xe2\x82\xac",
		.times = 330000, .tail = "\"}", .id = "1", .code = -32601, .reason = "unknown_method" },

	/* wrong parameters */
	{ "params as an array", RENEW("[\"a\",60]"), HOSTILE_PARAMS("params") },
	{ "a parameter for a method without",
		HOSTILE_LINE("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"rpc.discover\",\"params\":{\"a\":1}}"),
		HOSTILE_PARAMS("a") },
	{ "no parameters where some are required", HOSTILE_LINE("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"pod.renew\"}"),
		HOSTILE_PARAMS("uid") },
	{ "a missing parameter", RENEW("{\"uid\":\"a\"}"), HOSTILE_PARAMS("ttl") },
	{ "an unknown parameter", RENEW("{\"uid\":\"a\",\"ttl\":60,\"sudo\":true}"), HOSTILE_PARAMS("sudo") },
	{ "a parameter in capitals", RENEW("{\"UID\":\"a\",\"ttl\":60}"), HOSTILE_PARAMS("UID") },
	{ "an empty parameter name", RENEW("{\"\":1}"), HOSTILE_PARAMS("") },
	{ "a parameter name of 1 MB", HOSTILE_LINE("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"pod.renew\",\"params\":{\""),
		.unit = "k", .times = 1000000, .tail = "\":1}}", HOSTILE_PARAMS(NULL) },
	{ "a number for a name", RENEW("{\"uid\":1,\"ttl\":60}"), HOSTILE_PARAMS("uid") },
	{ "an object for a name", RENEW("{\"uid\":{},\"ttl\":60}"), HOSTILE_PARAMS("uid") },
	{ "null for a required parameter", RENEW("{\"uid\":null,\"ttl\":60}"), HOSTILE_PARAMS("uid") },
	{ "an empty name", RENEW("{\"uid\":\"\",\"ttl\":60}"), HOSTILE_PARAMS("uid") },
	{ "a name of 254 bytes",
		HOSTILE_LINE("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"pod.renew\",\"params\":{\"ttl\":60,\"uid\":\""),
		.unit = "u", .times = 254, .tail = "\"}}", HOSTILE_PARAMS("uid") },
	{ "a name of 1 MB",
		HOSTILE_LINE("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"pod.renew\",\"params\":{\"ttl\":60,\"uid\":\""),
		.unit = "u", .times = 1000000, .tail = "\"}}", HOSTILE_PARAMS("uid") },
	{ "a line break in a name", RENEW("{\"uid\":\"a\\nb\",\"ttl\":60}"), HOSTILE_PARAMS("uid") },
	{ "DEL in a name", RENEW("{\"uid\":\"a\x7f\",\"ttl\":60}"), HOSTILE_PARAMS("uid") },
	{ "a C1 control in a name", RENEW("{\"uid\":\"a\\u0085\",\"ttl\":60}"), HOSTILE_PARAMS("uid") },
	{ "a string for an integer", RENEW("{\"uid\":\"a\",\"ttl\":\"60\"}"), HOSTILE_PARAMS("ttl") },
	{ "a real for an integer", RENEW("{\"uid\":\"a\",\"ttl\":60.0}"), HOSTILE_PARAMS("ttl") },
	{ "an exponent for an integer", RENEW("{\"uid\":\"a\",\"ttl\":6e1}"), HOSTILE_PARAMS("ttl") },
	{ "true for an integer", RENEW("{\"uid\":\"a\",\"ttl\":true}"), HOSTILE_PARAMS("ttl") },
	{ "zero below the range", RENEW("{\"uid\":\"a\",\"ttl\":0}"), HOSTILE_PARAMS("ttl") },
	{ "minus one", RENEW("{\"uid\":\"a\",\"ttl\":-1}"), HOSTILE_PARAMS("ttl") },
	{ "one beyond the range", RENEW("{\"uid\":\"a\",\"ttl\":86401}"), HOSTILE_PARAMS("ttl") },
	{ "2^32 beyond the range", RENEW("{\"uid\":\"a\",\"ttl\":4294967297}"), HOSTILE_PARAMS("ttl") },
	{ "2^63 - 1 beyond the range", RENEW("{\"uid\":\"a\",\"ttl\":9223372036854775807}"), HOSTILE_PARAMS("ttl") },
	{ "-2^63 beyond the range", RENEW("{\"uid\":\"a\",\"ttl\":-9223372036854775808}"), HOSTILE_PARAMS("ttl") },
	{ "null for an optional parameter", EVENTS("{\"node\":null}"), HOSTILE_PARAMS("node") },
	{ "a list for a name", EVENTS("{\"node\":[\"n1\"]}"), HOSTILE_PARAMS("node") },
	{ "a page of zero", EVENTS("{\"limit\":0}"), HOSTILE_PARAMS("limit") },
	{ "a page of 5001", EVENTS("{\"limit\":5001}"), HOSTILE_PARAMS("limit") },
	{ "a revision beyond 2^53", EVENTS("{\"after\":9007199254740993}"), HOSTILE_PARAMS("after") },
};

enum { HOSTILE_LINES = sizeof hostile_lines / sizeof hostile_lines[0] };

/* The whole line, without line end; free(). */
static inline char *hostile_text(const struct hostile *h, size_t *length)
{
	size_t unit = h->unit ? strlen(h->unit) : 0, tail = h->tail ? strlen(h->tail) : 0;
	char *text = malloc(h->head_length + h->times * unit + tail + 1), *to = text;

	if (!text)
		abort();
	if (h->head_length)
		memcpy(to, h->head, h->head_length);
	to += h->head_length;
	for (size_t i = 0; i < h->times; i++, to += unit)
		memcpy(to, h->unit, unit);
	if (tail)
		memcpy(to, h->tail, tail);
	to[tail] = '\0';
	*length = (size_t)(to + tail - text);
	return text;
}

#endif

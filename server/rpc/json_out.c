#include "rpc/json_out.h"

#include <assert.h>
#include <string.h>

enum { DEPTH_MAX = 63, INT_ROOM = 20 };

/* How many bytes more than itself a byte needs in a string: 1 for \n and its like, 5 for \u00XX. */
/* clang-format off */
static const unsigned char escape_cost[256] = {
	5, 5, 5, 5, 5, 5, 5, 5, 1, 1, 1, 5, 1, 1, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5,
	['"'] = 1, ['\\'] = 1,
};
/* clang-format on */

struct json_out json_out_start(struct text *text)
{
	return (struct json_out){ .text = text };
}

static size_t escaped_length(const char *s, size_t length)
{
	size_t total = length;
	for (size_t i = 0; i < length; i++)
		total += escape_cost[(unsigned char)s[i]];
	return total;
}

static char *put_escape(char *to, unsigned char c)
{
	static const char digits[] = "0123456789abcdef";
	static const char letters[] = "btn-fr"; /* from 8 on */

	*to++ = '\\';
	if (c == '"' || c == '\\') {
		*to++ = (char)c;
	} else if (escape_cost[c] == 1) {
		*to++ = letters[c - 8];
	} else {
		*to++ = 'u';
		*to++ = '0';
		*to++ = '0';
		*to++ = digits[c >> 4];
		*to++ = digits[c & 15];
	}
	return to;
}

/* Writes a quoted string whose escaped length is known; there is room. */
static char *put_string(char *to, const char *s, size_t length, size_t escaped)
{
	*to++ = '"';
	if (escaped == length) {
		memcpy(to, s, length);
		to += length;
	} else {
		for (size_t i = 0; i < length; i++) {
			unsigned char c = (unsigned char)s[i];
			if (escape_cost[c])
				to = put_escape(to, c);
			else
				*to++ = (char)c;
		}
	}
	*to++ = '"';
	return to;
}

/* Writes comma and key and makes room for `more` bytes of the value; returns where the value goes. */
static char *value_start(struct json_out *o, const char *key, size_t more)
{
	uint64_t here = UINT64_C(1) << o->depth;
	size_t length = key ? strlen(key) : 0;
	size_t escaped = escaped_length(key, length);

	assert(o->depth ? !key == !(o->objects & here) : !key && !(o->filled & here));
	char *to = text_room(o->text, escaped + 4 + more);
	if (o->filled & here)
		*to++ = ',';
	o->filled |= here;
	if (key) {
		to = put_string(to, key, length, escaped);
		*to++ = ':';
	}
	return to;
}

static void value_end(struct json_out *o, char *end)
{
	*end = '\0';
	o->text->length = (size_t)(end - o->text->bytes);
}

static void open_container(struct json_out *o, const char *key, bool object)
{
	char *to = value_start(o, key, 1);
	*to++ = object ? '{' : '[';
	value_end(o, to);

	assert(o->depth < DEPTH_MAX);
	uint64_t inside = UINT64_C(1) << ++o->depth;
	o->filled &= ~inside;
	o->objects = object ? o->objects | inside : o->objects & ~inside;
}

void out_object(struct json_out *o, const char *key)
{
	open_container(o, key, true);
}

void out_array(struct json_out *o, const char *key)
{
	open_container(o, key, false);
}

void out_end(struct json_out *o)
{
	assert(o->depth);
	text_putc(o->text, o->objects >> o->depth & 1 ? '}' : ']');
	o->depth--;
}

void out_bytes(struct json_out *o, const char *key, const char *value, size_t length)
{
	size_t escaped = escaped_length(value, length);
	char *to = value_start(o, key, escaped + 2);
	value_end(o, put_string(to, value, length, escaped));
}

void out_string(struct json_out *o, const char *key, const char *value)
{
	out_bytes(o, key, value, strlen(value));
}

void out_base64(struct json_out *o, const char *key, const void *bytes, size_t length)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const unsigned char *from = bytes;
	char *to = value_start(o, key, (length + 2) / 3 * 4 + 2);
	*to++ = '"';
	for (size_t i = 0; i < length; i += 3) {
		size_t n = length - i < 3 ? length - i : 3;
		unsigned group = (unsigned)from[i] << 16 | (n > 1 ? (unsigned)from[i + 1] << 8 : 0) | (n > 2 ? from[i + 2] : 0u);
		*to++ = digits[group >> 18];
		*to++ = digits[group >> 12 & 63];
		*to++ = n > 1 ? digits[group >> 6 & 63] : '=';
		*to++ = n > 2 ? digits[group & 63] : '=';
	}
	*to++ = '"';
	value_end(o, to);
}

void out_int(struct json_out *o, const char *key, int64_t value)
{
	char digits[INT_ROOM];
	size_t n = 0;
	uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;

	do
		digits[n++] = (char)('0' + rest % 10);
	while (rest /= 10);

	char *to = value_start(o, key, INT_ROOM);
	if (value < 0)
		*to++ = '-';
	while (n)
		*to++ = digits[--n];
	value_end(o, to);
}

static void put_word(struct json_out *o, const char *key, const char *word, size_t length)
{
	char *to = value_start(o, key, length);
	memcpy(to, word, length);
	value_end(o, to + length);
}

void out_bool(struct json_out *o, const char *key, bool value)
{
	put_word(o, key, value ? "true" : "false", value ? 4 : 5);
}

void out_null(struct json_out *o, const char *key)
{
	put_word(o, key, "null", 4);
}

void out_raw(struct json_out *o, const char *key, const char *json)
{
	put_word(o, key, json, strlen(json));
}

void out_strings(struct json_out *o, const char *key, const char *const *values, size_t count)
{
	out_array(o, key);
	for (size_t i = 0; i < count; i++)
		out_string(o, NULL, values[i]);
	out_end(o);
}

void out_string_if(struct json_out *o, const char *key, const char *value)
{
	if (value && *value)
		out_string(o, key, value);
}

void out_int_if(struct json_out *o, const char *key, int64_t value)
{
	if (value)
		out_int(o, key, value);
}

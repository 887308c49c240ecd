#include "rpc/parse.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "rpc/exchange.h"

static struct error *parse_error(size_t byte, const char *what)
{
	struct error *e = error_new(ERR_PARSE, "the text is not valid JSON: at byte %zu: %s", byte, what);
	char *detail = mem_format("at byte %zu: %s", byte, what);
	e = error_with_string(e, "detail", detail);
	free(detail);
	return e;
}

/* What jansson says about bad text may quote it, so whatever is not plain ASCII is replaced. */
static void make_printable(char *s)
{
	for (; *s; s++)
		if ((unsigned char)*s < ' ' || (unsigned char)*s > '~')
			*s = '?';
}

/* Nesting and NUL are checked before jansson sees the text: it recurses up to a limit of its own. Brackets in strings do not
 * count; whether they match is jansson's business. */
static struct error *check_nesting(const char *text, size_t length)
{
	unsigned depth = 0;
	bool string = false;

	for (size_t i = 0; i < length; i++) {
		char c = text[i];
		if (c == '\0')
			return parse_error(i, "a NUL byte");
		if (string) {
			if (c == '\\' && i + 1 < length && text[i + 1] != '\0')
				i++;
			else if (c == '"')
				string = false;
		} else if (c == '"') {
			string = true;
		} else if (c == '{' || c == '[') {
			if (++depth > RPC_DEPTH_MAX)
				return parse_error(i, "nested too deeply");
		} else if ((c == '}' || c == ']') && depth) {
			depth--;
		}
	}
	return NULL;
}

struct error *rpc_parse(const char *text, size_t length, json_t **ret)
{
	struct error *e = check_nesting(text, length);
	if (e)
		return e;

	json_error_t why;
	json_t *value = json_loadb(text, length, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &why);
	if (!value) {
		make_printable(why.text);
		return parse_error(why.position > 0 ? (size_t)why.position : 0, why.text);
	}
	*ret = value;
	return NULL;
}

size_t rpc_cut(const char *s, size_t most)
{
	size_t length = strnlen(s, most + 1);
	if (length <= most)
		return length;
	length = most;
	while (length && ((unsigned char)s[length] & 0xc0) == 0x80)
		length--;
	return length;
}

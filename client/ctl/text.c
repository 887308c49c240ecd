/* UTF-8 text on a terminal: width, cleaning, colours. */
#include <stdint.h>
#include <string.h>

#include "ctl/table.h"

/* Decodes one character: its length in bytes, 0 when the bytes are no UTF-8. */
static size_t decode(const char *text, uint32_t *ret)
{
	const unsigned char *b = (const unsigned char *)text;
	size_t length = b[0] < 0x80 ? 1 : b[0] < 0xc2 ? 0 : b[0] < 0xe0 ? 2 : b[0] < 0xf0 ? 3 : b[0] < 0xf5 ? 4 : 0, i;
	uint32_t c = length == 1 ? b[0] : length ? b[0] & (0x7fu >> length) : 0;

	for (i = 1; i < length; i++) {
		if ((b[i] & 0xc0) != 0x80) {
			return 0;
		}
		c = c << 6 | (b[i] & 0x3f);
	}
	if ((length == 3 && (c < 0x800 || (c >= 0xd800 && c < 0xe000))) || (length == 4 && (c < 0x10000 || c > 0x10ffff))) {
		return 0;
	}
	*ret = c;
	return length;
}

struct range {
	uint32_t first;
	uint32_t last;
};

static bool within(const struct range *ranges, size_t n, uint32_t c)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if (c >= ranges[i].first && c <= ranges[i].last) {
			return true;
		}
	}
	return false;
}

/* Combining marks and joiners take no column, East Asian wide characters and emoji take two. The large blocks only: names
 * of nodes and pods are ASCII nearly always, and an odd script costs alignment, nothing else. */
static size_t columns(uint32_t c)
{
	static const struct range none[] = {
		{ 0x300, 0x36f },
		{ 0x483, 0x489 },
		{ 0x591, 0x5bd },
		{ 0x610, 0x61a },
		{ 0x64b, 0x65f },
		{ 0x93a, 0x93c },
		{ 0xe31, 0xe31 },
		{ 0xe34, 0xe3a },
		{ 0x1ab0, 0x1aff },
		{ 0x1dc0, 0x1dff },
		{ 0x200b, 0x200f },
		{ 0x20d0, 0x20ff },
		{ 0xfe00, 0xfe0f },
		{ 0xfe20, 0xfe2f },
	};
	static const struct range wide[] = {
		{ 0x1100, 0x115f },
		{ 0x2e80, 0x303e },
		{ 0x3041, 0xa4cf },
		{ 0xac00, 0xd7a3 },
		{ 0xf900, 0xfaff },
		{ 0xfe30, 0xfe6f },
		{ 0xff00, 0xff60 },
		{ 0xffe0, 0xffe6 },
		{ 0x1f300, 0x1f64f },
		{ 0x1f680, 0x1f6ff },
		{ 0x1f900, 0x1f9ff },
		{ 0x20000, 0x3fffd },
	};

	if (c < 0x300) {
		return 1;
	}
	if (within(none, sizeof(none) / sizeof(none[0]), c)) {
		return 0;
	}
	return within(wide, sizeof(wide) / sizeof(wide[0]), c) ? 2 : 1;
}

size_t text_width(const char *text)
{
	size_t width = 0, length;
	uint32_t c;

	while (*text) {
		length = decode(text, &c);
		width += length ? columns(c) : 1;
		text += length ? length : 1;
	}
	return width;
}

char *text_clean(char *text)
{
	char *from = text, *to = text;

	while (*from) {
		uint32_t c = 0;
		size_t length = decode(from, &c);

		if (length == 0 || c < 0x20 || (c >= 0x7f && c < 0xa0) || (c >= 0x202a && c <= 0x202e)) {
			*to++ = '?';
			from += length ? length : 1;
			continue;
		}
		memmove(to, from, length);
		to += length;
		from += length;
	}
	*to = '\0';
	return text;
}

static const char *code(enum table_style style)
{
	static const char *const codes[] = {
		[STYLE_PLAIN] = "",
		[STYLE_GOOD] = "\033[32m",
		[STYLE_WARN] = "\033[33m",
		[STYLE_BAD] = "\033[31m",
		[STYLE_DIM] = "\033[2m",
		[STYLE_BOLD] = "\033[1m",
	};

	return codes[style];
}

void style_begin(FILE *out, bool colour, enum table_style style)
{
	if (colour && style != STYLE_PLAIN) {
		fputs(code(style), out);
	}
}

void style_end(FILE *out, bool colour, enum table_style style)
{
	if (colour && style != STYLE_PLAIN) {
		fputs("\033[0m", out);
	}
}

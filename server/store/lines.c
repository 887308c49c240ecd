#include "store/lines.h"

#include <string.h>

#include "base/mem.h"

const char *lines_join(struct text *scratch, const char *const *names, size_t n)
{
	text_clear(scratch);
	for (size_t i = 0; i < n; i++) {
		if (i)
			text_putc(scratch, '\n');
		text_puts(scratch, names[i]);
	}
	return text_string(scratch);
}

size_t lines_split(char *text, char ***ret)
{
	size_t n = 0, room = 0;
	*ret = NULL;
	for (char *line, *rest = *text ? text : NULL; (line = strsep(&rest, "\n"));) {
		*ret = mem_grow(*ret, n, &room, sizeof **ret);
		(*ret)[n++] = line;
	}
	return n;
}

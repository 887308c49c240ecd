/* Reading CSV files; see csv.h. */
#include "ctl/csv.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/mem.h"

enum { COLUMNS = 64 };

struct csv {
	FILE *file;
	char *path;
	char *names_line; /* the first line, cut into `names` */
	char *names[COLUMNS];
	size_t n_names;
	char *buffer; /* the present line, cut into `fields` */
	size_t room;
	char *fields[COLUMNS];
	size_t n_fields;
	long line;
};

/* Takes the quotes off a quoted field in place ("" inside stands for one quote); returns where the field ends. */
static char *unquote(char *field)
{
	char *from = field + 1, *to = field;

	while (*from && (*from != '"' || from[1] == '"')) {
		from += *from == '"';
		*to++ = *from++;
	}
	*to = '\0';
	return *from ? from + 1 : from;
}

/* Cuts a line at its commas; fields beyond the limit are dropped. */
static size_t cut(char *line, char *fields[COLUMNS])
{
	size_t n = 0;

	line[strcspn(line, "\r\n")] = '\0';
	for (;;) {
		bool quoted = *line == '"';
		char *end = quoted ? unquote(line) : line;

		if (n < COLUMNS) {
			fields[n++] = line;
		}
		end += strcspn(end, ",");
		line = end + 1;
		if (!*end) {
			return n;
		}
		*end = '\0';
	}
}

static bool read_line(struct csv *csv)
{
	while (getline(&csv->buffer, &csv->room, csv->file) >= 0) {
		csv->line++;
		if (csv->buffer[strspn(csv->buffer, " \t\r\n")]) {
			return true;
		}
	}
	return false;
}

struct csv *csv_open(const char *path, char **error)
{
	static const char mark[] = "\xef\xbb\xbf"; /* some programs begin UTF-8 files with it */
	struct csv *csv = mem_array(1, sizeof(*csv));
	char *names;

	csv->path = mem_string(path);
	csv->file = fopen(path, "re");
	if (!csv->file || !read_line(csv)) {
		*error = mem_format("%s: %s", path, csv->file && !ferror(csv->file) ? "the file is empty" : strerror(errno));
		csv_close(csv);
		return NULL;
	}
	names = csv->buffer + (strncmp(csv->buffer, mark, 3) == 0 ? 3 : 0);
	csv->names_line = mem_string(names);
	csv->n_names = cut(csv->names_line, csv->names);
	return csv;
}

void csv_close(struct csv *csv)
{
	if (!csv) {
		return;
	}
	if (csv->file) {
		fclose(csv->file);
	}
	free(csv->path);
	free(csv->names_line);
	free(csv->buffer);
	free(csv);
}

static size_t column_of(const struct csv *csv, const char *name)
{
	size_t i;

	for (i = 0; i < csv->n_names && strcmp(csv->names[i], name) != 0; i++) {
	}
	return i;
}

bool csv_has(const struct csv *csv, const char *column)
{
	return column_of(csv, column) < csv->n_names;
}

bool csv_next(struct csv *csv)
{
	if (!read_line(csv)) {
		return false;
	}
	csv->n_fields = cut(csv->buffer, csv->fields);
	return true;
}

long csv_line(const struct csv *csv)
{
	return csv->line;
}

const char *csv_field(const struct csv *csv, const char *column)
{
	size_t i = column_of(csv, column);

	return i < csv->n_names && i < csv->n_fields ? csv->fields[i] : "";
}

bool csv_complain(const struct csv *csv, char **error, const char *format, ...)
{
	va_list arguments;
	char *text;

	if (*error) {
		return false;
	}
	va_start(arguments, format);
	text = mem_vformat(format, arguments);
	va_end(arguments);
	*error = mem_format("%s:%ld: %s", csv->path, csv->line, text);
	free(text);
	return false;
}

bool csv_integer(struct csv *csv, const char *column, int64_t least, int64_t most, int64_t fallback, int64_t *ret, char **error)
{
	const char *text = csv_field(csv, column);
	char *end;
	double value = strtod(text, &end); /* some traces write 12.0 */

	if (!*text) {
		*ret = fallback;
		return true;
	}
	if (*end || !(value >= (double)least && value <= (double)most) || value != (double)(int64_t)value) {
		return csv_complain(
			csv, error, "%s is not a whole number from %" PRId64 " to %" PRId64 ": %s", column, least, most, text);
	}
	*ret = (int64_t)value;
	return true;
}

/* Aligned tables; see table.h. */
#include "ctl/table.h"

#include <assert.h>
#include <stdlib.h>

#include "ctl/mem.h"

struct column {
	char *title;
	int flags;
	size_t width; /* of the widest cell or the title */
	bool used;    /* a cell has content */
};

struct cell {
	char *text;
	size_t width;
	enum table_style style;
};

struct table {
	struct column *columns;
	size_t n_columns;
	size_t room_columns;
	struct cell *cells; /* row after row, n_columns each */
	size_t n_rows;
	size_t room_rows;
	size_t filled; /* cells of the newest row */
};

struct table *table_new(void)
{
	return mem_array(1, sizeof(struct table));
}

void table_free(struct table *table)
{
	size_t i;

	if (!table) {
		return;
	}
	for (i = 0; i < table->n_columns; i++) {
		free(table->columns[i].title);
	}
	for (i = 0; i < table->n_rows * table->n_columns; i++) {
		free(table->cells[i].text);
	}
	free(table->columns);
	free(table->cells);
	free(table);
}

void table_column(struct table *table, const char *title, int flags)
{
	assert(table->n_rows == 0);
	table->columns = mem_grow(table->columns, table->n_columns, &table->room_columns, sizeof(*table->columns));
	table->columns[table->n_columns++] = (struct column){
		.title = mem_string(title),
		.flags = flags,
		.width = text_width(title),
	};
}

void table_row(struct table *table)
{
	size_t i;

	table->cells = mem_grow(table->cells, table->n_rows, &table->room_rows, sizeof(*table->cells) * table->n_columns);
	for (i = 0; i < table->n_columns; i++) {
		table->cells[table->n_rows * table->n_columns + i] = (struct cell){ 0 };
	}
	table->n_rows++;
	table->filled = 0;
}

static struct cell *newest(const struct table *table)
{
	return &table->cells[(table->n_rows - 1) * table->n_columns + table->filled - 1];
}

void table_cell(struct table *table, const char *format, ...)
{
	struct column *column;
	struct cell *cell;
	va_list arguments;
	char *text;

	assert(table->n_rows > 0 && table->filled < table->n_columns);
	va_start(arguments, format);
	text = text_clean(mem_vformat(format, arguments));
	va_end(arguments);
	column = &table->columns[table->filled++];
	cell = newest(table);
	*cell = (struct cell){ .text = text, .width = text_width(text) };
	column->used = column->used || *text;
	if (cell->width > column->width) {
		column->width = cell->width;
	}
}

void table_style(struct table *table, enum table_style style)
{
	newest(table)->style = style;
}

size_t table_rows(const struct table *table)
{
	return table->n_rows;
}

static bool shown(const struct column *column)
{
	return column->used || !(column->flags & TABLE_OPTIONAL);
}

static void print_cell(FILE *out, bool colour, const struct column *column, const struct cell *cell, bool last)
{
	int pad = (int)(column->width - cell->width);
	bool right = column->flags & TABLE_RIGHT;

	fprintf(out, "%*s", right ? pad : 0, "");
	style_begin(out, colour, cell->style);
	fputs(cell->text, out);
	style_end(out, colour, cell->style);
	fprintf(out, "%*s", last ? 0 : (right ? 0 : pad) + 3, "");
}

static bool has_text(const struct cell *cell)
{
	return cell->text && *cell->text;
}

/* The last column of which a row shows something; of the titles for NULL. What follows it is not even padded. */
static size_t last_shown(const struct table *table, const struct cell *cells)
{
	size_t last = 0, i;

	for (i = 0; i < table->n_columns; i++) {
		const struct column *column = &table->columns[i];

		if (shown(column) && (!cells || has_text(&cells[i]) || !(column->flags & TABLE_BLANK))) {
			last = i;
		}
	}
	return last;
}

static void print_row(const struct table *table, FILE *out, bool colour, const struct cell *cells)
{
	size_t i, last = last_shown(table, cells);

	for (i = 0; i <= last; i++) {
		const struct column *column = &table->columns[i];
		bool blank = column->flags & TABLE_BLANK;
		const struct cell empty = {
			.text = (char *)(blank ? "" : "-"), .width = !blank, .style = blank ? STYLE_PLAIN : STYLE_DIM
		};

		if (shown(column)) {
			print_cell(out, colour, column, has_text(&cells[i]) ? &cells[i] : &empty, i == last);
		}
	}
	putc('\n', out);
}

void table_print(const struct table *table, FILE *out, bool colour)
{
	size_t i, last = last_shown(table, NULL);

	for (i = 0; i < table->n_columns; i++) {
		const struct column *column = &table->columns[i];
		struct cell title = { .text = column->title, .width = text_width(column->title), .style = STYLE_BOLD };

		if (shown(column)) {
			print_cell(out, colour, column, &title, i == last);
		}
	}
	putc('\n', out);
	for (i = 0; i < table->n_rows; i++) {
		print_row(table, out, colour, &table->cells[i * table->n_columns]);
	}
}

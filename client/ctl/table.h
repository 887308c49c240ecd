/* Aligned tables of text, as kubectl prints them: UTF-8-safe, the last column unpadded, columns without any content left out
 * when they are optional. Cells come from a server, so control characters in them are shown as '?'. */
#ifndef ALLOTCTL_TABLE_H
#define ALLOTCTL_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct table;

/* How a column looks. */
enum table_flags {
	TABLE_LEFT = 0,
	TABLE_RIGHT = 1,    /* numbers */
	TABLE_OPTIONAL = 2, /* left out while every cell is empty */
	TABLE_BLANK = 4,    /* empty cells stay blank; elsewhere they are printed as "-" */
};

/* How a cell looks in colour. */
enum table_style { STYLE_PLAIN, STYLE_GOOD, STYLE_WARN, STYLE_BAD, STYLE_DIM, STYLE_BOLD };

/* An empty table; ended with table_free (NULL is legal). */
struct table *table_new(void);
void table_free(struct table *table);

/* Adds a column; all columns come before the first row. */
void table_column(struct table *table, const char *title, int flags);

/* Begins a row; cells missing at its end are empty. */
void table_row(struct table *table);

/* Adds a cell to the row. More cells than columns is a programming error (assert). */
void table_cell(struct table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Colours the newest cell (when printing in colour). */
void table_style(struct table *table, enum table_style style);

size_t table_rows(const struct table *table);

/* Prints titles and rows. */
void table_print(const struct table *table, FILE *out, bool colour);

/* Columns a UTF-8 string takes on a terminal; an invalid byte takes one. */
size_t text_width(const char *text);

/* Replaces what must not reach a terminal (control characters, invalid UTF-8) by '?', in place; returns `text`. */
char *text_clean(char *text);

/* Begins and ends a style on `out`; nothing unless `colour`. */
void style_begin(FILE *out, bool colour, enum table_style style);
void style_end(FILE *out, bool colour, enum table_style style);

#endif

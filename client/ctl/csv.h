/* Reading CSV files whose columns are found by the names in their first line. Fields may be quoted; lines may end in CR LF. */
#ifndef ALLOTCTL_CSV_H
#define ALLOTCTL_CSV_H

#include <stdbool.h>
#include <stdint.h>

struct csv;

/* Opens a file and reads its first line; NULL with *error (a sentence, free()) when that fails. Ended with csv_close. */
struct csv *csv_open(const char *path, char **error);
void csv_close(struct csv *csv);

/* Whether the file has the column. */
bool csv_has(const struct csv *csv, const char *column);

/* Goes to the next line that is not blank; false at the end of the file. */
bool csv_next(struct csv *csv);

/* The number of the present line, from 1. */
long csv_line(const struct csv *csv);

/* The field of the present line; "" when the file has no such column or the line is too short. Valid until csv_next. */
const char *csv_field(const struct csv *csv, const char *column);

/* The field as a whole number from `least` to `most`; `fallback` when it is empty or absent. False when it is something else: then *error, unless
 * it is set already, says so with file and line (free()). */
bool csv_integer(struct csv *csv, const char *column, int64_t least, int64_t most, int64_t fallback, int64_t *ret, char **error);

/* Sets *error, unless it is set already, to "FILE:LINE: ..."; always false. */
bool csv_complain(const struct csv *csv, char **error, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif

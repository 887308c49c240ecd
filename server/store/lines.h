/* Lists of names in one column: a text with one name a line. Names are not empty and have no control characters. */
#ifndef ALLOTD_STORE_LINES_H
#define ALLOTD_STORE_LINES_H

#include "base/text.h"

/* The names, one a line; owned by `scratch`, which is overwritten. */
const char *lines_join(struct text *scratch, const char *const *names, size_t n);

/* The names of a text, cut up in place: `text` must outlive them. The array is the caller's (free). Returns their number. */
size_t lines_split(char *text, char ***ret);

#endif

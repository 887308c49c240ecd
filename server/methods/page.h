/* Pages of lists: `limit` and `after` in, `next` and the revision out. The names are cursors, opaque to clients. */
#ifndef ALLOTD_METHODS_PAGE_H
#define ALLOTD_METHODS_PAGE_H

#include "core/state.h"
#include "rpc/json_out.h"

struct page {
	struct json_out *o;
	int64_t left;     /* rows this page may still take */
	const char *next; /* cursor of the last row taken; the rows' memory */
	bool more;        /* something did not fit */
};

/* Whether one more row fits on the page; if so, its cursor is noted. */
bool page_take(struct page *page, const char *cursor);

/* Writes `next`, if there is more, and `revision`. */
void page_end(const struct page *page, struct cluster *c);

/* Where to go on: the cursor, or "" at the start. */
static inline const char *page_start(const char *after)
{
	return after ? after : "";
}

#endif

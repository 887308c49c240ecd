#include "methods/page.h"

bool page_take(struct page *page, const char *cursor)
{
	if (!page->left) {
		page->more = true;
		return false;
	}
	page->left--;
	page->next = cursor;
	return true;
}

void page_end(const struct page *page, struct cluster *c)
{
	if (page->more)
		out_string(page->o, "next", page->next);
	out_int(page->o, "revision", cluster_counters(c)->revision);
}

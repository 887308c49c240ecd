/* The rows of usage or promised, brought into the order of their owners. */
#ifndef ALLOTD_STORE_LOAD_SHARES_H
#define ALLOTD_STORE_LOAD_SHARES_H

#include "store/load_private.h"

/* One row. The tables are keyed by device; the records want them by owner. */
struct share_row {
	int64_t owner, device, minor, amount;
	const char *resource; /* interned; "" for the share itself */
	uint32_t claim, place;
	bool whole;
};

struct share_list {
	struct share_row *rows;  /* all of the table, by owner, place and resource */
	size_t n_rows, room, at; /* `at`: the first not yet used */
	struct share *shares;    /* of the present owner */
	size_t n, room_shares;
	struct amount *amounts; /* what they point to */
};

extern const char usage_select[];
extern const char promised_select[];

/* Reads and sorts the whole table. */
struct error *share_list_read(struct loading *l, struct share_list *list, struct statement *s)
	__attribute__((warn_unused_result));

/* Makes the shares of the next owner, in ascending order of owners. */
struct error *share_list_collect(struct loading *l, struct share_list *list, int64_t owner) __attribute__((warn_unused_result));

/* Every row was used. */
struct error *share_list_end(const struct share_list *list, const char *table) __attribute__((warn_unused_result));
void share_list_free(struct share_list *list);

#endif

/* A change: one record replaced by another. The only thing that moves state. The same change is applied to the cluster in
 * memory and to the database; the database is loaded as changes from nothing; turned round, a change undoes itself.
 *
 *   before == NULL, after != NULL   insert
 *   before != NULL, after != NULL   update
 *   before != NULL, after == NULL   delete
 *
 * A change owns one reference to each of its records, so it outlives the cluster's own use of them and may be read by
 * the storage thread while the loop thread decides on. */
#ifndef ALLOTD_CORE_CHANGE_H
#define ALLOTD_CORE_CHANGE_H

#include <stddef.h>

#include "core/record.h"

struct change {
	enum record_kind kind;
	const void *before; /* a record of that kind, or NULL; always NULL for events */
	const void *after;
};

/* A growing list of changes in the order of the decisions. */
struct change_list {
	struct change *changes;
	size_t n;
	size_t room;
};

/* Appends a change and takes over the caller's references to both records. */
void change_list_add(struct change_list *list, enum record_kind kind, const void *before_take, const void *after_take);

/* Releases the changes from index `from` on. */
void change_list_truncate(struct change_list *list, size_t from);

/* Releases everything; the list is empty and usable again. */
void change_list_free(struct change_list *list);

#endif

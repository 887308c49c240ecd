/* Rows become records: the whole database but its events, as inserts. For any connection. */
#ifndef ALLOTD_STORE_LOAD_H
#define ALLOTD_STORE_LOAD_H

#include "core/change.h"
#include "store/statement.h"
#include "store/store.h"

struct loader {
	struct statement meta;
	struct statement nodes, node_labels, devices, device_labels, capacity;
	struct statement allocations, usage, handouts, nominations, promised, victims;
	struct statement locks, lapses, refusals;
};

int loader_prepare(struct loader *l, sqlite3 *db);

/* Reads the meta row. */
int load_meta(struct loader *l, struct store_meta *ret);

/* Reads everything, to be called within a transaction. Nodes, devices, allocations and nominations come in the order of their ids, locks and
 * lapses in the order of their nodes, refusals by uid. Equal requests are parsed once and shared. On failure `ret` is as it was. */
struct error *load_rows(struct loader *l, sqlite3 *db, const struct store_codec *codec, struct change_list *ret)
	__attribute__((warn_unused_result));

#endif

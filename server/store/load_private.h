/* What the files that load share. */
#ifndef ALLOTD_STORE_LOAD_PRIVATE_H
#define ALLOTD_STORE_LOAD_PRIVATE_H

#include "store/intern.h"
#include "store/load.h"

/* One loading. Arrays of records point into `list`, which holds the references. */
struct loading {
	struct loader *loader;
	sqlite3 *db;
	struct change_list *list;
	struct intern *intern;
	const struct node_record **nodes; /* by id */
	size_t n_nodes, room_nodes;
	const struct device_record **devices; /* by id */
	size_t n_devices, room_devices;
};

/* Rows of a child table in the order of their owner, read along with the owners. */
struct rows {
	struct statement *statement; /* column 0 is the owner */
	int rc;                      /* SQLITE_ROW: the present row is not yet used */
};

struct rows rows_start(struct statement *statement);

/* Whether the present row belongs to `owner`. */
bool rows_belong(const struct rows *r, int64_t owner);
void rows_next(struct rows *r);

/* All rows were used: NULL, or an error about rows without an owner or about a failed read. */
struct error *rows_end(struct loading *l, struct rows *r, const char *table) __attribute__((warn_unused_result));

/* The database cannot be read, or says what cannot be. */
struct error *load_failed(struct loading *l, int rc) __attribute__((warn_unused_result));
struct error *load_damaged(const char *format, ...) __attribute__((format(printf, 1, 2), warn_unused_result));

/* The record with that id; NULL when there is none. */
const struct node_record *loading_node(const struct loading *l, int64_t id);
const struct device_record *loading_device(const struct loading *l, int64_t id);

struct error *load_nodes(struct loading *l) __attribute__((warn_unused_result));
struct error *load_devices(struct loading *l) __attribute__((warn_unused_result));
struct error *load_allocations(struct loading *l) __attribute__((warn_unused_result));
struct error *load_nominations(struct loading *l) __attribute__((warn_unused_result));
struct error *load_locks(struct loading *l) __attribute__((warn_unused_result));
struct error *load_lapses(struct loading *l) __attribute__((warn_unused_result));
struct error *load_refusals(struct loading *l) __attribute__((warn_unused_result));

/* The statements of each file. */
int load_inventory_prepare(struct loader *l, sqlite3 *db);
int load_pods_prepare(struct loader *l, sqlite3 *db);
int load_waiting_prepare(struct loader *l, sqlite3 *db);

#endif

/* Changes become rows. One file for each group of tables, each with its statements; they are prepared once for the writing connection.
 *
 * Only the difference between before and after is written. Each function returns SQLITE_OK, SQLITE_NOTFOUND when a row to be changed is not
 * there, or what SQLite said; after a failure the transaction is to be rolled back. Texts are bound in place: the change outlives the call.
 *
 * Triggers are off on this connection unless the guard is wanted, so everything a hand's delete would take along is deleted here by name. */
#ifndef ALLOTD_STORE_APPLY_H
#define ALLOTD_STORE_APPLY_H

#include "base/text.h"
#include "core/change.h"
#include "store/statement.h"
#include "store/store.h"

struct label_writer {
	struct statement insert, clear;
};

struct node_writer {
	struct statement insert, update, remove;
	struct label_writer labels;
};

struct device_writer {
	struct statement insert, update, remove;
	struct statement capacity_put, capacity_remove;
	struct label_writer labels;
};

/* Writes usage or promised. */
struct share_writer {
	struct statement insert, remove;
};

struct allocation_writer {
	struct statement insert, update, remove;
	struct share_writer shares;
	struct statement handout_insert, handout_update, handout_remove, handout_clear;
	struct text ids; /* scratch: the device ids of a handout */
};

struct nomination_writer {
	struct statement insert, update, remove;
	struct share_writer shares;
	struct statement victim_insert, victim_clear;
};

struct lock_writer {
	struct statement insert, update, remove;
};

struct lapse_writer {
	struct statement insert, update, remove;
};

struct refusal_writer {
	struct statement insert, update, remove;
	struct text counts, nodes; /* scratch */
};

struct event_writer {
	struct statement insert;
	const struct store_codec *codec;
	struct text data; /* scratch */
};

/* All of them. */
struct writer {
	struct node_writer node;
	struct device_writer device;
	struct allocation_writer allocation;
	struct nomination_writer nomination;
	struct lock_writer lock;
	struct lapse_writer lapse;
	struct refusal_writer refusal;
	struct event_writer event;
};

int writer_prepare(struct writer *w, sqlite3 *db, const struct store_codec *codec);
void writer_free(struct writer *w); /* the scratch memory; statements belong to the connection */

/* Writes one change. */
int apply_change(struct writer *w, const struct change *change);

/* One group of tables each. */
int node_writer_prepare(struct node_writer *w, sqlite3 *db);
int apply_node(struct node_writer *w, const struct node_record *before, const struct node_record *after);

int device_writer_prepare(struct device_writer *w, sqlite3 *db);
int apply_device(struct device_writer *w, const struct device_record *before, const struct device_record *after);

int allocation_writer_prepare(struct allocation_writer *w, sqlite3 *db);
int apply_allocation(struct allocation_writer *w, const struct allocation *before, const struct allocation *after);

int nomination_writer_prepare(struct nomination_writer *w, sqlite3 *db);
int apply_nomination(struct nomination_writer *w, const struct nomination *before, const struct nomination *after);

int lock_writer_prepare(struct lock_writer *w, sqlite3 *db);
int apply_lock(struct lock_writer *w, const struct lock *before, const struct lock *after);

int lapse_writer_prepare(struct lapse_writer *w, sqlite3 *db);
int apply_lapse(struct lapse_writer *w, const struct lapse *before, const struct lapse *after);

int refusal_writer_prepare(struct refusal_writer *w, sqlite3 *db);
int apply_refusal(struct refusal_writer *w, const struct refusal *before, const struct refusal *after);

int event_writer_prepare(struct event_writer *w, sqlite3 *db, const struct store_codec *codec);
int apply_event(struct event_writer *w, const struct event *event);

/* What several of them share. */
bool labels_same(const struct label *a, size_t n_a, const struct label *b, size_t n_b);
int apply_labels(struct label_writer *w, int64_t owner, const struct label *labels, size_t n);

bool shares_same(const struct share *a, size_t n_a, const struct share *b, size_t n_b);
int apply_shares(struct share_writer *w, int64_t owner, const struct share *shares, size_t n);
int remove_shares(struct share_writer *w, int64_t owner, const struct share *shares, size_t n);

#endif

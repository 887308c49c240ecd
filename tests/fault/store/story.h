/* A history that is always the same: real decisions on a cluster, gathered into commits as the engine gathers them into turns, with what the
 * cluster is after each. And playing it against a store, whose answers are taken at their word: what it says is committed must be there later. */
#ifndef TESTS_FAULT_STORE_STORY_H
#define TESTS_FAULT_STORE_STORY_H

#include "core/change.h"
#include "store/store.h"

struct chapter {
	struct change_list changes;
	struct change_list after; /* snapshot of the cluster */
	struct store_meta meta;   /* db_id and epoch are not set */
	int64_t events;           /* told so far */
};

/* chapters[0] is the empty cluster; committing chapters[k] leads from k - 1 to k. */
struct story {
	struct chapter *chapters;
	size_t n;
};

struct story *story_new(uint64_t seed, size_t n);
void story_free(struct story *story); /* NULL is legal */

/* Opens the store in the directory; an error is the caller's. */
struct error *story_open(const char *directory, struct store **ret) __attribute__((warn_unused_result));

/* Loads the store, and reads it with a reader. What is read must be chapter k, or the test fails; an error is the caller's. */
struct error *story_load(const struct story *story, struct store *store, size_t k, const char *where)
	__attribute__((warn_unused_result));
/* The same when the outcome of the commit of chapter *k + 1 is unknown: *k becomes the chapter that was found. */
struct error *story_find(const struct story *story, struct store *store, size_t *k, const char *where)
	__attribute__((warn_unused_result));
struct error *story_read(const struct story *story, struct store *store, size_t k, const char *where)
	__attribute__((warn_unused_result));

/* Commits chapter k. `*why` as in store_commit. */
enum store_outcome story_commit(const struct story *story, struct store *store, size_t k, char **why);

/* Opens the store in the directory and fails the test unless it holds exactly chapter `k`, or, if `maybe`, chapter k + 1; the invariants, the
 * database's own and those of the cluster, are checked. `where` is for the message. Returns the chapter that was found. */
size_t story_verify(const struct story *story, const char *directory, size_t k, bool maybe, const char *where);

#endif

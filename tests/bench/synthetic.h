/* A cluster without a server: records made directly, for benchmarks of the store. */
#ifndef TESTS_BENCH_SYNTHETIC_H
#define TESTS_BENCH_SYNTHETIC_H

#include "store/store.h"

enum { SYNTHETIC_DEVICES = 8 }; /* of each node */

struct synthetic {
	struct store_meta meta; /* counts on */
	int64_t id;             /* last row id */
	uint64_t random;
	struct request *request;
	size_t n_nodes;
	const struct node_record **nodes;
	const struct device_record **devices; /* SYNTHETIC_DEVICES for each node */
};

/* A codec with events about as long as the server's. */
extern const struct store_codec synthetic_codec;

/* Nodes with devices that have 100 core and 80 memory each. */
struct synthetic *synthetic_new(size_t n_nodes, const struct store_meta *meta);
void synthetic_free(struct synthetic *s);

/* Appends all of them as inserts. */
void synthetic_inventory(const struct synthetic *s, struct change_list *ret);

/* A new pod of a random uid that holds 10 core and 10 memory of a device; the reference is the caller's. */
const struct allocation *synthetic_allocation(struct synthetic *s, size_t node, size_t device, enum pod_state state);

/* An event of the present revision. */
const struct event *synthetic_event(const struct synthetic *s, const char *kind, const struct allocation *subject);

/* Ends the program with a sentence. */
_Noreturn void synthetic_die(const char *what, const char *why);

/* CLOCK_MONOTONIC. */
double synthetic_seconds(void);

/* Commits and empties the list. */
void synthetic_commit(struct synthetic *s, struct store *store, struct change_list *changes);

/* A store in a fresh directory below `parent`, TMPDIR or /tmp; the path is the caller's. And the end of both. */
char *synthetic_directory(const char *parent);
struct store *synthetic_open(const char *directory, bool guard);
void synthetic_remove(char *directory);

#endif

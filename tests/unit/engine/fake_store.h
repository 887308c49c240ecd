/* A store in memory with the functions of store.h, linked instead of the real one. Its disk is a cluster of its own; how each commit
 * ends is told beforehand, and a gate lets the test look at the engine while a commit is under way. */
#ifndef TESTS_UNIT_ENGINE_FAKE_STORE_H
#define TESTS_UNIT_ENGINE_FAKE_STORE_H

#include <pthread.h>

#include "core/cluster.h"
#include "store/store.h"

enum { FAKE_SCRIPT = 4096 };

struct store {
	pthread_mutex_t mutex; /* guards everything */
	pthread_cond_t changed;
	struct cluster *disk;
	struct store_meta meta;
	enum store_outcome script[FAKE_SCRIPT]; /* how the next commits end; STORE_OK after its end */
	size_t scripted, played;
	enum store_outcome always; /* how commits end after the script */
	bool gate;                 /* commits wait until it is opened */
	size_t at_gate;            /* commits that have come to it */
	size_t let_through;        /* commits that may still pass the closed gate */
	size_t tried, committed;
	size_t last_changes; /* of the last commit that was tried */
	struct text events;  /* "kind uid cause\n" for each event on disk */
	bool outside;        /* somebody else wrote since the last commit or load */
	bool load_fails;
	_Atomic(const char *) shortage; /* what store_shortage says */
	enum store_outcome tidy_outcome;
	size_t loads, readers_open, snapshots;
};

/* A reader's snapshot: the locks and the last-seen times of the disk when it was begun. */
struct store_reader {
	struct store *store;
	size_t locks;
	int64_t revision;
	int64_t seen;
};

struct store *fake_store_new(void);
void fake_store_free(struct store *store);

/* Puts a change on disk as if it had always been there (setup). */
void fake_store_put(struct store *store, const struct change *change);

/* As fake_store_put, by somebody else while the server runs. */
void fake_store_write_outside(struct store *store, const struct change *change);

/* The next commits end like this. */
void fake_store_script(struct store *store, const enum store_outcome *outcomes, size_t n);
void fake_store_always(struct store *store, enum store_outcome outcome);

/* Closes the gate; lets n commits through it; opens it for good. */
void fake_store_close_gate(struct store *store);
void fake_store_let(struct store *store, size_t n);
void fake_store_open_gate(struct store *store);

/* Waits until a commit stands before the closed gate. */
void fake_store_wait_at_gate(struct store *store);

/* Numbers and texts, read under the mutex. The text is the caller's to free. */
size_t fake_store_committed(struct store *store);
size_t fake_store_tried(struct store *store);
char *fake_store_events(struct store *store);

/* Whether the cluster and the disk hold equal records. */
bool fake_store_equals(struct store *store, const struct cluster *memory);

#endif

/* An engine over a small real cluster and a fake store, and calls that do one simple thing each. */
#ifndef TESTS_UNIT_ENGINE_RIG_H
#define TESTS_UNIT_ENGINE_RIG_H

#include <pthread.h>

#include "engine/engine.h"
#include "fake_store.h"

enum {
	RIG_NODES = 1500, /* n0 ... n1499 */
	RIG_CALLS = 8192
};

enum doing {
	DO_READ,    /* nothing */
	DO_ACQUIRE, /* takes the lock of `node` for `ttl` ms: hard, grows */
	DO_RELEASE, /* gives it back: hard, frees */
	DO_TOUCH,   /* the node's last_seen_at + 1: soft */
	DO_REFUSE,  /* changes something and takes it back */
	DO_WORK,    /* counts the locks on the snapshot */
	DO_TOUCH_AND_WORK,
	DO_SLOW_WORK, /* the same, by the reader for slow ones */
	DO_ADVANCE    /* moves the manual clock by `ttl` ms */
};

struct test_call {
	struct engine_call call; /* first */
	struct rig *rig;
	enum doing doing;
	int node;
	int64_t ttl;
	int decided; /* how often */
	bool released;
	size_t place;        /* in the order of releases */
	int failure;         /* error code, -1 = none */
	const char *message; /* of the failure, NULL = none; the engine's */
	bool refused;        /* decide refused: the lock is taken, or there is none */
	int64_t now;         /* as decide saw it */
	int64_t revision;
	size_t locks;         /* as decide saw them */
	size_t locks_on_disk; /* as work saw them */
	int64_t seen, seen_on_disk;
};

struct rig {
	struct engine *engine;
	struct store *store;
	struct cluster *cluster;
	struct clock clock;
	struct test_call calls[RIG_CALLS];
	size_t n_calls, n_released;
	int rooms, broken;
	pthread_mutex_t work_gate; /* held by a test that wants works to wait */
};

struct rig_options {
	int64_t flush_interval; /* 0 = 60 s */
	int64_t restart_grace;
	int64_t busy_patience; /* 0 = 20 ms */
	enum clock_kind clock;
};

struct rig *rig_new(struct rig_options options);

/* Stops the engine, checks that every call was released once and, unless it broke, that memory equals the disk; releases everything. */
void rig_free(struct rig *rig);

/* Submits a call. */
struct test_call *rig_do(struct rig *rig, enum doing doing, int node);
struct test_call *rig_do_ttl(struct rig *rig, enum doing doing, int node, int64_t ttl);

/* One pass and whatever is to be collected within `ms`. */
void rig_turn(struct rig *rig, int ms);

/* Turns until all calls are released, at most 10 s. */
void rig_settle(struct rig *rig);

/* Turns for so many milliseconds. */
void rig_run_for(struct rig *rig, int ms);

/* Fails the test unless the call was released with that failure (-1 = none). */
void expect_released(const struct test_call *call, int failure);

bool rig_has_alarm(struct rig *rig, const char *slug);

/* The lock of a node as somebody else would write it; releases the references it makes. */
void rig_outside_lock(struct rig *rig, int node, bool there);

#endif

/* A small cluster under test. Each try_* makes one decision the way a method does, checks all invariants afterwards and returns how it went:
 * "ok" or the slug of the error. What it answered, the events it told and the error stay in the world until the next one. */
#ifndef ALLOTD_TESTS_CORE_WORLD_H
#define ALLOTD_TESTS_CORE_WORLD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/text.h"
#include "core/agent.h"
#include "core/inventory.h"
#include "core/lifecycle.h"
#include "core/locks.h"
#include "core/nominate.h"

enum { WORLD_REQUESTS = 256 };

struct world {
	struct cluster *cluster;
	struct change_list list; /* of all decisions */
	int64_t now;
	struct text events; /* kinds of the last decision's events, with spaces between them */
	struct error *error;
	int64_t revision;           /* of the last decision, 0 = it changed nothing */
	const struct allocation *a; /* what was answered; valid until the next decision */
	const struct nomination *n;
	bool flag; /* existing, released, cleared */
	enum pod_state state;
	size_t group;
	int64_t token;
	struct report report;
	struct registered registered;
	struct reconciled reconciled;
	char ids[512]; /* a list of names as one string: ignored victims, released pods */
	struct request *requests[WORLD_REQUESTS];
	size_t n_requests;
};

/* Setup and teardown of a test; *state is the world. */
int world_setup(void **state);
int world_teardown(void **state);

/* A request of that brief (see brief.h), released with the world. */
const struct request *ask(struct world *w, const char *brief);

/* A pod with that uid and priority; namespace "default", its name the uid. */
struct pod pod_of(const char *uid, int32_t priority);

/* A standard node, as in the scenarios: uuids "n1-gpu-0" ..., gpus with core 100 and memory 80, rdma with vf 30, a host with cpu 64000; with more
 * than one of a type numa is 0 for the first half and 1 for the others, pcie pci0 for the first two, pci1 for the next. */
void standard_node(struct world *w, const char *name, size_t gpus, size_t rdmas, size_t hosts);

/* The device of a standard node as it would be reported. `names` and `capacity` are the memory of its strings. */
struct device_memory {
	char uuid[64], pcie[32];
	struct amount capacity[2];
};
struct device_report standard_device(struct device_memory *memory, const char *node, const char *type, size_t i, size_t of);

const char *try_register(struct world *w, const struct register_node *args);
const char *try_cordon(struct world *w, const char *node, bool cordoned);
const char *try_verify(struct world *w, const char *node);
const char *try_remove(struct world *w, const char *node, bool force);
const char *try_update(struct world *w, const char *node, const char *uuid, enum said healthy, enum said cordoned);

const char *try_reserve_with(struct world *w, const struct reserve *args);
const char *try_reserve(struct world *w, const char *uid, const char *brief, const char *node);
const char *try_reserve_at(struct world *w, const char *uid, int32_t priority, const char *brief, const char *node);
const char *try_renew(struct world *w, const char *uid, int64_t ttl);
const char *try_unreserve(struct world *w, const char *uid, int64_t token, bool renominate);
const char *try_bind(struct world *w, const char *uid, const char *node);
const char *try_release(struct world *w, const char *uid, bool node_confirms);
const char *try_adopt(struct world *w, const char *uid, const char *node, const char *brief, const char *uuid, bool force);
const char *try_nominate(
	struct world *w, const char *uid, int32_t priority, const char *node, const char *brief, const char *victim);
const char *try_denominate(struct world *w, const char *uid);

const char *try_allocate(struct world *w, const struct allocate *args);
const char *try_confirm(struct world *w, const struct confirm *args);
const char *try_fail(struct world *w, const char *node, const char *uid, int64_t token);
const char *try_reconcile(struct world *w, const struct reconcile *args);
const char *try_lock(struct world *w, const char *node, const char *uid, int64_t ttl);
const char *try_unlock(struct world *w, const char *node, int64_t token);

/* Moves the time and ends what is due, one after the other; `events` are those of all of it. */
void pass(struct world *w, int64_t ms);

/* The pod's state by name, "none" when it holds nothing; the minors of its devices in claim order: "0 1". */
const char *state_of(const struct world *w, const char *uid);
const char *minors(const struct share *shares, size_t n);

/* A string of the last error's data, "" when there is none; an integer, -1 when there is none. */
const char *error_text(const struct world *w, const char *key);
int64_t error_integer(const struct world *w, const char *key);

/* The reason a node is refused for: "insufficient 0 2/1" (slug, claim, need/have); "fits" when it is not. `without` may be NULL. */
const char *reason_on(struct world *w, const struct pod *pod, const char *brief, const char *node, const char *without);

#endif

#include "rig.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "core/locks.h"
#include "core/state.h"

static const struct log quiet = { .level = LOG_ERROR };

static void node_name(char *to, size_t size, int node)
{
	(void)snprintf(to, size, "n%d", node);
}

static struct node *node_of(struct rig *rig, int node)
{
	char name[16];
	node_name(name, sizeof name, node);
	return cluster_node(rig->cluster, name);
}

static void touch(struct test_call *c, struct txn *txn)
{
	const struct node_record *before = node_of(c->rig, c->node)->record;
	struct node_record next = *before;
	next.last_seen_at++;
	txn_put(txn, RECORD_NODE, before, node_record_new(&next));
}

static void acquire(struct test_call *c, struct txn *txn)
{
	char name[16], uid[16];
	const struct lock *lock;
	node_name(name, sizeof name, c->node);
	(void)snprintf(uid, sizeof uid, "u%zu", (size_t)(c - c->rig->calls));
	struct error *e = lock_acquire(txn, name, uid, c->ttl, &lock);
	c->refused = e != NULL;
	error_free(e);
}

static void release_lock(struct test_call *c, struct txn *txn)
{
	struct node *n = node_of(c->rig, c->node);
	c->refused = !n->lock;
	if (!n->lock)
		return;
	struct error *e = lock_release(txn, n->record->name, n->lock->record->token);
	c->refused = e != NULL;
	error_free(e);
}

static void refuse(struct test_call *c, struct txn *txn)
{
	touch(c, txn);
	(void)txn_revision(txn);
	txn_undo(txn);
	c->refused = true;
}

static void decide(struct engine_call *call, struct txn *txn)
{
	struct test_call *c = (struct test_call *)call;
	c->decided++;
	c->now = txn->now;
	switch (c->doing) {
	case DO_ACQUIRE:
		acquire(c, txn);
		break;
	case DO_RELEASE:
		release_lock(c, txn);
		break;
	case DO_TOUCH:
	case DO_TOUCH_AND_WORK:
		touch(c, txn);
		break;
	case DO_REFUSE:
		refuse(c, txn);
		break;
	case DO_ADVANCE:
		c->now = engine_advance(c->rig->engine, txn, c->ttl);
		break;
	default:
		break;
	}
	c->locks = cluster_count(c->rig->cluster).locks;
	c->revision = cluster_counters(c->rig->cluster)->revision;
	c->seen = 0;
	for (struct node *n = c->rig->cluster->nodes; n; n = n->hh.next)
		c->seen += n->record->last_seen_at;
}

static void work(struct engine_call *call, struct store_reader *reader)
{
	struct test_call *c = (struct test_call *)call;
	(void)pthread_mutex_lock(&c->rig->work_gate);
	c->locks_on_disk = reader->locks;
	c->seen_on_disk = reader->seen;
	(void)pthread_mutex_unlock(&c->rig->work_gate);
}

static void release(struct engine_call *call, const struct error *failure)
{
	struct test_call *c = (struct test_call *)call;
	assert_false(c->released);
	c->released = true;
	c->failure = failure ? (int)failure->code : -1;
	c->message = failure ? failure->message : NULL;
	c->place = c->rig->n_released++;
}

static const struct engine_call_class plain = { .decide = decide, .release = release };
static const struct engine_call_class working = { .decide = decide, .work = work, .release = release };

static void on_room(void *context)
{
	((struct rig *)context)->rooms++;
}

static void on_broken(void *context)
{
	((struct rig *)context)->broken++;
}

static void make_nodes(struct rig *rig)
{
	for (int i = 0; i < RIG_NODES; i++) {
		char name[16];
		node_name(name, sizeof name, i);
		struct node_record *n = node_record_new(&(struct node_record){ .id = i + 1, .name = name, .reason = "" });
		const struct change change = { RECORD_NODE, NULL, n };
		cluster_apply(rig->cluster, &change);
		fake_store_put(rig->store, &change);
		record_unref(RECORD_NODE, n);
	}
}

struct rig *rig_new(struct rig_options options)
{
	struct rig *rig = mem_alloc(sizeof *rig);
	rig->store = fake_store_new();
	rig->cluster = cluster_new();
	rig->clock = clock_start(options.clock, options.clock == CLOCK_MANUAL ? 1000000 : 0);
	(void)pthread_mutex_init(&rig->work_gate, NULL);
	make_nodes(rig);
	rig->engine = engine_new(&(struct engine_options){
		.cluster = rig->cluster,
		.store = rig->store,
		.clock = &rig->clock,
		.log = &quiet,
		.restart_grace = options.restart_grace,
		.flush_interval = options.flush_interval ? options.flush_interval : 60000,
		.busy_patience = options.busy_patience ? options.busy_patience : 20,
		.on_room = on_room,
		.on_broken = on_broken,
		.context = rig,
	});
	return rig;
}

void rig_free(struct rig *rig)
{
	engine_stop(rig->engine);
	assert_int_equal(rig->n_released, rig->n_calls);
	if (!rig->broken)
		assert_true(fake_store_equals(rig->store, rig->cluster));
	assert_int_equal(rig->store->readers_open, 0);
	assert_int_equal(rig->store->snapshots, 0);
	engine_free(rig->engine);
	cluster_free(rig->cluster);
	fake_store_free(rig->store);
	(void)pthread_mutex_destroy(&rig->work_gate);
	free(rig);
}

struct test_call *rig_do_ttl(struct rig *rig, enum doing doing, int node, int64_t ttl)
{
	assert_true(rig->n_calls < RIG_CALLS);
	struct test_call *c = &rig->calls[rig->n_calls++];
	bool works = doing == DO_WORK || doing == DO_TOUCH_AND_WORK || doing == DO_SLOW_WORK;
	*c = (struct test_call){
		.call = { .class = works ? &working : &plain,
			.actor = "test",
			.frees = doing == DO_RELEASE,
			.slow = doing == DO_SLOW_WORK,
			.size = 100 },
		.rig = rig,
		.doing = doing,
		.node = node,
		.ttl = ttl,
	};
	engine_submit(rig->engine, &c->call);
	return c;
}

struct test_call *rig_do(struct rig *rig, enum doing doing, int node)
{
	return rig_do_ttl(rig, doing, node, 1000000);
}

void rig_turn(struct rig *rig, int ms)
{
	struct pollfd readable = { .fd = engine_descriptor(rig->engine), .events = POLLIN };
	engine_pass(rig->engine);
	int64_t wait = engine_timeout(rig->engine);
	if (poll(&readable, 1, wait >= 0 && wait < ms ? (int)wait : ms) > 0)
		engine_collect(rig->engine);
	engine_pass(rig->engine);
}

static int64_t now_ms(void)
{
	struct timespec t;
	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

void rig_settle(struct rig *rig)
{
	int64_t end = now_ms() + 10000;
	while (rig->n_released < rig->n_calls && now_ms() < end)
		rig_turn(rig, 100);
	assert_int_equal(rig->n_released, rig->n_calls);
}

void rig_run_for(struct rig *rig, int ms)
{
	for (int64_t end = now_ms() + ms, now = now_ms(); now < end; now = now_ms())
		rig_turn(rig, (int)(end - now));
}

void expect_released(const struct test_call *call, int failure)
{
	assert_true(call->released);
	assert_int_equal(call->failure, failure);
}

bool rig_has_alarm(struct rig *rig, const char *slug)
{
	struct engine_status status = engine_status(rig->engine);
	for (size_t i = 0; i < status.n_alarms; i++)
		if (strcmp(status.alarms[i], slug) == 0)
			return true;
	return false;
}

void rig_outside_lock(struct rig *rig, int node, bool there)
{
	char name[16];
	node_name(name, sizeof name, node);
	struct lock *l = lock_new(&(struct lock){ .node_id = node + 1,
		.node = name,
		.uid = "hand",
		.token = 900 + node,
		.acquired_at = 1,
		.expires_at = INT64_MAX / 2 });
	struct node *n = cluster_node(rig->store->disk, name);
	const struct lock *before = n->lock ? n->lock->record : NULL;
	fake_store_write_outside(rig->store, &(struct change){ RECORD_LOCK, there ? NULL : before, there ? l : NULL });
	record_unref(RECORD_LOCK, l);
}

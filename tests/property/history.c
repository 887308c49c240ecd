#include "property/history.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/text.h"
#include "core/agent.h"
#include "core/gang.h"
#include "core/inventory.h"
#include "core/lifecycle.h"
#include "core/locks.h"
#include "core/nominate.h"
#include "core/preempt.h"
#include "unit/core/brief.h"

enum { NODES = 4, PODS = 24, DEVICES = 6, IDS = 5 };

static const char *const node_names[NODES] = { "n0", "n1", "n2", "n3" };

static const char *const uids[PODS] = { "p00", "p01", "p02", "p03", "p04", "p05", "p06", "p07", "p08", "p09", "p10", "p11", "p12",
	"p13", "p14", "p15", "p16", "p17", "p18", "p19", "p20", "p21", "p22", "p23" };

/* What pods ask for. */
static const char *const briefs[] = {
	"main:gpu",
	"main:gpu*2",
	"main:gpu core=50",
	"main:gpu core=30 memory=10",
	"main:gpu*2 core=40%",
	"main:gpu core=25;side:gpu core=25",
	"main:gpu core=50 same=numa together=x;main:nic vf=5 same=numa together=x",
	"init:gpu reuse=main;main:gpu core=60",
	"main:gpu*2 same=pcie",
	"main:nic vf=10",
	"host cpu=1000 unattended",
	"main:gpu core=20;host cpu=4000 unattended",
	"main:gpu core=10 uuid=n0-gpu-0 uuid=n1-gpu-1",
	"main:gpu*3 core=5 model=A",
};
enum { BRIEFS = sizeof briefs / sizeof *briefs };

/* What one step draws its arguments from. */
struct draw {
	struct random *random;
	struct txn *txn;
	struct cluster *cluster;
};

static const char *some_node(struct draw *d)
{
	return node_names[random_below(d->random, NODES)];
}

static const char *some_uid(struct draw *d)
{
	return uids[random_below(d->random, PODS)];
}

/* The holding of a random pod or of one after it; NULL when there is none. */
static const struct allocation *some_allocation(struct draw *d)
{
	struct holding *h = cluster_holding_from(d->cluster, some_uid(d), false);
	return h ? h->record : NULL;
}

static int64_t some_ttl(struct draw *d, int64_t usual)
{
	return random_once_in(d->random, 4) ? (int64_t)(1 + random_below(d->random, 900)) * SECOND : usual;
}

/* A pod's attributes follow from its uid, but for one time in a while. */
static struct pod some_pod(struct draw *d)
{
	static const int32_t priorities[] = { 0, 0, 5, 5, 10, 20 };
	size_t i = random_below(d->random, PODS), of = random_once_in(d->random, 12) ? random_below(d->random, PODS) : i;
	return (struct pod){
		.uid = uids[i],
		.namespace = "default",
		.name = uids[i / 2],
		.gang = of % 5 == 0 ? "g" : "",
		.priority = priorities[of % 6],
		.preemptible = of % 4 != 0,
		.external = of % 9 == 0,
	};
}

static struct request *some_request(struct draw *d)
{
	return brief_request(briefs[random_below(d->random, BRIEFS)]);
}

/* The present record's revision, a wrong one, or none. */
static int64_t some_revision(struct draw *d, int64_t right)
{
	return random_once_in(d->random, 8) ? right - (int64_t)random_below(d->random, 2) : -1;
}

/* ---- inventory */

/* A device as it mostly is. */
static struct device_report device_of(struct draw *d, const char *node, size_t i, char *uuid, struct amount *capacity)
{
	static const char *const types[DEVICES] = { "gpu", "gpu", "gpu", "gpu", "nic", "host" };
	const char *type = types[i];
	bool odd = random_once_in(d->random, 15);
	struct device_report r = { .record = { .uuid = uuid,
					   .type = type,
					   .minor = (int64_t)i,
					   .model = i % 2 ? "A" : "B",
					   .numa = (int64_t)i / 2,
					   .socket = 0,
					   .pcie = i < 2 ? "p0" : "p1",
					   .bus_id = "",
					   .capacity = capacity,
					   .n_capacity = 2 } };
	(void)snprintf(uuid, 32, "%s-%s-%zu", node, type, i);
	capacity[0] = (struct amount){ "core", odd ? (int64_t)(20 * random_below(d->random, 8)) : 100 };
	capacity[1] = (struct amount){ "memory", 80 };
	if (strcmp(type, "nic") == 0)
		capacity[0] = (struct amount){ "vf", odd ? 3 : 30 };
	if (strcmp(type, "host") == 0)
		capacity[0] = (struct amount){ "cpu", odd ? 3000 : 9000 };
	r.record.n_capacity = strcmp(type, "gpu") == 0 && !random_once_in(d->random, 20) ? 2 : 1;
	r.record.max_shares = i == 1 ? 3 : 0;
	r.says_healthy = random_once_in(d->random, 12);
	r.record.healthy = !random_once_in(d->random, 3);
	if (random_once_in(d->random, 40))
		r.record.minor += DEVICES;
	return r;
}

static struct error *do_register(struct draw *d)
{
	static const char *const agents[] = { "gpu", "nic" };
	char names[DEVICES][32];
	struct amount capacities[DEVICES][2];
	struct device_report devices[DEVICES];
	const struct label label = { "zone", random_once_in(d->random, 3) ? "a" : "b" };
	struct register_node args = { .node = some_node(d),
		.devices = devices,
		.allow_empty = random_once_in(d->random, 2),
		.verify = random_once_in(d->random, 4) };
	struct registered registered;
	if (random_once_in(d->random, 4)) {
		args.types = agents + random_below(d->random, 2);
		args.n_types = 1;
	}
	if (random_once_in(d->random, 5)) {
		args.labels = &label;
		args.n_labels = 1;
	}
	for (size_t i = 0; i < DEVICES; i++) {
		bool gone = random_once_in(d->random, 9), foreign = random_once_in(d->random, 300);
		devices[args.n_devices] = device_of(d, foreign ? "n0" : args.node, i, names[i], capacities[i]);
		args.n_devices += !gone && (!args.types || strcmp(args.types[0], devices[args.n_devices].record.type) == 0);
	}
	return node_register(d->txn, &args, &registered);
}

static struct error *do_device_update(struct draw *d)
{
	const char *node = some_node(d);
	char uuid[32];
	const struct device_record *r = NULL;
	(void)snprintf(uuid, sizeof uuid, "%s-gpu-%zu", node, random_below(d->random, 4));
	enum said healthy = (enum said)random_below(d->random, 3), cordoned = (enum said)random_below(d->random, 3);
	if (random_once_in(d->random, 2))
		healthy = SAID_YES;
	if (random_once_in(d->random, 2))
		cordoned = SAID_NO;
	struct error *error = device_update(
		d->txn, node, uuid, healthy, cordoned, random_once_in(d->random, 2) ? "test" : NULL, &r);
	record_unref(RECORD_DEVICE, r);
	return error;
}

static struct error *do_mark_node(struct draw *d)
{
	const struct node_record *r;
	const char *node = some_node(d);
	if (random_once_in(d->random, 2))
		return node_verify(d->txn, node, "seen", &r);
	return node_cordon(d->txn, node, random_once_in(d->random, 4), "test", &r);
}

static struct error *do_remove_node(struct draw *d)
{
	char **released;
	size_t n;
	if (!random_once_in(d->random, 4))
		return NULL;
	struct error *error = node_remove(d->txn, some_node(d), random_once_in(d->random, 2), &released, &n);
	for (size_t i = 0; i < n; i++)
		free(released[i]);
	free(released);
	return error;
}

static struct error *do_seen(struct draw *d)
{
	const struct node *n = cluster_node(d->cluster, some_node(d));
	if (n)
		node_seen(d->txn, n);
	return NULL;
}

/* ---- scheduling */

static struct error *do_reserve(struct draw *d)
{
	const struct pod pod = some_pod(d);
	struct request *request = some_request(d);
	struct report report = report_new(request, 20);
	const struct allocation *a;
	bool existing;
	struct reserve args = { .pod = &pod,
		.request = request,
		.ttl = some_ttl(d, RESERVATION_TTL),
		.replace = random_once_in(d->random, 4),
		.policy = random_once_in(d->random, 2) ? POLICY_SPREAD : POLICY_BINPACK };
	if (random_once_in(d->random, 3))
		args.node = some_node(d);
	if (random_once_in(d->random, 4)) {
		args.names = node_names + random_below(d->random, 2);
		args.n_names = 2;
	}
	struct error *error = pod_reserve(d->txn, &args, &report, &a, &existing);
	report_free(&report);
	request_unref(request);
	return error;
}

static struct error *do_renew(struct draw *d)
{
	const struct allocation *a;
	const struct nomination *n;
	return pod_renew(d->txn, some_uid(d), some_ttl(d, 700 * SECOND), &a, &n);
}

static struct error *do_unreserve(struct draw *d)
{
	const struct allocation *a = some_allocation(d);
	struct unreserve args = { .uid = a ? a->pod.uid : some_uid(d),
		.token = -1,
		.renominate = random_once_in(d->random, 2),
		.ttl = some_ttl(d, NOMINATION_TTL),
		.revision = -1 };
	bool released;
	const struct nomination *nomination;
	if (a && a->state == POD_BOUND && !random_once_in(d->random, 4))
		args.token = a->token;
	if (a)
		args.revision = some_revision(d, a->revision);
	return pod_unreserve(d->txn, &args, &released, &nomination);
}

static struct error *do_bind(struct draw *d)
{
	const struct allocation *a = some_allocation(d), *bound;
	for (size_t i = 0; i < 4 && a && a->state != POD_RESERVED; i++)
		a = some_allocation(d);
	const char *uid = a ? a->pod.uid : some_uid(d), *node = a && !random_once_in(d->random, 10) ? a->node : some_node(d);
	struct report report = a ? report_new(a->request, 20) : (struct report){ 0 };
	struct error *error = pod_bind(
		d->txn, uid, node, some_ttl(d, LOCK_TTL), a ? some_revision(d, a->revision) : -1, &report, &bound);
	report_free(&report);
	return error;
}

static struct error *do_release(struct draw *d)
{
	const struct allocation *a = some_allocation(d);
	const struct release args = { .uid = a && !random_once_in(d->random, 4) ? a->pod.uid : some_uid(d),
		.node_confirms = random_once_in(d->random, 2),
		.reason = "done",
		.revision = -1 };
	bool released;
	enum pod_state state;
	return pod_release(d->txn, &args, &released, &state);
}

static struct error *do_adopt(struct draw *d, bool force)
{
	static const char *const used[] = { "", " core=30", " memory=20" };
	const struct pod pod = some_pod(d);
	const struct holding *h = cluster_holding(d->cluster, pod.uid);
	const char *node = h && !random_once_in(d->random, 6) ? h->record->node : some_node(d);
	size_t count = 1 + random_below(d->random, 2), first = random_below(d->random, 4);
	char brief[64], names[2][32];
	struct adopt_device devices[2];
	(void)snprintf(brief, sizeof brief, "main:gpu*%zu%s", count, used[random_below(d->random, 3)]);
	for (size_t i = 0; i < count; i++) {
		(void)snprintf(names[i], sizeof names[i], "%s-gpu-%zu", node, (first + i) % 4);
		devices[i] = (struct adopt_device){ .uuid = names[i] };
	}
	struct request *request = brief_request(brief);
	struct report report = report_new(request, 20);
	const struct allocation *a;
	const struct adopt args = {
		.pod = &pod, .request = request, .node = node, .devices = devices, .n_devices = count, .force = force
	};
	struct error *error = pod_adopt(d->txn, &args, &report, &a);
	report_free(&report);
	request_unref(request);
	return error;
}

static struct error *do_nominate(struct draw *d)
{
	const struct pod pod = some_pod(d);
	struct request *request = some_request(d);
	struct report report = report_new(request, 20);
	const char *victims[4], *node = some_node(d), **ignored = NULL;
	const struct node *n = cluster_node(d->cluster, node);
	const struct nomination *made;
	size_t n_victims = 0, n_ignored = 0;
	for (const struct holding *h = cluster_holding_from(d->cluster, "", false); n && h && n_victims < 4;
		h = RB_NEXT(holding_tree, &d->cluster->holdings_by_uid, (struct holding *)(uintptr_t)h))
		if (h->node == n && h->record->pod.priority < pod.priority && random_once_in(d->random, 2))
			victims[n_victims++] = h->record->pod.uid;
	if (n_victims < 4 && random_once_in(d->random, 5))
		victims[n_victims++] = some_uid(d);
	const struct nominate args = { .pod = &pod,
		.node = node,
		.request = request,
		.victims = victims,
		.n_victims = n_victims,
		.ttl = some_ttl(d, NOMINATION_TTL) };
	struct error *error = pod_nominate(d->txn, &args, &report, &made, &ignored, &n_ignored);
	free(ignored);
	report_free(&report);
	request_unref(request);
	return error;
}

static struct error *do_denominate(struct draw *d)
{
	struct promise *p = cluster_promise_from(d->cluster, some_uid(d), false);
	bool cleared;
	return pod_denominate(
		d->txn, p ? p->record->pod.uid : some_uid(d), p ? some_revision(d, p->record->revision) : -1, &cleared);
}

static struct error *do_preempt(struct draw *d)
{
	const struct pod pod = some_pod(d);
	struct request *request = some_request(d);
	struct report report = report_new(request, 20);
	struct preempted found = { 0 };
	const char *protect = some_uid(d);
	const struct preempt args = { .pod = &pod,
		.request = request,
		.names = random_once_in(d->random, 2) ? node_names : NULL,
		.n_names = 2,
		.protect = &protect,
		.n_protect = 1,
		.ttl = some_ttl(d, NOMINATION_TTL),
		.dry_run = random_once_in(d->random, 4) };
	struct error *error = pod_preempt(d->txn, &args, &report, &found);
	if (!error)
		preempted_free(&found);
	report_free(&report);
	request_unref(request);
	return error;
}

static struct error *do_gang(struct draw *d)
{
	enum { MEMBERS = 3 };
	struct pod pods[MEMBERS];
	struct request *requests[MEMBERS];
	struct reserve members[MEMBERS];
	struct gang_answer answers[MEMBERS];
	struct report report = { 0 };
	for (size_t i = 0; i < MEMBERS; i++) {
		pods[i] = some_pod(d);
		pods[i].gang = "g";
		requests[i] = some_request(d);
		members[i] = (struct reserve){ .pod = &pods[i], .request = requests[i], .ttl = RESERVATION_TTL };
		if (random_once_in(d->random, 4))
			members[i].node = some_node(d);
	}
	struct error *error = gang_reserve(d->txn, members, MEMBERS, &report, answers);
	report_free(&report);
	for (size_t i = 0; i < MEMBERS; i++)
		request_unref(requests[i]);
	return error;
}

/* ---- node agent */

/* A node that is locked, if there is one. */
static const char *busy_node(struct draw *d)
{
	size_t first = random_below(d->random, NODES);
	for (size_t i = 0; i < NODES && !random_once_in(d->random, 20); i++) {
		const struct node *n = cluster_node(d->cluster, node_names[(first + i) % NODES]);
		if (n && n->lock)
			return n->record->name;
	}
	return node_names[first];
}

/* A node whose agent has something to hand out, or just a busy one. */
static const char *waiting_node(struct draw *d)
{
	size_t first = random_below(d->random, NODES);
	for (size_t i = 0; i < NODES && !random_once_in(d->random, 20); i++) {
		const struct node *n = cluster_node(d->cluster, node_names[(first + i) % NODES]);
		if (n && agent_pending(n))
			return n->record->name;
	}
	return busy_node(d);
}

static struct error *do_allocate(struct draw *d)
{
	static const char *const calls[] = { "c0", "c1", "c2" }, *const ids[] = { "d0", "d1", "d2", "d3", "d4", "d5" };
	const char *node = waiting_node(d);
	const struct node *n = cluster_node(d->cluster, node);
	const struct allocation *pending = n ? agent_pending(n) : NULL, *a;
	struct allocate args = { .node = node, .token = -1 };
	struct report report = { 0 };
	size_t group;
	if (random_once_in(d->random, 2))
		args.type = "gpu";
	if (random_once_in(d->random, 2))
		args.uid = pending && !random_once_in(d->random, 4) ? pending->pod.uid : some_uid(d);
	if (random_once_in(d->random, 4))
		args.container = "main";
	if (random_once_in(d->random, 3))
		args.count = 1 + (int64_t)random_below(d->random, 2);
	if (pending && random_once_in(d->random, 3))
		args.token = pending->token;
	if (random_once_in(d->random, 6))
		args.call = calls[random_below(d->random, 3)];
	if (random_once_in(d->random, 2)) {
		args.device_ids = ids + random_below(d->random, IDS);
		args.n_device_ids = 1;
	}
	struct request *request = brief_request("gpu");
	report = report_new(pending ? pending->request : request, 20);
	struct error *error = agent_allocate(d->txn, &args, &report, &a, &group);
	report_free(&report);
	request_unref(request);
	return error;
}

static struct error *do_confirm(struct draw *d)
{
	const struct allocation *a = NULL;
	const struct handout *h = NULL;
	size_t g = 0;
	for (size_t tries = 0; tries < 4 && !h && (a = some_allocation(d)); tries++)
		for (size_t i = 0; i < a->request->n_groups; i++)
			if (a->handouts[i] && a->handouts[i]->n_device_ids)
				h = a->handouts[g = i];
	if (!h)
		return NULL;
	const struct confirm args = { .node = a->node,
		.type = a->request->groups[g].type,
		.container = a->request->groups[g].container,
		.uid = random_once_in(d->random, 5) ? some_uid(d) : a->pod.uid,
		.device_ids = h->device_ids,
		.n_device_ids = h->n_device_ids,
		.detail = random_once_in(d->random, 2) ? "{\"a\":1}" : "" };
	return agent_confirm(d->txn, &args);
}

static struct error *do_fail(struct draw *d)
{
	const struct allocation *a = some_allocation(d);
	return a ? agent_fail(d->txn, a->node, a->pod.uid, random_once_in(d->random, 4) ? 1 : a->token, "broken") : NULL;
}

static struct error *do_reconcile(struct draw *d)
{
	const char *node = some_node(d), *listed[PODS];
	struct reconciled found;
	size_t n = 0;
	for (size_t i = 0; i < PODS; i++) {
		const struct holding *h = cluster_holding(d->cluster, uids[i]);
		bool there = h && strcmp(h->record->node, node) == 0;
		if (there ? !random_once_in(d->random, 4) : random_once_in(d->random, 40))
			listed[n++] = uids[i];
	}
	int64_t revision = cluster_counters(d->cluster)->revision;
	const struct reconcile args = { .node = node,
		.uids = listed,
		.n_uids = n,
		.dry_run = random_once_in(d->random, 6),
		.as_of = random_once_in(d->random, 2) ? revision : (int64_t)random_below(d->random, (size_t)revision + 2) };
	struct error *error = agent_reconcile(d->txn, &args, &found);
	reconciled_free(&found);
	return error;
}

/* ---- locks */

static struct error *do_lock(struct draw *d)
{
	const struct lock *lock;
	return lock_acquire(d->txn, some_node(d), some_uid(d), some_ttl(d, LOCK_TTL), &lock);
}

static struct error *do_unlock(struct draw *d)
{
	const char *node = busy_node(d);
	const struct node *n = cluster_node(d->cluster, node);
	int64_t token = n && n->lock && !random_once_in(d->random, 5) ? n->lock->record->token : 1;
	return lock_release(d->txn, node, token);
}

/* ---- one step */

static struct error *do_adopt_fitting(struct draw *d)
{
	return do_adopt(d, false);
}

static struct error *do_adopt_forced(struct draw *d)
{
	return do_adopt(d, true);
}

struct decision {
	const char *name;
	struct error *(*make)(struct draw *d);
	size_t weight;
	bool may_exceed, may_note;
};

static const struct decision decisions[] = {
	{ "node.register", do_register, 7, true, false },
	{ "device.update", do_device_update, 4, true, false },
	{ "node.cordon or verify", do_mark_node, 5, false, false },
	{ "node.remove", do_remove_node, 1, true, false },
	{ "node seen", do_seen, 1, false, false },
	{ "pod.reserve", do_reserve, 26, false, true },
	{ "pod.renew", do_renew, 3, false, false },
	{ "pod.unreserve", do_unreserve, 5, false, false },
	{ "pod.bind", do_bind, 14, false, false },
	{ "pod.release", do_release, 6, false, false },
	{ "pod.adopt", do_adopt_fitting, 3, false, false },
	{ "pod.adopt forced", do_adopt_forced, 1, true, false },
	{ "pod.nominate", do_nominate, 9, false, false },
	{ "pod.denominate", do_denominate, 2, false, false },
	{ "pod.preempt", do_preempt, 4, false, true },
	{ "gang.reserve", do_gang, 3, false, true },
	{ "plugin.allocate", do_allocate, 14, false, false },
	{ "plugin.confirm", do_confirm, 4, false, false },
	{ "plugin.fail", do_fail, 2, false, false },
	{ "plugin.reconcile", do_reconcile, 3, false, false },
	{ "lock.acquire", do_lock, 3, false, false },
	{ "lock.release", do_unlock, 2, false, false },
};
enum { DECISIONS = sizeof decisions / sizeof *decisions };

static const struct decision *some_decision(struct random *random)
{
	size_t sum = 0, i = 0;
	for (size_t k = 0; k < DECISIONS; k++)
		sum += decisions[k].weight;
	size_t at = random_below(random, sum);
	for (; at >= decisions[i].weight; i++)
		at -= decisions[i].weight;
	return &decisions[i];
}

struct step history_step(struct random *random, struct txn *txn)
{
	struct draw d = { .random = random, .txn = txn, .cluster = txn->cluster };
	const struct decision *decision = some_decision(random);
	return (struct step){ .name = decision->name,
		.error = decision->make(&d),
		.may_exceed = decision->may_exceed,
		.may_note = decision->may_note };
}

int64_t history_pause(struct random *random)
{
	if (random_once_in(random, 200))
		return (int64_t)random_below(random, 2 * DAY);
	return (int64_t)random_below(random, random_once_in(random, 15) ? 200 * SECOND : 3 * SECOND);
}

static const char *name_of(const struct change *change)
{
	const void *r = change->after ? change->after : change->before;
	switch (change->kind) {
	case RECORD_NODE:
		return ((const struct node_record *)r)->name;
	case RECORD_DEVICE:
		return ((const struct device_record *)r)->uuid;
	case RECORD_ALLOCATION:
		return ((const struct allocation *)r)->pod.uid;
	case RECORD_NOMINATION:
		return ((const struct nomination *)r)->pod.uid;
	case RECORD_LOCK:
		return ((const struct lock *)r)->node;
	case RECORD_LAPSE:
		return ((const struct lapse *)r)->uid;
	default:
		return ((const struct refusal *)r)->pod.uid;
	}
}

char *history_difference(const struct change_list *a, const struct change_list *b)
{
	static const char *const kinds[RECORD_KINDS] = { "node", "device", "allocation", "nomination", "lock", "lapse", "refusal",
		"event" };
	struct change_list difference = { 0 };
	struct text t = { 0 };
	snapshot_difference(a, b, &difference);
	for (size_t i = 0; i < difference.n; i++) {
		const struct change *c = &difference.changes[i];
		text_printf(&t, "%s%s %s %s", i ? ", " : "", kinds[c->kind], name_of(c),
			!c->before  ? "only there"
			: !c->after ? "only here"
				    : "differs");
	}
	bool same = !difference.n;
	change_list_free(&difference);
	if (same)
		text_free(&t);
	return same ? NULL : text_take(&t);
}

struct cluster *history_rebuild(struct random *random, const struct change_list *snapshot, const struct counters *counters)
{
	struct cluster *c = cluster_new();
	struct change *order = mem_copy(snapshot->changes, snapshot->n * sizeof *order);
	for (size_t i = 1; i < snapshot->n; i++) {
		size_t k = i - random_below(random, i < 8 ? i : 8);
		if (order[k].kind != order[i].kind)
			continue;
		struct change swapped = order[i];
		order[i] = order[k];
		order[k] = swapped;
	}
	for (size_t i = 0; i < snapshot->n; i++)
		cluster_apply(c, &order[i]);
	*cluster_counters(c) = *counters;
	free(order);
	return c;
}

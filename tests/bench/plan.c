/* What deciding costs where nothing is written: planning a preemption and explaining a refusal in large clusters, in memory.
 *
 *	plan [NODES]        (1000 nodes of 8 devices, 8 allocations on each device)
 *
 * Prints a line for each question: the mean over some rounds, in ms. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "base/mem.h"
#include "core/cluster.h"
#include "core/explain.h"
#include "core/gang.h"
#include "core/preempt.h"

enum { DEVICES = 8, PER_DEVICE = 8, ROUNDS = 5 };

static double milliseconds(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1000 + (double)t.tv_nsec / 1000000;
}

static void put(struct cluster *c, enum record_kind kind, const void *record_take)
{
	const struct change change = { .kind = kind, .after = record_take };
	cluster_apply(c, &change);
	record_unref(kind, record_take);
}

static struct request *request(int64_t count, int64_t core, size_t claims)
{
	static const struct need ignored = { .resource = "core" };
	struct need need = ignored;
	struct claim list[REQUEST_CLAIMS];
	char text[64];
	need.amount = core;
	for (size_t i = 0; i < claims; i++)
		list[i] = (struct claim){ .type = "gpu",
			.count = count,
			.container = "main",
			.reuse = "",
			.together = "",
			.agent = true,
			.needs = &need,
			.n_needs = core ? 1 : 0 };
	(void)snprintf(text, sizeof text, "%lld %lld %zu", (long long)count, (long long)core, claims);
	return request_new(list, claims, text);
}

static void add_device(struct cluster *c, int64_t node_id, const char *node, int64_t minor)
{
	static const struct amount capacity[] = { { "core", 96 }, { "memory", 80 } };
	char uuid[64];
	(void)snprintf(uuid, sizeof uuid, "%s-gpu-%lld", node, (long long)minor);
	const struct device_record record = { .id = cluster_next_id(c),
		.node_id = node_id,
		.node = node,
		.uuid = uuid,
		.type = "gpu",
		.minor = minor,
		.model = "A",
		.healthy = true,
		.numa = minor / 4,
		.socket = -1,
		.pcie = "",
		.bus_id = "",
		.reason = "",
		.capacity = capacity,
		.n_capacity = 2 };
	put(c, RECORD_DEVICE, device_record_new(&record));
}

static void add_allocation(struct cluster *c, const struct node *n, const struct device *d, const struct request *r, int k)
{
	const struct amount amount = { "core", 96 / PER_DEVICE };
	const struct share share = {
		.device_id = d->id, .uuid = d->record->uuid, .minor = d->record->minor, .amounts = &amount, .n_amounts = 1
	};
	char uid[128];
	(void)snprintf(uid, sizeof uid, "%s-%d", d->record->uuid, k);
	const struct allocation record = {
		.id = cluster_next_id(c),
		.pod = { .uid = uid,
			.namespace = "default",
			.name = uid,
			.gang = "",
			.priority = rand() % 10,
			.preemptible = true },
		.node_id = n->record->id,
		.node = n->record->name,
		.state = POD_ALLOCATED,
		.request = r,
		.created_at = rand(),
		.shares = &share,
		.n_shares = 1,
	};
	put(c, RECORD_ALLOCATION, allocation_new(&record));
}

static struct cluster *full_cluster(size_t nodes)
{
	struct cluster *c = cluster_new();
	struct request *small = request(1, 96 / PER_DEVICE, 1);
	for (size_t i = 0; i < nodes; i++) {
		char name[32];
		(void)snprintf(name, sizeof name, "node%05zu", i);
		const struct node_record record = { .id = cluster_next_id(c), .name = name, .reason = "" };
		put(c, RECORD_NODE, node_record_new(&record));
		for (int64_t k = 0; k < DEVICES; k++)
			add_device(c, record.id, name, k);
		struct node *n = cluster_node(c, name);
		for (size_t k = 0; k < DEVICES; k++)
			for (int a = 0; a < PER_DEVICE; a++)
				add_allocation(c, n, &n->devices[k], small, a);
	}
	request_unref(small);
	return c;
}

static void plan(struct cluster *c, const char *title, struct request *request_take)
{
	const struct pod pod = {
		.uid = "x", .namespace = "default", .name = "x", .gang = "", .priority = 100, .preemptible = true
	};
	const struct preempt args = { .pod = &pod, .request = request_take, .ttl = 1000, .dry_run = true };
	struct change_list list = { 0 };
	size_t victims = 0;
	double start = milliseconds();
	for (int i = 0; i < ROUNDS; i++) {
		struct txn txn = txn_begin(c, &list, 1, "bench");
		struct report report = report_new(request_take, REPORT_NODES);
		struct preempted answer;
		struct error *error = pod_preempt(&txn, &args, &report, &answer);
		if (error)
			printf("%s\n", error->message);
		victims = error ? 0 : answer.n_victims;
		error_free(error);
		preempted_free(&answer);
		report_free(&report);
	}
	printf("plan     %-34s %4zu victims %8.2f ms\n", title, victims, (milliseconds() - start) / ROUNDS);
	change_list_free(&list);
	request_unref(request_take);
}

static void explain(struct cluster *c, const char *title, int32_t priority, struct request *request_take)
{
	const struct pod pod = {
		.uid = "x", .namespace = "default", .name = "x", .gang = "", .priority = priority, .preemptible = true
	};
	const struct explain args = { .pod = &pod, .request = request_take };
	size_t suggestions = 0;
	double start = milliseconds();
	for (int i = 0; i < ROUNDS; i++) {
		struct explained answer;
		struct error *error = pod_explain(c, &args, &answer);
		if (error)
			printf("%s\n", error->message);
		suggestions = error ? 0 : answer.suggestions.n;
		if (!error)
			explained_free(&answer);
		error_free(error);
	}
	printf("explain  %-34s %4zu suggestions %4.2f ms\n", title, suggestions, (milliseconds() - start) / ROUNDS);
	request_unref(request_take);
}

/* A gang of which one pod fits nowhere: everything is tried. */
static void gang(struct cluster *c, const char *title, struct request *request_take)
{
	static const char *const uids[GANG_SEARCHED] = { "a", "b", "c", "d", "e", "f", "g", "h" };
	struct pod pods[GANG_SEARCHED];
	struct reserve members[GANG_SEARCHED];
	struct change_list list = { 0 };
	double start = milliseconds();
	for (size_t i = 0; i < GANG_SEARCHED; i++) {
		pods[i] = (struct pod){
			.uid = uids[i], .namespace = "default", .name = uids[i], .gang = "", .preemptible = true
		};
		members[i] = (struct reserve){ .pod = &pods[i], .request = request_take, .ttl = 1000 };
	}
	for (int i = 0; i < ROUNDS; i++) {
		struct txn txn = txn_begin(c, &list, 1, "bench");
		struct gang_answer answers[GANG_SEARCHED];
		struct report report;
		error_free(gang_reserve(&txn, members, GANG_SEARCHED, &report, answers));
		report_free(&report);
		txn_undo(&txn);
	}
	printf("gang     %-34s %17.2f ms\n", title, (milliseconds() - start) / ROUNDS);
	change_list_free(&list);
	request_unref(request_take);
}

/* Frees one device on each of the last nodes. */
static void free_devices(struct cluster *c, size_t nodes)
{
	for (size_t i = c->n_nodes - nodes; i < c->n_nodes; i++)
		for (int k = 0; k < PER_DEVICE; k++) {
			char uid[128];
			(void)snprintf(uid, sizeof uid, "%s-gpu-0-%d", c->order[i]->record->name, k);
			const struct change change = { .kind = RECORD_ALLOCATION, .before = cluster_holding(c, uid)->record };
			cluster_apply(c, &change);
		}
}

int main(int argc, char **argv)
{
	size_t nodes = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000;
	struct cluster *c = full_cluster(nodes);
	printf("%zu nodes, %d devices each, %d allocations on each device\n", nodes, DEVICES, PER_DEVICE);
	plan(c, "a part of one device", request(1, 40, 1));
	plan(c, "a whole device", request(1, 0, 1));
	plan(c, "4 whole devices", request(4, 0, 1));
	plan(c, "8 whole devices", request(8, 0, 1));
	plan(c, "2 claims of 2 whole devices", request(2, 0, 2));
	plan(c, "4 claims of 2 parts", request(2, 30, 4));
	explain(c, "a part of one device", 100, request(1, 40, 1));
	explain(c, "a whole device, nobody is lower", -1, request(1, 0, 1));
	explain(c, "4 claims of 2 parts", 100, request(2, 30, 4));
	free_devices(c, 7);
	gang(c, "8 pods, 7 free devices", request(1, 0, 1));
	gang(c, "8 pods in parts of 7 free devices", request(1, 85, 1));
	gang(c, "8 pods of 2 claims, 7 free devices", request(1, 45, 2));
	cluster_free(c);
	return 0;
}

/* A small cluster to decide on: nodes of equal devices, requests spelled shortly, each step a txn of its own. */
#ifndef TESTS_UNIT_CORE_LAB_H
#define TESTS_UNIT_CORE_LAB_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/text.h"
#include "core/inventory.h"
#include "core/lifecycle.h"
#include "core/nominate.h"

struct lab {
	struct cluster *cluster;
	struct change_list list;
	struct txn txn; /* of the last lab_txn */
	int64_t now;
};

static inline struct lab *lab_new(void)
{
	struct lab *lab = mem_alloc(sizeof *lab);
	lab->cluster = cluster_new();
	lab->now = 1000000;
	return lab;
}

static inline void lab_free(struct lab *lab)
{
	change_list_free(&lab->list);
	cluster_free(lab->cluster);
	free(lab);
}

/* A fresh txn; what came before is done with. Time goes on by 1 ms. */
static inline struct txn *lab_txn(struct lab *lab)
{
	change_list_free(&lab->list);
	lab->txn = txn_begin(lab->cluster, &lab->list, ++lab->now, "test");
	return &lab->txn;
}

/* The error must be NULL. */
static inline void lab_ok(struct error *error)
{
	if (error)
		fail_msg("%s: %s", error_slug(error->code), error->message);
}

/* The error must be of this code; it is released. */
static inline void lab_refused(struct error *error, enum error_code code)
{
	assert_non_null(error);
	assert_string_equal(error_slug(error->code), error_slug(code));
	error_free(error);
}

/* A device of type gpu: core 100, memory 80, numa 0 for the first half and 1 for the second. */
static inline struct device_report lab_gpu(const char *node, int64_t minor, int64_t of, char uuid[64])
{
	static const struct amount capacity[] = { { "core", 100 }, { "memory", 80 } };
	(void)snprintf(uuid, 64, "%s-gpu-%lld", node, (long long)minor);
	return (struct device_report){ .record = { .uuid = uuid,
					       .type = "gpu",
					       .minor = minor,
					       .model = minor % 2 ? "B" : "A",
					       .healthy = true,
					       .numa = minor * 2 < of ? 0 : 1,
					       .socket = -1,
					       .pcie = "",
					       .bus_id = "",
					       .reason = "",
					       .capacity = capacity,
					       .n_capacity = 2 } };
}

static inline void lab_node(struct lab *lab, const char *name, size_t gpus)
{
	struct device_report devices[64];
	char uuids[64][64];
	struct registered ignored;
	for (size_t i = 0; i < gpus; i++)
		devices[i] = lab_gpu(name, (int64_t)i, (int64_t)gpus, uuids[i]);
	const struct register_node args = { .node = name, .devices = devices, .n_devices = gpus, .allow_empty = true };
	lab_ok(node_register(lab_txn(lab), &args, &ignored));
}

/* A request of these claims; strings that are not given are "". */
static inline struct request *lab_request(struct claim *claims, size_t n)
{
	struct text t = { 0 };
	for (size_t i = 0; i < n; i++) {
		struct claim *c = &claims[i];
		c->type = c->type ? c->type : "gpu";
		c->count = c->count ? c->count : 1;
		c->container = c->container ? c->container : "main";
		c->reuse = c->reuse ? c->reuse : "";
		c->together = c->together ? c->together : "";
		c->agent = true;
		text_printf(&t, "[%s %lld %s %s %s %d", c->type, (long long)c->count, c->container, c->reuse, c->together,
			(int)c->same);
		for (size_t k = 0; k < c->n_needs; k++)
			text_printf(&t, " %s=%lld/%lld", c->needs[k].resource, (long long)c->needs[k].amount,
				(long long)c->needs[k].percent);
		for (size_t k = 0; k < c->n_models; k++)
			text_printf(&t, " model=%s", c->models[k]);
		text_puts(&t, "]");
	}
	struct request *r = request_new(claims, n, text_string(&t));
	text_free(&t);
	return r;
}

/* `count` whole gpus; `count` gpus with `core` of each. */
static inline struct request *lab_whole(int64_t count)
{
	struct claim c = { .count = count };
	return lab_request(&c, 1);
}

static inline struct request *lab_cores(int64_t count, int64_t core)
{
	const struct need need = { .resource = "core", .amount = core };
	struct claim c = { .count = count, .needs = &need, .n_needs = 1 };
	return lab_request(&c, 1);
}

static inline struct pod lab_pod(const char *uid, int32_t priority)
{
	return (struct pod){
		.uid = uid, .namespace = "default", .name = uid, .gang = "", .priority = priority, .preemptible = true
	};
}

/* Reserves and takes over the request; NULL when it does not fit. `node` NULL = anywhere. */
static inline const struct allocation *lab_reserve_pod(
	struct lab *lab, const struct pod *pod, const char *node, struct request *request_take)
{
	const struct reserve args = { .pod = pod, .request = request_take, .node = node, .ttl = RESERVATION_TTL };
	struct report report = report_new(request_take, REPORT_NODES);
	const struct allocation *a = NULL;
	bool existing;
	error_free(pod_reserve(lab_txn(lab), &args, &report, &a, &existing));
	report_free(&report);
	request_unref(request_take);
	return a;
}

static inline const struct allocation *lab_reserve(
	struct lab *lab, const char *uid, int32_t priority, const char *node, struct request *request_take)
{
	const struct pod pod = lab_pod(uid, priority);
	return lab_reserve_pod(lab, &pod, node, request_take);
}

static inline void lab_release(struct lab *lab, const char *uid)
{
	const struct release args = { .uid = uid, .reason = "", .revision = -1 };
	enum pod_state state;
	bool released;
	lab_ok(pod_release(lab_txn(lab), &args, &released, &state));
}

/* A nomination; whether it fits. */
static inline bool lab_nominate(struct lab *lab, const struct pod *pod, const char *node, struct request *request_take,
	const char *const *victims, size_t n_victims)
{
	const struct nominate args = { .pod = pod,
		.node = node,
		.request = request_take,
		.victims = victims,
		.n_victims = n_victims,
		.ttl = NOMINATION_TTL };
	struct report report = report_new(request_take, REPORT_NODES);
	const struct nomination *made;
	const char **ignored = NULL;
	size_t n_ignored;
	struct error *error = pod_nominate(lab_txn(lab), &args, &report, &made, &ignored, &n_ignored);
	bool fits = !error;
	error_free(error);
	free(ignored);
	report_free(&report);
	request_unref(request_take);
	return fits;
}

/* Another cluster with the same records. */
static inline struct lab *lab_copy(const struct lab *from)
{
	struct lab *to = lab_new();
	cluster_snapshot(from->cluster, &to->list);
	for (size_t i = 0; i < to->list.n; i++)
		cluster_apply(to->cluster, &to->list.changes[i]);
	*cluster_counters(to->cluster) = *cluster_counters(from->cluster);
	to->now = from->now;
	return to;
}

#endif

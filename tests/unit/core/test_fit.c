/* The feasibility predicate: reasons, availability, choice (contract, section 2 and the Reasons of section 4). */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "unit/core/world.h"

#define OK(call) assert_string_equal(call, "ok")

static const struct pod low = { .uid = "low", .namespace = "default", .name = "low", .gang = "", .preemptible = true };
static const struct pod high = {
	.uid = "high", .namespace = "default", .name = "high", .gang = "", .priority = 100, .preemptible = true
};

/* ---- reasons */

static void reasons_of_the_node(void **state)
{
	struct world *w = *state;
	struct device_memory memory;
	struct device_report device = standard_device(&memory, "n2", "gpu", 0, 1);
	standard_node(w, "n1", 1, 0, 0);
	OK(try_register(w, &(struct register_node){ .node = "n2", .devices = &device, .n_devices = 1, .verify = true }));
	assert_string_equal(reason_on(w, &low, "gpu", "n9", NULL), "unknown_node 0 1/0");
	assert_string_equal(reason_on(w, &low, "gpu", "n1", NULL), "fits");
	assert_string_equal(reason_on(w, &low, "gpu", "n2", NULL), "unverified 0 1/0");
	OK(try_cordon(w, "n2", true));
	assert_string_equal(reason_on(w, &low, "gpu", "n2", NULL), "node_cordoned 0 1/0");
}

static void reasons_of_the_devices(void **state)
{
	struct world *w = *state;
	standard_node(w, "n1", 2, 1, 0);
	assert_string_equal(reason_on(w, &low, "npu", "n1", NULL), "no_device 0 1/0");
	assert_string_equal(reason_on(w, &low, "gpu*3", "n1", NULL), "no_match 0 3/2");
	assert_string_equal(reason_on(w, &low, "gpu model=H100", "n1", NULL), "no_match 0 1/0");
	assert_string_equal(reason_on(w, &low, "gpu disk=1", "n1", NULL), "no_match 0 1/0");
	assert_string_equal(reason_on(w, &low, "gpu label=slot:7", "n1", NULL), "no_match 0 1/0");
	assert_string_equal(reason_on(w, &low, "gpu*2 not=n1-gpu-0", "n1", NULL), "no_match 0 2/1");
	assert_string_equal(reason_on(w, &low, "gpu uuid=n1-gpu-1 core=10", "n1", NULL), "fits");
	OK(try_update(w, "n1", "n1-gpu-0", SAID_NO, SAID_NOTHING));
	assert_string_equal(reason_on(w, &low, "gpu*2", "n1", NULL), "unhealthy 0 2/1");
	OK(try_update(w, "n1", "n1-gpu-0", SAID_YES, SAID_YES));
	assert_string_equal(reason_on(w, &low, "gpu*2", "n1", NULL), "unhealthy 0 2/1");
	assert_string_equal(reason_on(w, &low, "gpu core=101", "n1", NULL), "too_large 0 1/0");
}

static void reasons_of_what_is_there(void **state)
{
	struct world *w = *state;
	standard_node(w, "n1", 4, 0, 0);
	assert_string_equal(reason_on(w, &low, "gpu*3 same=numa", "n1", NULL), "topology 0 3/4");
	assert_string_equal(reason_on(w, &low, "gpu same=socket", "n1", NULL), "topology 0 1/4");
	OK(try_reserve(w, "a", "gpu*3 core=60", "n1"));
	assert_string_equal(reason_on(w, &low, "gpu*2 core=50", "n1", NULL), "insufficient 0 2/1");
	assert_string_equal(reason_on(w, &low, "gpu*2 core=50", "n1", "a"), "fits");
	OK(try_nominate(w, "b", 50, "n1", "gpu*2 core=40", NULL));
	assert_string_equal(reason_on(w, &low, "gpu*4 core=40", "n1", NULL), "nominated 0 4/2");
	assert_string_equal(reason_on(w, &high, "gpu*4 core=40", "n1", NULL), "fits");
}

/* The slug that comes first decides, not the claim that comes first. */
static void first_slug_then_first_claim(void **state)
{
	struct world *w = *state;
	standard_node(w, "n1", 2, 1, 0);
	OK(try_reserve(w, "a", "gpu*2", "n1"));
	assert_string_equal(reason_on(w, &low, "gpu", "n1", NULL), "insufficient 0 1/0");
	assert_string_equal(reason_on(w, &low, "gpu;npu", "n1", NULL), "no_device 1 1/0");
	assert_string_equal(reason_on(w, &low, "gpu;rdma vf=31", "n1", NULL), "too_large 1 1/0");
	assert_string_equal(reason_on(w, &low, "rdma vf=31;gpu core=101", "n1", NULL), "too_large 0 1/0");
}

/* Each claim fits alone, all together not even on an empty node. */
static void claims_that_share_a_device(void **state)
{
	struct world *w = *state;
	standard_node(w, "n1", 1, 0, 0);
	assert_string_equal(reason_on(w, &low, "gpu core=60;gpu core=40", "n1", NULL), "fits");
	assert_string_equal(reason_on(w, &low, "gpu core=60;gpu core=60", "n1", NULL), "too_large 1 1/1");
	assert_string_equal(reason_on(w, &low, "gpu;gpu core=1", "n1", NULL), "too_large 1 1/1");
	OK(try_reserve(w, "a", "gpu core=20", "n1"));
	assert_string_equal(reason_on(w, &low, "gpu core=60;gpu core=40", "n1", NULL), "insufficient 1 1/1");
}

static void whole_devices_and_shares(void **state)
{
	struct world *w = *state;
	standard_node(w, "n1", 2, 0, 0);
	OK(try_reserve(w, "a", "gpu core=1", "n1"));
	assert_string_equal(reason_on(w, &low, "gpu*2", "n1", NULL), "insufficient 0 2/1");
	OK(try_reserve(w, "b", "gpu", "n1"));
	assert_string_equal(minors(w->a->shares, w->a->n_shares), "1");
	assert_int_equal(w->a->shares[0].n_amounts, 2);
	assert_int_equal(w->a->shares[0].amounts[0].value, 100);
	assert_string_equal(reason_on(w, &low, "gpu*2 core=1", "n1", NULL), "insufficient 0 2/1");
}

static void max_shares_count_every_claim(void **state)
{
	struct world *w = *state;
	struct device_memory memory;
	struct device_report device = standard_device(&memory, "n1", "gpu", 0, 1);
	device.record.max_shares = 2;
	OK(try_register(w, &(struct register_node){ .node = "n1", .devices = &device, .n_devices = 1 }));
	assert_string_equal(reason_on(w, &low, "gpu core=1;gpu core=1;gpu core=1", "n1", NULL), "too_large 2 1/1");
	OK(try_reserve(w, "a", "gpu core=1;gpu core=1", "n1"));
	assert_string_equal(reason_on(w, &low, "gpu core=1", "n1", NULL), "insufficient 0 1/0");
}

static void percent_of_the_capacity(void **state)
{
	struct world *w = *state;
	standard_node(w, "n1", 1, 0, 0);
	OK(try_reserve(w, "a", "gpu core=1% memory=33%", "n1"));
	assert_int_equal(w->a->shares[0].amounts[0].value, 1);
	assert_int_equal(w->a->shares[0].amounts[1].value, 26); /* 80 * 33 / 100 = 26.4 */
	OK(try_reserve(w, "b", "gpu memory=1%", "n1"));
	assert_int_equal(w->a->shares[0].amounts[0].value, 1); /* at least 1 */
	assert_string_equal(reason_on(w, &low, "gpu core=100%", "n1", NULL), "insufficient 0 1/0");
	assert_string_equal(reason_on(w, &low, "gpu core=99%", "n1", NULL), "fits");
}

static void devices_without_resources(void **state)
{
	struct world *w = *state;
	struct device_memory memory;
	struct device_report device = standard_device(&memory, "n1", "gpu", 0, 1);
	device.record.n_capacity = 0;
	OK(try_register(w, &(struct register_node){ .node = "n1", .devices = &device, .n_devices = 1 }));
	assert_string_equal(reason_on(w, &low, "gpu core=1", "n1", NULL), "no_match 0 1/0");
	OK(try_reserve(w, "a", "gpu", "n1"));
	assert_string_equal(reason_on(w, &low, "gpu", "n1", NULL), "insufficient 0 1/0");
}

static void capacity_may_shrink_below_use(void **state)
{
	struct world *w = *state;
	struct device_memory memory;
	struct device_report device = standard_device(&memory, "n1", "gpu", 0, 1);
	standard_node(w, "n1", 1, 0, 0);
	OK(try_reserve(w, "a", "gpu core=60", "n1"));
	memory.capacity[0].value = 50;
	OK(try_register(w, &(struct register_node){ .node = "n1", .devices = &device, .n_devices = 1 }));
	assert_string_equal(reason_on(w, &low, "gpu core=1", "n1", NULL), "insufficient 0 1/0");
	assert_string_equal(reason_on(w, &low, "gpu core=50", "n1", "a"), "fits");
	assert_string_equal(reason_on(w, &low, "gpu core=51", "n1", NULL), "too_large 0 1/0");
}

static void unavailable_kinds_of_devices(void **state)
{
	struct world *w = *state;
	struct device_memory memory;
	struct device_report device = standard_device(&memory, "n1", "gpu", 0, 2);
	standard_node(w, "n1", 2, 0, 0);
	OK(try_reserve(w, "a", "gpu uuid=n1-gpu-1", "n1"));
	OK(try_register(w, &(struct register_node){ .node = "n1", .devices = &device, .n_devices = 1 }));
	assert_string_equal(text_string(&w->events), "device.missing node.registered");
	assert_string_equal(reason_on(w, &low, "gpu*2", "n1", NULL), "unhealthy 0 2/1");
}

/* ---- availability */

/* capacity - max(held now, held by non-victims + promised) */
static void held_and_promised(void **state)
{
	struct world *w = *state;
	standard_node(w, "n1", 1, 0, 0);
	OK(try_reserve(w, "victim", "gpu core=50", "n1"));
	OK(try_reserve(w, "other", "gpu core=20", "n1"));
	OK(try_nominate(w, "b", 50, "n1", "gpu core=70", "victim"));
	/* held 70, after the victim 20 + 70 */
	assert_string_equal(reason_on(w, &low, "gpu core=10", "n1", NULL), "fits");
	assert_string_equal(reason_on(w, &low, "gpu core=11", "n1", NULL), "nominated 0 1/0");
	OK(try_release(w, "victim", false));
	assert_string_equal(reason_on(w, &low, "gpu core=11", "n1", NULL), "nominated 0 1/0");
	assert_string_equal(reason_on(w, &low, "gpu core=10", "n1", NULL), "fits");
	assert_string_equal(reason_on(w, &high, "gpu core=80", "n1", NULL), "fits");
	assert_string_equal(reason_on(w, &high, "gpu core=81", "n1", NULL), "insufficient 0 1/0");
}

static void promises_of_equal_priority_count(void **state)
{
	struct world *w = *state;
	const struct pod equal = pod_of("equal", 50), below = pod_of("below", 49), above = pod_of("above", 51);
	standard_node(w, "n1", 1, 0, 0);
	OK(try_nominate(w, "b", 50, "n1", "gpu core=70", NULL));
	assert_string_equal(reason_on(w, &equal, "gpu core=31", "n1", NULL), "nominated 0 1/0");
	assert_string_equal(reason_on(w, &below, "gpu core=31", "n1", NULL), "nominated 0 1/0");
	assert_string_equal(reason_on(w, &above, "gpu core=31", "n1", NULL), "fits");
	assert_string_equal(reason_on(w, &equal, "gpu", "n1", NULL), "nominated 0 1/0");
	assert_string_equal(reason_on(w, &above, "gpu", "n1", NULL), "fits");
}

static void own_gang_does_not_count(void **state)
{
	struct world *w = *state;
	struct pod mate = pod_of("mate", 0), stranger = pod_of("stranger", 0);
	const struct pod first = {
		.uid = "first", .namespace = "default", .name = "first", .gang = "g", .priority = 50, .preemptible = true
	};
	mate.gang = stranger.gang = "g";
	stranger.namespace = "elsewhere";
	standard_node(w, "n1", 1, 0, 0);
	OK(try_reserve_with(
		w, &(struct reserve){ .pod = &first, .request = ask(w, "gpu"), .node = "n1", .ttl = RESERVATION_TTL }));
	OK(try_unreserve(w, "first", -1, true));
	assert_non_null(w->n);
	assert_string_equal(reason_on(w, &stranger, "gpu", "n1", NULL), "nominated 0 1/0");
	assert_string_equal(reason_on(w, &mate, "gpu", "n1", NULL), "fits");
}

/* ---- choice */

static void binpack_takes_the_fullest(void **state)
{
	struct world *w = *state;
	struct reserve spread = {
		.pod = &low, .request = ask(w, "gpu core=10"), .node = "n1", .ttl = RESERVATION_TTL, .policy = POLICY_SPREAD
	};
	standard_node(w, "n1", 4, 0, 0);
	OK(try_reserve(w, "a", "gpu core=30 uuid=n1-gpu-2", "n1"));
	OK(try_reserve(w, "b", "gpu core=20 uuid=n1-gpu-1", "n1"));
	OK(try_reserve(w, "c", "gpu core=10", "n1"));
	assert_string_equal(minors(w->a->shares, w->a->n_shares), "2");
	OK(try_reserve_with(w, &spread));
	assert_string_equal(minors(w->a->shares, w->a->n_shares), "0"); /* of 0 and 3, which are empty, the lowest minor */
}

/* How full a device is, is decided by the resource it has most of; only those the claim names count. */
static void fullness_of_several_resources(void **state)
{
	struct world *w = *state;
	standard_node(w, "n1", 2, 0, 0);
	OK(try_reserve(w, "a", "gpu memory=79 uuid=n1-gpu-0", "n1"));
	OK(try_reserve(w, "b", "gpu core=2 memory=1 uuid=n1-gpu-1", "n1"));
	OK(try_reserve(w, "c", "gpu core=1", "n1"));
	assert_string_equal(minors(w->a->shares, w->a->n_shares), "1");
	OK(try_reserve(w, "d", "gpu core=1 memory=1", "n1")); /* 0: largest of 100/100 and 1/80; 1: of 97/100 and 79/80 */
	assert_string_equal(minors(w->a->shares, w->a->n_shares), "1");
}

static void whole_claims_go_by_minor(void **state)
{
	struct world *w = *state;
	standard_node(w, "n1", 4, 0, 0);
	OK(try_reserve(w, "a", "gpu uuid=n1-gpu-1", "n1"));
	OK(try_reserve(w, "b", "gpu*2", "n1"));
	assert_string_equal(minors(w->a->shares, w->a->n_shares), "0 2");
}

static void promised_devices_come_last(void **state)
{
	struct world *w = *state;
	standard_node(w, "n1", 4, 0, 0);
	OK(try_nominate(w, "b", 50, "n1", "gpu*2", NULL));
	assert_string_equal(minors(w->n->shares, w->n->n_shares), "0 1");
	OK(try_reserve_at(w, "c", 100, "gpu*2", "n1"));
	assert_string_equal(minors(w->a->shares, w->a->n_shares), "2 3");
	assert_non_null(cluster_promise(w->cluster, "b"));
	OK(try_reserve_at(w, "b", 50, "gpu*2", "n1"));
	assert_string_equal(minors(w->a->shares, w->a->n_shares), "0 1");
}

static void nominated_devices_come_first(void **state)
{
	struct world *w = *state;
	standard_node(w, "n1", 4, 0, 0);
	OK(try_reserve(w, "victim", "gpu*2 uuid=n1-gpu-2 uuid=n1-gpu-3", "n1"));
	OK(try_nominate(w, "b", 50, "n1", "gpu", "victim"));
	assert_string_equal(minors(w->n->shares, w->n->n_shares), "2");
	OK(try_release(w, "victim", false));
	OK(try_reserve_at(w, "b", 50, "gpu", NULL));
	assert_string_equal(minors(w->a->shares, w->a->n_shares), "2");
}

static void nodes_by_nomination_policy_name(void **state)
{
	struct world *w = *state;
	const struct pod s = pod_of("s", 0);
	const struct reserve spread = {
		.pod = &s, .request = ask(w, "gpu core=10"), .ttl = RESERVATION_TTL, .policy = POLICY_SPREAD
	};
	standard_node(w, "n3", 1, 0, 0);
	standard_node(w, "n1", 1, 0, 0);
	standard_node(w, "n2", 1, 0, 0);
	OK(try_reserve(w, "a", "gpu core=10", NULL));
	assert_string_equal(w->a->node, "n1"); /* all alike: the name */
	OK(try_reserve(w, "b", "gpu core=30", "n2"));
	OK(try_reserve(w, "c", "gpu core=10", NULL));
	assert_string_equal(w->a->node, "n2"); /* the fullest */
	OK(try_reserve_with(w, &spread));
	assert_string_equal(w->a->node, "n3"); /* the emptiest */
	OK(try_nominate(w, "d", 0, "n3", "gpu core=10", NULL));
	OK(try_reserve(w, "d", "gpu core=10", NULL));
	assert_string_equal(w->a->node, "n3"); /* where it is nominated */
}

/* ---- topology and reuse */

static void devices_of_one_place(void **state)
{
	struct world *w = *state;
	standard_node(w, "n1", 4, 2, 0);
	OK(try_reserve(w, "a", "gpu uuid=n1-gpu-1", "n1"));
	OK(try_reserve(w, "b", "gpu*2 same=numa", "n1")); /* 0 is alone now */
	assert_string_equal(minors(w->a->shares, w->a->n_shares), "2 3");
	assert_string_equal(reason_on(w, &low, "gpu*2 same=numa", "n1", NULL), "insufficient 0 2/1");
}

static void claims_of_one_place(void **state)
{
	struct world *w = *state;
	standard_node(w, "n1", 4, 2, 0);
	OK(try_reserve(w, "a", "rdma vf=25 uuid=n1-rdma-0", "n1"));
	OK(try_reserve(w, "b", "gpu core=50 same=numa together=x;rdma vf=10 same=numa together=x", "n1"));
	assert_string_equal(w->a->shares[0].uuid, "n1-gpu-2");
	assert_string_equal(w->a->shares[1].uuid, "n1-rdma-1");
	OK(try_reserve(w, "c", "gpu core=50 same=numa;rdma vf=10 same=numa", "n1")); /* no tag: each for itself */
	assert_string_equal(w->a->shares[0].uuid, "n1-gpu-2");
	assert_string_equal(w->a->shares[1].uuid, "n1-rdma-1");
}

static void reuse_takes_nothing(void **state)
{
	struct world *w = *state;
	standard_node(w, "n1", 2, 0, 0);
	OK(try_reserve(w, "a", "init:gpu reuse=main;main:gpu*2", "n1"));
	assert_int_equal(w->a->n_shares, 2);
	assert_int_equal(w->a->shares[0].claim, 1);
	assert_string_equal(minors(w->a->shares, w->a->n_shares), "0 1");
}

static void a_later_claim_decides_an_earlier_one(void **state)
{
	struct world *w = *state;
	standard_node(w, "n1", 2, 0, 0);
	OK(try_reserve(w, "a", "gpu core=50;gpu uuid=n1-gpu-0", "n1")); /* the first in order would be device 0 for both */
	assert_string_equal(minors(w->a->shares, w->a->n_shares), "1 0");
}

/* A search that would take for ever ends after its budget, which nothing in it may spend for free. */
static void a_search_without_end(void **state)
{
	enum { DEVICES = 256 };
	struct world *w = *state;
	struct device_memory *memory = calloc(DEVICES, sizeof *memory);
	struct device_report *devices = calloc(DEVICES, sizeof *devices);
	char brief[512] = "gpu*3 memory=1000";
	for (size_t i = 0; i < DEVICES; i++) {
		devices[i] = standard_device(&memory[i], "n1", "gpu", i, DEVICES);
		memory[i].capacity[0].value = (int64_t)(i * 7919 % 1009) + 1;
		memory[i].capacity[1].value = i % 64 == 63 ? 1000 : (int64_t)(i * 104729 % 997);
	}
	OK(try_register(w, &(struct register_node){ .node = "n1", .devices = devices, .n_devices = DEVICES }));
	for (size_t i = 0; i < 4; i++) {
		memmove(brief + 7, brief, strlen(brief) + 1);
		memcpy(brief, "gpu*63;", 7);
	}
	clock_t start = clock();
	assert_string_equal(try_reserve(w, "a", brief, "n1"), "overloaded");
	assert_string_equal(error_text(w, "limit"), "search_time");
	assert_true(clock() - start < 20 * CLOCKS_PER_SEC); /* also under a sanitizer; else 0.2 s */
	free(memory);
	free(devices);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, world_setup, world_teardown)
	const struct CMUnitTest tests[] = {
		TEST(reasons_of_the_node),
		TEST(reasons_of_the_devices),
		TEST(reasons_of_what_is_there),
		TEST(first_slug_then_first_claim),
		TEST(claims_that_share_a_device),
		TEST(whole_devices_and_shares),
		TEST(max_shares_count_every_claim),
		TEST(percent_of_the_capacity),
		TEST(devices_without_resources),
		TEST(capacity_may_shrink_below_use),
		TEST(unavailable_kinds_of_devices),
		TEST(held_and_promised),
		TEST(promises_of_equal_priority_count),
		TEST(own_gang_does_not_count),
		TEST(binpack_takes_the_fullest),
		TEST(fullness_of_several_resources),
		TEST(whole_claims_go_by_minor),
		TEST(promised_devices_come_last),
		TEST(nominated_devices_come_first),
		TEST(nodes_by_nomination_policy_name),
		TEST(devices_of_one_place),
		TEST(claims_of_one_place),
		TEST(reuse_takes_nothing),
		TEST(a_later_claim_decides_an_earlier_one),
		TEST(a_search_without_end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

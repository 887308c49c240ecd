#include "sample.h"

static const struct amount full[] = { { "core", 100 }, { "memory", 80 } };

static void add_node(struct change_list *ret, int64_t id, const char *name)
{
	static const struct label labels[] = { { "zone", "a" } };
	change_list_add(ret, RECORD_NODE, NULL,
		node_record_new(&(struct node_record){ .id = id,
			.name = name,
			.reason = "",
			.revision = 1,
			.last_seen_at = 1700000000123,
			.labels = labels,
			.n_labels = 1 }));
}

static void add_device(
	struct change_list *ret, int64_t id, const char *uuid, int64_t node_id, const char *node, int64_t max_shares)
{
	static const struct label labels[] = { { "slot", "1" } };
	change_list_add(ret, RECORD_DEVICE, NULL,
		device_record_new(&(struct device_record){ .id = id,
			.node_id = node_id,
			.node = node,
			.uuid = uuid,
			.type = "gpu",
			.minor = id - 11,
			.model = "A10",
			.healthy = true,
			.max_shares = max_shares,
			.numa = -1,
			.socket = -1,
			.pcie = "",
			.bus_id = "",
			.reason = "",
			.revision = 1,
			.capacity = full,
			.n_capacity = 2,
			.labels = labels,
			.n_labels = 1 }));
}

static struct pod pod(const char *uid)
{
	return (struct pod){ .uid = uid, .namespace = "default", .name = uid, .gang = "", .preemptible = true };
}

static void add_allocations(struct change_list *ret)
{
	static const struct amount some[] = { { "core", 60 }, { "memory", 40 } }, few[] = { { "core", 30 } };
	static const char *const ids[] = { "x-1" };
	struct request *request = request_of("gpu,1,main,1");
	const struct handout *handout = handout_new(
		&(struct handout){ .call = "c1", .device_ids = ids, .n_device_ids = 1, .detail = "" });
	const struct share s1 = { .device_id = 11, .uuid = "d1", .minor = 0, .amounts = some, .n_amounts = 2 };
	const struct share s2 = { .device_id = 12, .uuid = "d2", .minor = 1, .whole = true, .amounts = full, .n_amounts = 2 };
	const struct share s3 = { .device_id = 13, .uuid = "d3", .minor = 2, .amounts = few, .n_amounts = 1 };
	struct allocation like = { .id = 21,
		.pod = pod("a1"),
		.node_id = 1,
		.node = "n1",
		.state = POD_BOUND,
		.request = request,
		.created_at = 1700000000000,
		.state_at = 1700000001500,
		.expires_at = 1700000300000,
		.token = 1,
		.revision = 1,
		.shares = &s1,
		.n_shares = 1 };
	change_list_add(ret, RECORD_ALLOCATION, NULL, allocation_new(&like));
	like = (struct allocation){ .id = 22,
		.pod = pod("a2"),
		.node_id = 1,
		.node = "n1",
		.state = POD_ALLOCATED,
		.request = request,
		.handed_out = 1,
		.created_at = 1700000000000,
		.state_at = 1700000002000,
		.revision = 1,
		.shares = &s2,
		.n_shares = 1,
		.handouts = { handout } };
	change_list_add(ret, RECORD_ALLOCATION, NULL, allocation_new(&like));
	like = (struct allocation){ .id = 23,
		.pod = pod("a3"),
		.node_id = 2,
		.node = "n2",
		.state = POD_RESERVED,
		.request = request,
		.created_at = 1700000000000,
		.state_at = 1700000002000,
		.expires_at = 1700000600000,
		.revision = 1,
		.shares = &s3,
		.n_shares = 1 };
	change_list_add(ret, RECORD_ALLOCATION, NULL, allocation_new(&like));
	handout_unref(handout);
	request_unref(request);
}

static void add_waiting(struct change_list *ret)
{
	static const struct amount half[] = { { "core", 50 } };
	static const char *const victims[] = { "a3" }, *const nodes[] = { "n1", "n2" };
	static const struct slug_count counts[] = { { "insufficient", 2 }, { "no_device", 1 } };
	struct request *request = request_of("gpu,1,main,1");
	const struct share s9 = { .device_id = 13, .uuid = "d3", .minor = 2, .amounts = half, .n_amounts = 1 };
	change_list_add(ret, RECORD_NOMINATION, NULL,
		nomination_new(&(struct nomination){ .id = 31,
			.pod = pod("n9"),
			.node_id = 2,
			.node = "n2",
			.request = request,
			.expires_at = 1700000600000,
			.revision = 1,
			.shares = &s9,
			.n_shares = 1,
			.victims = victims,
			.n_victims = 1 }));
	change_list_add(ret, RECORD_LAPSE, NULL,
		lapse_new(&(struct lapse){
			.node_id = 2, .node = "n2", .uid = "p7", .request = request, .at = 5, .expires_at = 6 }));
	change_list_add(ret, RECORD_REFUSAL, NULL,
		refusal_new(&(struct refusal){ .pod = pod("p8"),
			.reason = "insufficient",
			.message = "",
			.first_at = 1700000000000,
			.last_at = 1700000060000,
			.count = 7,
			.expires_at = 1700086400000,
			.request = request,
			.counts = counts,
			.n_counts = 2,
			.nodes = nodes,
			.n_nodes = 2 }));
	request_unref(request);
}

const struct event *sample_event(int64_t revision, int64_t n, int64_t at, const char *kind, const char *node, const char *uid)
{
	return event_new(&(struct event){ .revision = revision,
		.n = n,
		.at = at,
		.kind = kind,
		.node = node,
		.uid = uid,
		.actor = "test",
		.reason = "",
		.cause = "",
		.by = "" });
}

void sample_cluster(struct change_list *ret)
{
	add_node(ret, 1, "n1");
	add_node(ret, 2, "n2");
	add_device(ret, 11, "d1", 1, "n1", 3);
	add_device(ret, 12, "d2", 1, "n1", 0);
	add_device(ret, 13, "d3", 2, "n2", 0);
	change_list_add(ret, RECORD_LOCK, NULL,
		lock_new(&(struct lock){ .node_id = 1,
			.node = "n1",
			.uid = "a1",
			.token = 1,
			.acquired_at = 1700000001000,
			.expires_at = 1700000300000,
			.ttl = 299000 }));
	change_list_add(ret, RECORD_LOCK, NULL,
		lock_new(&(struct lock){ .node_id = 2,
			.node = "n2",
			.uid = "p6",
			.token = 2,
			.acquired_at = 1700000001000,
			.expires_at = 1700000300000,
			.ttl = 299000 }));
	add_allocations(ret);
	add_waiting(ret);
	change_list_add(ret, RECORD_EVENT, NULL, sample_event(1, 0, 1700000000123, "pod.reserved", "n1", "a1"));
}

int place_new_sample(void **state)
{
	if (place_new_open(state) != 0)
		return -1;
	struct change_list changes = { 0 };
	sample_cluster(&changes);
	commit(*state, &changes);
	change_list_free(&changes);
	return 0;
}

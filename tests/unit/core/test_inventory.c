/* node.register, device.update, node.cordon, node.remove, pod.adopt, plugin.reconcile (contract, section 5). */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#include "unit/core/world.h"

#define OK(call) assert_string_equal(call, "ok")

enum { LIST = 3 };

/* A list of three gpus of n1 to play with. */
struct listing {
	struct device_memory memory[LIST];
	struct device_report devices[LIST];
	struct register_node args;
};

static void list(struct listing *l)
{
	for (size_t i = 0; i < LIST; i++)
		l->devices[i] = standard_device(&l->memory[i], "n1", "gpu", i, LIST);
	l->args = (struct register_node){ .node = "n1", .devices = l->devices, .n_devices = LIST };
}

static void assert_registered(const struct world *w, int64_t added, int64_t updated, int64_t missing, int64_t removed)
{
	assert_int_equal(w->registered.added, added);
	assert_int_equal(w->registered.updated, updated);
	assert_int_equal(w->registered.missing, missing);
	assert_int_equal(w->registered.removed, removed);
	assert_int_equal(w->registered.revision, cluster_node(w->cluster, "n1")->record->revision);
}

static void registering(void **state)
{
	struct world *w = *state;
	struct listing l;
	list(&l);
	OK(try_register(w, &l.args));
	assert_registered(w, 3, 0, 0, 0);
	OK(try_register(w, &l.args));
	assert_registered(w, 0, 0, 0, 0);
	assert_int_equal(w->revision, 0);
	l.devices[1].record.model = "H100";
	l.memory[2].capacity[0].value = 50;
	OK(try_register(w, &l.args));
	assert_registered(w, 0, 2, 0, 0);
	assert_string_equal(text_string(&w->events), "device.updated device.updated node.registered");
	OK(try_reserve(w, "a", "gpu uuid=n1-gpu-2", "n1"));
	l.args.n_devices = 1;
	OK(try_register(w, &l.args));
	assert_registered(w, 0, 0, 1, 1);
	OK(try_register(w, &l.args));
	assert_int_equal(w->revision, 0); /* the same list again */
	OK(try_release(w, "a", false));
	assert_string_equal(text_string(&w->events), "pod.released device.removed");
}

static void a_missing_device_comes_back(void **state)
{
	struct world *w = *state;
	struct listing l;
	list(&l);
	OK(try_register(w, &l.args));
	OK(try_update(w, "n1", "n1-gpu-2", SAID_NO, SAID_YES));
	l.args.n_devices = 2;
	OK(try_register(w, &l.args));
	assert_registered(w, 0, 0, 1, 0); /* cordoned: kept */
	l.args.n_devices = 3;
	OK(try_register(w, &l.args));
	assert_registered(w, 0, 1, 0, 0);
	const struct device_record *r = cluster_device(w->cluster, "n1-gpu-2")->record;
	assert_false(r->missing);
	assert_true(r->cordoned);
	assert_false(r->healthy); /* not said: unchanged */
	l.devices[2].says_healthy = l.devices[2].record.healthy = true;
	OK(try_register(w, &l.args));
	assert_true(cluster_device(w->cluster, "n1-gpu-2")->record->healthy);
}

static void lists_that_are_wrong(void **state)
{
	struct world *w = *state;
	struct listing l;
	static const char *const types[] = { "rdma" };
	list(&l);
	l.devices[1].record.uuid = "n1-gpu-0";
	assert_string_equal(try_register(w, &l.args), "invalid_params");
	list(&l);
	l.devices[2].record.minor = 0;
	assert_string_equal(try_register(w, &l.args), "invalid_params");
	assert_string_equal(error_text(w, "path"), "devices[2].minor");
	list(&l);
	l.args.types = types;
	l.args.n_types = 1;
	assert_string_equal(try_register(w, &l.args), "invalid_params");
	assert_null(cluster_node(w->cluster, "n1"));
	list(&l);
	OK(try_register(w, &l.args));
	l.args.node = "n2";
	assert_string_equal(try_register(w, &l.args), "conflict");
	assert_non_null(strstr(w->error->message, "n1"));
	assert_non_null(strstr(w->error->message, "n2"));
	assert_null(cluster_node(w->cluster, "n2"));
	assert_string_equal(try_register(w, &(struct register_node){ .node = "n1" }), "conflict");
	OK(try_register(w, &(struct register_node){ .node = "n1", .allow_empty = true }));
	OK(try_register(w, &(struct register_node){ .node = "n1" })); /* has none: nothing to protect */
}

static void two_agents_on_a_node(void **state)
{
	struct world *w = *state;
	static const char *const types[] = { "gpu" };
	struct listing l;
	standard_node(w, "n1", 3, 2, 0);
	list(&l);
	l.args.types = types;
	l.args.n_types = 1;
	l.args.n_devices = 2;
	OK(try_register(w, &l.args));
	assert_registered(w, 0, 0, 0, 1);
	assert_int_equal(cluster_node(w->cluster, "n1")->n_devices, 4);
}

/* The same minor with another uuid is another device. */
/* Two agents on one node cannot list more than one could. */
static void too_many_devices(void **state)
{
	struct world *w = *state;
	struct device_memory *memory = mem_array(NODE_DEVICES + 1, sizeof *memory);
	struct device_report *devices = mem_array(NODE_DEVICES + 1, sizeof *devices);
	const char *gpu = "gpu", *nic = "nic";
	struct register_node args = { .node = "n1", .devices = devices, .n_devices = NODE_DEVICES, .types = &gpu, .n_types = 1 };
	for (size_t i = 0; i < NODE_DEVICES; i++)
		devices[i] = standard_device(&memory[i], "n1", "gpu", i, 1);
	OK(try_register(w, &args));
	struct device_report other = standard_device(&memory[NODE_DEVICES], "n1", "nic", 0, 1);
	const struct register_node more = { .node = "n1", .devices = &other, .n_devices = 1, .types = &nic, .n_types = 1 };
	assert_string_equal(try_register(w, &more), "overloaded");
	assert_string_equal(error_text(w, "limit"), "devices");
	args.n_devices--;
	OK(try_register(w, &args));
	OK(try_register(w, &more));
	free(memory);
	free(devices);
}

static void a_card_was_swapped(void **state)
{
	struct world *w = *state;
	struct listing l;
	list(&l);
	OK(try_register(w, &l.args));
	OK(try_reserve(w, "a", "gpu uuid=n1-gpu-0", "n1"));
	l.devices[0].record.uuid = "new";
	OK(try_register(w, &l.args));
	assert_registered(w, 1, 0, 1, 0);
	assert_string_equal(
		reason_on(w, &(struct pod){ .uid = "x", .namespace = "", .name = "", .gang = "" }, "gpu uuid=new", "n1", NULL),
		"fits");
}

static void updating_and_cordoning(void **state)
{
	struct world *w = *state;
	standard_node(w, "n1", 1, 0, 0);
	assert_string_equal(try_update(w, "n9", "x", SAID_NO, SAID_NO), "not_found");
	assert_string_equal(try_update(w, "n1", "x", SAID_NO, SAID_NO), "not_found");
	OK(try_update(w, "n1", "n1-gpu-0", SAID_YES, SAID_NOTHING));
	assert_int_equal(w->revision, 0);
	OK(try_update(w, "n1", "n1-gpu-0", SAID_NOTHING, SAID_YES));
	assert_string_equal(text_string(&w->events), "device.updated");
	OK(try_cordon(w, "n1", false));
	assert_int_equal(w->revision, 0);
	OK(try_cordon(w, "n1", true));
	assert_string_equal(text_string(&w->events), "node.cordoned");
	OK(try_cordon(w, "n1", false));
	assert_string_equal(text_string(&w->events), "node.uncordoned");
	assert_string_equal(try_verify(w, "n9"), "not_found");
	OK(try_verify(w, "n1"));
	assert_int_equal(w->revision, 0);
}

static void removing_a_node(void **state)
{
	struct world *w = *state;
	assert_string_equal(try_remove(w, "n1", true), "not_found");
	standard_node(w, "n1", 3, 1, 0);
	OK(try_reserve(w, "z", "gpu", "n1"));
	OK(try_bind(w, "z", "n1"));
	pass(w, LOCK_TTL);
	OK(try_reserve(w, "b", "gpu", "n1"));
	OK(try_reserve(w, "a", "gpu", "n1"));
	OK(try_bind(w, "a", "n1"));
	OK(try_nominate(w, "c", 10, "n1", "gpu", NULL));
	assert_string_equal(try_remove(w, "n1", false), "conflict");
	OK(try_remove(w, "n1", true));
	assert_string_equal(w->ids, "a b");
	assert_string_equal(text_string(&w->events), "pod.released pod.released nomination.invalidated node.removed");
	assert_int_equal(
		cluster_count(w->cluster).devices + cluster_count(w->cluster).locks + cluster_count(w->cluster).lapses, 0);
}

/* ---- adopt */

static void adopting(void **state)
{
	struct world *w = *state;
	standard_node(w, "n1", 2, 0, 0);
	standard_node(w, "n2", 2, 0, 0);
	assert_string_equal(try_adopt(w, "a", "n9", "gpu", "n1-gpu-0", false), "not_found");
	assert_string_equal(try_adopt(w, "a", "n2", "gpu", "n1-gpu-0", false), "not_found");
	assert_string_equal(error_text(w, "kind"), "device");
	OK(try_adopt(w, "a", "n1", "gpu", "n1-gpu-0", false));
	assert_int_equal(w->a->state, POD_ALLOCATED);
	assert_false(w->a->over);
	OK(try_adopt(w, "a", "n1", "gpu", "n1-gpu-0", false));
	assert_int_equal(w->revision, 0);
	assert_string_equal(try_adopt(w, "a", "n2", "gpu", "n2-gpu-0", false), "conflict");
	assert_string_equal(try_adopt(w, "b", "n1", "gpu core=10", "n1-gpu-0", false), "insufficient");
	OK(try_adopt(w, "b", "n1", "gpu core=10", "n1-gpu-0", true));
	assert_true(w->a->over);
	assert_string_equal(text_string(&w->events), "pod.adopted server.alarm");
	OK(try_adopt(w, "b", "n1", "gpu core=10", "n1-gpu-1", false)); /* another record of the uid */
	assert_string_equal(text_string(&w->events), "pod.released pod.adopted");
}

static void adopting_whatever_the_state_of_the_device(void **state)
{
	struct world *w = *state;
	struct listing l;
	list(&l);
	OK(try_register(w, &l.args));
	OK(try_reserve(w, "a", "gpu uuid=n1-gpu-2", "n1"));
	OK(try_bind(w, "a", "n1"));
	OK(try_update(w, "n1", "n1-gpu-1", SAID_NO, SAID_YES));
	OK(try_cordon(w, "n1", true));
	l.args.n_devices = 2;
	OK(try_register(w, &l.args));
	OK(try_adopt(w, "a", "n1", "gpu core=5", "n1-gpu-2", false)); /* missing, and kept only for what it replaces */
	assert_int_equal(w->a->state, POD_ALLOCATED);
	assert_null(cluster_node(w->cluster, "n1")->lock);
	OK(try_adopt(w, "b", "n1", "gpu core=5", "n1-gpu-1", false));
	OK(try_adopt(w, "a", "n1", "gpu core=5", "n1-gpu-0", false));
	assert_null(cluster_device(w->cluster, "n1-gpu-2"));
}

/* ---- reconcile */

static void allocated(struct world *w, const char *uid)
{
	OK(try_reserve(w, uid, "gpu core=1", "n1"));
	OK(try_bind(w, uid, "n1"));
	OK(try_allocate(w, &(struct allocate){ .node = "n1", .uid = uid, .token = -1 }));
}

static void reconciling(void **state)
{
	struct world *w = *state;
	static const char *const uids[] = { "kept", "stranger", "elsewhere", "late", "stranger" };
	struct reconcile args = { .node = "n1", .uids = uids, .n_uids = 5 };
	standard_node(w, "n1", 2, 0, 0);
	standard_node(w, "n2", 2, 0, 0);
	OK(try_reserve(w, "late", "gpu core=1", "n1"));
	OK(try_bind(w, "late", "n1"));
	pass(w, LOCK_TTL);
	allocated(w, "kept");
	allocated(w, "gone");
	allocated(w, "going");
	OK(try_release(w, "going", true));
	OK(try_reserve(w, "elsewhere", "gpu", "n2"));
	OK(try_reserve(w, "reserved", "gpu core=1", "n1"));
	args.as_of = cluster_counters(w->cluster)->revision;
	allocated(w, "fresh"); /* after the agent read the revision */
	args.dry_run = true;
	OK(try_reconcile(w, &args));
	assert_int_equal(w->reconciled.n_released, 2);
	assert_string_equal(state_of(w, "gone"), "allocated");
	args.dry_run = false;
	OK(try_reconcile(w, &args));
	assert_int_equal(w->reconciled.n_released, 2);
	assert_string_equal(w->reconciled.released[0], "going");
	assert_string_equal(w->reconciled.released[1], "gone");
	assert_int_equal(w->reconciled.n_unknown, 1);
	assert_string_equal(w->reconciled.unknown[0], "stranger");
	assert_int_equal(w->reconciled.n_conflicts, 2);
	assert_string_equal(w->reconciled.conflicts[0].uid, "elsewhere");
	assert_string_equal(w->reconciled.conflicts[0].node, "n2");
	assert_string_equal(w->reconciled.conflicts[1].uid, "late");
	assert_null(w->reconciled.conflicts[1].node);
	assert_string_equal(text_string(&w->events), "pod.released pod.released");
	assert_string_equal(state_of(w, "fresh"), "allocated");
	assert_string_equal(state_of(w, "reserved"), "reserved");
	OK(try_reconcile(w, &args));
	assert_int_equal(w->revision, 0);
	args.n_uids = 1;
	OK(try_reconcile(w, &args));
	assert_string_equal(text_string(&w->events), "pod.forgotten"); /* the lapse that is not listed */
	args.as_of = cluster_counters(w->cluster)->revision + 1;
	assert_string_equal(try_reconcile(w, &args), "invalid_params");
	args.node = "n9";
	assert_string_equal(try_reconcile(w, &args), "not_found");
}

static void reconciling_verifies(void **state)
{
	struct world *w = *state;
	static const char *const uids[] = { "a" };
	struct listing l;
	list(&l);
	l.args.verify = true;
	OK(try_register(w, &l.args));
	OK(try_reconcile(w, &(struct reconcile){ .node = "n1", .uids = uids, .n_uids = 1 }));
	assert_true(cluster_node(w->cluster, "n1")->record->unverified);
	OK(try_adopt(w, "a", "n1", "gpu", "n1-gpu-0", false));
	OK(try_reconcile(w, &(struct reconcile){ .node = "n1", .uids = uids, .n_uids = 1 }));
	assert_string_equal(text_string(&w->events), "node.verified");
	assert_false(cluster_node(w->cluster, "n1")->record->unverified);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, world_setup, world_teardown)
	const struct CMUnitTest tests[] = {
		TEST(registering),
		TEST(a_missing_device_comes_back),
		TEST(lists_that_are_wrong),
		TEST(two_agents_on_a_node),
		TEST(too_many_devices),
		TEST(a_card_was_swapped),
		TEST(updating_and_cordoning),
		TEST(removing_a_node),
		TEST(adopting),
		TEST(adopting_whatever_the_state_of_the_device),
		TEST(reconciling),
		TEST(reconciling_verifies),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

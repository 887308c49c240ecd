/* Nominations: who may be a victim, what moves and what ends (contract, section 5, "A nomination ends"). */
#include <string.h>

#include "unit/core/world.h"

#define OK(call) assert_string_equal(call, "ok")

static const struct nomination *nomination_of(const struct world *w, const char *uid)
{
	const struct promise *p = cluster_promise(w->cluster, uid);
	return p ? p->record : NULL;
}

/* Cause and originator of the last event. */
static void assert_last(const struct world *w, const char *kind, const char *uid, const char *cause, const char *by)
{
	const struct event *e = w->list.changes[w->list.n - 1].after;
	assert_string_equal(e->kind, kind);
	assert_string_equal(e->uid, uid);
	assert_string_equal(e->cause, cause);
	assert_string_equal(e->by, by);
}

static void victims(void **state)
{
	struct world *w = *state;
	standard_node(w, "n1", 2, 0, 0);
	standard_node(w, "n2", 2, 0, 0);
	assert_string_equal(try_nominate(w, "b", 10, "n9", "gpu", NULL), "not_found");
	OK(try_reserve_at(w, "a", 5, "gpu*2", "n1"));
	assert_string_equal(try_nominate(w, "b", 10, "n1", "gpu", NULL), "insufficient");
	assert_string_equal(try_nominate(w, "b", 5, "n1", "gpu", "a"), "conflict"); /* as important */
	OK(try_nominate(w, "b", 10, "n1", "gpu", "a"));
	assert_string_equal(text_string(&w->events), "nomination.set pod.preempted");
	assert_ptr_equal(holding_preemptor(cluster_holding(w->cluster, "a")), w->n);
	OK(try_nominate(w, "c", 10, "n2", "gpu", "a")); /* holds nothing there */
	assert_string_equal(w->ids, "a");
	assert_int_equal(w->n->n_victims, 0);
	assert_string_equal(try_nominate(w, "a", 10, "n2", "gpu", NULL), "conflict"); /* holds devices */
}

static void replacing(void **state)
{
	struct world *w = *state;
	standard_node(w, "n1", 2, 0, 0);
	standard_node(w, "n2", 1, 0, 0);
	OK(try_nominate(w, "b", 0, "n1", "gpu*2", NULL));
	assert_string_equal(try_nominate(w, "b", 0, "n2", "gpu*2", NULL), "insufficient");
	assert_string_equal(nomination_of(w, "b")->node, "n1"); /* the earlier one stays */
	OK(try_nominate(w, "b", 0, "n2", "gpu", NULL));
	assert_string_equal(text_string(&w->events), "nomination.cleared nomination.set");
	assert_string_equal(nomination_of(w, "b")->node, "n2");
	OK(try_denominate(w, "b"));
	assert_true(w->flag);
	OK(try_denominate(w, "b"));
	assert_false(w->flag);
	assert_int_equal(w->revision, 0);
}

/* The first of the stories the project exists for. */
static void a_middle_pod_must_not_take_what_was_promised(void **state)
{
	struct world *w = *state;
	standard_node(w, "n1", 8, 0, 0);
	OK(try_reserve_at(w, "low", 1, "gpu*8", "n1"));
	OK(try_nominate(w, "high", 10, "n1", "gpu*4", "low"));
	OK(try_release(w, "low", false));
	OK(try_reserve_at(w, "middle", 5, "gpu*4", "n1"));
	assert_string_equal(minors(w->a->shares, w->a->n_shares), "4 5 6 7");
	assert_string_equal(try_reserve_at(w, "more", 5, "gpu", "n1"), "insufficient");
	assert_int_equal(report_count(&w->report, SLUG_NOMINATED), 1);
	assert_string_equal(w->report.nodes[0].by[0], "high");
	OK(try_reserve_at(w, "higher", 20, "gpu", "n1"));
	assert_string_equal(text_string(&w->events), "pod.reserved nomination.invalidated");
	assert_last(w, "nomination.invalidated", "high", "overridden", "higher");
}

static void moved_when_there_is_room(void **state)
{
	struct world *w = *state;
	standard_node(w, "n1", 2, 0, 0);
	OK(try_nominate(w, "b", 10, "n1", "gpu", NULL));
	assert_string_equal(minors(w->n->shares, w->n->n_shares), "0");
	OK(try_reserve_at(w, "c", 20, "gpu uuid=n1-gpu-0", "n1"));
	assert_last(w, "nomination.moved", "b", "overridden", "c");
	assert_string_equal(minors(nomination_of(w, "b")->shares, 1), "1");
	OK(try_update(w, "n1", "n1-gpu-1", SAID_NO, SAID_NOTHING));
	assert_last(w, "nomination.invalidated", "b", "device_unhealthy", "");
	assert_null(nomination_of(w, "b"));
}

static void important_ones_first(void **state)
{
	struct world *w = *state;
	standard_node(w, "n1", 3, 0, 0);
	OK(try_nominate(w, "lesser", 5, "n1", "gpu", NULL));
	OK(try_nominate(w, "greater", 9, "n1", "gpu", NULL));
	assert_string_equal(minors(nomination_of(w, "greater")->shares, 1), "1"); /* not over the lesser while there is room */
	OK(try_reserve_at(w, "x", 20, "gpu*2 uuid=n1-gpu-0 uuid=n1-gpu-1", "n1"));
	assert_string_equal(minors(nomination_of(w, "greater")->shares, 1), "2");
	assert_null(nomination_of(w, "lesser"));
}

static void nominated_over(void **state)
{
	struct world *w = *state;
	standard_node(w, "n1", 1, 0, 0);
	OK(try_nominate(w, "b", 10, "n1", "gpu", NULL));
	assert_string_equal(try_nominate(w, "c", 10, "n1", "gpu", NULL), "insufficient");
	OK(try_nominate(w, "d", 11, "n1", "gpu", NULL));
	assert_string_equal(text_string(&w->events), "nomination.set nomination.invalidated");
	assert_last(w, "nomination.invalidated", "b", "overridden", "d");
}

static void ended_by_the_inventory(void **state)
{
	struct world *w = *state;
	struct device_memory memory;
	struct device_report device = standard_device(&memory, "n1", "gpu", 0, 1);
	const struct register_node args = { .node = "n1", .devices = &device, .n_devices = 1 };
	standard_node(w, "n1", 1, 0, 0);
	OK(try_nominate(w, "b", 10, "n1", "gpu core=60", NULL));
	memory.capacity[0].value = 60;
	OK(try_register(w, &args)); /* still enough */
	assert_non_null(nomination_of(w, "b"));
	memory.capacity[0].value = 59;
	OK(try_register(w, &args));
	assert_null(nomination_of(w, "b"));
	OK(try_nominate(w, "b", 10, "n1", "gpu core=50", NULL));
	OK(try_cordon(w, "n1", true));
	assert_last(w, "nomination.invalidated", "b", "node_cordoned", "");
	OK(try_cordon(w, "n1", false));
	OK(try_nominate(w, "b", 10, "n1", "gpu core=50", NULL));
	OK(try_register(w, &(struct register_node){ .node = "n1", .allow_empty = true }));
	assert_null(nomination_of(w, "b"));
	assert_int_equal(cluster_node(w->cluster, "n1")->n_devices, 0); /* nothing keeps the missing device */
}

/* Of two equally important promises the older is kept. */
static void the_younger_gives_way(void **state)
{
	struct world *w = *state;
	struct device_memory memory;
	struct device_report device = standard_device(&memory, "n1", "gpu", 0, 1);
	standard_node(w, "n1", 1, 0, 0);
	OK(try_nominate(w, "older", 10, "n1", "gpu core=60", NULL));
	OK(try_nominate(w, "younger", 10, "n1", "gpu core=40", NULL));
	memory.capacity[0].value = 70;
	OK(try_register(w, &(struct register_node){ .node = "n1", .devices = &device, .n_devices = 1 }));
	assert_non_null(nomination_of(w, "older"));
	assert_null(nomination_of(w, "younger"));
}

/* The device is something else now, though its resources are called the same. */
static void a_device_that_changed_its_type(void **state)
{
	struct world *w = *state;
	struct device_memory memory;
	struct device_report device = standard_device(&memory, "n1", "gpu", 0, 1);
	standard_node(w, "n1", 1, 0, 0);
	OK(try_nominate(w, "b", 10, "n1", "gpu core=60", NULL));
	device.record.type = "npu";
	OK(try_register(w, &(struct register_node){ .node = "n1", .devices = &device, .n_devices = 1 }));
	assert_null(nomination_of(w, "b"));
}

static void ended_by_adoption(void **state)
{
	struct world *w = *state;
	standard_node(w, "n1", 2, 0, 0);
	OK(try_nominate(w, "b", 10, "n1", "gpu", NULL));
	OK(try_adopt(w, "c", "n1", "gpu", "n1-gpu-0", false));
	assert_last(w, "nomination.moved", "b", "adopted", "c");
	OK(try_adopt(w, "b", "n1", "gpu", "n1-gpu-1", false));
	assert_null(nomination_of(w, "b"));
	assert_string_equal(text_string(&w->events), "nomination.cleared pod.adopted");
}

static void a_victim_that_left(void **state)
{
	struct world *w = *state;
	standard_node(w, "n1", 1, 0, 0);
	OK(try_reserve(w, "a", "gpu", "n1"));
	OK(try_nominate(w, "b", 10, "n1", "gpu", "a"));
	int64_t revision = w->n->revision;
	OK(try_release(w, "a", false));
	assert_int_equal(nomination_of(w, "b")->n_victims, 0);
	assert_true(nomination_of(w, "b")->revision > revision);
}

static void the_end_clears_its_victims(void **state)
{
	struct world *w = *state;
	standard_node(w, "n1", 1, 0, 0);
	OK(try_reserve(w, "a", "gpu", "n1"));
	OK(try_nominate(w, "b", 10, "n1", "gpu", "a"));
	pass(w, NOMINATION_TTL);
	assert_string_equal(text_string(&w->events), "pod.expired nomination.expired");
	OK(try_reserve(w, "a", "gpu", "n1"));
	OK(try_nominate(w, "b", 10, "n1", "gpu", "a"));
	OK(try_denominate(w, "b"));
	assert_null(holding_preemptor(cluster_holding(w->cluster, "a")));
}

/* c rests on a's leaving for b; when b's nomination ends a stays, and c's promise cannot be kept. */
static void resting_on_victims_of_another(void **state)
{
	struct world *w = *state;
	standard_node(w, "n1", 1, 0, 0);
	OK(try_reserve(w, "a", "gpu core=60", "n1"));
	OK(try_nominate(w, "b", 10, "n1", "gpu core=50", "a"));
	OK(try_nominate(w, "c", 5, "n1", "gpu core=40", NULL));
	OK(try_nominate(w, "d", 10, "n1", "gpu core=10", NULL));
	assert_non_null(nomination_of(w, "c"));
	OK(try_denominate(w, "b"));
	assert_null(nomination_of(w, "c"));
	assert_last(w, "nomination.invalidated", "c", "victims_stay", "b");
}

/* What others' victims still hold is no reason to drop a promise that has nothing to do with what happened. */
static void waiting_beside_victims_of_another(void **state)
{
	struct world *w = *state;
	standard_node(w, "n1", 2, 0, 0);
	OK(try_reserve(w, "a", "gpu core=60 uuid=n1-gpu-0", "n1"));
	OK(try_nominate(w, "b", 10, "n1", "gpu core=10 uuid=n1-gpu-0", "a"));
	OK(try_nominate(w, "c", 10, "n1", "gpu core=30 uuid=n1-gpu-0", NULL));
	OK(try_reserve(w, "q", "gpu core=40 uuid=n1-gpu-0", "n1"));
	OK(try_update(w, "n1", "n1-gpu-1", SAID_NO, SAID_NOTHING));
	assert_string_equal(text_string(&w->events), "device.updated");
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, world_setup, world_teardown)
	const struct CMUnitTest tests[] = {
		TEST(victims),
		TEST(replacing),
		TEST(a_middle_pod_must_not_take_what_was_promised),
		TEST(moved_when_there_is_room),
		TEST(important_ones_first),
		TEST(nominated_over),
		TEST(ended_by_the_inventory),
		TEST(the_younger_gives_way),
		TEST(a_device_that_changed_its_type),
		TEST(ended_by_adoption),
		TEST(a_victim_that_left),
		TEST(the_end_clears_its_victims),
		TEST(resting_on_victims_of_another),
		TEST(waiting_beside_victims_of_another),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

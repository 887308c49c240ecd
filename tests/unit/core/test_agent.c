/* plugin.allocate, plugin.confirm, plugin.fail (contract, section 5, Node agent): the whole table of who is meant and what is answered. */
#include <string.h>

#include "unit/core/world.h"

#define OK(call) assert_string_equal(call, "ok")

/* An anonymous call, a call with a uid. */
static struct allocate anonymous(void)
{
	return (struct allocate){ .node = "n1", .token = -1 };
}

static struct allocate named(const char *uid)
{
	return (struct allocate){ .node = "n1", .uid = uid, .token = -1 };
}

static const char *answer(struct world *w, struct allocate args)
{
	return try_allocate(w, &args);
}

/* The container and type of the group that was answered. */
static void assert_group(const struct world *w, const char *uid, const char *container, const char *type)
{
	assert_non_null(w->a);
	assert_string_equal(w->a->pod.uid, uid);
	assert_string_equal(w->a->request->groups[w->group].container, container);
	assert_string_equal(w->a->request->groups[w->group].type, type);
}

static void bound(struct world *w, const char *uid, const char *brief)
{
	if (!cluster_node(w->cluster, "n1"))
		standard_node(w, "n1", 4, 2, 1);
	OK(try_reserve(w, uid, brief, "n1"));
	OK(try_bind(w, uid, "n1"));
}

static void lapsed(struct world *w, const char *uid, const char *brief)
{
	bound(w, uid, brief);
	pass(w, LOCK_TTL);
	assert_string_equal(text_string(&w->events), "pod.lapsed");
}

static void releasing(struct world *w, const char *uid, const char *brief)
{
	bound(w, uid, brief);
	OK(try_release(w, uid, true));
	assert_string_equal(state_of(w, uid), "releasing");
}

/* ---- anonymous */

static void nobody(void **state)
{
	struct world *w = *state;
	assert_string_equal(answer(w, anonymous()), "not_found"); /* no node */
	standard_node(w, "n1", 1, 0, 0);
	assert_string_equal(answer(w, anonymous()), "not_found");
	OK(try_reserve(w, "a", "gpu", "n1"));
	assert_string_equal(answer(w, anonymous()), "not_found"); /* reserved is not bound */
	OK(try_lock(w, "n1", "x", LOCK_TTL));
	assert_string_equal(answer(w, anonymous()), "not_found"); /* a lock by hand is nobody's bind */
}

static void the_bound_pod(void **state)
{
	struct world *w = *state;
	bound(w, "a", "main:gpu*2 core=10;side:gpu core=10");
	OK(answer(w, anonymous()));
	assert_group(w, "a", "main", "gpu");
	assert_string_equal(text_string(&w->events), "pod.claimed");
	assert_string_equal(state_of(w, "a"), "bound");
	assert_int_equal(groups_open(w->a), 1);
	OK(answer(w, anonymous()));
	assert_group(w, "a", "side", "gpu");
	assert_string_equal(text_string(&w->events), "pod.allocated");
	assert_string_equal(state_of(w, "a"), "allocated");
	assert_int_equal(w->a->expires_at, 0);
	assert_null(cluster_node(w->cluster, "n1")->lock);
	assert_string_equal(answer(w, anonymous()), "not_found");
}

static void type_and_count_must_agree(void **state)
{
	struct world *w = *state;
	struct allocate args = anonymous();
	bound(w, "a", "main:gpu*2;main:rdma vf=1");
	args.type = "host";
	assert_string_equal(answer(w, args), "mismatch");
	args.type = "gpu";
	args.count = 1;
	assert_string_equal(answer(w, args), "mismatch");
	assert_int_not_equal(strlen(error_text(w, "expected")), 0);
	assert_int_not_equal(strlen(error_text(w, "got")), 0);
	args.count = 2;
	OK(answer(w, args));
	assert_group(w, "a", "main", "gpu");
}

static void several_types(void **state)
{
	struct world *w = *state;
	struct allocate args = anonymous();
	bound(w, "a", "main:rdma vf=1;main:gpu");
	assert_string_equal(answer(w, args), "ambiguous");
	assert_string_equal(error_text(w, "types"), "gpu rdma");
	args.type = "gpu";
	OK(answer(w, args));
	OK(answer(w, anonymous())); /* one type is left */
	assert_group(w, "a", "main", "rdma");
}

/* Only the first open group of each type can be meant: the second one is not reached by its count. */
static void only_first_groups(void **state)
{
	struct world *w = *state;
	struct allocate args = anonymous();
	bound(w, "a", "init:gpu*2 core=5;main:gpu core=5");
	args.count = 1;
	assert_string_equal(answer(w, args), "mismatch");
	args.count = 2;
	OK(answer(w, args));
	args.count = 1;
	OK(answer(w, args));
	assert_group(w, "a", "main", "gpu");
}

static void a_lapse_is_a_candidate(void **state)
{
	struct world *w = *state;
	struct allocate args = anonymous();
	lapsed(w, "late", "gpu*2");
	assert_string_equal(answer(w, anonymous()), "expired");
	assert_string_equal(error_text(w, "uid"), "late");
	bound(w, "a", "gpu*2");
	assert_string_equal(answer(w, anonymous()), "ambiguous");
	assert_string_equal(error_text(w, "candidates"), "a late");
	args.uid = "a";
	OK(answer(w, args));
	bound(w, "b", "gpu");
	args = anonymous();
	args.count = 1;
	OK(answer(w, args)); /* the lapsed one wanted two */
	assert_group(w, "b", "", "gpu");
}

static void bound_does_not_match_but_a_lapse_does(void **state)
{
	struct world *w = *state;
	struct allocate args = anonymous();
	lapsed(w, "late", "gpu*2");
	bound(w, "a", "gpu");
	args.count = 2;
	assert_string_equal(answer(w, args), "expired");
	args.count = 3;
	assert_string_equal(answer(w, args), "mismatch");
}

static void releasing_is_a_candidate(void **state)
{
	struct world *w = *state;
	releasing(w, "going", "gpu");
	assert_string_equal(answer(w, anonymous()), "expired");
	assert_string_equal(error_text(w, "uid"), "going");
	bound(w, "a", "gpu");
	assert_string_equal(answer(w, anonymous()), "ambiguous");
	assert_string_equal(error_text(w, "candidates"), "a going");
}

static void releasing_after_being_handed_this(void **state)
{
	struct world *w = *state;
	bound(w, "going", "gpu");
	OK(answer(w, anonymous()));
	OK(try_release(w, "going", true));
	assert_string_equal(answer(w, anonymous()), "not_found");
	bound(w, "a", "gpu");
	OK(answer(w, anonymous()));
	assert_group(w, "a", "", "gpu");
}

static void token_of_the_lock(void **state)
{
	struct world *w = *state;
	struct allocate args = anonymous();
	bound(w, "a", "gpu core=1;x:gpu core=1");
	args.token = w->token + 1;
	assert_string_equal(answer(w, args), "stale_token");
	assert_int_equal(error_integer(w, "token"), args.token);
	args.token--;
	OK(answer(w, args));
	OK(answer(w, args));
	assert_string_equal(answer(w, args), "stale_token"); /* the lock is free */
}

/* ---- repeated calls */

static void the_same_call_again(void **state)
{
	struct world *w = *state;
	struct allocate args = anonymous();
	bound(w, "a", "main:gpu core=1;side:gpu core=1");
	args.call = "k1";
	OK(answer(w, args));
	OK(answer(w, args));
	assert_group(w, "a", "main", "gpu");
	assert_int_equal(w->revision, 0);
	args.call = "k2";
	OK(answer(w, args));
	assert_group(w, "a", "side", "gpu");
	args.call = "k1";
	OK(answer(w, args)); /* also when everything was handed out */
	assert_group(w, "a", "main", "gpu");
	OK(try_release(w, "a", false));
	assert_string_equal(answer(w, args), "not_found");
}

static void the_same_ids_again(void **state)
{
	struct world *w = *state;
	static const char *const ids[] = { "d0", "d1" }, *const other[] = { "d0", "d2" };
	struct allocate args = anonymous();
	bound(w, "a", "main:gpu core=1;side:gpu core=1");
	args.device_ids = ids;
	args.n_device_ids = 2;
	OK(answer(w, args));
	OK(answer(w, args));
	assert_group(w, "a", "main", "gpu");
	assert_int_equal(w->revision, 0);
	args.device_ids = other;
	OK(answer(w, args));
	assert_group(w, "a", "side", "gpu");
}

/* The kubelet gives ids to the next pod before we know that the first has gone. */
static void ids_of_a_pod_that_is_gone(void **state)
{
	struct world *w = *state;
	static const char *const ids[] = { "d0" };
	struct allocate args = named("old");
	const struct confirm confirm = {
		.node = "n1", .type = "gpu", .container = "", .uid = "new", .device_ids = ids, .n_device_ids = 1, .detail = ""
	};
	bound(w, "old", "gpu");
	args.device_ids = ids;
	args.n_device_ids = 1;
	OK(answer(w, args));
	bound(w, "new", "gpu");
	args.uid = "new";
	OK(answer(w, args));
	args.uid = NULL;
	OK(answer(w, args));
	assert_group(w, "new", "", "gpu");
	OK(try_confirm(w, &confirm));
	assert_int_equal(cluster_holding(w->cluster, "old")->record->handouts[0]->confirmed_at, 0);
}

/* ---- with a uid */

static void unknown_or_elsewhere_or_early(void **state)
{
	struct world *w = *state;
	standard_node(w, "n1", 2, 0, 0);
	standard_node(w, "n2", 2, 0, 0);
	assert_string_equal(answer(w, named("x")), "not_found");
	OK(try_reserve(w, "a", "gpu", "n1"));
	assert_string_equal(answer(w, named("a")), "conflict");
	assert_string_equal(error_text(w, "state"), "reserved");
	OK(try_reserve(w, "b", "gpu", "n2"));
	OK(try_bind(w, "b", "n2"));
	assert_string_equal(answer(w, named("b")), "conflict");
	assert_string_equal(error_text(w, "node"), "n2");
}

static void exact_and_idempotent(void **state)
{
	struct world *w = *state;
	struct allocate args = named("a");
	bound(w, "a", "main:gpu;side:rdma vf=1");
	args.container = "side";
	args.type = "rdma";
	OK(answer(w, args)); /* not the first, but the one named */
	assert_group(w, "a", "side", "rdma");
	int64_t revision = w->revision;
	assert_true(revision > 0);
	OK(answer(w, args));
	assert_group(w, "a", "side", "rdma");
	assert_int_equal(w->revision, 0);
	args.count = 2;
	assert_string_equal(answer(w, args), "mismatch");
	args.count = 1;
	args.container = "nobody";
	assert_string_equal(answer(w, args), "mismatch");
}

static void a_container_without_a_type(void **state)
{
	struct world *w = *state;
	struct allocate args = named("a");
	bound(w, "a", "main:gpu;main:rdma vf=1;side:gpu");
	args.container = "main";
	assert_string_equal(answer(w, args), "ambiguous");
	assert_string_equal(error_text(w, "types"), "gpu rdma");
	args.container = "side";
	OK(answer(w, args));
	assert_group(w, "a", "side", "gpu");
	args.container = "nobody";
	assert_string_equal(answer(w, args), "mismatch");
}

static void the_next_open_group(void **state)
{
	struct world *w = *state;
	struct allocate args = named("a");
	bound(w, "a", "main:rdma vf=1;main:gpu;side:gpu");
	args.type = "gpu";
	OK(answer(w, args));
	assert_group(w, "a", "main", "gpu");
	OK(answer(w, args));
	assert_group(w, "a", "side", "gpu");
	assert_string_equal(answer(w, args), "exhausted");
	assert_string_equal(error_text(w, "uid"), "a");
	args.type = "host";
	assert_string_equal(answer(w, args), "mismatch");
	args.type = NULL;
	OK(answer(w, args));
	assert_group(w, "a", "main", "rdma");
	assert_string_equal(state_of(w, "a"), "allocated");
	assert_string_equal(answer(w, args), "exhausted");
}

static void the_token_of_the_bind(void **state)
{
	struct world *w = *state;
	struct allocate args = named("a");
	bound(w, "a", "gpu");
	int64_t token = w->token;
	args.token = token + 7;
	assert_string_equal(answer(w, args), "stale_token");
	args.token = token;
	args.container = "";
	args.type = "gpu";
	OK(answer(w, args));
	OK(answer(w, args)); /* kept for life, though the lock is free */
}

static void too_late(void **state)
{
	struct world *w = *state;
	lapsed(w, "late", "gpu");
	assert_string_equal(answer(w, named("late")), "expired");
	assert_string_equal(error_text(w, "uid"), "late");
	releasing(w, "going", "gpu");
	assert_string_equal(answer(w, named("going")), "expired");
}

static void releasing_answers_again_what_it_gave(void **state)
{
	struct world *w = *state;
	struct allocate args = named("a");
	bound(w, "a", "main:gpu;side:gpu");
	args.container = "main";
	args.type = "gpu";
	OK(answer(w, args));
	OK(try_release(w, "a", true));
	OK(answer(w, args));
	args.container = "side";
	assert_string_equal(answer(w, args), "expired");
}

/* Part was handed out when the lock ran out: it keeps everything, and the rest is still to be had by uid. */
static void the_rest_of_a_pod_that_ran_out(void **state)
{
	struct world *w = *state;
	bound(w, "a", "main:gpu;side:gpu");
	OK(answer(w, anonymous()));
	pass(w, LOCK_TTL);
	assert_string_equal(text_string(&w->events), "pod.allocated");
	assert_string_equal(state_of(w, "a"), "allocated");
	const struct change *last = &w->list.changes[w->list.n - 1];
	assert_int_equal(((const struct event *)last->after)->unclaimed, 1);
	assert_string_equal(answer(w, anonymous()), "not_found");
	OK(answer(w, named("a")));
	assert_group(w, "a", "side", "gpu");
	assert_string_equal(text_string(&w->events), "pod.claimed");
}

static void unattended_claims(void **state)
{
	struct world *w = *state;
	standard_node(w, "n1", 1, 0, 1);
	OK(try_reserve(w, "a", "main:gpu;host cpu=10 unattended", "n1"));
	OK(try_bind(w, "a", "n1"));
	OK(answer(w, anonymous()));
	assert_string_equal(state_of(w, "a"), "allocated");
	OK(try_release(w, "a", false));
	OK(try_reserve(w, "b", "host cpu=10 unattended", "n1"));
	OK(try_bind(w, "b", "n1"));
	assert_string_equal(state_of(w, "b"), "allocated");
	assert_string_equal(text_string(&w->events), "pod.allocated");
	assert_int_equal(w->a->token, 0);
	assert_string_equal(answer(w, named("b")), "mismatch");
}

static void each_group_renews_the_lock(void **state)
{
	struct world *w = *state;
	bound(w, "a", "main:gpu;side:gpu");
	pass(w, LOCK_TTL - 1);
	OK(answer(w, anonymous()));
	assert_int_equal(w->a->expires_at, w->now + LOCK_TTL);
	assert_int_equal(cluster_node(w->cluster, "n1")->lock->record->expires_at, w->now + LOCK_TTL);
	pass(w, LOCK_TTL - 1);
	assert_string_equal(state_of(w, "a"), "bound");
}

static void a_device_that_broke(void **state)
{
	struct world *w = *state;
	struct allocate args = named("a");
	bound(w, "a", "init:gpu reuse=main;main:gpu uuid=n1-gpu-0;side:gpu uuid=n1-gpu-1");
	OK(try_update(w, "n1", "n1-gpu-0", SAID_NO, SAID_NOTHING));
	args.container = "side";
	args.type = "gpu";
	OK(answer(w, args)); /* its own device is well */
	args.container = "init";
	assert_string_equal(answer(w, args), "insufficient"); /* the one it uses again is not */
	args.container = "main";
	assert_string_equal(answer(w, args), "insufficient");
	assert_int_equal(report_count(&w->report, SLUG_UNHEALTHY), 1);
	OK(try_update(w, "n1", "n1-gpu-0", SAID_YES, SAID_YES)); /* a cordon is not an illness */
	OK(answer(w, args));
}

/* ---- confirm and fail */

static void confirming(void **state)
{
	struct world *w = *state;
	static const char *const ids[] = { "d0" }, *const unknown[] = { "d9" };
	struct allocate args = anonymous();
	struct confirm confirm = { .node = "n1",
		.type = "gpu",
		.container = "main",
		.uid = "a",
		.device_ids = ids,
		.n_device_ids = 1,
		.detail = "{}" };
	bound(w, "a", "main:gpu");
	args.device_ids = ids;
	args.n_device_ids = 1;
	OK(answer(w, args));
	confirm.uid = "b";
	assert_string_equal(try_confirm(w, &confirm), "mismatch");
	confirm.uid = "a";
	confirm.container = "side";
	assert_string_equal(try_confirm(w, &confirm), "mismatch");
	confirm.container = "main";
	OK(try_confirm(w, &confirm));
	assert_string_equal(text_string(&w->events), "pod.confirmed");
	assert_int_equal(cluster_holding(w->cluster, "a")->record->handouts[0]->confirmed_at, w->now);
	OK(try_confirm(w, &confirm));
	assert_int_equal(w->revision, 0);
	confirm.uid = NULL;
	confirm.namespace = "default";
	confirm.name = "a";
	OK(try_confirm(w, &confirm));
	confirm.namespace = "elsewhere";
	assert_string_equal(try_confirm(w, &confirm), "mismatch");
	confirm.device_ids = unknown;
	assert_string_equal(try_confirm(w, &confirm), "not_found");
	assert_string_equal(try_fail(w, "n1", "a", cluster_holding(w->cluster, "a")->record->token), "conflict");
}

static void failing(void **state)
{
	struct world *w = *state;
	bound(w, "a", "main:gpu;side:gpu");
	int64_t token = w->token;
	OK(answer(w, anonymous()));
	assert_string_equal(try_fail(w, "n1", "a", token + 1), "stale_token");
	assert_string_equal(try_fail(w, "n1", "b", token), "not_found");
	assert_string_equal(try_fail(w, "n9", "a", token), "not_found");
	OK(try_fail(w, "n1", "a", token));
	assert_string_equal(text_string(&w->events), "pod.failed pod.refused");
	assert_string_equal(state_of(w, "a"), "none");
	assert_null(cluster_node(w->cluster, "n1")->lock);
	const struct refusal *r = cluster_refusal(w->cluster, "a")->record;
	assert_string_equal(r->reason, "failed");
	assert_string_equal(r->message, "it broke");
	assert_string_equal(r->nodes[0], "n1");
}

static void failing_in_other_states(void **state)
{
	struct world *w = *state;
	standard_node(w, "n1", 4, 0, 0);
	OK(try_reserve(w, "a", "gpu", "n1"));
	assert_string_equal(try_fail(w, "n1", "a", 0), "conflict");
	OK(try_bind(w, "a", "n1"));
	int64_t token = w->token;
	OK(answer(w, anonymous()));
	OK(try_fail(w, "n1", "a", token)); /* allocated, not confirmed */
	releasing(w, "b", "gpu");
	assert_string_equal(try_fail(w, "n1", "b", cluster_holding(w->cluster, "b")->record->token), "conflict");
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, world_setup, world_teardown)
	const struct CMUnitTest tests[] = {
		TEST(nobody),
		TEST(the_bound_pod),
		TEST(type_and_count_must_agree),
		TEST(several_types),
		TEST(only_first_groups),
		TEST(a_lapse_is_a_candidate),
		TEST(bound_does_not_match_but_a_lapse_does),
		TEST(releasing_is_a_candidate),
		TEST(releasing_after_being_handed_this),
		TEST(token_of_the_lock),
		TEST(the_same_call_again),
		TEST(the_same_ids_again),
		TEST(ids_of_a_pod_that_is_gone),
		TEST(unknown_or_elsewhere_or_early),
		TEST(exact_and_idempotent),
		TEST(a_container_without_a_type),
		TEST(the_next_open_group),
		TEST(the_token_of_the_bind),
		TEST(too_late),
		TEST(releasing_answers_again_what_it_gave),
		TEST(the_rest_of_a_pod_that_ran_out),
		TEST(unattended_claims),
		TEST(each_group_renews_the_lock),
		TEST(a_device_that_broke),
		TEST(confirming),
		TEST(failing),
		TEST(failing_in_other_states),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

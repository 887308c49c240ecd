/* pod.reserve, pod.renew, pod.unreserve, refusals (contract, sections 3 and 5). */
#include <string.h>

#include "unit/core/world.h"

#define OK(call) assert_string_equal(call, "ok")

static const struct refusal *refusal_of(const struct world *w, const char *uid)
{
	const struct refusal_entry *e = cluster_refusal(w->cluster, uid);
	return e ? e->record : NULL;
}

static void a_reservation(void **state)
{
	struct world *w = *state;
	standard_node(w, "n1", 2, 0, 0);
	OK(try_reserve(w, "a", "main:gpu core=10", "n1"));
	assert_false(w->flag);
	assert_int_equal(w->a->state, POD_RESERVED);
	assert_int_equal(w->a->created_at, w->now);
	assert_int_equal(w->a->state_at, w->now);
	assert_int_equal(w->a->expires_at, w->now + RESERVATION_TTL);
	assert_int_equal(w->a->revision, w->revision);
	assert_int_equal(w->a->token, 0);
	assert_string_equal(text_string(&w->events), "pod.reserved");
}

static void repeated(void **state)
{
	struct world *w = *state;
	struct pod pod = pod_of("a", 0);
	standard_node(w, "n1", 2, 0, 0);
	standard_node(w, "n2", 2, 0, 0);
	OK(try_reserve(w, "a", "gpu", NULL));
	int64_t expires_at = w->a->expires_at;
	w->now += 1000;
	OK(try_reserve(w, "a", "gpu", NULL));
	assert_true(w->flag);
	assert_int_equal(w->revision, 0);
	assert_int_equal(w->a->expires_at, expires_at);
	OK(try_reserve(w, "a", "gpu", "n1"));
	assert_true(w->flag);
	assert_string_equal(try_reserve(w, "a", "gpu", "n2"), "conflict");
	assert_string_equal(error_text(w, "node"), "n1");
	assert_string_equal(try_reserve(w, "a", "gpu*2", "n1"), "conflict");
	assert_string_equal(error_text(w, "state"), "reserved");
	assert_int_equal(error_integer(w, "revision"), cluster_holding(w->cluster, "a")->record->revision);
	pod.priority = 1;
	assert_string_equal(
		try_reserve_with(w, &(struct reserve){ .pod = &pod, .request = ask(w, "gpu"), .ttl = 1000 }), "conflict");
	OK(try_bind(w, "a", "n1"));
	OK(try_reserve(w, "a", "gpu", "n1")); /* also later in its life */
	assert_true(w->flag);
}

static void replaced(void **state)
{
	struct world *w = *state;
	const struct pod pod = pod_of("a", 0);
	struct reserve args = { .pod = &pod, .node = "n1", .ttl = RESERVATION_TTL, .replace = true };
	standard_node(w, "n1", 2, 0, 0);
	OK(try_reserve(w, "a", "gpu", "n1"));
	args.request = ask(w, "gpu*2"); /* fits only because the old one gives way */
	OK(try_reserve_with(w, &args));
	assert_false(w->flag);
	assert_string_equal(text_string(&w->events), "pod.unreserved pod.reserved");
	assert_string_equal(minors(w->a->shares, w->a->n_shares), "0 1");
	args.request = ask(w, "gpu*3");
	assert_string_equal(try_reserve_with(w, &args), "insufficient");
	assert_string_equal(minors(cluster_holding(w->cluster, "a")->record->shares, 2), "0 1"); /* kept */
	OK(try_bind(w, "a", "n1"));
	args.request = ask(w, "gpu");
	assert_string_equal(try_reserve_with(w, &args), "conflict");
}

static void nodes_that_are_not_there(void **state)
{
	struct world *w = *state;
	static const char *const names[] = { "n1", "n9" };
	const struct pod pod = pod_of("a", 0);
	standard_node(w, "n1", 1, 0, 0);
	assert_string_equal(try_reserve(w, "a", "gpu", "n9"), "not_found");
	assert_string_equal(error_text(w, "kind"), "node");
	assert_string_equal(error_text(w, "name"), "n9");
	assert_null(refusal_of(w, "a"));
	const struct reserve args = { .pod = &pod, .request = ask(w, "gpu*2"), .names = names, .n_names = 2, .ttl = 1000 };
	assert_string_equal(try_reserve_with(w, &args), "insufficient");
	assert_int_equal(report_count(&w->report, SLUG_UNKNOWN_NODE), 1);
	assert_int_equal(report_count(&w->report, SLUG_NO_MATCH), 1);
	assert_int_equal(w->report.total, 2);
}

static void renewed(void **state)
{
	struct world *w = *state;
	standard_node(w, "n1", 2, 0, 0);
	assert_string_equal(try_renew(w, "a", 1000), "not_found");
	OK(try_reserve(w, "a", "gpu", "n1"));
	OK(try_renew(w, "a", 1000));
	assert_int_equal(w->revision, 0); /* never earlier */
	assert_int_equal(w->a->expires_at, w->now + RESERVATION_TTL);
	OK(try_renew(w, "a", RESERVATION_TTL + 5000));
	assert_int_equal(w->a->expires_at, w->now + RESERVATION_TTL + 5000);
	assert_string_equal(text_string(&w->events), "pod.renewed");
	OK(try_bind(w, "a", "n1"));
	OK(try_renew(w, "a", LOCK_TTL + 7000));
	assert_int_equal(cluster_node(w->cluster, "n1")->lock->record->expires_at, w->now + LOCK_TTL + 7000);
	OK(try_allocate(w, &(struct allocate){ .node = "n1", .token = -1 }));
	assert_string_equal(try_renew(w, "a", 1000), "conflict");
	OK(try_nominate(w, "b", 0, "n1", "gpu", NULL));
	OK(try_renew(w, "b", NOMINATION_TTL + 1));
	assert_null(w->a);
	assert_int_equal(w->n->expires_at, w->now + NOMINATION_TTL + 1);
}

static void unreserved(void **state)
{
	struct world *w = *state;
	standard_node(w, "n1", 2, 0, 0);
	OK(try_unreserve(w, "a", -1, false));
	assert_false(w->flag);
	assert_int_equal(w->revision, 0);
	OK(try_reserve(w, "a", "gpu", "n1"));
	OK(try_unreserve(w, "a", -1, false));
	assert_true(w->flag);
	assert_string_equal(state_of(w, "a"), "none");
	assert_string_equal(text_string(&w->events), "pod.unreserved");
	OK(try_nominate(w, "b", 0, "n1", "gpu", NULL));
	OK(try_unreserve(w, "b", -1, false));
	assert_false(w->flag);
	assert_string_equal(text_string(&w->events), "nomination.cleared");
}

static void unreserved_from_bound(void **state)
{
	struct world *w = *state;
	standard_node(w, "n1", 2, 0, 0);
	OK(try_reserve(w, "a", "main:gpu;side:gpu", "n1"));
	OK(try_bind(w, "a", "n1"));
	int64_t token = w->token;
	assert_string_equal(try_unreserve(w, "a", -1, false), "conflict");
	assert_string_equal(try_unreserve(w, "a", token + 1, false), "stale_token");
	OK(try_unreserve(w, "a", token, false));
	assert_null(cluster_node(w->cluster, "n1")->lock);
	OK(try_reserve(w, "a", "main:gpu;side:gpu", "n1"));
	OK(try_bind(w, "a", "n1"));
	token = w->token;
	OK(try_allocate(w, &(struct allocate){ .node = "n1", .token = -1 }));
	assert_string_equal(try_unreserve(w, "a", token, false), "conflict");
	OK(try_allocate(w, &(struct allocate){ .node = "n1", .token = -1 }));
	assert_string_equal(try_unreserve(w, "a", token, false), "conflict");
}

static void renominated(void **state)
{
	struct world *w = *state;
	standard_node(w, "n1", 2, 0, 0);
	OK(try_reserve(w, "a", "gpu uuid=n1-gpu-1", "n1"));
	OK(try_unreserve(w, "a", -1, true));
	assert_true(w->flag);
	assert_string_equal(minors(w->n->shares, w->n->n_shares), "1");
	assert_string_equal(text_string(&w->events), "pod.unreserved nomination.set");
	assert_int_equal(w->n->expires_at, w->now + NOMINATION_TTL);
}

/* A device that went missing and was kept only for the reservation. */
static void renominated_when_the_device_is_gone(void **state)
{
	struct world *w = *state;
	struct device_memory memory;
	const struct device_report left = standard_device(&memory, "n1", "gpu", 1, 2);
	const struct register_node args = { .node = "n1", .devices = &left, .n_devices = 1 };
	standard_node(w, "n1", 2, 0, 0);
	OK(try_reserve(w, "a", "gpu", "n1"));
	OK(try_reserve(w, "b", "gpu", "n1"));
	OK(try_register(w, &args));
	OK(try_unreserve(w, "a", -1, true));
	assert_null(w->n);
	assert_string_equal(text_string(&w->events), "pod.unreserved device.removed");
	OK(try_release(w, "b", false));
	standard_node(w, "n1", 2, 0, 0);
	OK(try_reserve(w, "a", "gpu", "n1"));
	OK(try_register(w, &args));
	OK(try_unreserve(w, "a", -1, true));
	assert_string_equal(minors(w->n->shares, w->n->n_shares), "1"); /* to another one */
}

static void revisions(void **state)
{
	struct world *w = *state;
	struct unreserve args = { .uid = "a", .token = -1 };
	bool released;
	const struct nomination *n;
	standard_node(w, "n1", 2, 0, 0);
	OK(try_nominate(w, "a", 0, "n1", "gpu", NULL));
	args.revision = w->revision + 1;
	struct txn txn = txn_begin(w->cluster, &w->list, w->now, "test");
	struct error *error = pod_unreserve(&txn, &args, &released, &n);
	assert_int_equal(error->code, ERR_CONFLICT);
	error_free(error);
	args.revision--;
	assert_null(pod_unreserve(&txn, &args, &released, &n));
	assert_null(cluster_promise(w->cluster, "a"));
}

/* ---- refusals */

static void a_refusal(void **state)
{
	struct world *w = *state;
	standard_node(w, "n1", 1, 0, 0);
	assert_string_equal(try_reserve(w, "a", "gpu*2", NULL), "insufficient");
	assert_string_equal(text_string(&w->events), "pod.refused");
	const struct refusal *r = refusal_of(w, "a");
	assert_string_equal(r->reason, "insufficient");
	assert_int_equal(r->count, 1);
	assert_int_equal(r->first_at, w->now);
	assert_int_equal(r->n_counts, 1);
	assert_string_equal(r->counts[0].slug, "no_match");
	assert_int_equal(r->counts[0].count, 1);
	assert_string_equal(r->nodes[0], "n1");
}

/* Said again it is only counted: no event, no revision. */
static void refused_again(void **state)
{
	struct world *w = *state;
	int64_t first = w->now;
	standard_node(w, "n1", 1, 0, 0);
	assert_string_equal(try_reserve(w, "a", "gpu*2", NULL), "insufficient");
	w->now += 5000;
	assert_string_equal(try_reserve(w, "a", "gpu*2", NULL), "insufficient");
	assert_int_equal(w->revision, 0);
	assert_int_equal(refusal_of(w, "a")->count, 2);
	assert_int_equal(refusal_of(w, "a")->first_at, first);
	assert_int_equal(refusal_of(w, "a")->last_at, w->now);
	assert_int_equal(refusal_of(w, "a")->expires_at, w->now + DAY);
	standard_node(w, "n2", 0, 0, 0);
	assert_string_equal(try_reserve(w, "a", "gpu*2", NULL), "insufficient"); /* now also no_device */
	assert_int_not_equal(w->revision, 0);
	assert_int_equal(refusal_of(w, "a")->count, 3);
	assert_string_equal(text_string(&w->events), "pod.refused");
}

static void refusals_end(void **state)
{
	struct world *w = *state;
	standard_node(w, "n1", 1, 0, 0);
	assert_string_equal(try_reserve(w, "a", "gpu*2", NULL), "insufficient");
	OK(try_reserve(w, "a", "gpu", NULL));
	assert_null(refusal_of(w, "a"));
	assert_string_equal(try_reserve(w, "b", "gpu", NULL), "insufficient");
	OK(try_release(w, "b", false));
	assert_false(w->flag);
	assert_null(refusal_of(w, "b"));
	assert_string_equal(text_string(&w->events), "pod.forgotten");
	assert_string_equal(try_reserve(w, "c", "gpu", NULL), "insufficient");
	pass(w, DAY);
	assert_null(refusal_of(w, "c"));
}

static void a_failed_reserve_keeps_the_nomination(void **state)
{
	struct world *w = *state;
	standard_node(w, "n1", 1, 0, 0);
	OK(try_nominate(w, "a", 0, "n1", "gpu core=50", NULL));
	assert_string_equal(try_reserve(w, "a", "gpu*2", NULL), "insufficient");
	assert_non_null(cluster_promise(w->cluster, "a"));
	OK(try_reserve(w, "a", "gpu core=50", NULL));
	assert_null(cluster_promise(w->cluster, "a"));
	assert_string_equal(text_string(&w->events), "nomination.cleared pod.reserved");
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, world_setup, world_teardown)
	const struct CMUnitTest tests[] = {
		TEST(a_reservation),
		TEST(repeated),
		TEST(replaced),
		TEST(nodes_that_are_not_there),
		TEST(renewed),
		TEST(unreserved),
		TEST(unreserved_from_bound),
		TEST(renominated),
		TEST(renominated_when_the_device_is_gone),
		TEST(revisions),
		TEST(a_refusal),
		TEST(refused_again),
		TEST(refusals_end),
		TEST(a_failed_reserve_keeps_the_nomination),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

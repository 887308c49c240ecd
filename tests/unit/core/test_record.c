/* Records and requests as values: deep copies, references, equality, groups, the checks of a request. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit/core/brief.h"
#include "unit/core/world.h"

/* An allocation with something in every list, made of memory that does not outlive the call. */
static struct allocation *full_allocation(const struct request *request)
{
	char uid[8] = "u", resource[8] = "core", uuid[8] = "d0", id[8] = "x";
	struct amount amount = { resource, 5 };
	const char *ids[] = { id };
	struct share shares[] = { { .device_id = 3, .uuid = uuid, .minor = 1, .amounts = &amount, .n_amounts = 1 } };
	struct handout *handout = handout_new(&(struct handout){ .call = NULL, .device_ids = ids, .n_device_ids = 1 });
	const struct allocation like = { .id = 1,
		.pod = { .uid = uid, .namespace = "ns", .name = "n", .gang = NULL },
		.node = "n1",
		.node_id = 2,
		.state = POD_ALLOCATED,
		.request = request,
		.handed_out = 1,
		.revision = 9,
		.shares = shares,
		.n_shares = 1,
		.handouts = { handout } };
	struct allocation *a = allocation_new(&like);
	handout_unref(handout);
	memset(uid, '?', sizeof uid);
	memset(resource, '?', sizeof resource);
	memset(uuid, '?', sizeof uuid);
	memset(id, '?', sizeof id);
	return a;
}

static void deep_copies(void **state)
{
	struct request *request = brief_request("gpu core=5");
	struct allocation *a = full_allocation(request), *b = full_allocation(request);
	request_unref(request); /* the records hold it */
	assert_string_equal(a->pod.uid, "u");
	assert_string_equal(a->pod.gang, "");
	assert_string_equal(a->shares[0].uuid, "d0");
	assert_string_equal(a->shares[0].amounts[0].resource, "core");
	assert_string_equal(a->handouts[0]->device_ids[0], "x");
	assert_string_equal(a->handouts[0]->call, "");
	assert_string_equal(a->request->claims[0].type, "gpu");
	assert_true(record_equal(RECORD_ALLOCATION, a, b));
	record_unref(RECORD_ALLOCATION, b);
	record_ref(a);
	record_unref(RECORD_ALLOCATION, a);
	assert_string_equal(a->node, "n1");
	record_unref(RECORD_ALLOCATION, a);
	record_unref(RECORD_ALLOCATION, NULL);
}

/* Every member counts. */
static void equality_of_allocations(void **state)
{
	struct request *request = brief_request("gpu core=5"), *other = brief_request("gpu core=6");
	struct allocation *a = full_allocation(request);
	struct share share = a->shares[0];
	struct allocation changed[] = { *a, *a, *a, *a, *a, *a, *a, *a, *a, *a, *a, *a };
	changed[0].id++;
	changed[1].pod.priority++;
	changed[2].pod.external = true;
	changed[3].node = "n2";
	changed[4].state = POD_RELEASING;
	changed[5].over = true;
	changed[6].request = other;
	changed[7].handed_out = 0;
	changed[8].expires_at++;
	changed[9].revision++;
	changed[10].handouts[0] = NULL;
	share.whole = true;
	changed[11].shares = &share;
	for (size_t i = 0; i < sizeof changed / sizeof *changed; i++)
		if (record_equal(RECORD_ALLOCATION, a, &changed[i]))
			fail_msg("change %zu is not seen", i);
	record_unref(RECORD_ALLOCATION, a);
	request_unref(request);
	request_unref(other);
}

static void equality_of_the_others(void **state)
{
	const struct slug_count count = { "unhealthy", 1 }, counts = { "unhealthy", 2 };
	const struct label label = { "k", "v" }, changed = { "k", "w" };
	const char *const victim[] = { "v" };
	struct request *request = brief_request("gpu");
	const struct pod pod = pod_of("u", 0);
	const struct node_record n1 = { .name = "n", .reason = "", .labels = &label, .n_labels = 1 };
	struct node_record n2 = n1;
	n2.labels = &changed;
	assert_false(record_equal(RECORD_NODE, &n1, &n2));
	const struct refusal r1 = { .pod = pod, .reason = "", .message = "", .counts = &count, .n_counts = 1 };
	struct refusal r2 = r1;
	r2.counts = &counts;
	assert_false(record_equal(RECORD_REFUSAL, &r1, &r2));
	r2.counts = &count;
	assert_true(record_equal(RECORD_REFUSAL, &r1, &r2));
	r2.request = request;
	assert_false(record_equal(RECORD_REFUSAL, &r1, &r2));
	const struct nomination p1 = { .pod = pod, .node = "n", .request = request };
	struct nomination p2 = p1;
	p2.victims = victim;
	p2.n_victims = 1;
	assert_false(record_equal(RECORD_NOMINATION, &p1, &p2));
	const struct lapse l1 = { .node = "n", .uid = "u", .request = request };
	struct lapse l2 = l1;
	l2.at++;
	assert_false(record_equal(RECORD_LAPSE, &l1, &l2));
	const struct lock k1 = { .node = "n", .uid = "u" };
	struct lock k2 = k1;
	k2.token++;
	assert_false(record_equal(RECORD_LOCK, &k1, &k2));
	request_unref(request);
}

static void events_hold_their_subject(void **state)
{
	struct request *request = brief_request("gpu core=5");
	struct allocation *a = full_allocation(request);
	struct event *e = event_new(
		&(struct event){ .kind = "pod.reserved", .actor = "x", .subject_kind = SUBJECT_ALLOCATION, .subject = a });
	record_unref(RECORD_ALLOCATION, a);
	assert_string_equal(((const struct allocation *)e->subject)->pod.uid, "u");
	assert_string_equal(e->uid, "");
	record_unref(RECORD_EVENT, e);
	request_unref(request);
}

static void names_of_states(void **state)
{
	for (enum pod_state s = POD_RESERVED; s < POD_STATES; s++)
		assert_int_equal(pod_state_parse(pod_state_name(s)), s);
	assert_int_equal(pod_state_parse("none"), POD_NONE);
	assert_int_equal(pod_state_parse("gone"), POD_NONE);
}

static void gangs(void **state)
{
	struct pod a = pod_of("a", 0), b = pod_of("b", 0);
	assert_false(pod_same_gang(&a, &b)); /* none is no gang */
	a.gang = b.gang = "g";
	assert_true(pod_same_gang(&a, &b));
	b.namespace = "other";
	assert_false(pod_same_gang(&a, &b));
}

/* ---- requests */

static void groups(void **state)
{
	struct request *r = brief_request("init:gpu;main:gpu*2;main:rdma vf=1;main:gpu core=1;host cpu=1 unattended");
	assert_int_equal(r->n_groups, 3);
	assert_string_equal(r->groups[1].container, "main");
	assert_string_equal(r->groups[1].type, "gpu");
	assert_int_equal(r->groups[1].claims, 2 | 8);
	assert_int_equal(r->groups[1].devices, 3);
	assert_string_equal(r->groups[2].type, "rdma");
	assert_int_equal(request_all_groups(r), 7);
	assert_string_equal(r->claims[3].needs[0].resource, "core");
	request_unref(request_ref(r));
	request_unref(r);
	request_unref(NULL);
}

/* The error's path, "" when the request is right. */
static void assert_path(const char *brief, const char *path)
{
	struct request *r = brief_request(brief);
	struct error *e = request_check(r->claims, r->n_claims);
	const char *got = e ? e->details[0].string : "";
	if (strcmp(got, path) != 0)
		fail_msg("%s: path '%s' instead of '%s'", brief, got, path);
	error_free(e);
	request_unref(r);
}

static void checks(void **state)
{
	assert_path("main:gpu", "");
	assert_path("init:gpu*2 reuse=main;main:gpu;main:gpu core=1", "");
	assert_path("init:gpu*2 reuse=main;main:gpu", "request[0].reuse");
	assert_path("init:gpu reuse=main;main:rdma", "request[0].reuse");
	assert_path("init:gpu reuse=init", "request[0].reuse"); /* reuses itself */
	assert_path("main:gpu;init:gpu reuse=main core=5", "request[1].resources");
	assert_path("main:gpu;init:gpu reuse=main model=A", "request[1].reuse");
	assert_path("main:gpu;init:gpu reuse=main same=numa", "request[1].same");
	assert_path("gpu together=x", "request[0].together");
	assert_path("gpu same=numa together=x;rdma same=numa together=x", "");
	assert_path("gpu same=numa together=x;rdma same=pcie together=x", "request[1].same");
	assert_path("gpu same=numa together=x;rdma same=pcie together=y", "");
}

static void equal_requests(void **state)
{
	struct request *a = brief_request("gpu"), *b = brief_request("gpu"), *c = brief_request("gpu*2");
	assert_true(request_equal(a, b));
	assert_false(request_equal(a, c));
	request_unref(a);
	request_unref(b);
	request_unref(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(deep_copies),
		cmocka_unit_test(equality_of_allocations),
		cmocka_unit_test(equality_of_the_others),
		cmocka_unit_test(events_hold_their_subject),
		cmocka_unit_test(names_of_states),
		cmocka_unit_test(gangs),
		cmocka_unit_test(groups),
		cmocka_unit_test(checks),
		cmocka_unit_test(equal_requests),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

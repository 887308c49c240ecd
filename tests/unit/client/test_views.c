/* The commands for people against canned answers. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/views.h"
#include "fake.h"

/* What the server has: method -> result, or {"error": reason, "message": ..., "data": ...}. A method with pages has
 * an array of results; `after` picks one. */
struct world {
	json_t *answers;
	struct fake *fake;
	struct ctl ctl;
	char *out, *err;
	size_t out_size, err_size;
	json_t *last_params;
};

static char *answer(void *context, const json_t *call)
{
	struct world *w = context;
	json_t *params = json_object_get(call, "params"), *found;
	json_int_t after = json_integer_value(json_object_get(params, "after"));

	json_decref(w->last_params);
	w->last_params = json_incref(params);
	found = json_object_get(w->answers, json_string_value(json_object_get(call, "method")));
	if (json_is_array(found)) {
		found = json_array_get(found, (size_t)after);
	}
	if (json_object_get(found, "error")) {
		return fake_error(call, -32000, json_string_value(json_object_get(found, "error")),
			json_string_value(json_object_get(found, "message")), json_incref(json_object_get(found, "data")));
	}
	return fake_result(call, found ? json_incref(found) : json_object());
}

static void begin(struct world *w, const char *answers)
{
	setenv("TZ", "UTC", 1);
	*w = (struct world){ .answers = fake_json(answers) };
	json_object_set_new(w->answers, "server.info",
		json_pack("{s:I, s:i, s:s, s:[], s:{s:i}}", "now", (json_int_t)1772373909123, "revision", 40, "version", "0.1.0",
			"alarms", "counts", "pods", 7));
	w->fake = fake_start(answer, w);
	w->ctl.out = open_memstream(&w->out, &w->out_size);
	w->ctl.err = open_memstream(&w->err, &w->err_size);
	w->ctl.conn = fake_conn(w->fake);
	w->ctl.options.last = OPTIONS_LAST;
}

/* Runs of spaces become one: how tables align is the matter of test_text.c. */
static char *squeezed(const char *text)
{
	char *copy = strdup(text), *from = copy, *to = copy;

	for (; *from; from++) {
		if (*from != ' ' || to == copy || to[-1] != ' ') {
			*to++ = *from;
		}
	}
	*to = '\0';
	return copy;
}

static void same(const char *got, const char *expected)
{
	char *a = squeezed(got), *b = squeezed(expected);

	if (strcmp(a, b) != 0) {
		fail_msg("want:\n%s\ngot:\n%s", expected, got);
	}
	free(a);
	free(b);
}

/* Ends the world and demands what was printed. */
static void said(struct world *w, const char *out, const char *err)
{
	fclose(w->ctl.out);
	fclose(w->ctl.err);
	allot_close(w->ctl.conn);
	fake_stop(w->fake);
	same(w->out, out);
	same(w->err, err);
	free(w->out);
	free(w->err);
	json_decref(w->answers);
	json_decref(w->last_params);
}

#define NODES                                                                                                                    \
	"{'nodes':[{'node':'n1','cordoned':false,'unverified':false,'devices':3,'allocations':2,'nominations':0,'last_seen_at':" \
	"1772373900000,"                                                                                                         \
	"'labels':{'zone':'a'}},{'node':'node-\xc3\xb6','cordoned':true,'unverified':true,'devices':1,'allocations':0,'"         \
	"nominations':1,'labels':{},'reason':'smoke',"                                                                           \
	"'lock':{'uid':'p9'}}]}"

#define DEVICES                                                                                                                  \
	"{'devices':["                                                                                                           \
	"{'node':'n1','uuid':'G0','type':'gpu','minor':0,'model':'T4','healthy':true,'cordoned':false,'missing':false,'"         \
	"capacity':{'core':100,'memory':80},"                                                                                    \
	"'used':{'core':50,'memory':20},'shares':2,'whole':false,'holders':[{'uid':'u1','namespace':'default','name':'p1'},{'"   \
	"uid':'u2','namespace':"                                                                                                 \
	"'ml','name':'p2'}],'numa':0,'socket':-1,'pcie':'pci0'},"                                                                \
	"{'node':'n1','uuid':'G1','type':'gpu','minor':1,'model':'T4','healthy':false,'reason':'Xid "                            \
	"79','cordoned':true,'missing':false,'"                                                                                  \
	"capacity':{'core':100,'memory':80},"                                                                                    \
	"'used':{},'shares':0,'whole':false,'holders':[],'numa':1},"                                                             \
	"{'node':'n1','uuid':'H0','type':'host','minor':0,'model':'','healthy':true,'cordoned':false,'missing':false,'capacity'" \
	":{'cpu':64000},"                                                                                                        \
	"'used':{'cpu':64000},'shares':1,'whole':true,'holders':[{'uid':'u3','namespace':'default','name':'p3'}]},"              \
	"{'node':'node-\xc3\xb6','uuid':'N0','type':'nic','minor':0,'model':'','healthy':true,'cordoned':false,'missing':true,'" \
	"capacity':{},"                                                                                                          \
	"'used':{},'shares':1,'max_shares':4,'whole':false,'holders':[]}]}"

static void nodes(void **state)
{
	struct world w;

	begin(&w, "{'node.list':" NODES "}");
	assert_int_equal(nodes_run(&w.ctl, NULL, 0), 0);
	said(&w,
		"NODE     STATUS                DEVICES   PODS   NOMINATED   LOCKED BY   SEEN\n"
		"n1       Ready                       3      2           0                 9s\n"
		"node-\xc3\xb6   Cordoned,Unverified         1      0           1   p9\n",
		"");
}

static void nodes_wide(void **state)
{
	struct world w;

	begin(&w, "{'node.list':" NODES ",'device.list':" DEVICES "}");
	w.ctl.options.format = FORMAT_WIDE;
	assert_int_equal(nodes_run(&w.ctl, NULL, 0), 0);
	said(&w,
		"NODE STATUS DEVICES PODS NOMINATED LOCKED BY SEEN GPU CORE GPU MEMORY HOST CPU NIC LABELS REASON\n"
		"n1 Ready 3 2 0 9s 50/200 (25%) 20/160 (12%) 64000/64000 (100%) zone=a\n"
		"node-\xc3\xb6 Cordoned,Unverified 1 0 1 p9 1/1 (100%) smoke\n"
		"TOTAL 50/200 (25%) 20/160 (12%) 64000/64000 (100%) 1/1 (100%)\n",
		"");
}

static void nodes_are_filtered(void **state)
{
	struct world w;

	begin(&w, "{'node.list':" NODES ",'device.list':" DEVICES "}");
	w.ctl.options.node = "node-\xc3\xb6";
	assert_int_equal(nodes_run(&w.ctl, NULL, 0), 0);
	said(&w,
		"NODE STATUS DEVICES PODS NOMINATED LOCKED BY SEEN\n"
		"node-\xc3\xb6 Cordoned,Unverified 1 0 1 p9\n",
		"");
	begin(&w, "{'node.list':" NODES ",'device.list':" DEVICES "}");
	w.ctl.options.resource = "core";
	assert_int_equal(nodes_run(&w.ctl, NULL, 0), 0);
	said(&w,
		"NODE STATUS DEVICES PODS NOMINATED SEEN\n"
		"n1 Ready 3 2 0 9s\n",
		"");
}

static void a_node_that_does_not_exist_is_told(void **state)
{
	int (*const runs[])(struct ctl *, char **, int) = { nodes_run, top_run, devices_run, pods_run, locks_run, nominations_run,
		events_run };
	struct world w;
	size_t i;

	for (i = 0; i < sizeof(runs) / sizeof(runs[0]); i++) {
		begin(&w, "{'node.list':" NODES "}");
		w.ctl.options.node = "n2";
		assert_int_equal(runs[i](&w.ctl, NULL, 0), CTL_REFUSED);
		said(&w, "", "allotctl: there is no node n2\n");
	}
	begin(&w, "{'node.list':" NODES "}");
	w.ctl.options.node = "n1";
	assert_int_equal(locks_run(&w.ctl, NULL, 0), CTL_OK);
	said(&w, "NODE POD TOKEN AGE EXPIRES\n", "");
}

static void top(void **state)
{
	struct world w;

	begin(&w, "{'device.list':" DEVICES "}");
	assert_int_equal(top_run(&w.ctl, NULL, 0), 0);
	said(&w,
		"NODE    RESOURCE     GPU0     GPU1      ALLOCATED\n"
		"n1      core       50/100   0/100!   50/200 (25%)\n"
		"n1      memory      20/80    0/80!   20/160 (12%)\n"
		"TOTAL   core   50/200 (25%)\n"
		"TOTAL   memory   20/160 (12%)\n"
		"\n"
		"NODE    RESOURCE         HOST0            ALLOCATED\n"
		"n1      cpu        64000/64000   64000/64000 (100%)\n"
		"TOTAL   cpu   64000/64000 (100%)\n"
		"\n"
		"NODE      NIC0    ALLOCATED\n"
		"node-\xc3\xb6   1/1!   1/1 (100%)\n"
		"TOTAL   1/1 (100%)\n"
		"! not eligible: unhealthy, cordoned or missing\n",
		"");
}

static void top_of_one_resource(void **state)
{
	struct world w;

	begin(&w, "{'device.list':" DEVICES "}");
	w.ctl.options.resource = "memory";
	w.ctl.options.node = "n1";
	w.ctl.options.type = "gpu";
	assert_int_equal(top_run(&w.ctl, NULL, 0), 0);
	assert_string_equal(json_string_value(json_object_get(w.last_params, "node")), "n1");
	assert_string_equal(json_string_value(json_object_get(w.last_params, "type")), "gpu");
	said(&w,
		"NODE    RESOURCE    GPU0    GPU1      ALLOCATED\n"
		"n1      memory     20/80   0/80!   20/160 (12%)\n"
		"TOTAL   memory   20/160 (12%)\n"
		"! not eligible: unhealthy, cordoned or missing\n",
		"");
}

static void top_of_nothing(void **state)
{
	struct world w;

	begin(&w, "{'device.list':{'devices':[]}}");
	assert_int_equal(top_run(&w.ctl, NULL, 0), 0);
	said(&w, "There are no such devices.\n", "");
}

static void devices(void **state)
{
	struct world w;

	begin(&w, "{'device.list':" DEVICES "}");
	assert_int_equal(devices_run(&w.ctl, NULL, 0), 0);
	said(&w,
		"NODE     DEVICE   MODEL     CORE   MEMORY           CPU   SHARES   HEALTH               HELD BY\n"
		"n1       gpu:0    T4      50/100    20/80             -        2   ok                   default/p1, ml/p2\n"
		"n1       gpu:1    T4       0/100     0/80             -        0   unhealthy,cordoned   -\n"
		"n1       host:0   -            -        -   64000/64000    whole   ok                   default/p3\n"
		"node-\xc3\xb6   nic:0    -            -        -             -      1/4   missing              -\n",
		"");
}

static void devices_wide_tell_the_reason(void **state)
{
	struct world w;

	begin(&w, "{'device.list':" DEVICES "}");
	w.ctl.options.format = FORMAT_WIDE;
	assert_int_equal(devices_run(&w.ctl, NULL, 0), 0);
	said(&w,
		"NODE DEVICE MODEL CORE MEMORY CPU SHARES HEALTH UUID NUMA PCIE REASON HELD BY\n"
		"n1 gpu:0 T4 50/100 20/80 - 2 ok G0 0 pci0 - default/p1, ml/p2\n"
		"n1 gpu:1 T4 0/100 0/80 - 0 unhealthy,cordoned G1 1 - Xid 79 -\n"
		"n1 host:0 - - - 64000/64000 whole ok H0 - - - default/p3\n"
		"node-\xc3\xb6 nic:0 - - - - 1/4 missing N0 - - - -\n",
		"");
}

#define PODS                                                                                                                   \
	"{'pods':[{'pod':{'uid':'u1','namespace':'default','name':'p1','priority':5,'gang':'g'},'node':'n1','state':'bound','" \
	"token':12,"                                                                                                           \
	"'devices':[{'type':'gpu','uuid':'G0','minor':0,'whole':false,'resources':{'core':50}},{'type':'gpu','uuid':'G1','"    \
	"minor':1,'whole':true,"                                                                                               \
	"'resources':{'core':100}},{'type':'host','uuid':'H','minor':0,'whole':false,'resources':{'cpu':4}}],'created_at':"    \
	"1772370000000,"                                                                                                       \
	"'expires_at':1772373999123,'preempted_by':'boss','revision':9}]"

static void pods(void **state)
{
	struct world w;

	begin(&w, "{'pod.list':" PODS "}}");
	w.ctl.options.namespace = "default";
	assert_int_equal(pods_run(&w.ctl, NULL, 0), 0);
	said(&w,
		"NAMESPACE   NAME   STATE   NODE   DEVICES          AGE   EXPIRES   PREEMPTED BY\n"
		"default     p1     bound   n1     gpu:0,1 host:0   65m    in 90s   boss\n",
		"");
}

static void pods_wide(void **state)
{
	struct world w;

	begin(&w, "{'pod.list':" PODS "}}");
	w.ctl.options.format = FORMAT_WIDE;
	assert_int_equal(pods_run(&w.ctl, NULL, 0), 0);
	said(&w,
		"NAMESPACE   NAME   STATE   NODE   DEVICES                                    AGE   EXPIRES   PREEMPTED BY   UID "
		"  PRIORITY   GANG   TOKEN   "
		"REVISION\n"
		"default     p1     bound   n1     gpu:0{core=50},1{whole} host:0{cpu=4}   65m    in 90s   boss           u1     "
		"      5   g         12   "
		"       9\n",
		"");
}

/* Two pages: `next` is handed back as `after`. */
static void pages_are_joined(void **state)
{
	struct world w;

	begin(&w,
		"{'pod.list':[{'pods':[{'pod':{'uid':'a'}}],'next':1},{'pods':[{'pod':{'uid':'b'}}],'next':2},{'pods':[{'pod':{"
		"'uid':'c'}}]}]}");
	w.ctl.options.format = FORMAT_JSON;
	assert_int_equal(pods_run(&w.ctl, NULL, 0), 0);
	said(&w,
		"{\n  \"pods\": [\n    {\n      \"pod\": {\n        \"uid\": \"a\"\n      }\n    },\n    {\n      \"pod\": {\n"
		"        \"uid\": \"b\"\n      }\n    },\n    {\n      \"pod\": {\n        \"uid\": \"c\"\n      }\n    }\n  "
		"]\n}\n",
		"");
}

static void locks_and_nominations(void **state)
{
	struct world w;

	begin(&w,
		"{'lock.list':{'locks':[{'node':'n1','uid':'p1','token':7,'acquired_at':1772373906123,'expires_at':1772374206123}"
		"]},"
		"'nomination.list':{'nominations':[{'pod':{'uid':'b','name':'podB','namespace':'x','priority':10},'node':'n1','"
		"devices':[{'type':'gpu',"
		"'uuid':'G0','minor':0},{'type':'gpu','uuid':'G1','minor':1}],'victims':['podA'],'expires_at':1772374206123}]}}");
	assert_int_equal(locks_run(&w.ctl, NULL, 0), 0);
	assert_int_equal(nominations_run(&w.ctl, NULL, 0), 0);
	said(&w,
		"NODE   POD   TOKEN   AGE   EXPIRES\n"
		"n1     p1        7    3s   in 4m57s\n"
		"NAMESPACE   NAME   PRIORITY   NODE   DEVICES    EXPIRES   WAITS FOR\n"
		"x           podB         10   n1     gpu:0,1   in 4m57s   podA\n",
		"");
}

static void info(void **state)
{
	struct world w;

	begin(&w, "{}");
	assert_int_equal(info_run(&w.ctl, NULL, 0), 0);
	said(&w,
		"now            2026-03-01 14:05:09.123\n"
		"revision       40\n"
		"version        0.1.0\n"
		"alarms         none\n"
		"pods           7\n",
		"");
}

#define EVENT(revision, kind, more) "{'revision':" revision ",'at':1772373909123,'kind':'" kind "'," more "}"

static void events(void **state)
{
	struct world w;

	/* From revision 0, since fewer than 50 revisions exist; the page at `after` 40 is empty. */
	begin(&w,
		"{'event.list':[{'events':[" EVENT("39", "pod.reserved",
			"'node':'n1','uid':'u1','actor':'root','data':{'pod':{'uid':'u1','name':'p1','namespace':'ml'}}") "," EVENT("40",
			"device.updated",
			"'node':'n1','data':{'uuid':'G','type':'gpu','minor':3,'reason':'ECC \\u001b[31m'}") "," EVENT("40",
			"pod.expired", "'uid':'u2','data':{'cause':'ttl','unclaimed':1}") "],'last':40}]}");
	assert_int_equal(events_run(&w.ctl, NULL, 0), 0);
	said(&w,
		"TIME                      REVISION   EVENT            NODE   SUBJECT   NOTE\n"
		"2026-03-01 14:05:09.123         39   pod.reserved     n1     ml/p1     -\n"
		"2026-03-01 14:05:09.123         40   device.updated   n1     gpu:3     reason: ECC ?[31m\n"
		"2026-03-01 14:05:09.123         40   pod.expired      -      u2        cause: ttl; unclaimed: 1\n",
		"");
}

static void events_of_a_namespace(void **state)
{
	struct world w;

	begin(&w, "{'event.list':[{'events':[" EVENT(
			  "39", "pod.reserved", "'data':{'pod':{'name':'p1','namespace':'ml'}}") "," EVENT("40", "pod.reserved",
			  "'data':{'pod':{'name':'p2','namespace':'x'}}") "],'last':40}]}");
	w.ctl.options.namespace = "x";
	w.ctl.options.given = OPT_NAMESPACE;
	assert_int_equal(events_run(&w.ctl, NULL, 0), 0);
	said(&w,
		"TIME                      REVISION   EVENT          NODE   SUBJECT\n"
		"2026-03-01 14:05:09.123         40   pod.reserved   -      x/p2\n",
		"");
}

static void newest_events_only(void **state)
{
	struct world w;

	begin(&w, "{'event.list':[{'events':[" EVENT("38", "a", "'data':{}") "," EVENT("39", "b", "'data':{}") "," EVENT(
			  "40", "c", "'data':{}") "],'last':40}]}");
	w.ctl.options.last = 2;
	w.ctl.options.given = OPT_NODE; /* filters: from the beginning */
	w.ctl.options.node = "n1";
	assert_int_equal(events_run(&w.ctl, NULL, 0), 0);
	said(&w,
		"TIME                      REVISION   EVENT   NODE   SUBJECT\n"
		"2026-03-01 14:05:09.123         39   b       -      -\n"
		"2026-03-01 14:05:09.123         40   c       -      -\n",
		"");
}

static void compacted_events_are_skipped(void **state)
{
	struct world w;

	begin(&w, "{'event.list':[{'error':'compacted','message':'gone','data':{'oldest':2}},{'events':[" EVENT(
			  "40", "c", "'data':{}") "],'last':40}]}");
	assert_int_equal(events_run(&w.ctl, NULL, 0), 0);
	said(&w,
		"TIME                      REVISION   EVENT   NODE   SUBJECT\n"
		"2026-03-01 14:05:09.123         40   c       -      -\n",
		"allotctl: events before revision 2 are gone\n");
}

/* Until the server refuses. */
static void followed_events_have_titles(void **state)
{
	struct world w;
	json_t *pages;

	begin(&w, "{'event.list':[{'events':[" EVENT("40", "c", "'node':'n1','data':{}") "],'last':40}]}");
	pages = json_object_get(w.answers, "event.list");
	while (json_array_size(pages) < 40) {
		json_array_append_new(pages, json_null());
	}
	json_array_append_new(pages, fake_json("{'error':'overloaded','message':'enough'}"));
	w.ctl.options.given = OPT_FOLLOW;
	assert_int_equal(events_run(&w.ctl, NULL, 0), CTL_REFUSED);
	said(&w,
		"TIME REVISION EVENT NODE SUBJECT NOTE\n"
		"2026-03-01 14:05:09.123 40 c n1 -\n",
		"allotctl: overloaded: enough\n");
}

static void explain(void **state)
{
	char *pod[] = { (char *)"ml/p1" };
	struct world w;

	begin(&w,
		"{'pod.explain':{'summary':'0/2 nodes are available: 1 insufficient gpu, 1 "
		"cordoned.','fits':0,'counts':{'insufficient':1,"
		"'node_cordoned':1},'nodes':{'n1':[{'reason':'insufficient','claim':0,'type':'gpu','need':2,'have':1,'"
		"resolvable':true}],"
		"'n2':[{'reason':'node_cordoned','resolvable':false}],'n3':[{'reason':'nominated','claim':1,'type':'gpu','need'"
		":1,'have':0,'by':['b']}]},"
		"'refusal':{'first_at':1772373309123,'last_at':1772373906123,'count':12,'counts':{'insufficient':2},'nodes':['"
		"n1','n2']},"
		"'suggestions':[{'action':'preempt','node':'n1','victims':['a','b']},{'action':'wait','node':'n1','for':['c']},"
		"{'action':'wait','node':'n2','for':'lock'},{'action':'shrink','claim':0,'resource':'core','to':40},{'action':'"
		"shrink','claim':1,'to':1},{'action':'"
		"uncordon','node':'n2'},"
		"{'action':'pray'}]}}");
	assert_int_equal(explain_run(&w.ctl, pod, 1), 0);
	said(&w,
		"0/2 nodes are available: 1 insufficient gpu, 1 cordoned.\n"
		"\n"
		"Nodes by reason\n"
		"       1  insufficient\n"
		"       1  node_cordoned\n"
		"\n"
		"Nodes\n"
		"  n1: insufficient gpu: claim 0 needs 2, 1 fit\n"
		"  n2: the node is cordoned\n"
		"  n3: gpu promised to other pods: claim 1 needs 1, 0 fit; by b\n"
		"\n"
		"Refused\n"
		"  12 times, first 10m ago (2026-03-01 13:55:09.123), last 3s ago\n"
		"       2  insufficient\n"
		"  on n1, n2\n"
		"\n"
		"What would help\n"
		"  preempt a, b on n1\n"
		"  wait for c on n1\n"
		"  wait for the lock of n2\n"
		"  ask for 40 of the resource core in claim 0\n"
		"  ask for 1 device in claim 1\n"
		"  uncordon n2\n"
		"  {\"action\":\"pray\"}\n",
		"");
}

static void refusals_are_one_line_and_reasons(void **state)
{
	char *pod[] = { (char *)"u1" };
	struct world w;

	begin(&w, "{'pod.explain':{'error':'not_found','message':'there is no pod u1'}}");
	assert_int_equal(explain_run(&w.ctl, pod, 1), CTL_REFUSED);
	said(&w, "", "allotctl: not_found: there is no pod u1\n");
	begin(&w,
		"{'pod.reserve':{'error':'insufficient','message':'0/1 nodes "
		"fit','data':{'nodes':{'n1':[{'reason':'too_large','claim':0,"
		"'type':'gpu','need':9,'have':8}]}}}}");
	assert_int_equal(ctl_call(&w.ctl, "pod.reserve", NULL, NULL), CTL_REFUSED);
	said(&w, "",
		"allotctl: insufficient: 0/1 nodes fit\n"
		"  n1: more gpu than even the empty node could give: claim 0 needs 9, 8 fit\n");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(nodes),
		cmocka_unit_test(nodes_wide),
		cmocka_unit_test(nodes_are_filtered),
		cmocka_unit_test(a_node_that_does_not_exist_is_told),
		cmocka_unit_test(top),
		cmocka_unit_test(top_of_one_resource),
		cmocka_unit_test(top_of_nothing),
		cmocka_unit_test(devices),
		cmocka_unit_test(devices_wide_tell_the_reason),
		cmocka_unit_test(pods),
		cmocka_unit_test(pods_wide),
		cmocka_unit_test(pages_are_joined),
		cmocka_unit_test(locks_and_nominations),
		cmocka_unit_test(info),
		cmocka_unit_test(events),
		cmocka_unit_test(events_of_a_namespace),
		cmocka_unit_test(newest_events_only),
		cmocka_unit_test(compacted_events_are_skipped),
		cmocka_unit_test(followed_events_have_titles),
		cmocka_unit_test(explain),
		cmocka_unit_test(refusals_are_one_line_and_reasons),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* allotctl replay against a server that keeps a little state and checks the order of what it is told. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ctl/replay.h"
#include "fake.h"

enum { PODS = 200, NODES = 7 };

/* The fake's cluster: every third pod fits nowhere, pods go round the nodes. */
struct cluster {
	json_t *states;     /* uid -> "reserved", "bound", "allocated"; released pods are gone */
	json_t *nodes;      /* uid -> node */
	json_t *locks;      /* node -> uid */
	json_t *placements; /* [uid] in the order of reserving */
	int registered, next_node, released;
	bool bad_check;
	int allocations;   /* that are there before */
	char trouble[128]; /* the first thing that was out of order */
};

static const char *uid_of(const json_t *params)
{
	const char *uid = json_string_value(json_object_get(params, "uid"));

	return uid ? uid : json_string_value(json_object_get(json_object_get(params, "pod"), "uid"));
}

static char *reserve(struct cluster *c, const json_t *call, const char *uid)
{
	char node[16];

	json_array_append_new(c->placements, json_string(uid));
	if (strtol(uid + 1, NULL, 10) % 3 == 0) {
		return fake_error(call, -32001, "insufficient", "no room", NULL);
	}
	snprintf(node, sizeof(node), "n%d", c->next_node++ % NODES);
	json_object_set_new(c->states, uid, json_string("reserved"));
	json_object_set_new(c->nodes, uid, json_string(node));
	return fake_result(call, json_pack("{s:s, s:s}", "node", node, "state", "reserved"));
}

static char *move(struct cluster *c, const json_t *call, const char *uid, const char *from, const char *to)
{
	const char *state = json_string_value(json_object_get(c->states, uid)),
		   *node = json_string_value(json_object_get(c->nodes, uid));
	const char *holder = json_string_value(json_object_get(c->locks, node ? node : ""));

	if (!state || strcmp(state, from) != 0 || (holder && strcmp(holder, uid) != 0)) {
		snprintf(c->trouble, sizeof(c->trouble), "%s should become %s but is %s; the lock is %s's", uid, to,
			state ? state : "gone", holder ? holder : "nobody");
		return fake_error(call, -32003, "conflict", c->trouble, NULL);
	}
	json_object_set_new(c->states, uid, json_string(to));
	if (strcmp(to, "bound") == 0) {
		json_object_set_new(c->locks, node, json_string(uid));
	} else {
		json_object_del(c->locks, node);
	}
	return fake_result(call, json_pack("{s:s}", "state", to));
}

static char *answer(void *context, const json_t *call)
{
	struct cluster *c = context;
	const char *method = json_string_value(json_object_get(call, "method"));
	const char *uid = uid_of(json_object_get(call, "params"));

	if (strcmp(method, "server.info") == 0) {
		return fake_result(call, json_pack("{s:{s:i}}", "counts", "allocations", c->allocations));
	}
	if (strcmp(method, "node.register") == 0) {
		c->registered++;
		return fake_result(call, json_object());
	}
	if (strcmp(method, "pod.reserve") == 0) {
		return reserve(c, call, uid);
	}
	if (strcmp(method, "pod.bind") == 0) {
		return move(c, call, uid, "reserved", "bound");
	}
	if (strcmp(method, "plugin.allocate") == 0) {
		return move(c, call, uid, "bound", "allocated");
	}
	if (strcmp(method, "pod.release") == 0) {
		if (strcmp(json_string_value(json_object_get(c->states, uid)), "allocated") != 0) {
			snprintf(c->trouble, sizeof(c->trouble), "%s released too early", uid);
		}
		json_object_del(c->states, uid);
		c->released++;
		return fake_result(call, json_pack("{s:b}", "released", 1));
	}
	if (strcmp(method, "device.list") == 0) {
		return fake_result(call, fake_json("{'devices':[{'type':'gpu','model':'T4','shares':1,'used':{'milli':500},'"
						   "capacity':{'milli':1000}},"
						   "{'type':'gpu','model':'','shares':0,'used':{},'capacity':{'milli':1000}}]}"));
	}
	return fake_result(
		call, fake_json(c->bad_check ? "{'ok':false,'violations':['gpu 0 is over']}" : "{'ok':true,'violations':[]}"));
}

struct world {
	struct cluster cluster;
	struct fake *fake;
	struct ctl ctl;
	char *out, *err;
	size_t out_size, err_size;
	char directory[32], nodes[64], pods[64];
};

static void write_files(struct world *w)
{
	FILE *file;
	int i;

	strcpy(w->directory, "/tmp/allot-replay-XXXXXX");
	assert_non_null(mkdtemp(w->directory));
	snprintf(w->nodes, sizeof(w->nodes), "%s/nodes.csv", w->directory);
	snprintf(w->pods, sizeof(w->pods), "%s/pods.csv", w->directory);
	file = fopen(w->nodes, "w");
	fputs("sn,cpu_milli,memory_mib,gpu,model\n", file);
	for (i = 0; i < NODES; i++) {
		fprintf(file, "n%d,64000,1000,2,T4\n", i);
	}
	fclose(file);
	file = fopen(w->pods, "w");
	fputs("name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,creation_time,deletion_time\n", file);
	for (i = 0; i < PODS; i++) {
		fprintf(file, "p%d,1,1,1,500,,%d,%d\n", i, i / 4, i / 4 + 3 + i % 5);
	}
	fclose(file);
}

static void begin(struct world *w)
{
	memset(w, 0, sizeof(*w));
	write_files(w);
	w->cluster = (struct cluster){
		.states = json_object(), .nodes = json_object(), .locks = json_object(), .placements = json_array()
	};
	w->fake = fake_listen(answer, &w->cluster);
	w->ctl.out = open_memstream(&w->out, &w->out_size);
	w->ctl.err = open_memstream(&w->err, &w->err_size);
	w->ctl.options = (struct options){
		.socket = fake_path(w->fake),
		.timeout = 20000,
		.nodes = w->nodes,
		.pods = w->pods,
		.connections = 5,
	};
}

/* Runs the replay; what it printed is complete afterwards. */
static int run(struct world *w)
{
	int status = replay_run(&w->ctl, NULL, 0);

	allot_close(w->ctl.conn);
	fclose(w->ctl.out);
	fclose(w->ctl.err);
	return status;
}

static void end(struct world *w)
{
	fake_stop(w->fake);
	assert_string_equal(w->cluster.trouble, "");
	unlink(w->nodes);
	unlink(w->pods);
	rmdir(w->directory);
	json_decref(w->cluster.states);
	json_decref(w->cluster.nodes);
	json_decref(w->cluster.locks);
	json_decref(w->cluster.placements);
	free(w->out);
	free(w->err);
}

static void says(const struct world *w, const char *part)
{
	if (!strstr(w->out, part)) {
		fail_msg("%s is not in: %s", part, w->out);
	}
}

static void every_pod_is_driven_to_the_end(void **state)
{
	struct world w;

	begin(&w);
	assert_int_equal(run(&w), 0);
	assert_int_equal(w.cluster.registered, NODES);
	assert_int_equal(json_array_size(w.cluster.placements), PODS);
	says(&w, "Cluster       7 nodes, 14 GPUs\n");
	says(&w, "Pods          200: 133 placed, 67 refused, 0 failed, 0 released\n");
	says(&w, "          67  pod.reserve: insufficient\n");
	says(&w, "Operations    466 in ");
	says(&w, "T4         1      1         500    1000     50.0%\n");
	says(&w, "TOTAL      2      1         500    2000     25.0%\n");
	says(&w, "server.check  ok\n");
	assert_string_equal(w.err, "");
	end(&w);
}

static void churn_releases_in_order(void **state)
{
	struct world w;

	begin(&w);
	w.ctl.options.given = OPT_CHURN;
	w.ctl.options.format = FORMAT_JSON;
	assert_int_equal(run(&w), 0);
	assert_int_equal(w.cluster.released, 133);
	assert_int_equal(json_object_size(w.cluster.states), 0);
	says(&w, "\"released\": 133");
	says(&w, "\"pod.release\"");
	end(&w);
}

static void same_seed_same_order(void **state)
{
	struct world w[3];
	int i;

	for (i = 0; i < 3; i++) {
		begin(&w[i]);
		w[i].ctl.options.given = OPT_SEED;
		w[i].ctl.options.seed = i == 2 ? 8 : 7;
		w[i].ctl.options.connections = i + 1;
		assert_int_equal(run(&w[i]), 0);
	}
	assert_true(json_equal(w[0].cluster.placements, w[1].cluster.placements));
	assert_true(json_equal(w[0].cluster.nodes, w[1].cluster.nodes));
	assert_false(json_equal(w[0].cluster.placements, w[2].cluster.placements));
	for (i = 0; i < 3; i++) {
		end(&w[i]);
	}
}

static void failed_check_is_a_failure(void **state)
{
	struct world w;

	begin(&w);
	w.cluster.bad_check = true;
	assert_int_equal(run(&w), CTL_REFUSED);
	says(&w, "server.check  VIOLATIONS\n  \"gpu 0 is over\"\n");
	end(&w);
}

static void a_server_that_is_not_empty_is_told_first(void **state)
{
	struct world w;

	begin(&w);
	w.cluster.allocations = 2;
	assert_int_equal(run(&w), CTL_OK);
	assert_string_equal(w.err, "allotctl: warning: the server is not empty: 2 pods hold devices already, and keep them\n");
	end(&w);
}

static void bad_usage_touches_nothing(void **state)
{
	struct world w;

	begin(&w);
	w.ctl.options.pods = NULL;
	assert_int_equal(run(&w), CTL_USAGE);
	assert_string_equal(w.err, "allotctl: replay needs --nodes FILE and --pods FILE\n");
	assert_int_equal(w.cluster.registered, 0);
	end(&w);
	begin(&w);
	w.ctl.options.pods = "/nonexistent";
	assert_int_equal(run(&w), CTL_USAGE);
	assert_string_equal(w.err, "allotctl: /nonexistent: No such file or directory\n");
	end(&w);
	begin(&w);
	w.ctl.options.socket = "/nonexistent/s.sock";
	w.ctl.options.timeout = 50;
	assert_int_equal(run(&w), CTL_UNREACHABLE);
	end(&w);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_pod_is_driven_to_the_end),
		cmocka_unit_test(churn_releases_in_order),
		cmocka_unit_test(same_seed_same_order),
		cmocka_unit_test(failed_check_is_a_failure),
		cmocka_unit_test(a_server_that_is_not_empty_is_told_first),
		cmocka_unit_test(bad_usage_touches_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

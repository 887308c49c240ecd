/* CSV files, their mapping to devices and claims, and the order of a replay. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ctl/csv.h"
#include "ctl/trace.h"
#include "fake.h"

static char directory[] = "/tmp/allot-trace-XXXXXX";
static char nodes_file[64], pods_file[64];

static int setup(void **state)
{
	assert_non_null(mkdtemp(directory));
	snprintf(nodes_file, sizeof(nodes_file), "%s/nodes.csv", directory);
	snprintf(pods_file, sizeof(pods_file), "%s/pods.csv", directory);
	return 0;
}

static int teardown(void **state)
{
	unlink(nodes_file);
	unlink(pods_file);
	return rmdir(directory);
}

static void write_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

#define NODES "sn,cpu_milli,memory_mib,gpu,model\nn1,64000,262144,2,T4\nn2,32000,131072,0,\n"
#define PODS "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,creation_time,deletion_time\n"

static struct trace *read_both(const char *nodes, const char *pods, char **error)
{
	write_file(nodes_file, nodes);
	write_file(pods_file, pods);
	return trace_read(nodes_file, pods_file, error);
}

static void csv_finds_columns_by_name(void **state)
{
	char *error = NULL;
	struct csv *csv;
	int64_t value;

	write_file(nodes_file, "\xef\xbb\xbfgpu,sn\r\n\r\n8,\"a, \"\"b\"\"\"\r\n,short\n12.0,x,more,fields\n1e400,y\n");
	csv = csv_open(nodes_file, &error);
	assert_non_null(csv);
	assert_true(csv_has(csv, "gpu") && csv_has(csv, "sn"));
	assert_false(csv_has(csv, "model"));
	assert_true(csv_next(csv));
	assert_int_equal(csv_line(csv), 3);
	assert_string_equal(csv_field(csv, "sn"), "a, \"b\"");
	assert_true(csv_integer(csv, "gpu", 0, 8, 5, &value, &error));
	assert_int_equal(value, 8);
	assert_true(csv_next(csv));
	assert_true(csv_integer(csv, "gpu", 0, 8, 5, &value, &error));
	assert_int_equal(value, 5);
	assert_true(csv_next(csv));
	assert_true(csv_integer(csv, "gpu", 0, 100, 5, &value, &error));
	assert_int_equal(value, 12);
	assert_string_equal(csv_field(csv, "model"), "");
	assert_true(csv_next(csv));
	assert_false(csv_integer(csv, "gpu", 0, 100, 5, &value, &error));
	assert_non_null(strstr(error, "nodes.csv:6: gpu is not a whole number from 0 to 100: 1e400"));
	free(error);
	assert_false(csv_next(csv));
	csv_close(csv);
}

static void nodes_and_pods_become_devices_and_claims(void **state)
{
	char *error;
	struct trace *trace = read_both(
		NODES, PODS "p1,1000,2048,2,500,T4|A10,10,20\np2,0,0,1,1000,,0,\np3,5,0,0,0,,3,9\n", &error);
	json_t *got, *want;

	assert_non_null(trace);
	assert_int_equal(trace->n_nodes, 2);
	got = trace_register_params(&trace->nodes[0]);
	want = fake_json(
		"{'node':'n1','devices':[{'uuid':'n1-gpu-0','type':'gpu','minor':0,'model':'T4','resources':{'milli':1000}},"
		"{'uuid':'n1-gpu-1','type':'gpu','minor':1,'model':'T4','resources':{'milli':1000}},"
		"{'uuid':'n1-host','type':'host','minor':0,'resources':{'cpu':64000,'memory':262144}}]}");
	assert_true(json_equal(got, want));
	json_decref(got);
	json_decref(want);
	got = trace_reserve_params(trace, &trace->pods[0], "spread");
	want = fake_json(
		"{'pod':{'uid':'p1'},'policy':'spread','request':[{'type':'gpu','count':2,'resources':{'milli':500},'"
		"models':['T4','A10']},"
		"{'type':'host','resources':{'cpu':1000,'memory':2048},'agent':false}]}");
	assert_true(json_equal(got, want));
	json_decref(got);
	json_decref(want);
	got = trace_reserve_params(trace, &trace->pods[1], NULL);
	want = fake_json("{'pod':{'uid':'p2'},'request':[{'type':'gpu','count':1}]}"); /* a whole GPU */
	assert_true(json_equal(got, want));
	json_decref(got);
	json_decref(want);
	got = trace_reserve_params(trace, &trace->pods[2], NULL);
	want = fake_json("{'pod':{'uid':'p3'},'request':[{'type':'host','resources':{'cpu':5},'agent':false}]}");
	assert_true(json_equal(got, want));
	json_decref(got);
	json_decref(want);
	trace_free(trace);
}

static void missing_columns_are_not_asked_for(void **state)
{
	char *error;
	struct trace *trace = read_both("gpu,sn\n4,a\n", "num_gpu,name,cpu_milli\n1,p,500\n", &error);
	json_t *params;

	assert_non_null(trace);
	assert_int_equal(trace->nodes[0].gpus, 4);
	assert_false(trace->has_times);
	params = trace_reserve_params(trace, &trace->pods[0], NULL);
	assert_int_equal(
		json_array_size(json_object_get(params, "request")), 1); /* nothing is known of CPUs, so none are asked for */
	json_decref(params);
	trace_free(trace);
}

static void bad_lines_are_named(void **state)
{
	static const struct {
		const char *nodes, *pods, *sentence;
	} cases[] = {
		{ "", PODS, "nodes.csv: the file is empty" },
		{ "a,b\n", PODS, "nodes.csv:1: the first line must name the columns, among them sn" },
		{ NODES "n3,x,1,1,T4\n", PODS, "nodes.csv:4: cpu_milli is not a whole number from 0 to 1125899906842624: x" },
		{ NODES "n3,1,1,5000,T4\n", PODS, "nodes.csv:4: gpu is not a whole number from 0 to 1023: 5000" },
		{ NODES ",1,1,1,T4\n", PODS, "nodes.csv:4: sn must have 1 to 240 bytes" },
		{ NODES "n1,1,1,1,T4\n", PODS, "nodes.csv: n1 occurs twice" },
		{ NODES, "x\n", "pods.csv:1: the first line must name the columns, among them name" },
		{ NODES, PODS "p,1,1,1,1001,,0,0\n", "pods.csv:2: gpu_milli is not a whole number from 0 to 1000: 1001" },
		{ NODES, PODS "p,1,1,1,0,,0,0\n", "pods.csv:2: p asks for 0 milli of 1 GPUs" },
		{ NODES, PODS "p,1,1,-1,0,,0,0\n", "pods.csv:2: num_gpu is not a whole number from 0 to 64: -1" },
		{ NODES, PODS "p,1,1,1.5,0,,0,0\n", "pods.csv:2: num_gpu is not a whole number from 0 to 64: 1.5" },
		{ NODES, PODS "p,0,0,0,0,,0,0\n", "pods.csv:2: p asks for nothing" },
		{ NODES, PODS "p,1,1,0,0,,0,0\n\np,1,1,0,0,,0,0\n", "pods.csv: p occurs twice" },
	};
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *error;

		assert_null(read_both(cases[i].nodes, cases[i].pods, &error));
		if (!strstr(error, cases[i].sentence)) {
			fail_msg("want %s, got %s", cases[i].sentence, error);
		}
		free(error);
	}
}

static void missing_files_are_named(void **state)
{
	char *error;

	assert_null(trace_read("/nonexistent.csv", pods_file, &error));
	assert_string_equal(error, "/nonexistent.csv: No such file or directory");
	free(error);
}

/* The steps as text: "+p1 -p1". */
static char *order(const struct trace *trace, bool churn, const int64_t *seed)
{
	size_t n, i, size;
	struct trace_step *steps = trace_steps(trace, churn, seed, &n);
	char *text;
	FILE *out = open_memstream(&text, &size);

	for (i = 0; i < n; i++) {
		fprintf(out, "%s%s%s", i ? " " : "", steps[i].release ? "-" : "+", trace->pods[steps[i].pod].name);
	}
	fclose(out);
	free(steps);
	return text;
}

static void order_is(const struct trace *trace, bool churn, const int64_t *seed, const char *expected)
{
	char *got = order(trace, churn, seed);

	assert_string_equal(got, expected);
	free(got);
}

static void steps_follow_file_time_and_seed(void **state)
{
	const int64_t seed = 42, other = 43;
	char *error, *first, *again, *third;
	struct trace *trace = read_both(
		NODES, PODS "a,1,1,0,0,,30,40\nb,1,1,0,0,,10,30\nc,1,1,0,0,,20,\nd,1,1,0,0,,10,10\ne,1,1,0,0,,1,2\n", &error);

	assert_non_null(trace);
	order_is(trace, false, NULL, "+a +b +c +d +e");
	order_is(trace, true, NULL, "+e -e +b +d -d +c -b +a -a"); /* at 30 b leaves before a comes */
	first = order(trace, false, &seed);
	again = order(trace, false, &seed);
	third = order(trace, false, &other);
	assert_string_equal(first, again);
	assert_string_not_equal(first, third);
	assert_int_equal(strlen(first), strlen("+a +b +c +d +e"));
	free(first);
	free(again);
	free(third);
	trace_free(trace);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(csv_finds_columns_by_name),
		cmocka_unit_test(nodes_and_pods_become_devices_and_claims),
		cmocka_unit_test(missing_columns_are_not_asked_for),
		cmocka_unit_test(bad_lines_are_named),
		cmocka_unit_test(missing_files_are_named),
		cmocka_unit_test(steps_follow_file_time_and_seed),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}

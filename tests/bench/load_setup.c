/* What comes before and beside the main measurement of the load generator, by liballot. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "load.h"

enum { WINDOW = 256 }; /* calls on their way */

/* Sends a call and keeps at most `window` on their way; every answer must be a result. */
static void post(struct allot_conn *conn, const char *method, json_t *params_take, size_t window)
{
	struct allot_error error = ALLOT_ERROR_INIT;

	if (method && allot_send(conn, method, params_take, NULL, &error) < 0) {
		load_die("%s", error.message);
	}
	while (allot_unanswered(conn) > window) {
		if (allot_receive(conn, NULL, NULL, &error) < 0) {
			load_die("%s", error.message);
		}
	}
}

static json_t *node_params(size_t index)
{
	json_t *devices = json_array();
	char name[32], uuid[64];
	int i;

	snprintf(name, sizeof(name), "load-%05zu", index);
	for (i = 0; i < LOAD_GPUS; i++) {
		snprintf(uuid, sizeof(uuid), "%s-gpu-%d", name, i);
		json_array_append_new(
			devices, json_pack("{s:s, s:s, s:i, s:s, s:i, s:{s:i, s:i}}", "uuid", uuid, "type", "gpu", "minor", i,
					 "model", "A100", "numa", i / 4, "resources", "core", 100, "memory", 80));
	}
	return json_pack("{s:s, s:o}", "node", name, "devices", devices);
}

void load_cluster(const struct load *load)
{
	struct allot_conn *conn = load_connect(load);
	int64_t start = load_now();
	size_t i;

	for (i = 0; i < load->nodes; i++) {
		post(conn, "node.register", node_params(i), WINDOW);
	}
	post(conn, NULL, NULL, 0);
	printf("cluster nodes=%zu devices=%zu seconds=%.2f\n", load->nodes, load->nodes * LOAD_GPUS,
		(double)(load_now() - start) / 1e9);
	allot_close(conn);
}

/* Pods whose claim no node agent hands out: bind leads to `allocated`. */
void load_fill(const struct load *load)
{
	struct allot_conn *conn = load_connect(load);
	int64_t start = load_now();
	size_t i, k;

	for (i = 0; i < load->nodes; i++) {
		char node[32], uid[48];

		snprintf(node, sizeof(node), "load-%05zu", i);
		for (k = 0; k < load->per_node; k++) {
			snprintf(uid, sizeof(uid), "fill-%05zu-%zu", i, k);
			post(conn, "pod.reserve",
				json_pack("{s:{s:s}, s:s, s:[{s:s, s:{s:i, s:i}, s:b}]}", "pod", "uid", uid, "node", node,
					"request", "type", "gpu", "resources", "core", 10, "memory", 8, "agent", 0),
				WINDOW);
			post(conn, "pod.bind", json_pack("{s:s, s:s}", "uid", uid, "node", node), WINDOW);
		}
	}
	post(conn, NULL, NULL, 0);
	printf("fill pods=%zu seconds=%.2f\n", load->nodes * load->per_node, (double)(load_now() - start) / 1e9);
	allot_close(conn);
}

static int by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

void load_filter(const struct load *load)
{
	struct allot_conn *conn = load_connect(load);
	int64_t *taken = calloc(load->calls + 1, sizeof(*taken)), total = 0;
	size_t i;

	for (i = 0; i < load->calls; i++) {
		int64_t start = load_now();
		json_t *result = load_call(conn, "pod.filter",
			json_pack("{s:{s:s}, s:[{s:s, s:i, s:{s:i}}], s:s}", "pod", "uid", "asking", "request", "type", "gpu",
				"count", 2, "resources", "core", 50, "detail", "counts"));

		taken[i] = load_now() - start;
		total = json_integer_value(json_object_get(result, "total"));
		json_decref(result);
	}
	qsort(taken, load->calls, sizeof(*taken), by_value);
	printf("filter calls=%zu fits=%lld p50_ms=%.3f p99_ms=%.3f\n", load->calls, (long long)total,
		(double)taken[load->calls / 2] / 1e6, (double)taken[load->calls * 99 / 100] / 1e6);
	free(taken);
	allot_close(conn);
}

void load_idle(const struct load *load)
{
	struct allot_conn **conns = calloc(load->connections, sizeof(struct allot_conn *));
	long before, after;
	size_t i;

	before = load_rss(load->pid);
	for (i = 0; i < load->connections; i++) {
		conns[i] = load_connect(load);
		json_decref(load_call(conns[i], "server.info", NULL));
	}
	after = load_rss(load->pid);
	printf("idle connections=%zu before_kib=%ld after_kib=%ld cost_kib=%ld\n", load->connections, before, after,
		after - before);
	for (i = 0; i < load->connections; i++) {
		allot_close(conns[i]);
	}
	free(conns);
}

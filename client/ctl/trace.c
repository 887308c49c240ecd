/* Reading the CSV files of a replay and mapping them to devices and claims; see trace.h. */
#include "ctl/trace.h"

#include <stdlib.h>
#include <string.h>

#include "ctl/csv.h"
#include "ctl/mem.h"

enum {
	NODE_GPUS = 1023, /* 1024 devices of a node, one of them the host */
	CLAIM_GPUS = 64,
	NAME_BYTES = 240 /* of a name, so that what is made of it stays under 253 */
};

static const int64_t most_amount = INT64_C(1) << 50, most_time = INT64_C(1) << 40;

static bool name_of(struct csv *csv, const char *column, char **ret, char **error)
{
	const char *name = csv_field(csv, column);

	if (!*name || strlen(name) > NAME_BYTES) {
		return csv_complain(csv, error, "%s must have 1 to %d bytes", column, NAME_BYTES);
	}
	*ret = mem_string(name);
	return true;
}

static void read_node(struct trace *trace, struct csv *csv, char **error)
{
	struct trace_node node = { 0 };

	if (!name_of(csv, "sn", &node.name, error)) {
		return;
	}
	csv_integer(csv, "cpu_milli", 0, most_amount, 0, &node.cpu, error);
	csv_integer(csv, "memory_mib", 0, most_amount, 0, &node.memory, error);
	csv_integer(csv, "gpu", 0, NODE_GPUS, 0, &node.gpus, error);
	node.model = mem_string(csv_field(csv, "model"));
	trace->nodes = mem_grow(trace->nodes, trace->n_nodes, &trace->room_nodes, sizeof(node));
	trace->nodes[trace->n_nodes++] = node;
}

static void read_pod(struct trace *trace, struct csv *csv, char **error)
{
	struct trace_pod pod = { 0 };

	if (!name_of(csv, "name", &pod.name, error)) {
		return;
	}
	csv_integer(csv, "cpu_milli", 0, most_amount, 0, &pod.cpu, error);
	csv_integer(csv, "memory_mib", 0, most_amount, 0, &pod.memory, error);
	csv_integer(csv, "num_gpu", 0, CLAIM_GPUS, 0, &pod.gpus, error);
	csv_integer(csv, "gpu_milli", 0, TRACE_MILLI, pod.gpus ? TRACE_MILLI : 0, &pod.milli, error);
	csv_integer(csv, "creation_time", 0, most_time, 0, &pod.created, error);
	csv_integer(csv, "deletion_time", 0, most_time, -1, &pod.deleted, error);
	pod.models = mem_string(csv_field(csv, "gpu_spec"));
	if (pod.gpus && !pod.milli) {
		csv_complain(csv, error, "%s asks for 0 milli of %d GPUs", pod.name, (int)pod.gpus);
	}
	if (!pod.gpus && !(pod.cpu && trace->has_cpu) && !(pod.memory && trace->has_memory)) {
		csv_complain(csv, error, "%s asks for nothing", pod.name);
	}
	trace->pods = mem_grow(trace->pods, trace->n_pods, &trace->room_pods, sizeof(pod));
	trace->pods[trace->n_pods++] = pod;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Names are identities: each may occur once. The names begin each `size` bytes. */
static void check_unique(const char *path, const void *rows, size_t n, size_t size, char **error)
{
	const char **names = mem_array(n, sizeof(*names));
	size_t i;

	for (i = 0; i < n; i++) {
		memcpy(&names[i], (const char *)rows + i * size, sizeof(names[i]));
	}
	qsort(names, n, sizeof(*names), by_text);
	for (i = 1; i < n && !*error; i++) {
		if (strcmp(names[i - 1], names[i]) == 0) {
			*error = mem_format("%s: %s occurs twice", path, names[i]);
		}
	}
	free(names);
}

static void read_nodes(struct trace *trace, const char *path, char **error)
{
	struct csv *csv = csv_open(path, error);

	if (!csv) {
		return;
	}
	trace->has_cpu = csv_has(csv, "cpu_milli");
	trace->has_memory = csv_has(csv, "memory_mib");
	if (!csv_has(csv, "sn")) {
		csv_complain(csv, error, "the first line must name the columns, among them sn");
	}
	while (!*error && csv_next(csv)) {
		read_node(trace, csv, error);
	}
	csv_close(csv);
	check_unique(path, trace->nodes, trace->n_nodes, sizeof(*trace->nodes), error);
}

static void read_pods(struct trace *trace, const char *path, char **error)
{
	struct csv *csv = csv_open(path, error);

	if (!csv) {
		return;
	}
	trace->has_times = csv_has(csv, "creation_time");
	if (!csv_has(csv, "name")) {
		csv_complain(csv, error, "the first line must name the columns, among them name");
	}
	while (!*error && csv_next(csv)) {
		read_pod(trace, csv, error);
	}
	csv_close(csv);
	check_unique(path, trace->pods, trace->n_pods, sizeof(*trace->pods), error);
}

struct trace *trace_read(const char *nodes_file, const char *pods_file, char **error)
{
	struct trace *trace = mem_array(1, sizeof(*trace));

	*error = NULL;
	read_nodes(trace, nodes_file, error);
	if (!*error) {
		read_pods(trace, pods_file, error);
	}
	if (!*error) {
		return trace;
	}
	trace_free(trace);
	return NULL;
}

void trace_free(struct trace *trace)
{
	size_t i;

	if (!trace) {
		return;
	}
	for (i = 0; i < trace->n_nodes; i++) {
		free(trace->nodes[i].name);
		free(trace->nodes[i].model);
	}
	for (i = 0; i < trace->n_pods; i++) {
		free(trace->pods[i].name);
		free(trace->pods[i].models);
	}
	free(trace->nodes);
	free(trace->pods);
	free(trace);
}

/* { cpu, memory } of what is more than nothing. */
static json_t *host_resources(int64_t cpu, int64_t memory)
{
	json_t *resources = mem_must(json_object());

	if (cpu) {
		json_object_set_new(resources, "cpu", json_integer(cpu));
	}
	if (memory) {
		json_object_set_new(resources, "memory", json_integer(memory));
	}
	return resources;
}

json_t *trace_register_params(const struct trace_node *node)
{
	json_t *devices = mem_must(json_array());
	int64_t i;

	for (i = 0; i < node->gpus; i++) {
		char *uuid = mem_format("%s-gpu-%d", node->name, (int)i);

		json_array_append_new(devices, json_pack("{s:s, s:s, s:I, s:s, s:{s:i}}", "uuid", uuid, "type", "gpu", "minor",
						       (json_int_t)i, "model", node->model, "resources", "milli", TRACE_MILLI));
		free(uuid);
	}
	if (node->cpu || node->memory) {
		char *uuid = mem_format("%s-host", node->name);

		json_array_append_new(devices, json_pack("{s:s, s:s, s:i, s:o}", "uuid", uuid, "type", "host", "minor", 0,
						       "resources", host_resources(node->cpu, node->memory)));
		free(uuid);
	}
	return mem_must(json_pack("{s:s, s:o}", "node", node->name, "devices", devices));
}

static json_t *models_of(const char *text)
{
	json_t *models = mem_must(json_array());

	while (*text) {
		size_t length = strcspn(text, "|");

		if (length) {
			json_array_append_new(models, json_stringn(text, length));
		}
		text += length + (text[length] == '|');
	}
	return models;
}

static json_t *gpu_claim(const struct trace_pod *pod)
{
	json_t *claim = mem_must(json_pack("{s:s, s:I}", "type", "gpu", "count", (json_int_t)pod->gpus));

	if (pod->milli < TRACE_MILLI) {
		json_object_set_new(claim, "resources", json_pack("{s:I}", "milli", (json_int_t)pod->milli));
	}
	if (*pod->models) {
		json_object_set_new(claim, "models", models_of(pod->models));
	}
	return claim;
}

json_t *trace_reserve_params(const struct trace *trace, const struct trace_pod *pod, const char *policy)
{
	json_t *request = mem_must(json_array()), *params;
	json_t *host = host_resources(trace->has_cpu ? pod->cpu : 0, trace->has_memory ? pod->memory : 0);

	if (pod->gpus) {
		json_array_append_new(request, gpu_claim(pod));
	}
	if (json_object_size(host)) {
		json_array_append_new(request, json_pack("{s:s, s:O, s:b}", "type", "host", "resources", host, "agent", 0));
	}
	json_decref(host);
	params = mem_must(json_pack("{s:{s:s}, s:o}", "pod", "uid", pod->name, "request", request));
	if (policy) {
		json_object_set_new(params, "policy", json_string(policy));
	}
	return params;
}

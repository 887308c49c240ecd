/* allotctl replay: reads the files, drives the workload, and reports. The report is a JSON object first; the text is printed from it. */
#include "ctl/replay.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/drive.h"
#include "ctl/human.h"
#include "ctl/mem.h"
#include "ctl/table.h"

static json_t *latencies(struct drive_result *result)
{
	json_t *calls = mem_must(json_object());
	size_t i;

	for (i = 0; i < DRIVE_CALLS; i++) {
		struct latency *l = &result->latencies[i];

		if (l->n) {
			json_object_set_new(calls, drive_call_names[i],
				json_pack("{s:I, s:f, s:f, s:f}", "count", (json_int_t)l->n, "p50_ms",
					(double)latency_percentile(l, 0.5) / 1e6, "p99_ms",
					(double)latency_percentile(l, 0.99) / 1e6, "max_ms",
					(double)latency_percentile(l, 1) / 1e6));
		}
	}
	return calls;
}

static void add_to(json_t *object, const char *key, int64_t more)
{
	json_object_set_new(object, key, json_integer(get_integer(object, key) + more));
}

/* What the GPUs of each model hold now, by what the server says; NULL with the exit status in *status. */
static json_t *models(struct ctl *ctl, int *status)
{
	json_t *devices, *all = mem_must(json_object());
	const json_t *device;
	size_t i;

	*status = ctl_list(ctl, "device.list", json_pack("{s:s}", "type", "gpu"), "devices", &devices);
	if (*status != CTL_OK) {
		json_decref(all);
		return NULL;
	}
	json_array_foreach (devices, i, device) {
		const char *name = *get_string(device, "model") ? get_string(device, "model") : "-";
		int64_t used = get_integer(json_object_get(device, "used"), "milli");
		json_t *model = json_object_get(all, name);

		if (!model) {
			model = json_object();
			json_object_set_new(all, name, model);
		}
		add_to(model, "gpus", 1);
		add_to(model, "held", get_integer(device, "shares") > 0);
		add_to(model, "allocated_milli", used);
		add_to(model, "milli", get_integer(json_object_get(device, "capacity"), "milli"));
	}
	json_decref(devices);
	return all;
}

static size_t gpus_of(const struct trace *trace)
{
	size_t gpus = 0, i;

	for (i = 0; i < trace->n_nodes; i++) {
		gpus += (size_t)trace->nodes[i].gpus;
	}
	return gpus;
}

static json_t *report_of(const struct trace *trace, struct drive_result *result)
{
	const struct {
		const char *name;
		size_t value;
	} numbers[] = {
		{ "nodes", trace->n_nodes },
		{ "gpus", gpus_of(trace) },
		{ "pods", trace->n_pods },
		{ "placed", result->placed },
		{ "refused", result->refused },
		{ "failed", result->failed },
		{ "released", result->released },
		{ "peak_milli", (size_t)result->peak_milli },
		{ "operations", result->calls },
	};
	double speed = result->seconds > 0 ? (double)result->calls / result->seconds : 0;
	json_t *report = mem_must(json_object());
	size_t i;

	for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		json_object_set_new(report, numbers[i].name, json_integer((json_int_t)numbers[i].value));
	}
	json_object_set(report, "reasons", result->reasons);
	json_object_set_new(report, "seconds", json_real(result->seconds));
	json_object_set_new(report, "operations_per_second", json_real(speed));
	json_object_set_new(report, "calls", latencies(result));
	return report;
}

static void print_calls(struct ctl *ctl, const json_t *calls)
{
	struct table *table = table_new();
	const char *name;
	const json_t *call;

	table_column(table, "CALL", TABLE_LEFT);
	table_column(table, "COUNT", TABLE_RIGHT);
	table_column(table, "P50 MS", TABLE_RIGHT);
	table_column(table, "P99 MS", TABLE_RIGHT);
	table_column(table, "MAX MS", TABLE_RIGHT);
	json_object_foreach ((json_t *)calls, name, call) {
		table_row(table);
		table_cell(table, "%s", name);
		table_cell(table, "%" PRId64, get_integer(call, "count"));
		table_cell(table, "%.2f", json_real_value(json_object_get(call, "p50_ms")));
		table_cell(table, "%.2f", json_real_value(json_object_get(call, "p99_ms")));
		table_cell(table, "%.2f", json_real_value(json_object_get(call, "max_ms")));
	}
	table_print(table, ctl->out, ctl->colour);
	table_free(table);
}

static void model_row(struct table *table, const char *name, int64_t gpus, int64_t held, int64_t allocated, int64_t milli)
{
	table_row(table);
	table_cell(table, "%s", name);
	table_cell(table, "%" PRId64, gpus);
	table_cell(table, "%" PRId64, held);
	table_cell(table, "%" PRId64, allocated);
	table_cell(table, "%" PRId64, milli);
	table_cell(table, "%.1f%%", milli ? 100.0 * (double)allocated / (double)milli : 0.0);
}

static void print_models(struct ctl *ctl, const json_t *all)
{
	static const char *const titles[] = { "GPUS", "HELD", "ALLOCATED", "MILLI", "PERCENT" };
	struct table *table = table_new();
	int64_t gpus = 0, held = 0, allocated = 0, milli = 0;
	const char *name;
	const json_t *m;
	size_t i;

	table_column(table, "MODEL", TABLE_LEFT);
	for (i = 0; i < sizeof(titles) / sizeof(titles[0]); i++) {
		table_column(table, titles[i], TABLE_RIGHT);
	}
	json_object_foreach ((json_t *)all, name, m) {
		model_row(table, name, get_integer(m, "gpus"), get_integer(m, "held"), get_integer(m, "allocated_milli"),
			get_integer(m, "milli"));
		gpus += get_integer(m, "gpus");
		held += get_integer(m, "held");
		allocated += get_integer(m, "allocated_milli");
		milli += get_integer(m, "milli");
	}
	model_row(table, "TOTAL", gpus, held, allocated, milli);
	table_print(table, ctl->out, ctl->colour);
	table_free(table);
}

static void print_check(struct ctl *ctl, const json_t *check)
{
	bool ok = get_bool(check, "ok");
	const json_t *violation;
	size_t i;

	fputs("server.check  ", ctl->out);
	style_begin(ctl->out, ctl->colour, ok ? STYLE_GOOD : STYLE_BAD);
	fputs(ok ? "ok" : "VIOLATIONS", ctl->out);
	style_end(ctl->out, ctl->colour, ok ? STYLE_GOOD : STYLE_BAD);
	putc('\n', ctl->out);
	json_array_foreach (json_object_get(check, "violations"), i, violation) {
		char *text = json_dumps(violation, JSON_ENCODE_ANY | JSON_COMPACT);

		fprintf(ctl->out, "  %s\n", (char *)mem_must(text));
		free(text);
	}
}

static void print(struct ctl *ctl, const json_t *report)
{
	const char *reason;
	const json_t *count;

	fprintf(ctl->out, "Cluster       %" PRId64 " nodes, %" PRId64 " GPUs\n", get_integer(report, "nodes"),
		get_integer(report, "gpus"));
	fprintf(ctl->out,
		"Pods          %" PRId64 ": %" PRId64 " placed, %" PRId64 " refused, %" PRId64 " failed, %" PRId64 " released\n",
		get_integer(report, "pods"), get_integer(report, "placed"), get_integer(report, "refused"),
		get_integer(report, "failed"), get_integer(report, "released"));
	json_object_foreach (json_object_get(report, "reasons"), reason, count) {
		fprintf(ctl->out, "  %10" JSON_INTEGER_FORMAT "  %s\n", json_integer_value(count), reason);
	}
	if (get_integer(report, "released")) {
		fprintf(ctl->out, "Peak          %s milli of the GPUs held at one time\n",
			human_usage_percent(get_integer(report, "peak_milli"), TRACE_MILLI * get_integer(report, "gpus")).text);
	}
	fprintf(ctl->out, "Operations    %" PRId64 " in %.2f s: %.0f per second\n\n", get_integer(report, "operations"),
		json_real_value(json_object_get(report, "seconds")),
		json_real_value(json_object_get(report, "operations_per_second")));
	print_calls(ctl, json_object_get(report, "calls"));
	putc('\n', ctl->out);
	print_models(ctl, json_object_get(report, "models"));
	putc('\n', ctl->out);
	print_check(ctl, json_object_get(report, "check"));
}

/* Completes the report with what the server says at the end, and prints it. */
static int report(struct ctl *ctl, const struct trace *trace, struct drive_result *result)
{
	json_t *all, *check, *text;
	int status;

	all = models(ctl, &status);
	if (!all) {
		return status;
	}
	status = ctl_call(ctl, "server.check", NULL, &check);
	if (status != CTL_OK) {
		json_decref(all);
		return status;
	}
	text = report_of(trace, result);
	json_object_set_new(text, "models", all);
	json_object_set_new(text, "check", check);
	status = get_bool(check, "ok") && result->failed == 0 ? CTL_OK : CTL_REFUSED;
	if (ctl->options.format == FORMAT_JSON) {
		ctl_print_json(ctl, json_incref(text));
	} else {
		print(ctl, text);
	}
	json_decref(text);
	return status;
}

/* Says so when the server is not empty: the figures then tell of more than this workload. */
static int look_for_pods(struct ctl *ctl)
{
	json_t *info;
	int64_t n;
	int status = ctl_call(ctl, "server.info", NULL, &info);

	if (status != CTL_OK) {
		return status;
	}
	n = get_integer(json_object_get(info, "counts"), "allocations");
	if (n) {
		fprintf(ctl->err,
			"allotctl: warning: the server is not empty: %" PRId64 " pod%s hold%s devices already, and keep%s them\n",
			n, n == 1 ? "" : "s", n == 1 ? "s" : "", n == 1 ? "s" : "");
	}
	json_decref(info);
	return CTL_OK;
}

static int replay(struct ctl *ctl, const struct trace *trace)
{
	const struct options *o = &ctl->options;
	struct drive_result result = { 0 };
	struct trace_step *steps;
	size_t n_steps;
	int status = look_for_pods(ctl);

	if (status == CTL_OK) {
		status = drive_register(ctl, trace);
	}
	if (status != CTL_OK) {
		return status;
	}
	steps = trace_steps(trace, o->given & OPT_CHURN, o->given & OPT_SEED ? &o->seed : NULL, &n_steps);
	status = drive(ctl, trace, steps, n_steps, &result);
	if (status == CTL_OK) {
		status = report(ctl, trace, &result);
	}
	drive_result_free(&result);
	free(steps);
	return status;
}

int replay_run(struct ctl *ctl, char **arguments, int n)
{
	const struct options *o = &ctl->options;
	struct trace *trace;
	char *error;
	int status;

	(void)arguments;
	(void)n;
	if (!o->nodes || !o->pods) {
		return ctl_usage(ctl, "replay needs --nodes FILE and --pods FILE");
	}
	trace = trace_read(o->nodes, o->pods, &error);
	if (!trace) {
		ctl_usage(ctl, "%s", error);
		free(error);
		return CTL_USAGE;
	}
	if (o->given & OPT_CHURN && !trace->has_times) {
		status = ctl_usage(ctl, "--churn needs the column creation_time in %s", o->pods);
	} else {
		status = replay(ctl, trace);
	}
	trace_free(trace);
	return status;
}

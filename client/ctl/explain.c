/* allotctl explain: why a pod is pending, and what would help. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/human.h"
#include "ctl/mem.h"
#include "ctl/reasons.h"
#include "ctl/table.h"
#include "ctl/views.h"

static void heading(struct ctl *ctl, const char *text)
{
	putc('\n', ctl->out);
	style_begin(ctl->out, ctl->colour, STYLE_BOLD);
	fputs(text, ctl->out);
	style_end(ctl->out, ctl->colour, STYLE_BOLD);
	putc('\n', ctl->out);
}

static void print_counts(struct ctl *ctl, const json_t *counts)
{
	const char *slug;
	const json_t *count;

	json_object_foreach ((json_t *)counts, slug, count) {
		char *clean = text_clean(mem_string(slug));

		fprintf(ctl->out, "  %6" JSON_INTEGER_FORMAT "  %s\n", json_integer_value(count), clean);
		free(clean);
	}
}

static void print_refusal(struct ctl *ctl, const json_t *refusal, int64_t now)
{
	int64_t count = get_integer(refusal, "count");
	char *nodes = text_clean(join_strings(json_object_get(refusal, "nodes"), ", ", 20));

	heading(ctl, "Refused");
	fprintf(ctl->out, "  %" PRId64 " time%s, first %s ago (%s)", count, count == 1 ? "" : "s",
		human_duration(now - get_integer(refusal, "first_at")).text, human_time(get_integer(refusal, "first_at")).text);
	fprintf(ctl->out, ", last %s ago\n", human_duration(now - get_integer(refusal, "last_at")).text);
	if (*get_string(refusal, "message")) {
		char *message = text_clean(mem_string(get_string(refusal, "message")));

		fprintf(ctl->out, "  %s\n", message);
		free(message);
	}
	print_counts(ctl, json_object_get(refusal, "counts"));
	if (*nodes) {
		fprintf(ctl->out, "  on %s\n", nodes);
	}
	free(nodes);
}

/* A suggestion as a sentence; what this version does not know is shown as it came. */
static char *suggestion_text(const json_t *s)
{
	const char *action = get_string(s, "action"), *node = get_string(s, "node");
	const json_t *waits = json_object_get(s, "for");
	char *pods = join_strings(strcmp(action, "preempt") == 0 ? json_object_get(s, "victims") : waits, ", ", 8), *text;

	if (strcmp(action, "preempt") == 0) {
		text = mem_format("preempt %s on %s", pods, node);
	} else if (strcmp(action, "wait") == 0 && json_is_string(waits)) {
		text = mem_format("wait for the %s of %s", json_string_value(waits), node);
	} else if (strcmp(action, "wait") == 0) {
		text = mem_format("wait for %s on %s", pods, node);
	} else if (strcmp(action, "shrink") == 0 && *get_string(s, "resource")) {
		text = mem_format("ask for %" PRId64 " of the resource %s in claim %" PRId64, get_integer(s, "to"),
			get_string(s, "resource"), get_integer(s, "claim"));
	} else if (strcmp(action, "shrink") == 0) {
		text = mem_format("ask for %" PRId64 " device%s in claim %" PRId64, get_integer(s, "to"),
			get_integer(s, "to") == 1 ? "" : "s", get_integer(s, "claim"));
	} else if (strcmp(action, "uncordon") == 0) {
		text = mem_format("uncordon %s", node);
	} else {
		text = mem_must(json_dumps(s, JSON_COMPACT));
	}
	free(pods);
	return text;
}

static void print_suggestions(struct ctl *ctl, const json_t *suggestions)
{
	const json_t *suggestion;
	size_t i;

	if (!json_array_size(suggestions)) {
		return;
	}
	heading(ctl, "What would help");
	json_array_foreach ((json_t *)suggestions, i, suggestion) {
		char *text = text_clean(suggestion_text(suggestion));

		fprintf(ctl->out, "  %s\n", text);
		free(text);
	}
}

static void print(struct ctl *ctl, const json_t *explained, int64_t now)
{
	const json_t *counts = json_object_get(explained, "counts"), *nodes = json_object_get(explained, "nodes");
	const json_t *refusal = json_object_get(explained, "refusal");
	char *summary = text_clean(mem_string(get_string(explained, "summary")));

	fprintf(ctl->out, "%s\n", summary);
	free(summary);
	if (json_object_size(counts)) {
		heading(ctl, "Nodes by reason");
		print_counts(ctl, counts);
	}
	if (json_object_size(nodes)) {
		heading(ctl, "Nodes");
		reasons_print(ctl->out, nodes, ctl->options.format == FORMAT_WIDE ? 64 : 20);
	}
	if (refusal) {
		print_refusal(ctl, refusal, now);
	}
	print_suggestions(ctl, json_object_get(explained, "suggestions"));
}

static json_t *by_name(const char *namespace, const char *name)
{
	return json_pack("{s:s, s:s}", "namespace", namespace, "name", name);
}

/* What is no uid may be a name; when it is neither, what was said of the uid is told. */
static int ask_by_either(struct ctl *ctl, const char *pod, json_t **explained)
{
	struct allot_error error = ALLOT_ERROR_INIT, second = ALLOT_ERROR_INIT;
	int status = ctl_try(ctl, "pod.explain", json_pack("{s:s}", "uid", pod), explained, &error);

	if (status == CTL_REFUSED && strcmp(error.reason, "not_found") == 0) {
		status = ctl_try(ctl, "pod.explain", by_name("default", pod), explained, &second);
	}
	if (status == CTL_REFUSED) {
		ctl_failed(ctl, &error);
	}
	allot_error_clear(&error);
	allot_error_clear(&second);
	return status;
}

/* POD is namespace/name, or a uid or name (in --namespace or "default"). */
static int ask(struct ctl *ctl, const char *pod, json_t **explained)
{
	const char *slash = strchr(pod, '/'), *namespace = ctl->options.namespace;
	char *first;
	int status;

	if (!slash) {
		return namespace ? ctl_call(ctl, "pod.explain", by_name(namespace, pod), explained)
				 : ask_by_either(ctl, pod, explained);
	}
	first = mem_prefix(pod, (size_t)(slash - pod));
	status = ctl_call(ctl, "pod.explain", by_name(first, slash + 1), explained);
	free(first);
	return status;
}

int explain_run(struct ctl *ctl, char **arguments, int n)
{
	json_t *explained;
	int64_t now;
	int status = ask(ctl, arguments[0], &explained);

	(void)n;
	if (status != CTL_OK || ctl->options.format == FORMAT_JSON) {
		return status == CTL_OK ? ctl_print_json(ctl, explained) : status;
	}
	status = ctl_now(ctl, &now);
	if (status == CTL_OK) {
		print(ctl, explained, now);
	}
	json_decref(explained);
	return status;
}

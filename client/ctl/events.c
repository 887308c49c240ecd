/* allotctl events: what happened, oldest first; with --follow as it happens. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ctl/human.h"
#include "ctl/mem.h"
#include "ctl/table.h"
#include "ctl/views.h"

enum { POLL_MS = 500, PAGE = 1000 };

/* The namespace of the pod an event is about, "" when it is about none or does not say. */
static const char *namespace_of(const json_t *event)
{
	const json_t *data = json_object_get(event, "data"), *pod = json_object_get(data, "pod");

	return get_string(pod ? pod : data, "namespace");
}

static bool wanted(const struct ctl *ctl, const json_t *event)
{
	return !ctl->options.namespace || strcmp(namespace_of(event), ctl->options.namespace) == 0;
}

static char *subject(const json_t *event)
{
	const json_t *data = json_object_get(event, "data"), *pod = json_object_get(data, "pod");
	const char *uid = get_string(event, "uid");

	if (pod) {
		return pod_name(pod);
	}
	if (*uid) {
		return mem_string(uid);
	}
	return json_object_get(data, "uuid") ? mem_format("%s:%" PRId64, get_string(data, "type"), get_integer(data, "minor"))
					     : mem_string("");
}

/* What is worth knowing beside the columns: why, on whose account. */
static char *note(const json_t *event)
{
	static const char *const members[] = { "reason", "cause", "by", "unclaimed" };
	const json_t *data = json_object_get(event, "data");
	size_t size, i;
	char *text;
	FILE *out = mem_must(open_memstream(&text, &size));

	for (i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
		const json_t *value = json_object_get(data, members[i]);

		if (json_is_string(value) && *json_string_value(value)) {
			fprintf(out, "%s%s: %s", ftell(out) ? "; " : "", members[i], json_string_value(value));
		} else if (json_is_integer(value)) {
			fprintf(out, "%s%s: %" JSON_INTEGER_FORMAT, ftell(out) ? "; " : "", members[i],
				json_integer_value(value));
		}
	}
	fclose(out);
	return text;
}

static void columns(struct table *table, bool wide)
{
	table_column(table, "TIME", TABLE_LEFT);
	table_column(table, "REVISION", TABLE_RIGHT);
	table_column(table, "EVENT", TABLE_LEFT);
	table_column(table, "NODE", TABLE_LEFT);
	table_column(table, "SUBJECT", TABLE_LEFT);
	if (wide) {
		table_column(table, "UID", TABLE_OPTIONAL);
		table_column(table, "ACTOR", TABLE_LEFT);
		table_column(table, "DEVICES", TABLE_OPTIONAL);
	}
	table_column(table, "NOTE", TABLE_OPTIONAL);
}

static void row(struct table *table, const json_t *event, bool wide)
{
	char *about = subject(event), *why = note(event);

	table_row(table);
	table_cell(table, "%s", human_time(get_integer(event, "at")).text);
	table_cell(table, "%" PRId64, get_integer(event, "revision"));
	table_cell(table, "%s", get_string(event, "kind"));
	table_cell(table, "%s", get_string(event, "node"));
	table_cell(table, "%s", about);
	if (wide) {
		char *devices = device_names(json_object_get(json_object_get(event, "data"), "devices"), false);

		table_cell(table, "%s", get_string(event, "uid"));
		table_cell(table, "%s", get_string(event, "actor"));
		table_cell(table, "%s", devices);
		free(devices);
	}
	table_cell(table, "%s", why);
	free(about);
	free(why);
}

static void print(struct ctl *ctl, const json_t *events)
{
	bool wide = ctl->options.format == FORMAT_WIDE;
	struct table *table = table_new();
	const json_t *event;
	size_t i;

	columns(table, wide);
	json_array_foreach ((json_t *)events, i, event) {
		row(table, event, wide);
	}
	table_print(table, ctl->out, ctl->colour);
	table_free(table);
}

/* As it happens: no table can be aligned then, so each line has fields of fixed width. */
static void print_titles(struct ctl *ctl)
{
	if (ctl->options.format != FORMAT_JSON) {
		fprintf(ctl->out, "%-23s   %8s   %-22s   %-20s   %s\n", "TIME", "REVISION", "EVENT", "NODE", "SUBJECT   NOTE");
	}
}

static void print_line(struct ctl *ctl, const json_t *event)
{
	char *about = subject(event), *why = note(event), *line;

	if (ctl->options.format == FORMAT_JSON) {
		json_dumpf(event, ctl->out, JSON_COMPACT);
		putc('\n', ctl->out);
	} else {
		line = text_clean(mem_format("%s   %8" PRId64 "   %-22s   %-20s   %s%s%s",
			human_time(get_integer(event, "at")).text, get_integer(event, "revision"), get_string(event, "kind"),
			*get_string(event, "node") ? get_string(event, "node") : "-", *about ? about : "-", *why ? "   " : "",
			why));
		fprintf(ctl->out, "%s\n", line);
		free(line);
	}
	free(about);
	free(why);
}

/* One page of events after `*after`, which moves on. Events that were compacted away are skipped, with a word on `err`. */
static int page(struct ctl *ctl, int64_t *after, json_t **ret)
{
	json_t *params = ctl_filters(ctl, "node uid"), *answer;
	struct allot_error error = ALLOT_ERROR_INIT;
	int status;

	json_object_set_new(params, "after", json_integer(*after));
	json_object_set_new(params, "limit", json_integer(PAGE));
	status = ctl_try(ctl, "event.list", json_incref(params), &answer, &error);
	if (status == CTL_REFUSED && strcmp(error.reason, "compacted") == 0 && get_integer(error.data, "oldest") > *after + 1) {
		fprintf(ctl->err, "allotctl: events before revision %" PRId64 " are gone\n", get_integer(error.data, "oldest"));
		json_object_set_new(params, "after", json_integer(get_integer(error.data, "oldest") - 1));
		status = ctl_call(ctl, "event.list", json_incref(params), &answer);
	} else if (status == CTL_REFUSED) {
		ctl_failed(ctl, &error);
	}
	allot_error_clear(&error);
	json_decref(params);
	if (status != CTL_OK) {
		return status;
	}
	*after = get_integer(answer, "last");
	*ret = json_incref(json_object_get(answer, "events"));
	json_decref(answer);
	return CTL_OK;
}

/* Appends what is wanted after `after` up to revision `until`, at most the newest `most` of it (0 = all). */
static int read_all(struct ctl *ctl, int64_t *after, int64_t until, size_t most, json_t *into)
{
	json_t *events = NULL;
	int64_t before;
	int status;

	do {
		const json_t *event;
		size_t i;

		before = *after;
		status = page(ctl, after, &events);
		if (status != CTL_OK) {
			return status;
		}
		json_array_foreach (events, i, event) {
			if (wanted(ctl, event)) {
				json_array_append(into, (json_t *)event);
			}
			if (most && json_array_size(into) > most) {
				json_array_remove(into, 0);
			}
		}
		json_decref(events);
	} while (*after > before && *after < until);
	return CTL_OK;
}

/* Where to begin: --after, or far enough before the newest revision that the last events are among what follows: each revision
 * has an event. With filters nobody knows how far that is, so at the beginning. */
static int64_t beginning(const struct options *o, int64_t newest)
{
	if (o->given & OPT_AFTER) {
		return o->after;
	}
	if (o->given & (OPT_NODE | OPT_UID | OPT_NAMESPACE) || o->last == 0 || newest < o->last) {
		return 0;
	}
	return newest - o->last;
}

static int newest_revision(struct ctl *ctl, int64_t *ret)
{
	json_t *info;
	int status = ctl_call(ctl, "server.info", NULL, &info);

	if (status == CTL_OK) {
		*ret = get_integer(info, "revision");
		json_decref(info);
	}
	return status;
}

/* Prints what comes after `after` for ever; returns when the server or the reader of our output is gone. */
static int follow(struct ctl *ctl, int64_t after)
{
	const struct timespec pause = { .tv_nsec = POLL_MS * 1000000L };
	json_t *events;
	int status = CTL_OK;

	while (status == CTL_OK && !ferror(ctl->out)) {
		const json_t *event;
		int64_t before = after;
		size_t i;

		status = page(ctl, &after, &events);
		if (status != CTL_OK) {
			return status;
		}
		json_array_foreach (events, i, event) {
			if (wanted(ctl, event)) {
				print_line(ctl, event);
			}
		}
		json_decref(events);
		if (after == before) {
			fflush(ctl->out);
			nanosleep(&pause, NULL);
		}
	}
	return status;
}

int events_run(struct ctl *ctl, char **arguments, int n)
{
	json_t *events = mem_must(json_array());
	const json_t *event;
	int64_t newest, after;
	size_t i;
	int status = newest_revision(ctl, &newest);

	(void)arguments;
	(void)n;
	if (status == CTL_OK) {
		after = beginning(&ctl->options, newest);
		status = read_all(ctl, &after, newest, ctl->options.given & OPT_AFTER ? 0 : (size_t)ctl->options.last, events);
	}
	if (status == CTL_OK && !(ctl->options.given & OPT_FOLLOW) && json_array_size(events) == 0) {
		status = ctl_node_exists(ctl);
	}
	if (status == CTL_OK && ctl->options.given & OPT_FOLLOW) {
		print_titles(ctl);
		json_array_foreach (events, i, event) {
			print_line(ctl, event);
		}
		status = follow(ctl, after);
	} else if (status == CTL_OK && ctl->options.format == FORMAT_JSON) {
		status = ctl_print_json(ctl, json_pack("{s:O, s:I}", "events", events, "last", (json_int_t)after));
	} else if (status == CTL_OK) {
		print(ctl, events);
	}
	json_decref(events);
	return status;
}

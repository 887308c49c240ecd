/* Talking to the server and saying what it said; see ctl.h. */
#include "ctl/ctl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ctl/human.h"
#include "ctl/mem.h"
#include "ctl/reasons.h"
#include "ctl/table.h"

enum { CONNECT_PATIENCE_MS = 2000, CONNECT_STEP_MS = 20 };

int ctl_usage(struct ctl *ctl, const char *format, ...)
{
	va_list arguments;
	char *text;

	va_start(arguments, format);
	text = text_clean(mem_vformat(format, arguments));
	va_end(arguments);
	fprintf(ctl->err, "allotctl: %s\n", text);
	free(text);
	return CTL_USAGE;
}

static int status_of(enum allot_kind kind)
{
	return kind == ALLOT_REFUSED ? CTL_REFUSED : kind == ALLOT_INVALID ? CTL_USAGE : CTL_UNREACHABLE;
}

int ctl_failed(struct ctl *ctl, const struct allot_error *error)
{
	char *message = text_clean(mem_string(error->message)), *reason = text_clean(mem_string(error->reason));

	fprintf(ctl->err, "allotctl: %s%s%s\n", reason, *reason ? ": " : "", message);
	if (error->kind == ALLOT_REFUSED) {
		reasons_print(ctl->err, json_object_get(error->data, "nodes"), ctl->options.format == FORMAT_WIDE ? 64 : 10);
	}
	free(message);
	free(reason);
	return status_of(error->kind);
}

/* --socket and ALLOTD_SOCKET are always paths, also without a '/'. New memory. */
static char *address_of(const struct options *o)
{
	char *path, *address;

	if (o->server) {
		return mem_string(o->server);
	}
	path = o->socket ? mem_string(o->socket) : mem_must(allot_default_socket());
	address = mem_format("unix:%s", path);
	free(path);
	return address;
}

/* A server that is just being started has no socket yet, or one that a killed one has left behind: tries for some time. */
static struct allot_conn *connect_patiently(const struct options *o, struct allot_error *error)
{
	const struct timespec step = { .tv_nsec = CONNECT_STEP_MS * 1000000L };
	int patience = o->timeout >= 0 && o->timeout < CONNECT_PATIENCE_MS ? o->timeout : CONNECT_PATIENCE_MS;
	char *address = address_of(o);
	struct allot_conn *conn = allot_connect(address, o->timeout, error);

	while (!conn && !o->server && error->kind == ALLOT_UNREACHABLE && (errno == ENOENT || errno == ECONNREFUSED) &&
		patience > 0) {
		nanosleep(&step, NULL);
		patience -= CONNECT_STEP_MS;
		conn = allot_connect(address, o->timeout, error);
	}
	free(address);
	return conn;
}

int ctl_connect(struct ctl *ctl, struct allot_conn **ret)
{
	struct allot_error error = ALLOT_ERROR_INIT;
	int status = CTL_OK;

	*ret = connect_patiently(&ctl->options, &error);
	if (!*ret && error.kind == ALLOT_UNREACHABLE) {
		fprintf(ctl->err, "allotctl: %s; is allotd running there?\n", error.message);
		status = CTL_UNREACHABLE;
	} else if (!*ret) {
		status = ctl_failed(ctl, &error);
	}
	allot_error_clear(&error);
	return status;
}

int ctl_connected(struct ctl *ctl)
{
	return ctl->conn ? CTL_OK : ctl_connect(ctl, &ctl->conn);
}

int ctl_try(struct ctl *ctl, const char *method, json_t *params, json_t **result, struct allot_error *error)
{
	int status = ctl_connected(ctl);

	if (status != CTL_OK) {
		json_decref(params);
		return status;
	}
	if (allot_call(ctl->conn, method, params, result, error) == 0) {
		return CTL_OK;
	}
	return error->kind == ALLOT_REFUSED ? CTL_REFUSED : ctl_failed(ctl, error);
}

int ctl_call(struct ctl *ctl, const char *method, json_t *params, json_t **result)
{
	struct allot_error error = ALLOT_ERROR_INIT;
	int status = ctl_try(ctl, method, params, result, &error);

	if (status == CTL_REFUSED) {
		ctl_failed(ctl, &error);
	}
	allot_error_clear(&error);
	return status;
}

int ctl_print_json(struct ctl *ctl, json_t *value_take)
{
	json_dumpf(value_take, ctl->out, JSON_INDENT(2) | JSON_ENCODE_ANY);
	putc('\n', ctl->out);
	json_decref(value_take);
	return CTL_OK;
}

int ctl_list(struct ctl *ctl, const char *method, json_t *params, const char *key, json_t **rows)
{
	json_t *all = mem_must(json_array()), *page, *next;
	int status;

	params = params ? params : mem_must(json_object());
	do {
		status = ctl_call(ctl, method, json_incref(params), &page);
		if (status != CTL_OK) {
			break;
		}
		json_array_extend(all, json_object_get(page, key));
		next = json_object_get(page, "next");
		if (next) {
			json_object_set(params, "after", next);
		}
		json_decref(page);
	} while (next);
	if (status == CTL_OK && json_object_get(params, "node") && json_array_size(all) == 0) {
		status = ctl_node_exists(ctl);
	}
	json_decref(params);
	if (status != CTL_OK) {
		json_decref(all);
		return status;
	}
	*rows = all;
	return CTL_OK;
}

int ctl_now(struct ctl *ctl, int64_t *ret)
{
	json_t *info;
	int status = ctl_call(ctl, "server.info", NULL, &info);

	if (status == CTL_OK) {
		*ret = json_integer_value(json_object_get(info, "now"));
		json_decref(info);
	}
	return status;
}

int ctl_node_exists(struct ctl *ctl)
{
	const json_t *node;
	json_t *nodes;
	bool found = false;
	size_t i;
	int status = ctl->options.node ? ctl_list(ctl, "node.list", NULL, "nodes", &nodes) : CTL_OK;

	if (status != CTL_OK || !ctl->options.node) {
		return status;
	}
	json_array_foreach (nodes, i, node) {
		found |= strcmp(get_string(node, "node"), ctl->options.node) == 0;
	}
	json_decref(nodes);
	if (found) {
		return CTL_OK;
	}
	(void)ctl_usage(ctl, "there is no node %s", ctl->options.node);
	return CTL_REFUSED;
}

/* Whether `word` is one of the words of `words`, which are separated by spaces. */
static bool has_word(const char *words, const char *word)
{
	size_t length = strlen(word), n;

	for (; *words; words += n + (words[n] == ' ')) {
		n = strcspn(words, " ");
		if (n == length && strncmp(words, word, n) == 0) {
			return true;
		}
	}
	return false;
}

json_t *ctl_filters(const struct ctl *ctl, const char *names)
{
	const struct options *o = &ctl->options;
	const struct {
		const char *name, *value;
	} filters[] = {
		{ "node", o->node },
		{ "type", o->type },
		{ "uuid", o->uuid },
		{ "uid", o->uid },
		{ "state", o->state },
		{ "namespace", o->namespace },
	};
	json_t *params = mem_must(json_object());
	size_t i;

	for (i = 0; i < sizeof(filters) / sizeof(filters[0]); i++) {
		if (filters[i].value && has_word(names, filters[i].name)) {
			json_object_set_new(params, filters[i].name, json_string(filters[i].value));
		}
	}
	return params;
}

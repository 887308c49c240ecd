/* Parsing the command line's options; see options.h. */
#include "ctl/options.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/mem.h"
#include "ctl/nearest.h"

struct option_row {
	enum option_bit bit;
	char letter; /* 0 = none */
	const char *name;
	const char *argument; /* NULL = takes none */
	const char *help;
	const char *form; /* what its value must be, NULL = any text but an empty one */
};

static const struct option_row rows[] = {
	{ OPT_SOCKET, 's', "socket", "PATH", "the server's unix socket ($ALLOTD_SOCKET)", NULL },
	{ OPT_SERVER, 0, "server", "HOST:PORT", "the server's TCP address, instead of a socket", "HOST:PORT or [ADDRESS]:PORT" },
	{ OPT_TIMEOUT, 0, "timeout", "SECONDS", "how long to wait for an answer (30; 0 = for ever)",
		"a number of seconds, at most 86400 (0 = for ever)" },
	{ OPT_OUTPUT, 'o', "output", "FORMAT", "table, wide or json", "table, wide or json" },
	{ OPT_HELP, 'h', "help", NULL, "this text, or that of the command or method", NULL },
	{ OPT_VERSION, 'V', "version", NULL, "the version of allotctl", NULL },
	{ OPT_NAMESPACE, 'n', "namespace", "NAME", "only pods of this namespace", NULL },
	{ OPT_NODE, 0, "node", "NAME", "only this node", NULL },
	{ OPT_UID, 0, "uid", "UID", "only this pod", NULL },
	{ OPT_UUID, 0, "uuid", "UUID", "only this device", NULL },
	{ OPT_TYPE, 0, "type", "TYPE", "only devices of this type", NULL },
	{ OPT_STATE, 0, "state", "STATE", "only pods in this state", NULL },
	{ OPT_RESOURCE, 0, "resource", "NAME", "only this resource", NULL },
	{ OPT_FOLLOW, 'f', "follow", NULL, "go on showing what happens", NULL },
	{ OPT_LAST, 0, "last", "N", "the newest N events (50; 0 = all)", "a whole number (0 = all)" },
	{ OPT_AFTER, 0, "after", "REVISION", "all events after this revision", "a revision: a whole number" },
	{ OPT_NODES, 0, "nodes", "FILE", "the cluster: CSV with sn, cpu_milli, memory_mib, gpu, model", NULL },
	{ OPT_PODS, 0, "pods", "FILE", "the workload: CSV with name, cpu_milli, memory_mib, num_gpu, gpu_milli ...", NULL },
	{ OPT_POLICY, 0, "policy", "NAME", "binpack or spread", "binpack or spread" },
	{ OPT_SEED, 0, "seed", "N", "shuffle the pods with this seed", "a whole number" },
	{ OPT_CHURN, 0, "churn", NULL, "follow the trace's times and release pods when it deletes them", NULL },
	{ OPT_CONNECTIONS, 0, "connections", "N", "connections that bind and allocate (8)", "a whole number from 1 to 256" },
};

enum { ROWS = sizeof(rows) / sizeof(rows[0]), LONG_BASE = 256 };

const char *options_name(unsigned mask)
{
	size_t i;

	for (i = 0; i < ROWS; i++) {
		if (rows[i].bit & mask) {
			return rows[i].name;
		}
	}
	return "";
}

void options_print(FILE *out, unsigned mask)
{
	size_t i;

	for (i = 0; i < ROWS; i++) {
		char name[64], letter[8] = "    ";

		if (!(rows[i].bit & mask)) {
			continue;
		}
		if (rows[i].letter) {
			snprintf(letter, sizeof(letter), "-%c, ", rows[i].letter);
		}
		snprintf(name, sizeof(name), "%s--%s%s%s", letter, rows[i].name, rows[i].argument ? " " : "",
			rows[i].argument ? rows[i].argument : "");
		fprintf(out, "  %-27s %s\n", name, rows[i].help);
	}
}

/* A whole number of at least `least`; false when it is none. */
static bool whole_number(const char *text, int64_t least, int64_t *ret)
{
	char *end;
	long long value;

	errno = 0;
	value = strtoll(text, &end, 10);
	if (errno || end == text || *end || value < least) {
		return false;
	}
	*ret = value;
	return true;
}

static bool seconds(const char *text, int *ret)
{
	char *end;
	double value = strtod(text, &end);

	if (end == text || *end || !(value >= 0) || value > 86400) {
		return false;
	}
	*ret = value == 0 ? -1 : (int)(value * 1000);
	return true;
}

static bool output(const char *text, enum format *ret)
{
	static const char *const names[] = { [FORMAT_TABLE] = "table", [FORMAT_WIDE] = "wide", [FORMAT_JSON] = "json" };
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(text, names[i]) == 0) {
			*ret = (enum format)i;
			return true;
		}
	}
	return false;
}

static const char **string_of(struct options *o, enum option_bit bit)
{
	switch ((unsigned)bit) {
	case OPT_SOCKET:
		return &o->socket;
	case OPT_NAMESPACE:
		return &o->namespace;
	case OPT_NODE:
		return &o->node;
	case OPT_UID:
		return &o->uid;
	case OPT_UUID:
		return &o->uuid;
	case OPT_TYPE:
		return &o->type;
	case OPT_STATE:
		return &o->state;
	case OPT_RESOURCE:
		return &o->resource;
	case OPT_NODES:
		return &o->nodes;
	case OPT_PODS:
		return &o->pods;
	default:
		return NULL;
	}
}

/* HOST:PORT, nothing that allot_connect takes for a path. */
static bool is_address(const char *text)
{
	return strchr(text, ':') && !strchr(text, '/') && strncmp(text, "unix:", 5) != 0;
}

/* Takes one option's value; false when it is not what it must be. */
static bool accept(struct options *o, enum option_bit bit, const char *value)
{
	switch ((unsigned)bit) {
	case OPT_SERVER:
		o->server = value;
		return is_address(value);
	case OPT_POLICY:
		o->policy = value;
		return strcmp(value, "binpack") == 0 || strcmp(value, "spread") == 0;
	case OPT_TIMEOUT:
		return seconds(value, &o->timeout);
	case OPT_OUTPUT:
		return output(value, &o->format);
	case OPT_LAST:
		return whole_number(value, 0, &o->last);
	case OPT_AFTER:
		return whole_number(value, 0, &o->after);
	case OPT_SEED:
		return whole_number(value, INT64_MIN, &o->seed);
	case OPT_CONNECTIONS:
		return whole_number(value, 1, &o->connections) && o->connections <= 256;
	default:
		if (value) {
			*string_of(o, bit) = value;
		}
		return !value || *value;
	}
}

static char *unknown(const char *typed)
{
	struct nearest near = nearest_to(typed + strspn(typed, "-"));
	size_t i;

	for (i = 0; i < ROWS; i++) {
		nearest_offer(&near, rows[i].name);
	}
	return near.n ? mem_format("there is no option %s; did you mean --%s?", typed, near.names[0])
		      : mem_format("there is no option %s; `allotctl help` lists them", typed);
}

static const struct option_row *row_of(int chosen)
{
	size_t i;

	for (i = 0; i < ROWS; i++) {
		if (chosen == LONG_BASE + (int)i || (chosen == rows[i].letter && rows[i].letter)) {
			return &rows[i];
		}
	}
	return NULL;
}

static void describe(struct option longs[ROWS + 1], char letters[2 * ROWS + 2])
{
	size_t i;

	*letters++ = ':';
	for (i = 0; i < ROWS; i++) {
		longs[i] = (struct option){ rows[i].name, rows[i].argument ? required_argument : no_argument, NULL,
			LONG_BASE + (int)i };
		if (rows[i].letter) {
			*letters++ = rows[i].letter;
			if (rows[i].argument) {
				*letters++ = ':';
			}
		}
	}
	longs[ROWS] = (struct option){ 0 };
	*letters = '\0';
}

int options_parse(struct options *options, int argc, char **argv, char **error)
{
	struct option longs[ROWS + 1];
	char letters[2 * ROWS + 2];
	int chosen;

	*options = (struct options){ .timeout = OPTIONS_TIMEOUT, .last = OPTIONS_LAST, .connections = OPTIONS_CONNECTIONS };
	describe(longs, letters);
	optind = 0;
	opterr = 0;
	while ((chosen = getopt_long(argc, argv, letters, longs, NULL)) != -1) {
		const struct option_row *row = row_of(chosen);

		if (chosen == ':') {
			row = row_of(optopt);
			*error = mem_format(
				"--%s needs a value (%s)", row ? row->name : argv[optind - 1], row ? row->argument : "?");
			return -1;
		}
		if (!row) {
			*error = unknown(argv[optind - 1]);
			return -1;
		}
		if (!accept(options, row->bit, optarg)) {
			*error = mem_format(
				"--%s is %s, not \"%s\"", row->name, row->form ? row->form : "a text that is not empty", optarg);
			return -1;
		}
		options->given |= row->bit;
	}
	if ((options->given & OPT_SOCKET) && (options->given & OPT_SERVER)) {
		*error = mem_string("--socket and --server exclude each other");
		return -1;
	}
	return optind;
}

/* The options of the command line: one table for parsing, checking and the usage text. */
#ifndef ALLOTCTL_OPTIONS_H
#define ALLOTCTL_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Of -o. */
enum format { FORMAT_TABLE, FORMAT_WIDE, FORMAT_JSON };

/* One bit for each option, so that a command can say which it knows. */
enum option_bit {
	OPT_SOCKET = 1 << 0,
	OPT_SERVER = 1 << 1,
	OPT_TIMEOUT = 1 << 2,
	OPT_OUTPUT = 1 << 3,
	OPT_HELP = 1 << 4,
	OPT_VERSION = 1 << 5,
	OPT_GENERAL = (1 << 6) - 1, /* what every command accepts */
	OPT_NAMESPACE = 1 << 6,
	OPT_NODE = 1 << 7,
	OPT_UID = 1 << 8,
	OPT_UUID = 1 << 9,
	OPT_TYPE = 1 << 10,
	OPT_STATE = 1 << 11,
	OPT_RESOURCE = 1 << 12,
	OPT_FOLLOW = 1 << 13,
	OPT_LAST = 1 << 14,
	OPT_AFTER = 1 << 15,
	OPT_NODES = 1 << 16,
	OPT_PODS = 1 << 17,
	OPT_POLICY = 1 << 18,
	OPT_SEED = 1 << 19,
	OPT_CHURN = 1 << 20,
	OPT_CONNECTIONS = 1 << 21,
};

/* Strings point into argv; NULL = not given. */
struct options {
	unsigned given;     /* of enum option_bit */
	const char *socket; /* a path; NULL = the default one */
	const char *server; /* HOST:PORT, NULL = a socket */
	int timeout;        /* ms */
	enum format format;
	const char *namespace;
	const char *node;
	const char *uid;
	const char *uuid;
	const char *type;
	const char *state;
	const char *resource;
	int64_t last;      /* events to show */
	int64_t after;     /* revision after which events are shown */
	const char *nodes; /* files of replay */
	const char *pods;
	const char *policy;
	int64_t seed;
	int64_t connections;
};

/* What --timeout, --last, --connections say when they are not given. */
enum { OPTIONS_TIMEOUT = 30000, OPTIONS_LAST = 50, OPTIONS_CONNECTIONS = 8 };

/* Parses the options, which may stand anywhere before "--", and moves the other words behind them: on success the index of
 * the first other word in argv. On failure -1 and *error is a sentence (free()). */
int options_parse(struct options *options, int argc, char **argv, char **error);

/* The name of the first option in the mask, as typed: "--node". */
const char *options_name(unsigned mask);

/* Prints one line for each option in the mask. */
void options_print(FILE *out, unsigned mask);

#endif

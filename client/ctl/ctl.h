/* What every command of allotctl works with: where to print, what was asked on the command line, and the server. */
#ifndef ALLOTCTL_CTL_H
#define ALLOTCTL_CTL_H

#include <stdbool.h>
#include <stdio.h>

#include "allot.h"
#include "ctl/options.h"

/* Exit statuses. */
enum ctl_status {
	CTL_OK = 0,
	CTL_REFUSED = 1,     /* by the server; or something is not as it should be */
	CTL_USAGE = 2,       /* the command line, or a file it names as input */
	CTL_UNREACHABLE = 3, /* the outcome of a call that was sent is unknown */
	CTL_LOCAL = 4,       /* what was to be written here could not be */
};

/* One run of allotctl. */
struct ctl {
	FILE *out;
	FILE *err;
	bool colour;   /* `out` is a terminal and colours are wanted */
	bool progress; /* `err` is a terminal */
	struct options options;
	struct allot_conn *conn; /* NULL until the first call; owned */
};

/* What a command word does. */
struct command {
	const char *name;
	const char *arguments; /* for the usage text, "" = none */
	const char *summary;
	const char *description;                              /* more for `help NAME`, NULL = nothing */
	unsigned options;                                     /* of enum option_bit: what it accepts beside the general ones */
	int least, most;                                      /* number of arguments */
	int (*run)(struct ctl *ctl, char **arguments, int n); /* an enum ctl_status */
};

/* The commands for people, ended by one without a name. */
extern const struct command commands[];

/* Calls the server, connecting first if need be. On failure says why on `err` and returns the exit status; on success CTL_OK and
 * *result is a new reference. `params` is taken over, as by allot_call. */
int ctl_call(struct ctl *ctl, const char *method, json_t *params, json_t **result);

/* The same, but a refusal is not printed: CTL_REFUSED with *error, which the caller clears (everything else is printed). */
int ctl_try(struct ctl *ctl, const char *method, json_t *params, json_t **result, struct allot_error *error);

/* A further connection to the same server, the caller's; on failure says why on `err`. */
int ctl_connect(struct ctl *ctl, struct allot_conn **ret);

/* Makes sure that ctl->conn is a connection. */
int ctl_connected(struct ctl *ctl);

/* Says what failed, with the reasons per node when the error has some; returns the exit status. */
int ctl_failed(struct ctl *ctl, const struct allot_error *error);

/* Says what is wrong with the command line; always CTL_USAGE. */
int ctl_usage(struct ctl *ctl, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Prints a value as indented JSON with a line end. Takes the value over. CTL_OK. */
int ctl_print_json(struct ctl *ctl, json_t *value_take);

/* All rows of a list method: follows `next` from page to page and joins the arrays called `key`. On success *rows is the
 * array (a new reference). `params` is taken over; NULL = none. Nothing of a `node` that does not exist is CTL_REFUSED. */
int ctl_list(struct ctl *ctl, const char *method, json_t *params, const char *key, json_t **rows);

/* The server's present time, Unix ms (it may differ from ours, and stand still). */
int ctl_now(struct ctl *ctl, int64_t *ret);

/* What --node names must exist: CTL_OK without --node or when it does, else says so on `err` and CTL_REFUSED. */
int ctl_node_exists(struct ctl *ctl);

/* An object of the filters given on the command line (--node ...): `names` says which of "node", "type", "uuid", "uid", "state",
 * "namespace" the method knows, separated by spaces. */
json_t *ctl_filters(const struct ctl *ctl, const char *names);

#endif

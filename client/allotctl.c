/* allotctl: the command line of allotd. This file finds out what was asked and sees to it that it is done; the commands are in
 * client/ctl/, the methods come from the OpenRPC document that is built in. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ctl/ctl.h"
#include "ctl/help.h"
#include "ctl/mem.h"
#include "ctl/nearest.h"
#include "ctl/params.h"
#include "ctl/schema.h"

static const struct command *find_command(const char *name)
{
	const struct command *command;

	for (command = commands; command->name; command++) {
		if (strcmp(command->name, name) == 0) {
			return command;
		}
	}
	return NULL;
}

static int unknown(struct ctl *ctl, const json_t *doc, const char *word)
{
	struct nearest near = nearest_to(word);
	const struct command *command;
	const json_t *method;
	char *question;
	size_t i;

	for (command = commands; command->name; command++) {
		nearest_offer(&near, command->name);
	}
	json_array_foreach (json_object_get(doc, "methods"), i, method) {
		nearest_offer(&near, json_string_value(json_object_get(method, "name")));
	}
	question = nearest_question(&near);
	ctl_usage(ctl, "there is no command or method %s%s%s", word, question, near.n ? "" : "; `allotctl help` lists them");
	free(question);
	return CTL_USAGE;
}

static int help(struct ctl *ctl, const json_t *doc, const char *topic)
{
	const struct command *command = find_command(topic);
	const json_t *method = schema_method(doc, topic);

	if (command) {
		help_command(ctl, command);
	} else if (method) {
		help_method(ctl, doc, method);
	} else if (strcmp(topic, "help") == 0) {
		help_overview(ctl, doc);
	} else {
		return unknown(ctl, doc, topic);
	}
	return CTL_OK;
}

static int call_method(struct ctl *ctl, const json_t *doc, const json_t *method, char **words, int n)
{
	char *error;
	json_t *params = params_build(doc, method, words, n, &error), *result;
	int status;

	if (!params) {
		ctl_usage(ctl, "%s", error);
		free(error);
		return CTL_USAGE;
	}
	status = ctl_call(ctl, json_string_value(json_object_get(method, "name")), params, &result);
	return status == CTL_OK ? ctl_print_json(ctl, result) : status;
}

static int run_command(struct ctl *ctl, const struct command *command, char **words, int n)
{
	unsigned wrong = ctl->options.given & ~(command->options | OPT_GENERAL);

	if (wrong) {
		return ctl_usage(
			ctl, "%s does not take --%s; see allotctl help %s", command->name, options_name(wrong), command->name);
	}
	if (n > command->most) {
		return ctl_usage(
			ctl, "%s does not take %s; see allotctl help %s", command->name, words[command->most], command->name);
	}
	if (n < command->least) {
		return ctl_usage(
			ctl, "usage: allotctl %s%s%s", command->name, *command->arguments ? " " : "", command->arguments);
	}
	return command->run(ctl, words, n);
}

static int dispatch(struct ctl *ctl, const json_t *doc, char **words, int n)
{
	const struct command *command = n ? find_command(words[0]) : NULL;
	const json_t *method = n ? schema_method(doc, words[0]) : NULL;
	unsigned wrong = ctl->options.given & ~(unsigned)OPT_GENERAL;

	if (ctl->options.given & OPT_VERSION) {
		fprintf(ctl->out, "allotctl %s\n", ALLOT_VERSION);
		return CTL_OK;
	}
	if (ctl->options.given & OPT_HELP || (n && strcmp(words[0], "help") == 0)) {
		int skip = n && strcmp(words[0], "help") == 0;

		return n - skip > 1 ? ctl_usage(ctl, "help takes one command or method")
				    : help(ctl, doc, n > skip ? words[skip] : "help");
	}
	if (n == 0) {
		return ctl_usage(ctl, "say what to do: a command or a method; `allotctl help` lists them");
	}
	if (command) {
		return run_command(ctl, command, words + 1, n - 1);
	}
	if (method && wrong) {
		return ctl_usage(ctl, "methods take key=value, not --%s; see allotctl help %s", options_name(wrong), words[0]);
	}
	return method ? call_method(ctl, doc, method, words + 1, n - 1) : unknown(ctl, doc, words[0]);
}

static bool wants_colour(void)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	return isatty(STDOUT_FILENO) && !(no && *no) && !(term && strcmp(term, "dumb") == 0);
}

int main(int argc, char **argv)
{
	struct ctl ctl = { .out = stdout, .err = stderr, .colour = wants_colour(), .progress = isatty(STDERR_FILENO) };
	json_t *doc;
	char *error;
	int first = options_parse(&ctl.options, argc, argv, &error), status;

	if (first < 0) {
		ctl_usage(&ctl, "%s", error);
		free(error);
		return CTL_USAGE;
	}
	doc = schema_load();
	status = dispatch(&ctl, doc, argv + first, argc - first);
	json_decref(doc);
	allot_close(ctl.conn);
	if (fflush(stdout) != 0 || ferror(stdout)) {
		(void)ctl_usage(&ctl, "cannot write the output");
		return CTL_LOCAL;
	}
	return status;
}

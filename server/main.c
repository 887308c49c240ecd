/* allotd: arguments in, exit status out. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/error.h"
#include "base/mem.h"
#include "paths.h"
#include "restore.h"
#include "serve.h"

static const char usage[] =
	"Usage: allotd [OPTION ...]\n"
	"       allotd restore --from FILE [--data-dir DIR] [--force]\n"
	"The durable record of who holds which device in a GPU cluster.\n"
	"\n"
	"  --data-dir DIR          where the database lives [your state directory]\n"
	"  --socket PATH           unix socket, mode 0600 [your runtime directory]\n"
	"  --listen HOST:PORT      also listen on TCP; there are no credentials yet: keep it to hosts you trust\n"
	"  --clock system|manual   manual: time stands still until clock.advance (tests)\n"
	"  --keep-events N         events kept, 0 = all [1000000]\n"
	"  --keep-days N           age of events kept, 0 = any [30]\n"
	"  --max-bytes N           limit of the database file, 0 = none [0]\n"
	"  --max-connections N     connections at the same time [1024]\n"
	"  --backup-dir DIR        where backups go [backups, in the data directory]\n"
	"  --backup-every SECONDS  make one so often, 0 = never [0]\n"
	"  --backup-keep N         how many of those are kept [7]\n"
	"  --guard                 check every row twice: the database's own guards stay on for the server too\n"
	"  --log-level LEVEL       error, warn, info or debug [info]\n"
	"  --version               print the version\n"
	"  --help                  print this\n";

enum option_key {
	KEY_DATA = 256,
	KEY_SOCKET,
	KEY_LISTEN,
	KEY_CLOCK,
	KEY_EVENTS,
	KEY_DAYS,
	KEY_BYTES,
	KEY_CONNECTIONS,
	KEY_BACKUP_DIR,
	KEY_BACKUP_EVERY,
	KEY_BACKUP_KEEP,
	KEY_GUARD,
	KEY_LOG,
	KEY_FROM,
	KEY_FORCE,
	KEY_VERSION,
	KEY_HELP
};

static const struct option long_options[] = {
	{ "data-dir", required_argument, NULL, KEY_DATA },
	{ "socket", required_argument, NULL, KEY_SOCKET },
	{ "listen", required_argument, NULL, KEY_LISTEN },
	{ "clock", required_argument, NULL, KEY_CLOCK },
	{ "keep-events", required_argument, NULL, KEY_EVENTS },
	{ "keep-days", required_argument, NULL, KEY_DAYS },
	{ "max-bytes", required_argument, NULL, KEY_BYTES },
	{ "max-connections", required_argument, NULL, KEY_CONNECTIONS },
	{ "backup-dir", required_argument, NULL, KEY_BACKUP_DIR },
	{ "backup-every", required_argument, NULL, KEY_BACKUP_EVERY },
	{ "backup-keep", required_argument, NULL, KEY_BACKUP_KEEP },
	{ "guard", no_argument, NULL, KEY_GUARD },
	{ "log-level", required_argument, NULL, KEY_LOG },
	{ "version", no_argument, NULL, KEY_VERSION },
	{ "help", no_argument, NULL, KEY_HELP },
	{ 0 },
};

static _Noreturn void usage_error(const char *sentence, const char *value)
{
	fprintf(stderr, "allotd: %s%s%s\nTry 'allotd --help'.\n", sentence, *value ? ": " : "", value);
	exit(EX_USAGE);
}

static int64_t number(const char *name, const char *text, int64_t most)
{
	char *end;
	errno = 0;
	long long value = strtoll(text, &end, 10);
	if (errno || end == text || *end || value < 0 || value > most)
		usage_error(name, text);
	return value;
}

/* --version, --help, and what is no option. */
static _Noreturn void say_and_end(int key)
{
	if (key == KEY_VERSION)
		puts("allotd " ALLOT_VERSION);
	else if (key == KEY_HELP)
		fputs(usage, stdout);
	else
		fputs("Try 'allotd --help'.\n", stderr);
	exit(key == KEY_VERSION || key == KEY_HELP ? EX_OK : EX_USAGE);
}

static void parse_option(int key, const char *value, struct serve_options *o, struct log *log)
{
	switch (key) {
	case KEY_DATA:
		o->data_dir = value;
		break;
	case KEY_SOCKET:
		o->socket = value;
		break;
	case KEY_LISTEN:
		o->listen = value;
		break;
	case KEY_CLOCK:
		if (strcmp(value, "system") != 0 && strcmp(value, "manual") != 0)
			usage_error("--clock is system or manual", value);
		o->clock = strcmp(value, "manual") == 0 ? CLOCK_MANUAL : CLOCK_SYSTEM;
		break;
	case KEY_EVENTS:
		o->keep_events = number("--keep-events needs a number", value, INT64_MAX);
		break;
	case KEY_DAYS:
		o->keep_ms = number("--keep-days needs a number up to 36500", value, 36500) * 86400 * 1000;
		break;
	case KEY_BYTES:
		o->max_bytes = number("--max-bytes needs a number", value, INT64_MAX);
		break;
	case KEY_CONNECTIONS:
		o->connections = number("--max-connections needs a number up to 100000", value, 100000);
		break;
	case KEY_BACKUP_DIR:
		o->backup_dir = value;
		break;
	case KEY_BACKUP_EVERY:
		o->backup_every_ms = number("--backup-every needs a number up to 31536000", value, 31536000) * 1000;
		break;
	case KEY_BACKUP_KEEP:
		o->backup_keep = number("--backup-keep needs a number", value, INT64_MAX);
		break;
	case KEY_GUARD:
		o->guard = true;
		break;
	case KEY_LOG:
		if (!log_level_parse(value, &log->level))
			usage_error("--log-level is error, warn, info or debug", value);
		break;
	default:
		say_and_end(key);
	}
}

/* $XDG_STATE_HOME/allotd, /var/lib/allotd for root, ~/.local/state/allotd. NULL when no home is known. */
static char *default_data_dir(void)
{
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
	if (state && *state)
		return mem_format("%s/allotd", state);
	if (geteuid() == 0)
		return mem_string("/var/lib/allotd");
	return home && *home ? mem_format("%s/.local/state/allotd", home) : NULL;
}

/* Makes the directories above a default path; what fails here is told by whoever opens the path. */
static void make_parents(const char *path)
{
	char *copy = mem_string(path);
	for (char *slash = strchr(copy + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		(void)mkdir(copy, 0700);
		*slash = '/';
	}
	free(copy);
}

static void fill_defaults(struct serve_options *o, char **data_dir, char **socket)
{
	if (!o->data_dir) {
		o->data_dir = *data_dir = default_data_dir();
		if (!o->data_dir)
			usage_error("no home directory is known: give --data-dir", "");
		make_parents(o->data_dir);
	}
	if (!o->socket) {
		o->socket = *socket = allot_default_socket();
		if (!o->socket)
			usage_error("no home directory is known: give --socket", "");
		make_parents(o->socket);
	}
}

static int exit_status(const struct error *error)
{
	for (size_t i = 0; i < error->n_details; i++)
		if (strcmp(error->details[i].key, "exit") == 0)
			return (int)error->details[i].integer;
	return EX_SOFTWARE;
}

static int end(const struct log *log, struct error *error_take)
{
	int status = error_take ? exit_status(error_take) : EX_OK;
	if (error_take)
		log_write(log, LOG_ERROR, "%s", error_take->message);
	error_free(error_take);
	return status;
}

/* allotd restore ... */
static int run_restore(int argc, char **argv, const struct log *log)
{
	static const struct option restore_options[] = {
		{ "from", required_argument, NULL, KEY_FROM },
		{ "data-dir", required_argument, NULL, KEY_DATA },
		{ "force", no_argument, NULL, KEY_FORCE },
		{ "help", no_argument, NULL, KEY_HELP },
		{ 0 },
	};
	const char *from = NULL, *directory = NULL;
	bool force = false;
	for (int key; (key = getopt_long(argc, argv, "", restore_options, NULL)) != -1;) {
		if (key == KEY_FROM)
			from = optarg;
		else if (key == KEY_DATA)
			directory = optarg;
		else if (key == KEY_FORCE)
			force = true;
		else
			say_and_end(key);
	}
	if (optind < argc)
		usage_error("unexpected argument", argv[optind]);
	if (!from)
		usage_error("restore needs --from FILE", "");
	char *otherwise = directory ? NULL : default_data_dir();
	if (!directory && !otherwise)
		usage_error("no home directory is known: give --data-dir", "");
	int status = end(log, restore(from, directory ? directory : otherwise, force));
	free(otherwise);
	return status;
}

int main(int argc, char **argv)
{
	struct log log = { .level = LOG_INFO };
	if (argc > 1 && strcmp(argv[1], "restore") == 0)
		return run_restore(argc - 1, argv + 1, &log);
	struct serve_options options = { .log = &log,
		.version = ALLOT_VERSION,
		.keep_events = 1000000,
		.keep_ms = INT64_C(30) * 86400 * 1000,
		.backup_keep = 7 };
	char *data_dir = NULL, *socket = NULL;
	int key;
	while ((key = getopt_long(argc, argv, "", long_options, NULL)) != -1)
		parse_option(key, optarg, &options, &log);
	if (optind < argc)
		usage_error("unexpected argument", argv[optind]);
	fill_defaults(&options, &data_dir, &socket);
	int status = end(&log, serve(&options));
	free(data_dir);
	free(socket);
	return status;
}

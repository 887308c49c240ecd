/* The load generator of `make bench`: load MODE --socket PATH [--connections N] [--nodes N] [--per-node N] [--seconds S] [--calls N] [--pid PID]
 *
 *   cluster  registers --nodes nodes of 8 GPUs
 *   fill     puts --per-node allocated pods on each of --nodes nodes
 *   cycle    --connections connections cycle pod.reserve, pod.bind, plugin.allocate, pod.release for --seconds seconds
 *   filter   the latency of --calls pod.filter over the whole cluster
 *   idle     what --connections idle connections cost the server --pid */
#include "load.h"

#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

void load_die(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	fputs("load: ", stderr);
	vfprintf(stderr, format, arguments);
	putc('\n', stderr);
	va_end(arguments);
	exit(1);
}

struct allot_conn *load_connect(const struct load *load)
{
	struct allot_error error = ALLOT_ERROR_INIT;
	struct allot_conn *conn = allot_connect(load->socket, 60000, &error);

	if (!conn) {
		load_die("%s", error.message);
	}
	return conn;
}

json_t *load_call(struct allot_conn *conn, const char *method, json_t *params_take)
{
	struct allot_error error = ALLOT_ERROR_INIT;
	json_t *result;

	if (allot_call(conn, method, params_take, &result, &error) < 0) {
		load_die("%s: %s", method, error.message);
	}
	return result;
}

int64_t load_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

long load_rss(pid_t pid)
{
	char path[64];
	long pages = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/statm", (int)pid);
	file = fopen(path, "r");
	if (!file || fscanf(file, "%*d %ld", &pages) != 1) {
		load_die("cannot read %s", path);
	}
	fclose(file);
	return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

static void allow_descriptors(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

static size_t number(const char *text)
{
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	if (end == text || *end) {
		load_die("not a number: %s", text);
	}
	return value;
}

static struct load options(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "socket", required_argument, NULL, 's' },
		{ "connections", required_argument, NULL, 'c' },
		{ "nodes", required_argument, NULL, 'n' },
		{ "per-node", required_argument, NULL, 'p' },
		{ "seconds", required_argument, NULL, 't' },
		{ "calls", required_argument, NULL, 'k' },
		{ "pid", required_argument, NULL, 'i' },
		{ "first", required_argument, NULL, 'f' },
		{ 0 },
	};
	struct load load = { .connections = 64, .nodes = 1000, .per_node = 8, .seconds = 3, .calls = 200 };
	int chosen;

	while ((chosen = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		switch (chosen) {
		case 's':
			load.socket = optarg;
			break;
		case 'c':
			load.connections = number(optarg);
			break;
		case 'n':
			load.nodes = number(optarg);
			break;
		case 'p':
			load.per_node = number(optarg);
			break;
		case 't':
			load.seconds = strtod(optarg, NULL);
			break;
		case 'k':
			load.calls = number(optarg);
			break;
		case 'i':
			load.pid = (pid_t)number(optarg);
			break;
		case 'f':
			load.first = number(optarg);
			break;
		default:
			exit(2);
		}
	}
	return load;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(const struct load *load);
	} modes[] = {
		{ "cluster", load_cluster },
		{ "fill", load_fill },
		{ "cycle", load_cycle },
		{ "filter", load_filter },
		{ "idle", load_idle },
	};
	struct load load = options(argc, argv);
	size_t i;

	if (!load.socket || optind >= argc) {
		fputs("usage: load cluster|fill|cycle|filter|idle --socket PATH ... (see tests/bench/load.c)\n", stderr);
		return 2;
	}
	allow_descriptors();
	for (i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		if (strcmp(argv[optind], modes[i].name) == 0) {
			modes[i].run(&load);
			return 0;
		}
	}
	load_die("there is no mode %s", argv[optind]);
}

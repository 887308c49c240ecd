/* The running server: cluster, database, engine, methods and connections, wired together. */
#ifndef ALLOTD_SERVE_H
#define ALLOTD_SERVE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/log.h"

struct error;

struct serve_options {
	const char *data_dir;
	const char *socket; /* path of the unix socket */
	const char *listen; /* HOST:PORT, NULL = no TCP */
	enum clock_kind clock;
	bool guard;          /* keep the database's guard triggers on for our own writes */
	int64_t keep_events; /* number, 0 = all */
	int64_t keep_ms;     /* age of events kept, 0 = any */
	int64_t max_bytes;   /* limit of the database file, 0 = none */
	int64_t connections; /* accepted at the same time, 0 = default */
	const struct log *log;
	const char *version;
	const char *backup_dir;  /* NULL = <data_dir>/backups */
	int64_t backup_every_ms; /* between two backups made by the clock, 0 = none */
	int64_t backup_keep;     /* so many of those are kept */
};

/* Runs until a signal asks for the end. Returns NULL after a clean end; an error says in its detail "exit" (an integer, sysexits.h) how the
 * process should end. */
struct error *serve(const struct serve_options *options) __attribute__((warn_unused_result));

#endif

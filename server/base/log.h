/* Log lines on stderr: `time level message`. A log is a value that is passed to whoever may speak. */
#ifndef ALLOTD_BASE_LOG_H
#define ALLOTD_BASE_LOG_H

#include <stdbool.h>

/* Most important first. */
enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG };

struct log {
	enum log_level level; /* the least important level that is written */
};

/* Writes one line if `level` is important enough. Safe from any thread: one write() per line. */
void log_write(const struct log *log, enum log_level level, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Parses "error", "warn", "info" or "debug"; false when it is none of them. */
bool log_level_parse(const char *name, enum log_level *ret);

#endif

#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char *const level_names[] = { "error", "warn", "info", "debug" };

void log_write(const struct log *log, enum log_level level, const char *format, ...)
{
	char line[2048];
	struct timespec now;
	struct tm utc;
	va_list args;
	if (level > log->level)
		return;
	(void)clock_gettime(CLOCK_REALTIME, &now);
	(void)gmtime_r(&now.tv_sec, &utc);
	size_t n = strftime(line, sizeof line, "%Y-%m-%dT%H:%M:%S", &utc);
	n += (size_t)snprintf(line + n, sizeof line - n, ".%03ldZ %s ", now.tv_nsec / 1000000, level_names[level]);
	va_start(args, format);
	int m = vsnprintf(line + n, sizeof line - n - 1, format, args);
	va_end(args);
	n = m < 0 ? n : (n + (size_t)m < sizeof line - 2 ? n + (size_t)m : sizeof line - 2);
	line[n++] = '\n';
	if (write(STDERR_FILENO, line, n) < 0)
		return; /* nowhere left to say it */
}

bool log_level_parse(const char *name, enum log_level *ret)
{
	for (enum log_level l = LOG_ERROR; l <= LOG_DEBUG; l++)
		if (strcmp(name, level_names[l]) == 0) {
			*ret = l;
			return true;
		}
	return false;
}

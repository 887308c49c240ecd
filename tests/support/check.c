#include "support/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

_Noreturn void check_failed(const char *format, ...)
{
	char *sentence = NULL;
	va_list args;
	va_start(args, format);
	if (vasprintf(&sentence, format, args) < 0)
		abort();
	va_end(args);
	/* cmocka cuts long messages, so the sentence goes out by itself */
	fprintf(stderr, "# %s\n", sentence);
	free(sentence);
	fail();
	abort();
}

bool check_instrumented(void)
{
	const char *sanitize = getenv("ALLOT_SANITIZE");
	return sanitize && *sanitize;
}

int check_patience(void)
{
	return check_instrumented() ? 90000 : 20000;
}

int64_t check_now(void)
{
	struct timespec now;
	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void check_sleep(int ms)
{
	struct timespec wait = { .tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000 };
	while (nanosleep(&wait, &wait) != 0)
		;
}

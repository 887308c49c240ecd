/* A small set of alarms, as slugs for server.info. */
#ifndef ALLOTD_ENGINE_ALARMS_H
#define ALLOTD_ENGINE_ALARMS_H

#include <stdbool.h>
#include <stddef.h>

enum { ALARMS_AT_MOST = 24 };

/* In the order in which they were raised; slugs are constants. */
struct alarms {
	const char *slugs[ALARMS_AT_MOST];
	size_t n;
};

/* Raises or clears an alarm; true when that changed something. More alarms than there is room for are a programming error (assert). */
bool alarms_set(struct alarms *alarms, const char *slug, bool raised);

#endif

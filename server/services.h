/* What the engine and the store do for the methods (methods/world.h). */
#ifndef ALLOTD_SERVICES_H
#define ALLOTD_SERVICES_H

#include "base/clock.h"
#include "methods/world.h"

struct backups;
struct engine;

/* The `server` of a struct world. */
struct services {
	struct engine *engine;
	const struct cluster *cluster;
	const struct clock *clock;
	const char *version;
	struct backups *backups;
	char db_id[33]; /* of the last status */
};

extern const struct world_services world_services;

#endif

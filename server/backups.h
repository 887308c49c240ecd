/* The server's backups: what the methods of that name do, and the ones made by the clock. */
#ifndef ALLOTD_BACKUPS_H
#define ALLOTD_BACKUPS_H

#include <stdatomic.h>

#include "base/log.h"
#include "engine/engine.h"
#include "methods/world.h"

struct backups_options {
	const char *directory; /* of the backups */
	int64_t every_ms;      /* between two that are made by the clock, 0 = none are */
	int64_t keep;          /* so many of those are kept */
};

struct backups {
	struct backups_options options;
	struct engine *engine;
	const struct log *log;
	atomic_bool stop; /* a backup that is being made is given up */

	struct engine_call call; /* of the one made by the clock; loop thread, but in `work` */
	bool making;             /* it is on its way */
	struct error *failure;   /* why it was not made */
	int64_t due;             /* when the next one is, monotonic ms */
};

/* Starts counting: the next one is due `every_ms` after the last one that is there. */
void backups_start(struct backups *b, const struct backups_options *options, struct engine *engine, const struct log *log);

/* Makes one if it is due. Loop thread, once in a pass. */
void backups_pass(struct backups *b);

/* The shorter of `wait` (ms, -1 = for ever) and the time until one is due. */
int64_t backups_timeout(const struct backups *b, int64_t wait);

/* The services of struct world_services, with the server's `backups`. Off the loop. */
struct error *backups_create(struct backups *b, void *reader, const char *name,
	void (*each)(void *context, const struct world_backup *), void *context) __attribute__((warn_unused_result));
struct error *backups_list(struct backups *b, void (*each)(void *context, const struct world_backup *), void *context)
	__attribute__((warn_unused_result));
struct error *backups_read(struct backups *b, const char *name, int64_t offset, int64_t limit, struct text *to, int64_t *size)
	__attribute__((warn_unused_result));
struct error *backups_remove(struct backups *b, const char *name) __attribute__((warn_unused_result));

#endif

/* What a handler may touch: the cluster, the txn of its call, and a few services of the server that the wiring provides. */
#ifndef ALLOTD_METHODS_WORLD_H
#define ALLOTD_METHODS_WORLD_H

#include <stdbool.h>

#include "base/text.h"
#include "core/txn.h"

struct error;

/* What server.info tells beside the cluster. Strings and arrays live until the next call of the engine. */
struct world_status {
	const char *version;
	const char *db_id;
	int64_t epoch;
	int64_t now;        /* Unix ms */
	int64_t started_at; /* Unix ms */
	bool read_only;
	const char *const *alarms;
	size_t n_alarms;
	int64_t commits;    /* turns written since the start */
	int64_t operations; /* calls decided since the start */
};

/* One row of history; strings live until the callback returns. `data` is a JSON text. */
struct world_event {
	int64_t revision, at;
	const char *kind, *node, *uid, *actor, *data;
};

/* Which rows of history: those after a revision, at most `limit`. */
struct world_event_query {
	int64_t after, limit;
	const char *uid, *node; /* NULL = any */
	const char *mention;    /* what the data must contain; NULL = anything */
};

/* How far history reaches back. */
struct world_span {
	int64_t horizon;  /* revisions up to this are gone */
	int64_t revision; /* the last one */
	int64_t epoch;
	int64_t since; /* the time of the first event that is there, Unix ms; 0 when there is none */
};

/* A backup; see store/backup.h. */
struct world_backup {
	const char *name;
	int64_t bytes;
	const char *sha256; /* "" = not known */
	int64_t at;         /* Unix ms */
	int64_t revision;   /* that it shows; only when it was just made */
	int64_t epoch;
};

/* Prints one row as an Event; `context` is a struct json_out. */
void view_event(void *context, const struct world_event *event);

/* What the server does for handlers; filled by the wiring (services.c). Errors are the caller's. */
struct world_services {
	void (*status)(void *server, struct world_status *ret);
	/* Moves the manual clock by `ms` within the open turn and returns the new time; -1 when the clock is not manual. */
	int64_t (*advance)(void *server, struct txn *txn, int64_t ms);
	/* Off the loop, with the reader given to `work`: */
	struct error *(*events)(void *reader, const struct world_event_query *query,
		void (*each)(void *context, const struct world_event *), void *context, int64_t *last);
	struct error *(*span)(void *reader, struct world_span *ret);
	/* Reads the rows, and checks what only the database can know. */
	struct error *(*load)(void *reader, struct change_list *ret);
	struct error *(*check)(void *reader, void (*violation)(void *context, const char *sentence), void *context);
	/* Backups, off the loop too. `name` NULL: one is made up. `each` is told of the one that was made; of all of them. */
	struct error *(*backup)(void *server, void *reader, const char *name,
		void (*each)(void *context, const struct world_backup *), void *context);
	struct error *(*backups)(void *server, void (*each)(void *context, const struct world_backup *), void *context);
	struct error *(*backup_read)(
		void *server, const char *name, int64_t offset, int64_t limit, struct text *to, int64_t *size);
	struct error *(*backup_remove)(void *server, const char *name);
};

/* The `world` that every handler gets. */
struct world {
	struct cluster *cluster;
	struct txn *txn; /* of the call; NULL in `work` */
	const struct world_services *services;
	void *server; /* handed to the services */
};

#endif

#include "services.h"

#include <string.h>

#include "backups.h"
#include "base/error.h"
#include "core/state.h"
#include "engine/engine.h"
#include "store/store.h"

static void status(void *server, struct world_status *ret)
{
	struct services *s = server;
	engine_alarm(s->engine, "over_subscribed", cluster_over_subscribed(s->cluster));
	struct engine_status e = engine_status(s->engine);
	memcpy(s->db_id, e.meta.db_id, sizeof s->db_id);
	*ret = (struct world_status){
		.version = s->version,
		.db_id = s->db_id,
		.epoch = e.meta.epoch,
		.now = e.now,
		.started_at = e.started_at,
		.read_only = e.read_only,
		.alarms = e.alarms,
		.n_alarms = e.n_alarms,
		.commits = e.commits,
		.operations = e.operations,
	};
}

static int64_t advance(void *server, struct txn *txn, int64_t ms)
{
	const struct services *s = server;
	return s->clock->kind == CLOCK_MANUAL ? engine_advance(s->engine, txn, ms) : -1;
}

struct each {
	void (*each)(void *context, const struct world_event *event);
	void *context;
};

static void pass_on(void *context, const struct store_event *e)
{
	const struct each *each = context;
	each->each(each->context, &(struct world_event){ .revision = e->revision,
					  .at = e->at,
					  .kind = e->kind,
					  .node = e->node,
					  .uid = e->uid,
					  .actor = e->actor,
					  .data = e->data });
}

static struct error *events(void *reader, const struct world_event_query *query,
	void (*each)(void *context, const struct world_event *), void *context, int64_t *last)
{
	struct each pass = { each, context };
	const struct store_event_query q = {
		.after = query->after, .limit = query->limit, .uid = query->uid, .node = query->node, .mention = query->mention
	};
	return store_reader_events(reader, &q, pass_on, &pass, last);
}

static struct error *span(void *reader, struct world_span *ret)
{
	struct store_span s = { 0 };
	struct error *error = store_reader_span(reader, &s);
	*ret = (struct world_span){ .horizon = s.horizon, .revision = s.revision, .epoch = s.epoch, .since = s.since };
	return error;
}

static struct error *load(void *reader, struct change_list *ret)
{
	struct store_meta meta;
	return store_reader_load(reader, ret, &meta);
}

static struct error *check(void *reader, void (*violation)(void *context, const char *sentence), void *context)
{
	return store_reader_check(reader, violation, context);
}

static struct error *backup(
	void *server, void *reader, const char *name, void (*each)(void *context, const struct world_backup *), void *context)
{
	return backups_create(((struct services *)server)->backups, reader, name, each, context);
}

static struct error *backups(void *server, void (*each)(void *context, const struct world_backup *), void *context)
{
	return backups_list(((struct services *)server)->backups, each, context);
}

static struct error *backup_read(void *server, const char *name, int64_t offset, int64_t limit, struct text *to, int64_t *size)
{
	return backups_read(((struct services *)server)->backups, name, offset, limit, to, size);
}

static struct error *backup_remove(void *server, const char *name)
{
	return backups_remove(((struct services *)server)->backups, name);
}

const struct world_services world_services = {
	.status = status,
	.advance = advance,
	.events = events,
	.span = span,
	.load = load,
	.check = check,
	.backup = backup,
	.backups = backups,
	.backup_read = backup_read,
	.backup_remove = backup_remove,
};

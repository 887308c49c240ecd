#include "backups.h"

#include <stddef.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "base/mem.h"
#include "proof.h"
#include "store/backup.h"

enum { RETRY_MS = 5 * 60 * 1000 }; /* after one that failed, at the latest */

static const char automatic[] = "auto-", by_hand[] = "allotd-";

static int64_t monotonic_ms(void)
{
	struct timespec t;
	(void)clock_gettime(CLOCK_BOOTTIME, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static int64_t wall_ms(void)
{
	struct timespec t;
	(void)clock_gettime(CLOCK_REALTIME, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static struct error *illegal(const char *name)
{
	struct error *e = error_new(
		ERR_INVALID_PARAMS, "\"%s\" is no name for a backup: letters, digits, '-', '_', '.', not a path", name);
	return error_with_string(e, "path", "name");
}

static struct error *create(
	struct backups *b, struct store_reader *reader, const char *name, const char *prefix, struct store_backup *ret)
{
	const struct store_backup_options options = {
		.directory = b->options.directory,
		.name = name,
		.prefix = prefix,
		.at = wall_ms(),
		.proof = &server_proof,
		.stop = &b->stop,
	};
	int64_t start = monotonic_ms();
	struct error *e = store_backup_create(reader, &options, ret);
	if (!e)
		log_write(b->log, LOG_INFO, "backup %s: %lld bytes, revision %lld, in %lld ms", ret->name, (long long)ret->bytes,
			(long long)ret->revision, (long long)(monotonic_ms() - start));
	return e;
}

struct each {
	void (*each)(void *context, const struct world_backup *backup);
	void *context;
};

static void pass_on(void *context, const struct store_backup *b)
{
	const struct each *each = context;
	each->each(each->context, &(struct world_backup){ .name = b->name,
					  .bytes = b->bytes,
					  .sha256 = b->sha256,
					  .at = b->at,
					  .revision = b->revision,
					  .epoch = b->epoch });
}

struct error *backups_create(struct backups *b, void *reader, const char *name,
	void (*each)(void *context, const struct world_backup *), void *context)
{
	struct store_backup made;
	if (name && !store_backup_name_is_legal(name))
		return illegal(name);
	struct error *e = create(b, reader, name, by_hand, &made);
	if (!e)
		pass_on(&(struct each){ each, context }, &made);
	return e;
}

struct error *backups_list(struct backups *b, void (*each)(void *context, const struct world_backup *), void *context)
{
	struct each pass = { each, context };
	return store_backup_list(b->options.directory, pass_on, &pass);
}

struct error *backups_read(struct backups *b, const char *name, int64_t offset, int64_t limit, struct text *to, int64_t *size)
{
	return store_backup_name_is_legal(name) ? store_backup_read(b->options.directory, name, offset, limit, to, size)
						: illegal(name);
}

struct error *backups_remove(struct backups *b, const char *name)
{
	return store_backup_name_is_legal(name) ? store_backup_remove(b->options.directory, name) : illegal(name);
}

/* ---- those made by the clock */

static struct backups *backups_of(struct engine_call *call)
{
	return (struct backups *)(void *)((char *)call - offsetof(struct backups, call));
}

static void decide(struct engine_call *call, struct txn *txn)
{
	(void)call;
	(void)txn;
}

static void work(struct engine_call *call, struct store_reader *reader)
{
	struct backups *b = backups_of(call);
	struct store_backup made;
	b->failure = create(b, reader, NULL, automatic, &made);
	if (!b->failure)
		b->failure = store_backup_prune(b->options.directory, automatic, b->options.keep);
}

static void release(struct engine_call *call, const struct error *failure)
{
	struct backups *b = backups_of(call);
	const struct error *why = failure ? failure : b->failure;
	int64_t wait = b->options.every_ms;
	if (why && !b->stop)
		log_write(b->log, LOG_ERROR, "backup failed: %s", why->message);
	engine_alarm(b->engine, "backup_failed", why && !b->stop);
	if (why && wait > RETRY_MS)
		wait = RETRY_MS;
	error_free(b->failure);
	b->failure = NULL;
	b->making = false;
	b->due = monotonic_ms() + wait;
}

static void note_last(void *context, const struct store_backup *backup)
{
	int64_t *last = context;
	if (strncmp(backup->name, automatic, strlen(automatic)) == 0 && backup->at > *last)
		*last = backup->at;
}

void backups_start(struct backups *b, const struct backups_options *options, struct engine *engine, const struct log *log)
{
	int64_t last = 0;
	b->options = *options;
	b->engine = engine;
	b->log = log;
	if (!options->every_ms)
		return;
	struct error *e = store_backup_list(options->directory, note_last, &last);
	if (e)
		log_write(log, LOG_WARN, "%s", e->message); /* the first backup will tell more */
	error_free(e);
	int64_t wait = last + options->every_ms - wall_ms();
	b->due = monotonic_ms() + (wait < 0 ? 0 : wait < options->every_ms ? wait : options->every_ms);
}

void backups_pass(struct backups *b)
{
	static const struct engine_call_class class = { .decide = decide, .work = work, .release = release };
	if (!b->options.every_ms || b->making || monotonic_ms() < b->due)
		return;
	b->making = true;
	b->call = (struct engine_call){ .class = &class, .actor = "server", .frees = true, .slow = true };
	engine_submit(b->engine, &b->call);
}

int64_t backups_timeout(const struct backups *b, int64_t wait)
{
	if (!b->options.every_ms || b->making)
		return wait;
	int64_t left = b->due - monotonic_ms();
	left = left > 0 ? left : 0;
	return wait < 0 || left < wait ? left : wait;
}

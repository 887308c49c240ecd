/* server.check */
#include <stdlib.h>

#include "base/error.h"
#include "base/mem.h"
#include "core/check.h"
#include "core/cluster.h"
#include "core/state.h"
#include "methods/methods.h"
#include "methods/shapes.h"
#include "methods/world.h"

enum { VIOLATIONS = 1000 }; /* told at most */

/* What handle leaves for work: the records in memory, and what is wrong with them. */
struct checked {
	struct change_list memory;
	char **violations;
	size_t n, room;
};

static void note(void *context, const char *sentence)
{
	struct checked *c = context;
	if (c->n == VIOLATIONS)
		return;
	c->violations = mem_grow(c->violations, c->n, &c->room, sizeof *c->violations);
	c->violations[c->n++] = mem_string(sentence);
}

static void checked_free(void *state)
{
	struct checked *c = state;
	for (size_t i = 0; i < c->n; i++)
		free(c->violations[i]);
	free(c->violations);
	change_list_free(&c->memory);
	free(c);
}

static struct rpc_done handle(struct rpc_call *call, const void *params, void *world)
{
	const struct world *w = world;
	struct checked *c = mem_alloc(sizeof *c);
	(void)params;
	cluster_check(w->cluster, note, c);
	cluster_snapshot(w->cluster, &c->memory);
	rpc_call_keep(call, c, checked_free);
	return rpc_later(call);
}

static const char *const kind_names[RECORD_KINDS] = { "node", "device", "allocation", "nomination", "lock", "lapse", "refusal",
	"event" };

static void note_differences(struct checked *c, const struct change_list *disk)
{
	struct change_list differences = { 0 };
	snapshot_difference(&c->memory, disk, &differences);
	for (size_t i = 0; i < differences.n; i++) {
		const struct change *d = &differences.changes[i];
		char *sentence = mem_format("%s %s: memory and database differ (%s)", kind_names[d->kind],
			record_name(d->kind, d->after ? d->after : d->before),
			!d->before  ? "only in the database"
			: !d->after ? "only in memory"
				    : "other content");
		note(c, sentence);
		free(sentence);
	}
	change_list_free(&differences);
}

/* What the rows say must be sound by itself. */
static void check_rows(struct checked *c, const struct change_list *disk)
{
	struct cluster *rebuilt = cluster_new();
	for (size_t i = 0; i < disk->n; i++)
		cluster_apply(rebuilt, &disk->changes[i]);
	cluster_counters(rebuilt)->revision = cluster_counters(rebuilt)->token = INT64_MAX;
	cluster_check(rebuilt, note, c);
	cluster_free(rebuilt);
}

static struct rpc_done work(struct rpc_call *call, const void *params, void *world, void *reader)
{
	const struct world *w = world;
	struct checked *c = rpc_call_state(call);
	struct change_list disk = { 0 };
	(void)params;

	struct error *error = w->services->check(reader, note, c);
	if (!error)
		error = w->services->load(reader, &disk);
	if (error)
		return rpc_refuse(call, error);

	note_differences(c, &disk);
	if (!c->n)
		check_rows(c, &disk);
	change_list_free(&disk);

	out_bool(rpc_result(call), "ok", !c->n);
	out_strings(rpc_result(call), "violations", (const char *const *)c->violations, c->n);
	return rpc_done(call);
}

static const struct rpc_member result[] = {
	{ "ok", "boolean", "No violation." },
	{ "violations", "[string]", "Sentences, at most 1000." },
	{ 0 },
};

const struct rpc_method server_check_method = {
	.name = "server.check",
	.summary = "Checks every invariant, on memory and on the database, and that both are equal.",
	.roles = ROLE_DEBUG,
	.slow = true,
	.result = result,
	.handle = handle,
	.work = work,
};

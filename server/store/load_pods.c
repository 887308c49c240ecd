/* allocation, usage, handout, nomination, promised and victim. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "store/lines.h"
#include "store/load_private.h"
#include "store/load_shares.h"

static const char allocations_select[] =
	"SELECT id, uid, namespace, name, gang, priority, preemptible, external, node_id, request, over, state, handed_out, "
	"created_at, state_at,"
	" expires_at, token, revision FROM allocation ORDER BY id";

static const char handouts_select[] =
	"SELECT allocation_id, container, type, call, device_ids, confirmed_at, detail FROM handout ORDER BY allocation_id, "
	"container, type";

static const char nominations_select[] =
	"SELECT id, uid, namespace, name, gang, priority, preemptible, external, node_id, request, expires_at, revision FROM "
	"nomination ORDER BY id";

static const char victims_select[] = "SELECT nomination_id, uid FROM victim ORDER BY nomination_id, uid";

int load_pods_prepare(struct loader *l, sqlite3 *db)
{
	const struct statement_source sources[] = {
		{ &l->allocations, allocations_select },
		{ &l->usage, usage_select },
		{ &l->handouts, handouts_select },
		{ &l->nominations, nominations_select },
		{ &l->promised, promised_select },
		{ &l->victims, victims_select },
	};
	return statement_prepare(db, sources, sizeof sources / sizeof *sources);
}

/* The columns both tables begin with. */
struct head {
	int64_t id;
	struct pod pod;
	const struct node_record *node;
	const struct request *request;
};

static struct error *read_head(struct loading *l, const struct statement *s, struct head *ret)
{
	*ret = (struct head){
		.id = statement_column_integer(s, 0),
		.pod = {
			.uid = statement_column_text(s, 1),
			.namespace = statement_column_text(s, 2),
			.name = statement_column_text(s, 3),
			.gang = statement_column_text(s, 4),
			.priority = (int32_t)statement_column_integer(s, 5),
			.preemptible = statement_column_integer(s, 6) != 0,
			.external = statement_column_integer(s, 7) != 0,
		},
		.node = loading_node(l, statement_column_integer(s, 8)),
	};
	if (!ret->node)
		return load_damaged(
			"pod %s is on node id %" PRId64 ", which is not there", ret->pod.uid, statement_column_integer(s, 8));
	return intern_request(l->intern, statement_column_text(s, 9), &ret->request);
}

static const struct handout *read_handout(const struct statement *s)
{
	char **ids;
	char *text = mem_string(statement_column_text(s, 4));
	struct handout like = {
		.call = statement_column_text(s, 3),
		.confirmed_at = statement_column_integer(s, 5),
		.detail = statement_column_text(s, 6),
	};
	like.n_device_ids = lines_split(text, &ids);
	like.device_ids = (const char *const *)ids;
	const struct handout *handout = handout_new(&like);
	free(ids);
	free(text);
	return handout;
}

/* The place of a group; n_groups when there is none. */
static size_t find_group(const struct request *r, const char *container, const char *type)
{
	size_t g = 0;
	while (g < r->n_groups && (strcmp(r->groups[g].container, container) != 0 || strcmp(r->groups[g].type, type) != 0))
		g++;
	return g;
}

/* Fills the allocation's handouts; the references are the caller's, also on failure. */
static struct error *collect_handouts(struct allocation *a, struct rows *rows)
{
	for (; rows_belong(rows, a->id); rows_next(rows)) {
		const char *container = statement_column_text(rows->statement, 1),
			   *type = statement_column_text(rows->statement, 2);
		size_t g = find_group(a->request, container, type);
		if (g == a->request->n_groups)
			return load_damaged("pod %s was handed out \"%s\" of container \"%s\", which it does not ask for",
				a->pod.uid, type, container);
		a->handouts[g] = read_handout(rows->statement);
	}
	return NULL;
}

static struct error *add_allocation(struct loading *l, struct share_list *shares, struct rows *handout_rows)
{
	const struct statement *s = &l->loader->allocations;
	struct head head;
	struct error *e = read_head(l, s, &head);
	if (!e)
		e = share_list_collect(l, shares, head.id);
	if (e)
		return e;
	struct allocation like = {
		.id = head.id,
		.pod = head.pod,
		.node_id = head.node->id,
		.node = head.node->name,
		.request = head.request,
		.over = statement_column_integer(s, 10) != 0,
		.state = pod_state_parse(statement_column_text(s, 11)),
		.handed_out = (uint32_t)statement_column_integer(s, 12),
		.created_at = statement_column_integer(s, 13),
		.state_at = statement_column_integer(s, 14),
		.expires_at = statement_column_integer(s, 15),
		.token = statement_column_integer(s, 16),
		.revision = statement_column_integer(s, 17),
		.shares = shares->shares,
		.n_shares = shares->n,
	};
	e = collect_handouts(&like, handout_rows);
	if (!e)
		change_list_add(l->list, RECORD_ALLOCATION, NULL, allocation_new(&like));
	for (size_t g = 0; g < REQUEST_GROUPS; g++)
		handout_unref(like.handouts[g]);
	return e;
}

struct error *load_allocations(struct loading *l)
{
	struct statement *s = &l->loader->allocations;
	struct share_list shares = { 0 };
	struct rows handout_rows = rows_start(&l->loader->handouts);
	struct error *e = share_list_read(l, &shares, &l->loader->usage);
	int rc = SQLITE_DONE;
	while (!e && (rc = statement_step(s)) == SQLITE_ROW)
		e = add_allocation(l, &shares, &handout_rows);
	if (!e && rc != SQLITE_DONE)
		e = load_failed(l, rc);
	if (!e)
		e = share_list_end(&shares, "usage");
	share_list_free(&shares);
	return e ? e : rows_end(l, &handout_rows, "handout");
}

/* A list of uids that is used again for each nomination. */
struct uids {
	const char **list;
	size_t n, room;
};

static struct error *add_nomination(
	struct loading *l, struct share_list *promised, struct uids *victims, struct rows *victim_rows)
{
	const struct statement *s = &l->loader->nominations;
	struct head head;
	struct error *e = read_head(l, s, &head);
	if (!e)
		e = share_list_collect(l, promised, head.id);
	if (e)
		return e;
	victims->n = 0;
	for (; rows_belong(victim_rows, head.id); rows_next(victim_rows)) {
		victims->list = mem_grow(victims->list, victims->n, &victims->room, sizeof *victims->list);
		victims->list[victims->n++] = intern_string(l->intern, statement_column_text(victim_rows->statement, 1));
	}
	const struct nomination like = {
		.id = head.id,
		.pod = head.pod,
		.node_id = head.node->id,
		.node = head.node->name,
		.request = head.request,
		.expires_at = statement_column_integer(s, 10),
		.revision = statement_column_integer(s, 11),
		.shares = promised->shares,
		.n_shares = promised->n,
		.victims = victims->list,
		.n_victims = victims->n,
	};
	change_list_add(l->list, RECORD_NOMINATION, NULL, nomination_new(&like));
	return NULL;
}

struct error *load_nominations(struct loading *l)
{
	struct statement *s = &l->loader->nominations;
	struct share_list promised = { 0 };
	struct uids victims = { 0 };
	struct rows victim_rows = rows_start(&l->loader->victims);
	struct error *e = share_list_read(l, &promised, &l->loader->promised);
	int rc = SQLITE_DONE;
	while (!e && (rc = statement_step(s)) == SQLITE_ROW)
		e = add_nomination(l, &promised, &victims, &victim_rows);
	if (!e && rc != SQLITE_DONE)
		e = load_failed(l, rc);
	if (!e)
		e = share_list_end(&promised, "promised");
	share_list_free(&promised);
	free(victims.list);
	return e ? e : rows_end(l, &victim_rows, "victim");
}

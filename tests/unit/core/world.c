#include "unit/core/world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/check.h"
#include "core/expire.h"
#include "unit/core/brief.h"

int world_setup(void **state)
{
	struct world *w = mem_alloc(sizeof *w);
	w->cluster = cluster_new();
	w->now = 1000000;
	*state = w;
	return 0;
}

static void forget_answers(struct world *w)
{
	text_clear(&w->events);
	error_free(w->error);
	report_free(&w->report);
	reconciled_free(&w->reconciled);
	w->error = NULL;
	w->a = NULL;
	w->n = NULL;
	w->flag = false;
	w->ids[0] = '\0';
}

int world_teardown(void **state)
{
	struct world *w = *state;
	forget_answers(w);
	text_free(&w->events);
	change_list_free(&w->list);
	cluster_free(w->cluster);
	for (size_t i = 0; i < w->n_requests; i++)
		request_unref(w->requests[i]);
	free(w);
	return 0;
}

const struct request *ask(struct world *w, const char *brief)
{
	assert_true(w->n_requests < WORLD_REQUESTS);
	return w->requests[w->n_requests++] = brief_request(brief);
}

struct pod pod_of(const char *uid, int32_t priority)
{
	return (struct pod){
		.uid = uid, .namespace = "default", .name = uid, .gang = "", .priority = priority, .preemptible = true
	};
}

/* ---- making a decision */

static struct txn begin(struct world *w)
{
	forget_answers(w);
	return txn_begin(w->cluster, &w->list, w->now, "test");
}

static void no_violation(void *context, const char *sentence)
{
	(void)context;
	fail_msg("%s", sentence);
}

static const char *end(struct world *w, const struct txn *txn, struct error *error)
{
	for (size_t i = txn->start; i < txn->list->n; i++)
		if (txn->list->changes[i].kind == RECORD_EVENT)
			text_printf(&w->events, "%s%s", w->events.length ? " " : "",
				((const struct event *)txn->list->changes[i].after)->kind);
	w->error = error;
	w->revision = txn->revision;
	cluster_check(w->cluster, no_violation, NULL);
	return error ? error_slug(error->code) : "ok";
}

void pass(struct world *w, int64_t ms)
{
	w->now += ms;
	struct txn txn = begin(w);
	struct txn one = txn;
	while (expire_one(w->cluster, &one))
		one = txn_begin(w->cluster, &w->list, w->now, "test");
	(void)end(w, &txn, NULL);
}

/* ---- inventory */

struct device_report standard_device(struct device_memory *m, const char *node, const char *type, size_t i, size_t of)
{
	(void)snprintf(m->uuid, sizeof m->uuid, "%s-%s-%zu", node, type, i);
	(void)snprintf(m->pcie, sizeof m->pcie, "pci%zu", i / 2);
	m->capacity[0] = (struct amount){ "core", 100 };
	m->capacity[1] = (struct amount){ "memory", 80 };
	if (strcmp(type, "rdma") == 0)
		m->capacity[0] = (struct amount){ "vf", 30 };
	if (strcmp(type, "host") == 0)
		m->capacity[0] = (struct amount){ "cpu", 64000 };
	return (struct device_report){ .record = { .uuid = m->uuid,
					       .type = type,
					       .minor = (int64_t)i,
					       .model = "A100",
					       .bus_id = "",
					       .numa = of > 1 ? (int64_t)(2 * i / of) : -1,
					       .socket = -1,
					       .pcie = of > 1 ? m->pcie : "",
					       .capacity = m->capacity,
					       .n_capacity = strcmp(type, "gpu") == 0 ? 2 : 1 } };
}

void standard_node(struct world *w, const char *name, size_t gpus, size_t rdmas, size_t hosts)
{
	static const char *const types[] = { "gpu", "rdma", "host" };
	const size_t counts[] = { gpus, rdmas, hosts };
	struct device_memory memory[128];
	struct device_report devices[128];
	size_t n = 0;
	for (size_t t = 0; t < 3; t++)
		for (size_t i = 0; i < counts[t]; i++, n++)
			devices[n] = standard_device(&memory[n], name, types[t], i, counts[t]);
	const struct register_node args = { .node = name, .devices = devices, .n_devices = n, .allow_empty = true };
	assert_string_equal(try_register(w, &args), "ok");
}

const char *try_register(struct world *w, const struct register_node *args)
{
	struct txn txn = begin(w);
	return end(w, &txn, node_register(&txn, args, &w->registered));
}

const char *try_cordon(struct world *w, const char *node, bool cordoned)
{
	const struct node_record *r;
	struct txn txn = begin(w);
	return end(w, &txn, node_cordon(&txn, node, cordoned, "test", &r));
}

const char *try_verify(struct world *w, const char *node)
{
	const struct node_record *r;
	struct txn txn = begin(w);
	return end(w, &txn, node_verify(&txn, node, "test", &r));
}

/* Appends a name to the world's list. */
static void add_id(struct world *w, const char *id)
{
	size_t length = strlen(w->ids);
	(void)snprintf(w->ids + length, sizeof w->ids - length, "%s%s", length ? " " : "", id);
}

const char *try_remove(struct world *w, const char *node, bool force)
{
	char **released;
	size_t n;
	struct txn txn = begin(w);
	struct error *error = node_remove(&txn, node, force, &released, &n);
	for (size_t i = 0; i < n; i++) {
		add_id(w, released[i]);
		free(released[i]);
	}
	free(released);
	return end(w, &txn, error);
}

const char *try_update(struct world *w, const char *node, const char *uuid, enum said healthy, enum said cordoned)
{
	const struct device_record *r = NULL;
	struct txn txn = begin(w);
	struct error *error = device_update(&txn, node, uuid, healthy, cordoned, NULL, &r);
	record_unref(RECORD_DEVICE, r);
	return end(w, &txn, error);
}

/* ---- pods */

const char *try_reserve_with(struct world *w, const struct reserve *args)
{
	struct txn txn = begin(w);
	w->report = report_new(args->request, REPORT_NODES);
	return end(w, &txn, pod_reserve(&txn, args, &w->report, &w->a, &w->flag));
}

const char *try_reserve_at(struct world *w, const char *uid, int32_t priority, const char *brief, const char *node)
{
	const struct pod pod = pod_of(uid, priority);
	const struct reserve args = { .pod = &pod, .request = ask(w, brief), .node = node, .ttl = RESERVATION_TTL };
	return try_reserve_with(w, &args);
}

const char *try_reserve(struct world *w, const char *uid, const char *brief, const char *node)
{
	return try_reserve_at(w, uid, 0, brief, node);
}

const char *try_renew(struct world *w, const char *uid, int64_t ttl)
{
	struct txn txn = begin(w);
	return end(w, &txn, pod_renew(&txn, uid, ttl, &w->a, &w->n));
}

const char *try_unreserve(struct world *w, const char *uid, int64_t token, bool renominate)
{
	const struct unreserve args = {
		.uid = uid, .token = token, .renominate = renominate, .ttl = NOMINATION_TTL, .revision = -1
	};
	struct txn txn = begin(w);
	return end(w, &txn, pod_unreserve(&txn, &args, &w->flag, &w->n));
}

const char *try_bind(struct world *w, const char *uid, const char *node)
{
	const struct holding *h = cluster_holding(w->cluster, uid);
	struct txn txn = begin(w);
	w->report = report_new(h ? h->record->request : NULL, REPORT_NODES);
	const char *slug = end(w, &txn, pod_bind(&txn, uid, node, LOCK_TTL, -1, &w->report, &w->a));
	w->token = w->a ? w->a->token : 0;
	return slug;
}

const char *try_release(struct world *w, const char *uid, bool node_confirms)
{
	const struct release args = { .uid = uid, .node_confirms = node_confirms, .reason = "", .revision = -1 };
	struct txn txn = begin(w);
	return end(w, &txn, pod_release(&txn, &args, &w->flag, &w->state));
}

const char *try_adopt(struct world *w, const char *uid, const char *node, const char *brief, const char *uuid, bool force)
{
	const struct pod pod = pod_of(uid, 0);
	const struct adopt_device device = { .uuid = uuid };
	const struct adopt args = {
		.pod = &pod, .request = ask(w, brief), .node = node, .devices = &device, .n_devices = 1, .force = force
	};
	struct txn txn = begin(w);
	w->report = report_new(args.request, REPORT_NODES);
	return end(w, &txn, pod_adopt(&txn, &args, &w->report, &w->a));
}

const char *try_nominate(
	struct world *w, const char *uid, int32_t priority, const char *node, const char *brief, const char *victim)
{
	const struct pod pod = pod_of(uid, priority);
	const struct nominate args = { .pod = &pod,
		.node = node,
		.request = ask(w, brief),
		.victims = &victim,
		.n_victims = victim != NULL,
		.ttl = NOMINATION_TTL };
	const char **ignored;
	size_t n_ignored;
	struct txn txn = begin(w);
	w->report = report_new(args.request, REPORT_NODES);
	struct error *error = pod_nominate(&txn, &args, &w->report, &w->n, &ignored, &n_ignored);
	for (size_t i = 0; !error && i < n_ignored; i++)
		add_id(w, ignored[i]);
	if (!error)
		free(ignored);
	return end(w, &txn, error);
}

const char *try_denominate(struct world *w, const char *uid)
{
	struct txn txn = begin(w);
	return end(w, &txn, pod_denominate(&txn, uid, -1, &w->flag));
}

/* ---- node agent and locks */

const char *try_allocate(struct world *w, const struct allocate *args)
{
	const struct node *n = cluster_node(w->cluster, args->node);
	const struct allocation *pending = n ? agent_pending(n) : NULL;
	struct txn txn = begin(w);
	w->report = report_new(pending ? pending->request : ask(w, "gpu"), REPORT_NODES);
	return end(w, &txn, agent_allocate(&txn, args, &w->report, &w->a, &w->group));
}

const char *try_confirm(struct world *w, const struct confirm *args)
{
	struct txn txn = begin(w);
	return end(w, &txn, agent_confirm(&txn, args));
}

const char *try_fail(struct world *w, const char *node, const char *uid, int64_t token)
{
	struct txn txn = begin(w);
	return end(w, &txn, agent_fail(&txn, node, uid, token, "it broke"));
}

const char *try_reconcile(struct world *w, const struct reconcile *args)
{
	struct txn txn = begin(w);
	return end(w, &txn, agent_reconcile(&txn, args, &w->reconciled));
}

const char *try_lock(struct world *w, const char *node, const char *uid, int64_t ttl)
{
	const struct lock *lock = NULL;
	struct txn txn = begin(w);
	struct error *error = lock_acquire(&txn, node, uid, ttl, &lock);
	w->token = lock ? lock->token : 0;
	return end(w, &txn, error);
}

const char *try_unlock(struct world *w, const char *node, int64_t token)
{
	struct txn txn = begin(w);
	return end(w, &txn, lock_release(&txn, node, token));
}

/* ---- looking */

const char *state_of(const struct world *w, const char *uid)
{
	const struct holding *h = cluster_holding(w->cluster, uid);
	return pod_state_name(h ? h->record->state : POD_NONE);
}

const char *minors(const struct share *shares, size_t n)
{
	static char text[512];
	size_t at = 0;
	text[0] = '\0';
	for (size_t i = 0; i < n; i++)
		at += (size_t)snprintf(text + at, sizeof text - at, "%s%lld", i ? " " : "", (long long)shares[i].minor);
	return text;
}

static const struct error_detail *detail(const struct world *w, const char *key)
{
	for (size_t i = 0; w->error && i < w->error->n_details; i++)
		if (strcmp(w->error->details[i].key, key) == 0)
			return &w->error->details[i];
	return NULL;
}

const char *error_text(const struct world *w, const char *key)
{
	static char text[512];
	const struct error_detail *d = detail(w, key);
	size_t at = 0;
	text[0] = '\0';
	if (d && d->kind == DETAIL_STRING)
		(void)snprintf(text, sizeof text, "%s", d->string);
	for (size_t i = 0; d && d->kind == DETAIL_STRINGS && i < d->count; i++)
		at += (size_t)snprintf(text + at, sizeof text - at, "%s%s", i ? " " : "", d->strings[i]);
	return text;
}

int64_t error_integer(const struct world *w, const char *key)
{
	const struct error_detail *d = detail(w, key);
	return d && d->kind == DETAIL_INTEGER ? d->integer : -1;
}

const char *reason_on(struct world *w, const struct pod *pod, const char *brief, const char *node, const char *without)
{
	static char text[128];
	const struct fit_query query = {
		.pod = pod, .request = ask(w, brief), .gang_exempt = true, .without = &without, .n_without = without != NULL
	};
	struct fit *fit = fit_new(w->cluster, &query);
	struct reason why;
	enum fit_verdict verdict = fit_node(fit, cluster_node(w->cluster, node), &why);
	if (verdict == FIT_NO)
		(void)snprintf(text, sizeof text, "%s %zu %lld/%lld", slug_name(why.slug), why.claim, (long long)why.need,
			(long long)why.have);
	else
		(void)snprintf(text, sizeof text, "%s", verdict == FIT_YES ? "fits" : "too hard");
	/* with nobody asking why the verdict must be the same */
	assert_int_equal(fit_node(fit, cluster_node(w->cluster, node), NULL), verdict);
	fit_free(fit);
	return text;
}

/* Per node: everybody who may be taken away is taken away; if the pod then fits, they are given back one by one, the important ones
 * first, and who cannot be given back is a victim. Fitting is monotonic (less held never hurts), so no victim is needless.
 * Only who is in the way of the assignment found last is asked about; everybody else goes back without a search. */
#include "core/plan.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

void plan_free(struct plan *plan)
{
	free(plan->victims);
	*plan = (struct plan){ 0 };
}

static int by_address(const void *a, const void *b)
{
	uintptr_t x = (uintptr_t) * (const struct holding *const *)a, y = (uintptr_t) * (const struct holding *const *)b;
	return x < y ? -1 : x > y;
}

struct protected protected_new(const struct cluster *c, const char *const *uids, size_t n)
{
	struct protected p = { .list = mem_array(n, sizeof(struct holding *)) };
	for (size_t i = 0; i < n; i++) {
		const struct holding *h = cluster_holding(c, uids[i]);
		if (h)
			p.list[p.n++] = h;
	}
	qsort(p.list, p.n, sizeof(struct holding *), by_address);
	return p;
}

void protected_free(struct protected *p)
{
	free(p->list);
	*p = (struct protected){ 0 };
}

static bool is_protected(const struct protected *p, const struct holding *h)
{
	return p->n && bsearch(&h, p->list, p->n, sizeof(struct holding *), by_address);
}

/* Somebody who may be taken away; what decides the order is copied, records lie far apart. */
struct candidate {
	const struct holding *holding;
	bool protected;
	int32_t priority;
	int64_t created_at, id;
};

/* The order of giving back: protected, then higher priority, then older. */
static int give_back_order(const void *a_, const void *b_)
{
	const struct candidate *a = a_, *b = b_;
	if (a->protected != b->protected)
		return a->protected ? -1 : 1;
	if (a->priority != b->priority)
		return a->priority > b->priority ? -1 : 1;
	if (a->created_at != b->created_at)
		return a->created_at < b->created_at ? -1 : 1;
	return a->id < b->id ? -1 : a->id > b->id;
}

struct planner {
	struct fit *fit;
	const struct pod *pod;
	const struct protected *protected;
	struct candidate *candidates;
	size_t n, room;
};

/* Notes who may be taken away. */
static bool may_leave(void *context, const struct holding *h)
{
	struct planner *p = context;
	const struct allocation *a = h->record;
	if (a->pod.priority >= p->pod->priority || !a->pod.preemptible)
		return false;
	p->candidates = mem_grow(p->candidates, p->n, &p->room, sizeof *p->candidates);
	p->candidates[p->n++] = (struct candidate){
		.holding = h,
		.protected = is_protected(p->protected, h),
		.priority = a->pod.priority,
		.created_at = a->created_at,
		.id = a->id,
	};
	return true;
}

/* Takes everybody away from the node who may be, and lists them in the order of giving back. */
static void take_away(struct planner *p, const struct node *node)
{
	p->n = 0;
	fit_enter(p->fit, node, &(struct leaving){ .leaves = may_leave, .context = p });
	if (p->n)
		qsort(p->candidates, p->n, sizeof *p->candidates, give_back_order);
}

static int compare_rank(int64_t a, int64_t b)
{
	return a < b ? -1 : a > b;
}

/* The ranks that only grow while victims are found. */
static int compare_growing(const struct plan *a, const struct plan *b)
{
	int order = compare_rank((int64_t)a->n_protected, (int64_t)b->n_protected);
	return order ? order : compare_rank(a->highest, b->highest);
}

/* Negative when `a` is the better plan (contract, "Best node"). */
static int compare_plans(const struct plan *a, const struct plan *b)
{
	int order = compare_growing(a, b);
	if (!order)
		order = compare_rank(a->sum, b->sum);
	if (!order)
		order = compare_rank((int64_t)a->n_victims, (int64_t)b->n_victims);
	if (!order)
		order = compare_rank(b->started, a->started);
	return order ? order : strcmp(a->node->record->name, b->node->record->name);
}

static void add_victim(struct plan *plan, const struct candidate *c)
{
	if (!plan->victims)
		plan->victims = mem_array(PLAN_VICTIMS, sizeof(struct holding *));
	plan->victims[plan->n_victims++] = c->holding;
	plan->n_protected += c->protected;
	plan->sum += c->priority;
	if (plan->n_victims == 1 || c->priority > plan->highest ||
		(c->priority == plan->highest && c->created_at < plan->started))
		plan->started = c->created_at;
	if (c->priority > plan->highest)
		plan->highest = c->priority;
}

/* What the sum of priorities can still lose by these candidates. */
static int64_t negative_part(const struct candidate *candidates, size_t n)
{
	int64_t sum = 0;
	for (size_t i = 0; i < n; i++)
		if (candidates[i].priority < 0)
			sum += candidates[i].priority;
	return sum;
}

/* Whether a plan that is still growing is worse than the best already, whoever of the rest becomes a victim. */
static bool is_worse_already(const struct plan *plan, const struct plan *best, int64_t rest)
{
	int order = best->node ? compare_growing(plan, best) : -1;
	return order > 0 || (order == 0 && plan->sum + rest > best->sum);
}

/* Gives candidates back. FIT_NO: more victims than a plan may have, or worse than `best` already. */
static enum fit_verdict give_back(struct planner *p, const struct plan *best, struct plan *plan)
{
	int64_t rest = negative_part(p->candidates, p->n);
	for (size_t i = 0; i < p->n; i++) {
		const struct holding *h = p->candidates[i].holding;
		rest -= negative_part(&p->candidates[i], 1);
		bool in_the_way = fit_leans_on(p->fit, h);
		fit_set_gone(p->fit, h, false);
		enum fit_verdict verdict = in_the_way ? fit_try(p->fit) : FIT_YES;
		if (verdict == FIT_TOO_HARD)
			return verdict;
		if (verdict == FIT_YES)
			continue;
		fit_set_gone(p->fit, h, true);
		if (plan->n_victims == PLAN_VICTIMS)
			return FIT_NO;
		add_victim(plan, &p->candidates[i]);
		if (is_worse_already(plan, best, rest))
			return FIT_NO;
	}
	return FIT_YES;
}

/* The plan for one node. */
static enum fit_verdict plan_node(struct planner *p, struct node *node, const struct plan *best, struct plan *plan)
{
	*plan = (struct plan){ .node = node, .highest = INT32_MIN };
	enum fit_verdict verdict = node->holdings ? fit_empty(p->fit, node) : FIT_NO;
	if (verdict != FIT_YES)
		return verdict;
	take_away(p, node);
	verdict = p->n ? fit_try(p->fit) : FIT_NO;
	return verdict == FIT_YES ? give_back(p, best, plan) : verdict;
}

static int by_uid(const void *a_, const void *b_)
{
	const struct holding *a = *(const struct holding *const *)a_, *b = *(const struct holding *const *)b_;
	return strcmp(a->record->pod.uid, b->record->pod.uid);
}

/* The first node by name where it fits as it is; the pod's nominated node comes before all. */
static enum fit_verdict plan_idle(struct fit *fit, struct node *const *nodes, size_t n, struct plan *ret)
{
	for (size_t i = 0; i < n; i++) {
		if (!nodes[i] || (ret->node && !fit_is_nominated(fit, nodes[i]) &&
					 strcmp(nodes[i]->record->name, ret->node->record->name) > 0))
			continue;
		enum fit_verdict verdict = fit_node(fit, nodes[i], NULL);
		if (verdict == FIT_TOO_HARD)
			return verdict;
		if (verdict == FIT_YES)
			*ret = (struct plan){ .node = nodes[i], .highest = INT32_MIN };
		if (verdict == FIT_YES && fit_is_nominated(fit, nodes[i]))
			break;
	}
	return ret->node ? FIT_YES : FIT_NO;
}

static enum fit_verdict plan_victims(struct planner *p, struct node *const *nodes, size_t n, struct plan *ret)
{
	for (size_t i = 0; i < n; i++) {
		struct plan plan = { 0 };
		enum fit_verdict verdict = nodes[i] ? plan_node(p, nodes[i], ret, &plan) : FIT_NO;
		if (verdict == FIT_YES && (!ret->node || compare_plans(&plan, ret) < 0)) {
			struct plan worse = *ret;
			*ret = plan;
			plan = worse;
		}
		plan_free(&plan);
		if (verdict == FIT_TOO_HARD)
			return verdict;
	}
	if (ret->node)
		qsort(ret->victims, ret->n_victims, sizeof(struct holding *), by_uid);
	return ret->node ? FIT_YES : FIT_NO;
}

enum fit_verdict plan_best(
	struct fit *fit, struct node *const *nodes, size_t n, const struct protected *protected, struct plan *ret)
{
	*ret = (struct plan){ 0 };
	enum fit_verdict verdict = plan_idle(fit, nodes, n, ret);
	if (verdict == FIT_NO) {
		struct planner p = { .fit = fit, .pod = fit_pod(fit), .protected = protected };
		verdict = plan_victims(&p, nodes, n, ret);
		free(p.candidates);
	}
	if (verdict != FIT_YES)
		plan_free(ret);
	return verdict;
}

/* Whom to wait for: the node where the fewest pods have to leave before the request fits, whatever their priority. Those that are
 * about to leave anyway (releasing, named as victims, only reserved) are counted on first. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/suggest_private.h"

/* How likely somebody leaves soon. */
enum stay { STAYS, MAY_EXPIRE, LEAVES };

struct stayer {
	const struct holding *holding;
	enum stay stay;
};

/* The pods to wait for on one node. */
struct wait {
	const struct node *node; /* NULL: nowhere */
	const char **uids;       /* owned */
	size_t n;
	size_t staying; /* of them: those that do not seem to leave */
};

static enum stay stay_of(const struct holding *h)
{
	if (h->record->state == POD_RELEASING || (h->node->n_promises && holding_preemptor(h)))
		return LEAVES;
	return h->record->state == POD_RESERVED ? MAY_EXPIRE : STAYS;
}

/* Who stays is given back first, the older first. */
static int give_back_order(const void *a_, const void *b_)
{
	const struct stayer *a = a_, *b = b_;
	if (a->stay != b->stay)
		return a->stay < b->stay ? -1 : 1;
	int64_t x = a->holding->record->id, y = b->holding->record->id;
	return x < y ? -1 : x > y;
}

/* Everybody on a node. */
struct stayers {
	struct stayer *list; /* owned */
	size_t n;
};

static bool take_note(void *context, const struct holding *h)
{
	struct stayers *s = context;
	s->list[s->n++] = (struct stayer){ .holding = h, .stay = stay_of(h) };
	return true;
}

/* Takes everybody away from the node, and lists them in the order of giving back. */
static struct stayers take_all_away(struct fit *fit, const struct node *node)
{
	struct stayers s = { .list = mem_array(node->n_holdings, sizeof *s.list) };
	fit_enter(fit, node, &(struct leaving){ .leaves = take_note, .context = &s });
	if (s.n)
		qsort(s.list, s.n, sizeof *s.list, give_back_order);
	return s;
}

/* Finds who has to leave the node as the fit sees it; false when everybody's leaving is not enough. */
static bool wait_on(struct fit *fit, const struct node *node, struct wait *ret)
{
	struct stayers all = take_all_away(fit, node);
	bool fits = fit_try(fit) == FIT_YES;
	*ret = (struct wait){ .node = node, .uids = mem_array(node->n_holdings + node->n_promises, sizeof *ret->uids) };
	for (size_t i = 0; i < all.n && fits; i++) {
		const struct stayer *s = &all.list[i];
		bool in_the_way = fit_leans_on(fit, s->holding);
		fit_set_gone(fit, s->holding, false);
		if (!in_the_way || fit_try(fit) == FIT_YES)
			continue;
		fit_set_gone(fit, s->holding, true);
		ret->uids[ret->n++] = s->holding->record->pod.uid;
		ret->staying += s->stay == STAYS;
	}
	free(all.list);
	if (!fits)
		free(ret->uids);
	return fits;
}

static bool is_better(const struct wait *a, const struct wait *b)
{
	if (!b->node || a->staying != b->staying)
		return !b->node || a->staying < b->staying;
	return a->n != b->n ? a->n < b->n : strcmp(a->node->record->name, b->node->record->name) < 0;
}

static void keep_better(struct wait *best, struct wait *other)
{
	struct wait *worse = is_better(other, best) ? best : other;
	free(worse->uids);
	if (worse == best)
		*best = *other;
}

static struct wait best_wait(struct fit *fit, const struct survey *survey)
{
	struct wait best = { 0 };
	for (size_t i = 0; i < survey->n_blocked; i++) {
		struct wait wait;
		if (wait_on(fit, survey->blocked[i], &wait))
			keep_better(&best, &wait);
	}
	return best;
}

/* Whether it fits on the node when these are gone too. */
static bool fits_without(
	const struct cluster *c, const struct fit_query *query, const struct node *node, const char *const *uids, size_t n)
{
	const char **all = mem_array(query->n_without + n, sizeof *all);
	struct fit_query next = *query;
	for (size_t i = 0; i < query->n_without; i++)
		all[i] = query->without[i];
	for (size_t i = 0; i < n; i++)
		all[query->n_without + i] = uids[i];
	next.without = all;
	next.n_without = query->n_without + n;
	struct fit *fit = fit_new(c, &next);
	fit_limit(fit, SUGGEST_BUDGET);
	bool fits = fit_node(fit, node, NULL) == FIT_YES;
	fit_free(fit);
	free(all);
	return fits;
}

/* Adds those whose promises are in the way, nobody needlessly; false when waiting for them does not help either. */
static bool add_promised(const struct cluster *c, const struct fit_query *query, struct wait *wait)
{
	struct fit *fit = fit_new(c, query);
	size_t n = wait->n;
	wait->n += fit_promised_to(fit, wait->node, wait->uids + n);
	fit_free(fit);
	if (!fits_without(c, query, wait->node, wait->uids, wait->n))
		return false;
	while (n < wait->n) {
		const char *uid = wait->uids[n];
		wait->uids[n] = wait->uids[--wait->n];
		if (fits_without(c, query, wait->node, wait->uids, wait->n))
			continue;
		wait->uids[wait->n++] = wait->uids[n];
		wait->uids[n++] = uid;
	}
	return true;
}

/* Where even an empty node is promised to others: wait for those pods too. */
static struct wait wait_for_promised(const struct cluster *c, const struct fit_query *query, const struct survey *survey)
{
	struct fit_query unpromised = *query;
	unpromised.ignore_promises = true;
	struct fit *fit = fit_new(c, &unpromised);
	fit_limit(fit, SUGGEST_BUDGET);
	struct wait best = best_wait(fit, survey);
	fit_free(fit);
	if (best.node && !add_promised(c, query, &best)) {
		free(best.uids);
		best = (struct wait){ 0 };
	}
	return best;
}

/* The pod's own nomination: its victims are on their way. */
static bool wait_for_victims(const struct cluster *c, const struct fit_query *query, struct suggestions *ret)
{
	const struct promise *p = cluster_promise(c, query->pod->uid);
	if (!p || !p->record->n_victims || !fits_without(c, query, p->node, p->record->victims, p->record->n_victims))
		return false;
	(void)suggestion_add(ret, SUGGEST_WAIT, p->record->node, p->record->victims, p->record->n_victims);
	return true;
}

void suggest_wait(const struct cluster *c, const struct fit_query *query, const struct survey *survey, struct suggestions *ret)
{
	if (wait_for_victims(c, query, ret))
		return;
	struct fit *fit = fit_new(c, query);
	fit_limit(fit, SUGGEST_BUDGET);
	struct wait best = best_wait(fit, survey);
	fit_free(fit);
	if (!best.node)
		best = wait_for_promised(c, query, survey);
	if (best.node && best.n) {
		sort_uids(best.uids, best.n);
		(void)suggestion_add(ret, SUGGEST_WAIT, best.node->record->name, best.uids, best.n);
	}
	free(best.uids);
}

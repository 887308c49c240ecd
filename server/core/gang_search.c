/* Another placement of a gang whose pods do not fit in the order given.
 *
 * A pod that fits alone on at least as many nodes as pods are left is easy: whatever the others do, one of its nodes stays untouched.
 * Easy pods are set aside, again and again, and placed last. What remains are hard pods with fewer nodes than there are pods: every way
 * of sharing them out over their nodes is tried; whether a set of pods fits on one node is one search over all their claims, asked once
 * and remembered.
 *
 * Pods of lower priority are placed first on their node: they see more promises. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/gang_private.h"

enum { SETS = 1 << GANG_SEARCHED };

/* One hard pod; its nodes as indexes into the search's nodes. */
struct hard {
	struct gang_member *member;
	struct fit *fit;
	size_t nodes[GANG_SEARCHED];
	size_t n_nodes;
};

/* A node that a hard pod can have. */
struct place {
	struct node *node;
	uint8_t known[SETS]; /* by set of pods: 0 not asked yet, else 1 + verdict */
	unsigned set;        /* of pods placed on it now */
};

struct search {
	struct txn *txn;
	struct hard pods[GANG_SEARCHED]; /* in the order in which they are placed: by priority, rising */
	size_t n;
	struct gang_member *easy[GANG_SEARCHED]; /* in the order in which they were set aside */
	size_t n_easy;
	struct place *places;
	size_t n_places;
	int64_t budget;
};

static int by_priority(const void *a_, const void *b_)
{
	const struct hard *a = a_, *b = b_;
	int32_t x = a->member->args->pod->priority, y = b->member->args->pod->priority;
	if (x != y)
		return x < y ? -1 : 1;
	return a->member < b->member ? -1 : a->member > b->member;
}

static size_t place_of(struct search *s, struct node *node)
{
	size_t i = 0;
	while (i < s->n_places && s->places[i].node != node)
		i++;
	if (i == s->n_places) {
		s->places[i].node = node;
		s->n_places++;
	}
	return i;
}

/* Finds nodes where the pod fits alone, up to as many as make it easy. FIT_NO: there are none. */
static enum fit_verdict find_places(struct search *s, struct hard *pod, size_t enough)
{
	const struct node_list *list = &pod->member->nodes;
	for (size_t i = 0; i < list->n && pod->n_nodes < enough; i++) {
		enum fit_verdict verdict = list->nodes[i] ? fit_node(pod->fit, list->nodes[i], NULL) : FIT_NO;
		if (verdict == FIT_TOO_HARD)
			return verdict;
		if (verdict != FIT_YES)
			continue;
		size_t place = place_of(s, list->nodes[i]), k = 0;
		while (k < pod->n_nodes && pod->nodes[k] != place)
			k++;
		pod->nodes[k] = place;
		pod->n_nodes += k == pod->n_nodes;
	}
	return pod->n_nodes ? FIT_YES : FIT_NO;
}

/* Sets aside every pod that fits on at least as many nodes as pods are left. */
static void set_easy_aside(struct search *s)
{
	size_t i = 0;
	while (i < s->n) {
		if (s->pods[i].n_nodes < s->n) {
			i++;
			continue;
		}
		s->easy[s->n_easy++] = s->pods[i].member;
		fit_free(s->pods[i].fit);
		memmove(&s->pods[i], &s->pods[i + 1], (s->n - i - 1) * sizeof s->pods[i]);
		s->n--;
		i = 0;
	}
}

/* The fits of a set of pods, in the order of placing. */
static size_t fits_of(struct search *s, unsigned set, struct fit **ret)
{
	size_t n = 0;
	for (size_t i = 0; i < s->n; i++)
		if (set & (1U << i))
			ret[n++] = s->pods[i].fit;
	return n;
}

/* Whether a set of pods fits on one node. */
static enum fit_verdict ask_set(struct search *s, struct place *place, unsigned set)
{
	struct fit *fits[GANG_SEARCHED];
	if (!place->known[set])
		place->known[set] = (uint8_t)(1 + fit_together(fits, fits_of(s, set, fits), place->node, &s->budget, NULL));
	return (enum fit_verdict)(place->known[set] - 1);
}

/* Shares out pod `i` and those after it over their nodes. */
static enum fit_verdict share_out(struct search *s, size_t i)
{
	if (i == s->n)
		return FIT_YES;
	bool hard = false;
	for (size_t k = 0; k < s->pods[i].n_nodes; k++) {
		struct place *place = &s->places[s->pods[i].nodes[k]];
		unsigned before = place->set;
		if (--s->budget < 0)
			return FIT_TOO_HARD;
		enum fit_verdict verdict = ask_set(s, place, before | (1U << i));
		if (verdict == FIT_YES) {
			place->set = before | (1U << i);
			verdict = share_out(s, i + 1);
			if (verdict == FIT_YES)
				return verdict;
			place->set = before;
		}
		hard |= verdict == FIT_TOO_HARD;
	}
	return hard ? FIT_TOO_HARD : FIT_NO;
}

/* Reserves what was found for a hard pod; false when promises that moved meanwhile are in the way. */
static bool place_hard(struct search *s, struct hard *pod, struct node *node, const struct fit_part *part)
{
	struct fit *fit = member_fit(s->txn->cluster, pod->member);
	bool holds = fit_holds(fit, node, part->shares, part->n);
	fit_free(fit);
	if (holds)
		pod->member->answer->allocation = reserve_place(s->txn, pod->member->args, node, part->shares, part->n);
	return holds;
}

/* Assigns the devices of all pods on the node, ahead of placing any. */
static enum fit_verdict assign_place(struct search *s, const struct place *place, struct fit_part *parts)
{
	struct fit *fits[GANG_SEARCHED];
	struct fit_part found[GANG_SEARCHED];
	size_t n = fits_of(s, place->set, fits), k = 0;
	enum fit_verdict verdict = n ? fit_together(fits, n, place->node, &s->budget, found) : FIT_YES;
	for (size_t i = 0; i < s->n && n && verdict == FIT_YES; i++)
		if (place->set & (1U << i))
			parts[i] = found[k++];
	return verdict;
}

static struct node *node_of(const struct search *s, size_t pod)
{
	for (size_t i = 0; i < s->n_places; i++)
		if (s->places[i].set & (1U << pod))
			return s->places[i].node;
	return NULL;
}

static enum fit_verdict place_all_hard(struct search *s)
{
	struct fit_part parts[GANG_SEARCHED] = { 0 };
	enum fit_verdict verdict = FIT_YES;
	for (size_t i = 0; i < s->n_places && verdict == FIT_YES; i++)
		verdict = assign_place(s, &s->places[i], parts);
	for (size_t i = 0; i < s->n && verdict == FIT_YES; i++)
		if (!place_hard(s, &s->pods[i], node_of(s, i), &parts[i]))
			verdict = FIT_NO;
	for (size_t i = 0; i < s->n; i++)
		free(parts[i].shares);
	return verdict;
}

/* The one set aside last first: it had the fewest to fear. */
static enum fit_verdict place_all_easy(struct search *s)
{
	enum fit_verdict verdict = FIT_YES;
	for (size_t i = s->n_easy; i > 0 && verdict == FIT_YES; i--) {
		struct fit *fit = member_fit(s->txn->cluster, s->easy[i - 1]);
		verdict = member_place_best(s->txn, s->easy[i - 1], fit);
		fit_free(fit);
	}
	return verdict;
}

static enum fit_verdict prepare(struct search *s, struct gang *gang)
{
	enum fit_verdict verdict = FIT_YES;
	for (size_t i = 0; i < gang->n; i++)
		s->pods[s->n++].member = &gang->members[i];
	qsort(s->pods, s->n, sizeof *s->pods, by_priority);
	for (size_t i = 0; i < s->n; i++)
		s->pods[i].fit = member_fit(s->txn->cluster, s->pods[i].member);
	for (size_t i = 0; i < s->n && verdict == FIT_YES; i++)
		verdict = find_places(s, &s->pods[i], gang->n);
	return verdict;
}

static void search_free(struct search *s)
{
	for (size_t i = 0; i < s->n; i++)
		fit_free(s->pods[i].fit);
	free(s->places);
	free(s);
}

enum fit_verdict gang_search(struct txn *txn, struct gang *gang)
{
	struct search *s = mem_alloc(sizeof *s);
	s->txn = txn;
	s->budget = FIT_BUDGET;
	s->places = mem_array(GANG_SEARCHED * GANG_SEARCHED, sizeof *s->places);
	enum fit_verdict verdict = prepare(s, gang);
	if (verdict == FIT_YES) {
		set_easy_aside(s);
		verdict = share_out(s, 0);
	}
	if (verdict == FIT_YES)
		verdict = place_all_hard(s);
	if (verdict == FIT_YES)
		verdict = place_all_easy(s);
	if (verdict != FIT_YES)
		txn_abandon(txn);
	search_free(s);
	return verdict;
}

#include "core/suggest.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "core/plan.h"
#include "core/suggest_private.h"

static void note(struct node **list, size_t *n, struct node *node)
{
	if (*n < SURVEYED)
		list[(*n)++] = node;
}

void survey_add(struct survey *survey, struct node *node, const struct reason *why)
{
	switch (why->slug) {
	case SLUG_NODE_CORDONED:
		note(survey->cordoned, &survey->n_cordoned, node);
		break;
	case SLUG_NOMINATED:
	case SLUG_INSUFFICIENT:
		note(survey->blocked, &survey->n_blocked, node);
		note(survey->lacking, &survey->n_lacking, node);
		break;
	case SLUG_NO_MATCH:
	case SLUG_UNHEALTHY:
	case SLUG_TOO_LARGE:
	case SLUG_TOPOLOGY:
		note(survey->lacking, &survey->n_lacking, node);
		break;
	default:
		break;
	}
}

void sort_uids(const char **uids, size_t n)
{
	if (n)
		qsort(uids, n, sizeof *uids, string_order);
}

struct suggestion *suggestion_add(
	struct suggestions *s, enum suggested action, const char *node, const char *const *uids, size_t n)
{
	assert(s->n < SUGGEST_KINDS);
	struct suggestion *made = &s->list[s->n++];
	*made = (struct suggestion){ .action = action, .node = node, .n_uids = n };
	if (n)
		made->uids = mem_copy(uids, n * sizeof *uids);
	return made;
}

void suggestions_free(struct suggestions *s)
{
	for (size_t i = 0; i < s->n; i++)
		free(s->list[i].uids);
	*s = (struct suggestions){ 0 };
}

/* What pod.preempt would do. */
static void suggest_preempt(
	const struct cluster *c, const struct fit_query *query, const struct survey *survey, struct suggestions *ret)
{
	const struct fit_query strict = {
		.pod = query->pod, .request = query->request, .without = query->without, .n_without = query->n_without
	};
	const struct protected nobody = { 0 };
	struct fit *fit = fit_new(c, &strict);
	struct plan plan;
	fit_limit(fit, SUGGEST_BUDGET);
	if (plan_best(fit, survey->blocked, survey->n_blocked, &nobody, &plan) == FIT_YES && plan.n_victims) {
		const char *uids[PLAN_VICTIMS];
		for (size_t i = 0; i < plan.n_victims; i++)
			uids[i] = plan.victims[i]->record->pod.uid;
		(void)suggestion_add(ret, SUGGEST_PREEMPT, plan.node->record->name, uids, plan.n_victims);
	}
	plan_free(&plan);
	fit_free(fit);
}

static void suggest_uncordon(
	const struct cluster *c, const struct fit_query *query, const struct survey *survey, struct suggestions *ret)
{
	struct fit *fit = fit_new(c, query);
	const struct node *found = NULL;
	fit_limit(fit, SUGGEST_BUDGET);
	for (size_t i = 0; i < survey->n_cordoned && !found; i++)
		if (fit_if_open(fit, survey->cordoned[i]) == FIT_YES)
			found = survey->cordoned[i];
	if (found)
		(void)suggestion_add(ret, SUGGEST_UNCORDON, found->record->name, NULL, 0);
	fit_free(fit);
}

void suggest(const struct cluster *c, const struct fit_query *query, const struct survey *survey, struct suggestions *ret)
{
	suggest_preempt(c, query, survey, ret);
	suggest_wait(c, query, survey, ret);
	suggest_shrink(c, query, survey, ret);
	suggest_uncordon(c, query, survey, ret);
}

/* How much less would fit: for each amount and each count the largest smaller one with which the request fits on some surveyed node
 * (fitting is monotonic, so halving finds it); suggested is the one that gives up the smallest part of what was asked. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "core/suggest_private.h"

enum { QUESTIONS = 256 }; /* requests tried at most */

struct shrinking {
	const struct cluster *cluster;
	const struct fit_query *query;
	const struct survey *survey;
	size_t asked;
	struct suggestion best;
	int64_t best_from; /* 0: none found yet */
};

/* What is being shrunk: the count of a claim, or one of its needs. */
struct knob {
	size_t claim;
	bool count;
	size_t need;
	int64_t from;
};

static struct request *turned(const struct request *r, const struct knob *knob, int64_t to)
{
	struct claim claims[REQUEST_CLAIMS];
	struct need needs[DEVICE_RESOURCES];
	struct claim *c = &claims[knob->claim];
	memcpy(claims, r->claims, r->n_claims * sizeof *claims);
	if (knob->count) {
		c->count = to;
	} else {
		memcpy(needs, c->needs, c->n_needs * sizeof *needs);
		*(needs[knob->need].percent ? &needs[knob->need].percent : &needs[knob->need].amount) = to;
		c->needs = needs;
	}
	struct error *error = request_check(claims, r->n_claims);
	error_free(error);
	return error ? NULL : request_new(claims, r->n_claims, "");
}

static bool fits_somewhere(struct shrinking *s, const struct knob *knob, int64_t to)
{
	struct request *request = s->asked++ < QUESTIONS ? turned(s->query->request, knob, to) : NULL;
	if (!request)
		return false;
	struct fit_query query = *s->query;
	query.request = request;
	struct fit *fit = fit_new(s->cluster, &query);
	fit_limit(fit, SUGGEST_BUDGET);
	bool fits = false;
	for (size_t i = 0; i < s->survey->n_lacking && !fits; i++)
		fits = fit_node(fit, s->survey->lacking[i], NULL) == FIT_YES;
	fit_free(fit);
	request_unref(request);
	return fits;
}

/* Whether going from `from` to `to` gives up a smaller part than the best so far. */
static bool is_better(const struct shrinking *s, int64_t from, int64_t to)
{
	__extension__ typedef __int128 wide;
	return !s->best_from || (wide)to * s->best_from > (wide)s->best.to * from;
}

static void turn(struct shrinking *s, const struct knob *knob)
{
	int64_t low = 1, high = knob->from - 1;
	if (high < 1 || !fits_somewhere(s, knob, 1))
		return;
	while (low < high) {
		int64_t middle = low + (high - low + 1) / 2;
		if (fits_somewhere(s, knob, middle))
			low = middle;
		else
			high = middle - 1;
	}
	if (!is_better(s, knob->from, low))
		return;
	const struct claim *c = &s->query->request->claims[knob->claim];
	s->best_from = knob->from;
	s->best = (struct suggestion){ .action = SUGGEST_SHRINK,
		.claim = knob->claim,
		.to = low,
		.resource = knob->count ? NULL : c->needs[knob->need].resource };
}

static void turn_claim(struct shrinking *s, size_t claim)
{
	const struct claim *c = &s->query->request->claims[claim];
	if (*c->reuse)
		return;
	for (size_t i = 0; i < c->n_needs; i++) {
		int64_t from = c->needs[i].percent ? c->needs[i].percent : c->needs[i].amount;
		turn(s, &(struct knob){ .claim = claim, .need = i, .from = from });
	}
	turn(s, &(struct knob){ .claim = claim, .count = true, .from = c->count });
}

void suggest_shrink(const struct cluster *c, const struct fit_query *query, const struct survey *survey, struct suggestions *ret)
{
	struct shrinking s = { .cluster = c, .query = query, .survey = survey };
	for (size_t i = 0; i < query->request->n_claims && survey->n_lacking; i++)
		turn_claim(&s, i);
	if (s.best_from)
		*suggestion_add(ret, SUGGEST_SHRINK, NULL, NULL, 0) = s.best;
}

/* Several pods on one node at once: one search over the claims of all of them, in the order in which they would be placed. Each claim
 * sees the node as its pod does; what the claims before it take counts for all. */
#include <stdlib.h>

#include "base/mem.h"
#include "core/fit_private.h"

static size_t join(struct fit *all, struct fit *const *fits, const struct view *views, size_t n)
{
	size_t picks = 0;
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < fits[i]->n_claims; k++) {
			struct fit_claim *c = &all->claims[all->n_claims++];
			*c = fits[i]->claims[k];
			c->view = &views[i];
		}
		all->topology |= fits[i]->topology;
		picks += picks_of(fits[i]);
	}
	return picks;
}

/* How many picks are a fit's own. */
static size_t picks_taken(const struct fit *fit)
{
	size_t n = 0;
	for (size_t i = 0; i < fit->n_claims; i++)
		n += *fit->claims[i].claim->reuse ? 0 : (size_t)fit->claims[i].claim->count;
	return n;
}

static void share_out(struct fit *const *fits, size_t n, const struct node *node, const uint16_t *picks, struct fit_part *ret)
{
	for (size_t i = 0; i < n; i++) {
		ret[i].shares = shares_of_picks(fits[i], node, picks, &ret[i].n);
		picks += picks_taken(fits[i]);
	}
}

enum fit_verdict fit_together(struct fit *const *fits, size_t n, const struct node *node, int64_t *budget, struct fit_part *ret)
{
	if (node->closed)
		return FIT_NO;
	struct view *views = mem_array(n, sizeof *views);
	struct fit all = { .cluster = fits[0]->cluster, .query = fits[0]->query, .budget = *budget };
	all.claims = mem_array(n * REQUEST_CLAIMS, sizeof *all.claims);
	for (size_t i = 0; i < n; i++)
		view_build(fits[i], node, VIEW_NOW, &views[i]);
	uint16_t *picks = mem_array(join(&all, fits, views, n), sizeof *picks);
	enum fit_verdict verdict = search_assign(&all, &views[0], all.n_claims, true, ret, picks);
	if (verdict == FIT_YES && ret)
		share_out(fits, n, node, picks, ret);
	*budget = all.budget;
	for (size_t i = 0; i < n; i++)
		view_free(&views[i]);
	free(views);
	free(picks);
	free(all.claims);
	return verdict;
}

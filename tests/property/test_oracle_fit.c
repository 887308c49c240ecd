/* The feasibility predicate against the oracle: whether a request fits, the first assignment, and the reason. */
#include "property/cases.h"
#include "property/oracle.h"

static bool shares_equal(const struct share *shares, size_t n, const struct oracle_picks *picks, const struct request *r)
{
	/* shares are by claim, then minor */
	size_t at = 0;
	if (n != picks->n)
		return false;
	for (size_t c = 0; c < r->n_claims; c++) {
		size_t count = (size_t)r->claims[c].count;
		for (size_t i = 0; i < count; i++) {
			bool found = false;
			for (size_t k = 0; k < count; k++)
				found |= picks->devices[at + k]->record->id == shares[at + i].device_id;
			if (!found || shares[at + i].claim != c || (i && shares[at + i - 1].minor > shares[at + i].minor))
				return false;
		}
		at += count;
	}
	return true;
}

/* The reason must be true, as far as the slug says something the oracle can tell. */
static bool reason_holds(const struct oracle *q, const struct reason *why)
{
	struct oracle other = *q;
	other.ignore_promises = true;
	if (why->slug == SLUG_NOMINATED)
		return oracle_fits(&other);
	if (why->slug == SLUG_INSUFFICIENT)
		return !oracle_fits(&other);
	return true;
}

static const char *compare(const struct oracle *q)
{
	const struct fit_query query = { .pod = q->pod,
		.request = q->request,
		.policy = q->policy,
		.gang_exempt = q->gang_exempt,
		.without = q->n_wanted ? NULL : q->gone,
		.n_without = q->n_wanted ? 0 : q->n_gone,
		.victims = q->wanted,
		.n_victims = q->n_wanted };
	struct fit *fit = fit_new(q->cluster, &query);
	struct oracle_picks picks = { 0 };
	struct share *shares = NULL;
	struct reason why;
	size_t n = 0;
	const char *wrong = NULL;
	bool fits = oracle_first(q, &picks);
	enum fit_verdict verdict = fit_node(fit, q->node, &why);
	if (verdict != (fits ? FIT_YES : FIT_NO))
		wrong = fits ? "it fits" : "it does not fit";
	else if ((fit_node(fit, q->node, NULL) == FIT_YES) != fits)
		wrong = "it differs without a reason asked for";
	else if (!fits && !reason_holds(q, &why))
		wrong = "the reason is wrong";
	else if (fit_assign(fit, q->node, &shares, &n) != verdict)
		wrong = "the assignment differs from the verdict";
	else if (fits && !shares_equal(shares, n, &picks, q->request))
		wrong = "the assignment is not the first";
	else if (fits && (!oracle_serves(q, shares, n) || !fit_holds(fit, q->node, shares, n)))
		wrong = "the shares do not serve";
	free(shares);
	fit_free(fit);
	return wrong;
}

static size_t some_gone(struct random *r, const struct node *n, const char **ret)
{
	size_t found = 0;
	for (const struct holding *h = n->holdings; h && found < 8; h = h->next)
		if (random_once_in(r, 3))
			ret[found++] = h->record->pod.uid;
	return found;
}

static void test_against_the_oracle(void **state)
{
	size_t fitted = 0, cases = case_count(4000);
	(void)state;
	for (size_t i = 0; i < cases; i++) {
		struct random r = case_random(i);
		const struct case_shape shape = {
			.nodes = 1 + random_below(&r, 2), .steps = random_below(&r, 12), .nominations = true, .defects = true
		};
		struct lab *lab = case_cluster(&r, &shape);
		for (size_t k = 0; k < 4; k++) {
			const struct node *node = lab->cluster->order[random_below(&r, shape.nodes)];
			struct request *request = case_request(&r, 3, 3);
			struct pod pod = case_pod(&r, random_once_in(&r, 3) ? "p1" : "x");
			const char *gone[8];
			struct oracle q = { .cluster = lab->cluster,
				.node = node,
				.pod = &pod,
				.request = request,
				.policy = random_once_in(&r, 2) ? POLICY_SPREAD : POLICY_BINPACK,
				.gang_exempt = random_once_in(&r, 2),
				.gone = gone };
			q.n_gone = random_once_in(&r, 2) ? some_gone(&r, node, gone) : 0;
			q.wanted = random_once_in(&r, 2) ? gone : NULL;
			q.n_wanted = q.wanted ? q.n_gone : 0;
			const char *wrong = compare(&q);
			if (wrong) {
				case_print(lab->cluster);
				case_print_request(&pod, request);
				fail_msg("case %zu, question %zu on %s: %s", i, k, node->record->name, wrong);
			}
			fitted += oracle_fits(&q);
			request_unref(request);
		}
		lab_free(lab);
	}
	assert_true(fitted > cases / 4 && fitted < 4 * cases - cases / 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_against_the_oracle) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}

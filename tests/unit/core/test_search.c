/* The search for an assignment against trying everything: on random small nodes, whenever an assignment exists it is found, and it is
 * the first one in the order of preference; else the verdict is no. SEARCH_SEED chooses one case. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "property/random.h"
#include "unit/core/world.h"

enum { CASES = 3000, MOST_DEVICES = 5, MOST_CLAIMS = 3 };

static const char *const kinds[] = { "gpu core=50", "gpu core=30", "gpu", "gpu*2 core=40", "gpu*2", "gpu core=60 memory=10",
	"rdma vf=10", "gpu core=20 same=numa", "gpu*2 core=10 same=numa together=t", "rdma vf=10 same=numa together=t",
	"gpu core=50 model=B", "gpu memory=50%" };

/* What is left of a device while everything is tried. */
struct rest {
	int64_t left[2];
	int64_t shares; /* taken */
	int64_t own_shares;
	bool own_whole;
};

struct trial {
	const struct node *node;
	const struct request *request;
	struct rest rest[MOST_DEVICES];
	size_t picks[MOST_CLAIMS * 2];
	size_t n_picks;
	size_t claim_of[MOST_CLAIMS * 2];
};

static int64_t wanted(const struct need *need, const struct amount *capacity)
{
	int64_t part = capacity->value * need->percent / 100;
	return need->percent ? (part ? part : 1) : need->amount;
}

/* Takes the device for the claim if it may have it. */
static bool take(struct trial *t, const struct claim *c, size_t device)
{
	const struct device_record *r = t->node->devices[device].record;
	struct rest *rest = &t->rest[device];
	if (strcmp(r->type, c->type) != 0 || (c->n_models && strcmp(c->models[0], r->model) != 0) || rest->own_whole)
		return false;
	if (r->max_shares && rest->shares + rest->own_shares >= r->max_shares)
		return false;
	if (!c->n_needs && (rest->shares || rest->own_shares))
		return false;
	for (size_t i = 0; i < c->n_needs; i++) {
		size_t k = 0;
		while (k < r->n_capacity && strcmp(r->capacity[k].resource, c->needs[i].resource) != 0)
			k++;
		if (k == r->n_capacity || (rest->left[k] -= wanted(&c->needs[i], &r->capacity[k])) < 0)
			return false;
	}
	rest->own_whole = !c->n_needs;
	rest->own_shares++;
	return true;
}

/* Whether the device is distinct from and beside those the claim, or its tag, has. */
static bool goes_with(const struct trial *t, size_t claim, size_t device)
{
	const struct claim *c = &t->request->claims[claim];
	const struct device_record *r = t->node->devices[device].record;
	if (c->same == TOPOLOGY_NUMA && r->numa < 0)
		return false;
	for (size_t i = 0; i < t->n_picks; i++) {
		bool mine = t->claim_of[i] == claim,
		     tagged = *c->together && strcmp(t->request->claims[t->claim_of[i]].together, c->together) == 0;
		if (mine && t->picks[i] == device)
			return false;
		if ((mine || tagged) && c->same == TOPOLOGY_NUMA && t->node->devices[t->picks[i]].record->numa != r->numa)
			return false;
	}
	return true;
}

static bool try_everything(const struct trial *before, size_t claim, int64_t k)
{
	if (claim == before->request->n_claims)
		return true;
	const struct claim *c = &before->request->claims[claim];
	if (k == c->count)
		return try_everything(before, claim + 1, 0);
	for (size_t d = 0; d < before->node->n_devices; d++) {
		struct trial t = *before;
		if (!goes_with(&t, claim, d) || !take(&t, c, d))
			continue;
		t.picks[t.n_picks] = d;
		t.claim_of[t.n_picks++] = claim;
		if (try_everything(&t, claim, k + 1))
			return true;
	}
	return false;
}

/* Whether the shares that were found are one of the assignments. */
static bool is_assignment(struct trial t, const struct share *shares, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		size_t d = 0;
		while (d < t.node->n_devices && t.node->devices[d].id != shares[i].device_id)
			d++;
		if (d == t.node->n_devices || !goes_with(&t, shares[i].claim, d) ||
			!take(&t, &t.request->claims[shares[i].claim], d))
			return false;
		t.picks[t.n_picks] = d;
		t.claim_of[t.n_picks++] = shares[i].claim;
	}
	return n == t.n_picks;
}

static void random_node(struct world *w, struct random *r)
{
	struct device_memory memory[MOST_DEVICES];
	struct device_report devices[MOST_DEVICES];
	size_t n = 1 + random_below(r, MOST_DEVICES);
	for (size_t i = 0; i < n; i++) {
		devices[i] = standard_device(&memory[i], "n1", random_once_in(r, 4) ? "rdma" : "gpu", i, n);
		devices[i].record.numa = (int64_t)random_below(r, 3) - 1;
		devices[i].record.model = random_once_in(r, 2) ? "B" : "A";
		devices[i].record.max_shares = (int64_t)random_below(r, 4);
	}
	const struct register_node args = { .node = "n1", .devices = devices, .n_devices = n };
	assert_string_equal(try_register(w, &args), "ok");
}

static struct trial trial_of(const struct world *w, const struct request *request)
{
	struct trial t = { .node = cluster_node(w->cluster, "n1"), .request = request };
	for (size_t d = 0; d < t.node->n_devices; d++) {
		const struct device *device = &t.node->devices[d];
		t.rest[d] = (struct rest){ .shares = device->shares, .own_whole = device->wholes > 0 };
		for (size_t k = 0; k < device->n_stocks; k++)
			t.rest[d].left[k] = t.node->stocks[device->first_stock + k].capacity -
					    t.node->stocks[device->first_stock + k].held;
	}
	return t;
}

static bool one_case(uint64_t seed)
{
	void *state;
	struct random r = { seed };
	char brief[256] = "";
	(void)world_setup(&state);
	struct world *w = state;
	random_node(w, &r);
	(void)try_reserve(w, "before", kinds[random_below(&r, 6)], "n1");
	for (size_t i = 1 + random_below(&r, MOST_CLAIMS); i > 0; i--) {
		strcat(brief, *brief ? ";" : "");
		strcat(brief, kinds[random_below(&r, sizeof kinds / sizeof *kinds)]);
	}
	const struct trial t = trial_of(w, ask(w, brief));
	bool exists = try_everything(&t, 0, 0);
	const char *answer = try_reserve(w, "a", brief, "n1");
	bool found = strcmp(answer, "ok") == 0;
	if (found != exists || (!found && strcmp(answer, "insufficient") != 0))
		fail_msg("SEARCH_SEED=%llu: %s: an assignment %s, but the answer is %s", (unsigned long long)seed, brief,
			exists ? "exists" : "does not exist", answer);
	if (found && !is_assignment(t, w->a->shares, w->a->n_shares))
		fail_msg("SEARCH_SEED=%llu: %s: what was found is no assignment", (unsigned long long)seed, brief);
	(void)world_teardown(&state);
	return exists;
}

static void every_assignment_is_found(void **state)
{
	const char *seed = getenv("SEARCH_SEED");
	size_t exist = 0;
	if (seed) {
		(void)one_case(strtoull(seed, NULL, 10));
		return;
	}
	for (uint64_t i = 1; i <= CASES; i++)
		exist += one_case(i);
	assert_in_range(exist, CASES / 5, CASES * 4 / 5); /* both answers are tried */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_assignment_is_found),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

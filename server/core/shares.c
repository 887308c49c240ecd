#include "core/shares.h"

#include <string.h>

static bool taken(const struct share *const *shares, size_t n, int64_t device)
{
	for (size_t i = 0; i < n; i++)
		if (shares[i]->device_id == device)
			return true;
	return false;
}

size_t claim_shares(
	const struct request *request, const struct share *shares, size_t n_shares, size_t claim, const struct share **ret)
{
	const struct claim *c = &request->claims[claim];
	size_t n = 0;
	for (size_t i = 0; i < n_shares && n < (size_t)c->count; i++) {
		const struct claim *of = &request->claims[shares[i].claim];
		bool reused = *c->reuse && strcmp(of->container, c->reuse) == 0 && strcmp(of->type, c->type) == 0;
		if ((reused && !taken(ret, n, shares[i].device_id)) || (!*c->reuse && shares[i].claim == claim))
			ret[n++] = &shares[i];
	}
	return n;
}

int64_t share_takes(const struct share *s, const struct amount *capacity)
{
	return s->whole ? capacity->value : amount_of(s->amounts, s->n_amounts, capacity->resource, 0);
}

bool claim_is_handed_out(const struct allocation *a, size_t claim)
{
	for (size_t g = 0; g < a->request->n_groups; g++)
		if (a->request->groups[g].claims & (UINT32_C(1) << claim))
			return a->handed_out & (UINT32_C(1) << g);
	return a->state != POD_RESERVED;
}

/* Reading what an allocation or nomination holds, claim by claim. */
#ifndef ALLOTD_CORE_SHARES_H
#define ALLOTD_CORE_SHARES_H

#include "core/record.h"

/* The shares a claim of the request gets, into `ret` with room for CLAIM_COUNT: its own, or, for a claim that reuses another container's
 * devices, the first ones of that container, each device once. Returns their number. */
size_t claim_shares(
	const struct request *request, const struct share *shares, size_t n_shares, size_t claim, const struct share **ret);

/* How much of one resource of its device a share takes: a whole one takes what there is. */
int64_t share_takes(const struct share *s, const struct amount *capacity);

/* Whether the devices of the claim were handed out (claims without an agent: whether the pod is bound). */
bool claim_is_handed_out(const struct allocation *a, size_t claim);

#endif

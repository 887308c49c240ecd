/* gang.reserve: several pods over several nodes, all of them or none. */
#ifndef ALLOTD_CORE_GANG_H
#define ALLOTD_CORE_GANG_H

#include "core/lifecycle.h"

enum {
	GANG_PODS = 512,             /* of one call */
	GANG_SEARCHED = FIT_TOGETHER /* up to so many new pods a placement that exists is found */
};

/* Members are `struct reserve` without `replace`; policy and ttl are the same for all. */
struct gang_answer {
	const struct allocation *allocation;
	bool existing;
};

/* Members that hold just what is asked are kept and count; the others are reserved, in the order given as long as that works; up to
 * GANG_SEARCHED of them, every other placement is tried before the answer is no. `ret` has room for `n` answers.
 * ERR_INVALID_PARAMS (a repeated uid), ERR_NOT_FOUND (node), ERR_CONFLICT, ERR_INSUFFICIENT (`*report`, which is made here in any case,
 * is about the first pod that does not fit beside those before it; its refusal is noted), ERR_OVERLOADED. */
struct error *gang_reserve(struct txn *txn, const struct reserve *members, size_t n, struct report *report,
	struct gang_answer *ret) __attribute__((warn_unused_result));

#endif

/* pod.explain: why a pod is pending, for people, and what would help. Changes nothing. */
#ifndef ALLOTD_CORE_EXPLAIN_H
#define ALLOTD_CORE_EXPLAIN_H

#include "base/text.h"
#include "core/pods.h"
#include "core/suggest.h"

struct explain {
	const char *uid; /* a known pod; NULL: `pod` and `request` say what is asked */
	const struct pod *pod;
	const struct request *request;
	const char *const *without; /* as if these pods were gone */
	size_t n_without;
};

/* What the cluster's records say is borrowed and valid until its next change. Ended with explained_free. */
struct explained {
	const struct request *request; /* what was asked */
	struct text summary;           /* sentences */
	struct report report;
	const struct refusal *refusal;  /* NULL = none remembered */
	struct suggestions suggestions; /* none where it fits, or when the pod holds devices */
};
void explained_free(struct explained *e);

/* Of a known pod, what it was last refused is asked, else what it is promised, else what it holds. ERR_NOT_FOUND, ERR_OVERLOADED. */
struct error *pod_explain(struct cluster *c, const struct explain *args, struct explained *ret)
	__attribute__((warn_unused_result));

#endif

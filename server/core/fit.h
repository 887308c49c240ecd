/* Whether and where a request fits: the one feasibility predicate. Everything that asks (filter, reserve, nominate, preempt, gang,
 * explain) prepares a `struct fit` once and then asks it node by node.
 *
 *   struct fit *fit = fit_new(cluster, &query);
 *   if (fit_node(fit, node, &why)) fit_assign(fit, node, &assignment) ...
 *   fit_free(fit);
 *
 * A fit reads the cluster and must not outlive a change of it. */
#ifndef ALLOTD_CORE_FIT_H
#define ALLOTD_CORE_FIT_H

#include "core/state.h"

struct error;
struct fit;

enum policy { POLICY_BINPACK, POLICY_SPREAD };

struct fit_query {
	const struct pod *pod;
	const struct request *request;
	enum policy policy;
	bool gang_exempt;           /* promises to the pod's own gang do not count (filter, reserve) */
	const char *const *without; /* pods as if gone, with what they were promised: uids */
	size_t n_without;
	const char *const *victims; /* as `without`, and the devices they hold are taken first (nominate) */
	size_t n_victims;
	bool ignore_promises; /* as if there were no nominations but the pod's own */
	const struct nomination
		*above; /* only nominations more important than this one count; NULL = those of the pod's priority too */
};

enum {
	FIT_BUDGET = 4000000, /* steps of search one fit may spend, all nodes together: some 0.2 s */
	FIT_TOGETHER = 8      /* pods that can be asked about at once */
};

/* Why a node is refused; in the order in which they are tried. */
enum slug {
	SLUG_UNKNOWN_NODE,
	SLUG_NODE_CORDONED,
	SLUG_UNVERIFIED,
	SLUG_NO_DEVICE,
	SLUG_NO_MATCH,
	SLUG_UNHEALTHY,
	SLUG_TOO_LARGE,
	SLUG_TOPOLOGY,
	SLUG_NOMINATED,
	SLUG_INSUFFICIENT,
	SLUGS
};

struct reason {
	enum slug slug;
	size_t claim;     /* index into the request */
	const char *type; /* of the claim; the request's memory */
	int64_t need;     /* devices needed */
	int64_t have;     /* devices that fit */
};

/* How it went. */
enum fit_verdict {
	FIT_YES,
	FIT_NO,
	FIT_TOO_HARD /* the search budget of this fit is used up: neither yes nor no */
};

/* Prepares; the query and what it points to must live as long as the fit. */
struct fit *fit_new(const struct cluster *c, const struct fit_query *query);
void fit_free(struct fit *fit);

/* Whether the request fits on the node (NULL: an unknown node). On FIT_NO `*why` says why; it may be NULL when nobody asks, which is faster. */
enum fit_verdict fit_node(struct fit *fit, const struct node *node, struct reason *why);

/* The first assignment in the order of the contract. On FIT_YES `*ret` are `*n` shares by claim and minor, allocated (free()); their
 * strings belong to the cluster's records. */
enum fit_verdict fit_assign(struct fit *fit, const struct node *node, struct share **ret, size_t *n);

/* What if somebody left: a node is entered as if some of its holdings were gone, these are put back (or taken away again) one by one,
 * and the fit is asked again. `leaves` is called once for each holding that is not gone anyway, and may take notes.
 * fit_leans_on: the assignment last found uses a device of the holding; if it does not, putting the holding back changes nothing. */
struct leaving {
	bool (*leaves)(void *context, const struct holding *h);
	void *context;
};
void fit_enter(struct fit *fit, const struct node *node, const struct leaving *leaving);
void fit_set_gone(struct fit *fit, const struct holding *h, bool gone);
enum fit_verdict fit_try(struct fit *fit);
bool fit_leans_on(const struct fit *fit, const struct holding *h);

/* Whether the request would fit on the node if nothing was held or promised there; if the node was not cordoned. */
enum fit_verdict fit_empty(struct fit *fit, const struct node *node);
enum fit_verdict fit_if_open(struct fit *fit, const struct node *node);

/* Lets the fit search no more than so many steps from here on. */
void fit_limit(struct fit *fit, int64_t steps);

/* Who asks. */
const struct pod *fit_pod(const struct fit *fit);

/* Whether the pod has its nomination on this node. */
bool fit_is_nominated(const struct fit *fit, const struct node *node);

/* Whether a holding counts as gone: the pod's own, and those of `without` and `victims`. */
bool fit_is_gone(const struct fit *fit, const struct holding *h);

/* Asking a list of nodes in order is bound by memory: tells the processor which ones come after index `i`. */
void fit_ahead(struct node *const *nodes, size_t n, size_t i);

/* Several pods on one node at once, as if they were placed in this order: whether they fit, and with `ret` (may be NULL) the shares of
 * each and their number, all allocated. At most FIT_TOGETHER fits; `*budget` is what the search may spend and is reduced. */
struct fit_part {
	struct share *shares;
	size_t n;
};
enum fit_verdict fit_together(struct fit *const *fits, size_t n, const struct node *node, int64_t *budget, struct fit_part *ret);

/* Whether given shares (a nomination's) are all on eligible devices and still fit as the query sees the node. */
bool fit_holds(struct fit *fit, const struct node *node, const struct share *shares, size_t n);

/* Whether shares of what already runs fit, whatever the state of their devices and of the node. False: `*why` names the first claim
 * that does not. */
bool fit_shares_fit(struct fit *fit, const struct node *node, const struct share *shares, size_t n, struct reason *why);

/* How free the node is for this request, in parts of a million: the mean over the claims of what is available of their devices, by
 * the largest resource; for whole claims the part of idle devices. */
int64_t fit_free_part(struct fit *fit, const struct node *node);

/* The best node by policy: the pod's nominated node if it is among them and fits, then the policy, then the name. `nodes` may hold NULLs;
 * FIT_NO when it fits nowhere. */
enum fit_verdict fit_best(struct fit *fit, struct node *const *nodes, size_t n, struct node **ret);

/* The pods whose nominations on the node count against the query's pod; names live in the records. Room for node->n_promises. Sorted by uid. */
size_t fit_promised_to(const struct fit *fit, const struct node *node, const char **ret);

/* "unknown_node", ... and whether time can mend it. */
const char *slug_name(enum slug slug);
bool slug_resolvable(enum slug slug);

#endif

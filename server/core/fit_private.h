/* Inside the feasibility predicate: fit.c prepares, view.c says what is left on each device,
 * assess.c finds reasons, search.c assigns, trial.c asks what if somebody left, together.c
 * asks for several pods at once. */
#ifndef ALLOTD_CORE_FIT_PRIVATE_H
#define ALLOTD_CORE_FIT_PRIVATE_H

#include "core/fit.h"

enum { SEARCH_CLAIMS = FIT_TOGETHER * REQUEST_CLAIMS }; /* of one search */

/* What a claim needs of one resource, with its name as a symbol. */
struct fit_need {
	symbol resource;
	int64_t amount;
	int64_t percent;
};

struct fit;
struct view;

struct fit_claim {
	const struct claim *claim;
	const struct fit *fit;   /* whose it is: in a search for several pods each claim is one pod's (together.c) */
	const struct view *view; /* as that pod sees the node; NULL = the view of the search */
	symbol type;
	bool plain; /* no models, labels, uuids: every device of the type matches that has the resources */
	struct fit_need needs[DEVICE_RESOURCES];
	size_t n_needs;
};

/* How a node is looked at. */
enum view_mode {
	VIEW_NOW,        /* as it is for this pod */
	VIEW_UNPROMISED, /* as if nothing was promised */
	VIEW_EMPTY       /* as if nothing was held or promised */
};

/* One device as the query sees it. */
struct slot {
	bool idle;      /* nobody else holds anything and nothing is promised: a whole claim may have it */
	bool closed;    /* somebody else holds it whole or was promised it whole */
	int64_t shares; /* further shares it may take; INT64_MAX = no limit */
};

/* A node as the query sees it; arrays parallel to the node's devices and stocks. */
struct view {
	const struct node *node;
	struct slot *slots;
	int64_t *left; /* available amount, by stock */
	size_t slots_room, left_room;
};

/* What is held and promised on a node, by stock and by device: what a view is derived from. */
struct sums {
	int64_t *held, *victims, *promised;                /* by stock */
	int64_t *shares, *victim_shares, *promised_shares; /* by device */
	int64_t *wholes, *promised_wholes;                 /* by device */
	int64_t *block;                                    /* owns all of them */
	size_t room;
};

/* A node in which holdings are taken away and put back one by one (trial.c). */
struct trial {
	struct view view;
	struct sums sums;
	bool promises; /* the node has any */
	bool *used;    /* by device */
	size_t used_room;
};

struct fit {
	const struct cluster *cluster;
	const struct fit_query *query;
	struct fit_claim *claims; /* owned */
	size_t n_claims;
	bool joint;            /* claims may want the same devices, or share a topology: counting them one by one is not enough */
	bool topology;         /* some claim names a topology key */
	struct holding **gone; /* as if they held nothing, by node, then address */
	size_t n_gone;
	const struct promise **forgotten; /* nominations of those that are as if gone, by address */
	size_t n_forgotten;
	const struct promise *own; /* the pod's own nomination, or NULL */
	int64_t budget;            /* steps of search left */
	struct view now, other;    /* scratch; `now` is VIEW_NOW of its node when it is set */
	struct sums sums;          /* scratch of view_build */
	struct trial trial;
};

void view_build(struct fit *fit, const struct node *node, enum view_mode mode, struct view *ret);
void view_free(struct view *v);

/* The same, keeping the sums: view_derive brings one device up to date after sums_add of a holding (sign 1) or its opposite (-1).
 * `promises` false: as if nothing was promised; `leaving` NULL: nobody leaves. */
void view_build_summed(const struct fit *fit, const struct node *n, bool promises, const struct leaving *leaving, struct sums *s,
	struct view *v);
void sums_add(const struct fit *fit, const struct node *n, const struct holding *h, bool promises, int64_t sign, struct sums *s);
void view_derive(const struct sums *s, size_t device, struct view *v);
void sums_free(struct sums *s);

void trial_free(struct trial *t);

/* The picks as shares, by claim and minor, in one block with their amounts. */
struct share *shares_of_picks(const struct fit *fit, const struct node *node, const uint16_t *picks, size_t *n);

/* Whether a nomination counts against the query's pod; its own never does. */
bool promise_counts(const struct fit *fit, const struct promise *p);

/* Whether the device has the claim's type and passes its selectors and resources. */
bool claim_matches(const struct fit_claim *c, const struct node *n, const struct device *d);

/* How much of a stock the need takes. */
int64_t need_amount(const struct fit_need *need, const struct stock *stock);

/* The stock of the device for a resource; NULL when it has none. */
const struct stock *device_stock(const struct node *n, const struct device *d, symbol resource);

/* How far a device gets with a claim in a view; each stage includes the ones before. */
enum stage {
	STAGE_OTHER,    /* of another type, or missing */
	STAGE_TYPE,     /* of the type */
	STAGE_MATCH,    /* passes the selectors and has the resources */
	STAGE_ELIGIBLE, /* healthy and not cordoned */
	STAGE_LARGE,    /* its capacity would do */
	STAGE_ROOM      /* it has room now */
};
enum stage claim_stage(const struct fit_claim *c, const struct view *v, size_t device);

/* Searches an assignment for the first `n_claims` claims in the view; `picks` (may be NULL) receives the device indexes, claim
 * by claim, `count` each (none for claims that reuse). `topology` false ignores `same`. */
size_t picks_of(const struct fit *fit); /* room for the picks */
enum fit_verdict search_assign(
	struct fit *fit, const struct view *v, size_t n_claims, bool topology, bool ordered, uint16_t *picks);

#endif

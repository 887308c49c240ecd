/* What would make a request fit that fits nowhere: the cheapest thing of each kind, among the nodes surveyed. */
#ifndef ALLOTD_CORE_SUGGEST_H
#define ALLOTD_CORE_SUGGEST_H

#include "core/fit.h"

enum { SURVEYED = 256 }; /* nodes looked at for each kind */

/* Refused nodes, by what could help there. */
struct survey {
	struct node *blocked[SURVEYED]; /* somebody holds or was promised the devices */
	size_t n_blocked;
	struct node *lacking[SURVEYED]; /* less might fit */
	size_t n_lacking;
	struct node *cordoned[SURVEYED];
	size_t n_cordoned;
};

/* Notes a refused node, as long as there is room. */
void survey_add(struct survey *survey, struct node *node, const struct reason *why);

enum suggested { SUGGEST_PREEMPT, SUGGEST_WAIT, SUGGEST_SHRINK, SUGGEST_UNCORDON, SUGGEST_KINDS };

struct suggestion {
	enum suggested action;
	const char *node;  /* NULL for shrink */
	const char **uids; /* who would have to leave, sorted; owned, the strings are the cluster's */
	size_t n_uids;
	bool lock;            /* wait: for the lock of the node */
	size_t claim;         /* shrink: which claim */
	const char *resource; /* shrink: which resource; NULL = the count. The request's memory */
	int64_t to;           /* shrink: the largest amount (or count; percentage where the claim asks for one) that fits */
};

/* In the order of enum suggested; each kind at most once. Ended with suggestions_free. */
struct suggestions {
	struct suggestion list[SUGGEST_KINDS];
	size_t n;
};
void suggestions_free(struct suggestions *s);

/* `query` is that of a reserve. */
void suggest(const struct cluster *c, const struct fit_query *query, const struct survey *survey, struct suggestions *ret);

/* One suggestion: `uids` are copied. */
struct suggestion *suggestion_add(
	struct suggestions *s, enum suggested action, const char *node, const char *const *uids, size_t n);

#endif

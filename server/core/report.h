/* Why a request fits nowhere (or on some nodes not): what was found node by node, counted and summed up in one sentence. */
#ifndef ALLOTD_CORE_REPORT_H
#define ALLOTD_CORE_REPORT_H

#include "base/text.h"
#include "core/fit.h"

/* One refused node. */
struct report_node {
	const char *node; /* the caller's or the cluster's memory */
	struct reason reason;
	const char **by; /* SLUG_NOMINATED: the pods it is promised to, sorted; owned, in one block with the strings */
	size_t n_by;
};

struct report {
	const struct request *request;         /* the caller's */
	int64_t counts[SLUGS][REQUEST_CLAIMS]; /* refused nodes, by slug and claim */
	size_t total;                          /* nodes asked */
	size_t fits;                           /* of them */
	size_t keep;                           /* how many refused nodes are kept in `nodes` */
	struct report_node *nodes;             /* owned */
	size_t n_nodes, room;
};

enum { REPORT_NODES = 64 }; /* nodes named in errors */

/* An empty report on a request, keeping up to `keep` nodes. Ended with report_free. */
struct report report_new(const struct request *request, size_t keep);
void report_free(struct report *report);

/* Notes a node that was refused (`node` may be NULL for an unknown one) or that fits. */
void report_refused(
	struct report *report, const struct fit *fit, const struct node *node, const char *name, const struct reason *why);
void report_fits(struct report *report);

/* Refused nodes for one slug. */
int64_t report_count(const struct report *report, enum slug slug);

/* "0/1213 nodes are available: 700 insufficient gpu, 13 cordoned." */
void report_summary(const struct report *report, struct text *to);

/* ERR_INSUFFICIENT with the summary as its message. */
struct error *report_error(const struct report *report) __attribute__((warn_unused_result));

/* ERR_OVERLOADED with `limit` "search_time". */
struct error *search_time_error(void) __attribute__((warn_unused_result));

/* Asks every node of the list (NULL: unknown, named by `names`) and notes the answers. False: the search was too hard. */
bool report_ask(struct report *report, struct fit *fit, struct node *const *nodes, const char *const *names, size_t n);

#endif

/* Between suggest.c and the files that find one kind each. */
#ifndef ALLOTD_CORE_SUGGEST_PRIVATE_H
#define ALLOTD_CORE_SUGGEST_PRIVATE_H

#include "core/suggest.h"

/* Steps of search each kind may spend: some 10 ms. What is too hard to find is not suggested. */
enum { SUGGEST_BUDGET = 200000 };

/* Adds the cheapest suggestion of its kind, if there is one. */
void suggest_wait(const struct cluster *c, const struct fit_query *query, const struct survey *survey, struct suggestions *ret);
void suggest_shrink(const struct cluster *c, const struct fit_query *query, const struct survey *survey, struct suggestions *ret);

/* Sorts uids. */
void sort_uids(const char **uids, size_t n);

#endif

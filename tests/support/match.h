/* The comparison of expected and real JSON values that the scenario files use: objects match as subsets, arrays element by
 * element; {"$set": [...]} in any order, {"$count": n}, {"$above": n}, {"$absent": true}. */
#ifndef TESTS_SUPPORT_MATCH_H
#define TESTS_SUPPORT_MATCH_H

#include <jansson.h>

/* NULL when `got` is what `want` says; otherwise a sentence saying where they differ, owned by the caller. */
char *match(const json_t *want, const json_t *got);

#endif

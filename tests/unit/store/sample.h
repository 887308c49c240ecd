/* A small cluster that is always the same:
 *
 *   node n1 (id 1)   d1 (11) core 100, memory 80, 3 shares   a1 (21): bound under token 1, core 60 and memory 40
 *                    d2 (12) core 100, memory 80              a2 (22): allocated, whole; handed out with id "x-1"
 *   node n2 (id 2)   d3 (13) core 100, memory 80              a3 (23): reserved, core 30
 *                                                             n9 (31): nominated, core 50, over victim a3
 *   refusal of p8, lapse of p7 on n2, lock of n2 held by p6 under token 2, one event of revision 1
 */
#ifndef TESTS_UNIT_STORE_SAMPLE_H
#define TESTS_UNIT_STORE_SAMPLE_H

#include "support.h"

enum { SAMPLE_RECORDS = 13 }; /* without the event */

/* Appends it as inserts. */
void sample_cluster(struct change_list *ret);

/* Setup for cmocka: an open store that holds it. */
int place_new_sample(void **state);

/* An event of a pod. */
const struct event *sample_event(int64_t revision, int64_t n, int64_t at, const char *kind, const char *node, const char *uid);

#endif

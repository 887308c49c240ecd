/* Pods by name. */
#ifndef ALLOTD_METHODS_POD_NAMED_H
#define ALLOTD_METHODS_POD_NAMED_H

#include "core/state.h"

/* The uid of the pod of that name: of several, the one that got its devices last; else one that is nominated or was refused.
 * NULL when nothing is known. The record's memory. */
const char *pod_named(struct cluster *c, const char *namespace, const char *name);

#endif

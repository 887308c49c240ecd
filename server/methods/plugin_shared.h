/* Between the files of the node agent's methods. */
#ifndef ALLOTD_METHODS_PLUGIN_SHARED_H
#define ALLOTD_METHODS_PLUGIN_SHARED_H

#include "base/arena.h"
#include "rpc/field.h"

/* Device ids are a set: sorted, in the arena. */
const char *const *sorted_ids(struct arena *arena, const struct rpc_strings *ids);

#endif

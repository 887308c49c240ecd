/* Why nodes were refused, as people read it. */
#ifndef ALLOTCTL_REASONS_H
#define ALLOTCTL_REASONS_H

#include <stddef.h>
#include <stdio.h>

#include <jansson.h>

/* One indented line for each node of {node: [Reason]}, at most `most` of them; nothing when `nodes` is no object. */
void reasons_print(FILE *out, const json_t *nodes, size_t most);

#endif

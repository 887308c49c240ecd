/* The usage texts of allotctl, made from the tables of options and commands and from the OpenRPC document. */
#ifndef ALLOTCTL_HELP_H
#define ALLOTCTL_HELP_H

#include <jansson.h>

#include "ctl/ctl.h"

/* What allotctl is, its commands, methods and options. */
void help_overview(struct ctl *ctl, const json_t *doc);

void help_command(struct ctl *ctl, const struct command *command);

/* One method: parameters with types, defaults and ranges; result; errors. */
void help_method(struct ctl *ctl, const json_t *doc, const json_t *method);

#endif

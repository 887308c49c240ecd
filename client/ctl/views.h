/* The commands for people: each asks the server and prints tables (or, with -o json, what the server said, all pages joined).
 * All have the form of struct command's `run`. */
#ifndef ALLOTCTL_VIEWS_H
#define ALLOTCTL_VIEWS_H

#include "ctl/ctl.h"

int nodes_run(struct ctl *ctl, char **arguments, int n);
int top_run(struct ctl *ctl, char **arguments, int n);
int devices_run(struct ctl *ctl, char **arguments, int n);
int pods_run(struct ctl *ctl, char **arguments, int n);
int locks_run(struct ctl *ctl, char **arguments, int n);
int nominations_run(struct ctl *ctl, char **arguments, int n);
int events_run(struct ctl *ctl, char **arguments, int n);
int info_run(struct ctl *ctl, char **arguments, int n);
int explain_run(struct ctl *ctl, char **arguments, int n);

/* The devices of an allocation or nomination: "gpu:0,1 host:0"; with `amounts` also what is taken: "gpu:0{milli=460}". New memory. */
char *device_names(const json_t *devices, bool amounts);

#endif

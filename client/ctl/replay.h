/* allotctl replay: a cluster and a workload from CSV files, driven through the server. */
#ifndef ALLOTCTL_REPLAY_H
#define ALLOTCTL_REPLAY_H

#include "ctl/ctl.h"

int replay_run(struct ctl *ctl, char **arguments, int n);

#endif

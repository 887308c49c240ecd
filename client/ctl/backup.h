/* allotctl backup. */
#ifndef ALLOTCTL_BACKUP_H
#define ALLOTCTL_BACKUP_H

#include "ctl/ctl.h"

int backup_run(struct ctl *ctl, char **arguments, int n);

#endif

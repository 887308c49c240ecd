/* allotd restore: the database of a data directory made of a backup, while no server runs on it. */
#ifndef ALLOTD_RESTORE_H
#define ALLOTD_RESTORE_H

#include <stdbool.h>

struct error;

/* Says on standard output what was done. An error says in its detail "exit" how the process should end. */
struct error *restore(const char *from, const char *data_dir, bool force) __attribute__((warn_unused_result));

#endif

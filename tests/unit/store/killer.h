/* Killing a process in the middle of its writing: at its Nth call that changes a file, as SQLite makes them. */
#ifndef TESTS_UNIT_STORE_KILLER_H
#define TESTS_UNIT_STORE_KILLER_H

#include <stdbool.h>

/* Runs `run` in a child process that dies by SIGKILL before its `n`th write, truncation, sync or removal of a file (from 1). True when that
 * happened, false when it came to its end before. The child's own failures fail the test. */
bool killed_at(int n, void (*run)(void *context), void *context);

#endif

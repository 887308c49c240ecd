/* The steps that lead from an empty database to the present schema. The table is generated from migrations/ by migrations/embed. */
#ifndef ALLOTD_STORE_MIGRATIONS_H
#define ALLOTD_STORE_MIGRATIONS_H

#include <stddef.h>

struct migration {
	int version;      /* PRAGMA user_version after it; the versions are 1, 2, 3 ... in order */
	const char *name; /* what it does, from the file's name */
	const char *sql;  /* its statements */
};

extern const struct migration migrations[];
extern const size_t n_migrations;

#endif

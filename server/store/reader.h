/* The inside of a reader. */
#ifndef ALLOTD_STORE_READER_H
#define ALLOTD_STORE_READER_H

#include "store/load.h"

struct store_reader {
	sqlite3 *db;
	const struct store_codec *codec;
	char *path;
	struct loader loader;
	struct statement begin, rollback;
	struct statement event_ends, event_at, event_page, event_since;
};

/* store_reader_open for the database file at `path`. */
struct error *reader_open(const char *path, const struct store_codec *codec, struct store_reader **ret)
	__attribute__((warn_unused_result));

int events_prepare(struct store_reader *reader);

/* The database cannot be read. */
struct error *reader_failed(struct store_reader *reader, int rc) __attribute__((warn_unused_result));

#endif

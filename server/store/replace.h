/* Putting another database in the place of the present one so that a crash at any moment leaves one of them.
 *
 * Several files belong to a database, and they cannot be exchanged at once. So the new ones are made beside them, and the moment at which
 * allotd.db.next appears decides; whoever owns the directory next brings to its end what is left to do, which can be repeated.
 *
 *   allotd.db.incoming      the new database, not finished: worth nothing
 *   allotd.highwater.next   its high-water record
 *   allotd.db.next          the new database, finished and synced
 */
#ifndef ALLOTD_STORE_REPLACE_H
#define ALLOTD_STORE_REPLACE_H

#include "store/directory.h"
#include "store/store.h"

/* Where the new database is to be made; the caller's. */
char *replace_incoming(const struct directory *d);

/* Makes the finished file at replace_incoming, which says `meta` of itself, the database of the directory. */
struct error *replace_commit(const struct directory *d, const struct store_meta *meta) __attribute__((warn_unused_result));

/* Finishes what was decided, throws away what was not. To be called by the owner of the directory before he opens the database. */
struct error *replace_finish(const struct directory *d) __attribute__((warn_unused_result));

#endif

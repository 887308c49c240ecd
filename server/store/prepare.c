/* All statements of the writing connection, so that a mistake in one of them shows at the start. */
#include "store/store_private.h"

int store_prepare(struct store *store)
{
	int rc = transaction_prepare(store);
	if (rc == SQLITE_OK)
		rc = commit_prepare(store);
	if (rc == SQLITE_OK)
		rc = tidy_prepare(store);
	if (rc == SQLITE_OK)
		rc = loader_prepare(&store->loader, store->db);
	return rc == SQLITE_OK ? writer_prepare(&store->writer, store->db, store->codec) : rc;
}

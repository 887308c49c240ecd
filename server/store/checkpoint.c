/* Moving the log into the database. What it takes on the disk is kept for the next turns unless room is short. */
#include <stdlib.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "store/store_private.h"

enum { LOG_BYTES_IN_SHORTAGE = 2 * 1024 * 1024 };

static void checkpoint_failed(struct store *store)
{
	log_write(store->log, LOG_ERROR, "checkpoint failed: %s", sqlite3_errmsg(store->db));
	store->broken = true;
}

static int checkpoint(struct store *store)
{
	return sqlite3_wal_checkpoint_v2(store->db, "main", SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
}

void store_checkpoint(struct store *store)
{
	int rc = checkpoint(store);
	if (connection_outcome(rc, false) == STORE_FULL && space_make_room(&store->space))
		rc = checkpoint(store);
	if (connection_outcome(rc, false) == STORE_UNKNOWN)
		checkpoint_failed(store);
}

/* The log's file is kept at its size, which is good for speed; where room is short it is given back. A reader may stand in the way. */
static void shrink_log(struct store *store)
{
	struct stat st;
	char *log = mem_format("%s-wal", store->directory.database);
	bool large = stat(log, &st) == 0 && st.st_size > LOG_BYTES_IN_SHORTAGE;
	free(log);
	if (!large)
		return;
	int rc = sqlite3_wal_checkpoint_v2(store->db, "main", SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
	if (rc == SQLITE_OK)
		store->log_frames = 0;
	else if (connection_outcome(rc, false) == STORE_UNKNOWN)
		checkpoint_failed(store);
}

void store_measure(struct store *store)
{
	if (store->broken)
		return;
	space_measure(&store->space, store->db);
	if (store_shortage(store))
		shrink_log(store);
}

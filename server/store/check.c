/* What only the database can know to be wrong. */
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "store/connection.h"
#include "store/reader.h"

static const char integrity[] = "PRAGMA integrity_check";

static const char foreign_keys[] =
	"SELECT 'a row of ' || \"table\" || ' refers to a row of ' || parent || ' that is not there' FROM "
	"pragma_foreign_key_check";

static const char bound_without_lock[] =
	"SELECT 'pod ' || uid || ' is bound without holding the lock of its node' FROM allocation AS a"
	" WHERE state = 'bound' AND NOT EXISTS (SELECT 1 FROM lock AS l WHERE l.node_id = a.node_id AND l.uid = a.uid AND "
	"l.token = a.token)";

static const char usage_without_allocation[] =
	"SELECT DISTINCT 'device id ' || device_id || ' is held by allocation id ' || allocation_id || ', which is not there' "
	"FROM usage"
	" WHERE allocation_id NOT IN (SELECT id FROM allocation)";

static const char usage_elsewhere[] =
	"SELECT DISTINCT 'pod ' || a.uid || ' holds device ' || d.uuid || ', which is on another node' FROM usage AS u"
	" JOIN device AS d ON d.id = u.device_id JOIN allocation AS a ON a.id = u.allocation_id WHERE d.node_id <> a.node_id";

static const char whole_shared[] =
	"SELECT DISTINCT 'device ' || d.uuid || ' is held whole and shared' FROM usage AS u JOIN device AS d ON d.id = "
	"u.device_id"
	" WHERE u.resource = '' AND u.whole AND EXISTS (SELECT 1 FROM usage AS o WHERE o.device_id = u.device_id AND o.resource "
	"= ''"
	" AND (o.allocation_id <> u.allocation_id OR o.claim <> u.claim))"
	" AND NOT EXISTS (SELECT 1 FROM usage AS f JOIN allocation AS a ON a.id = f.allocation_id WHERE f.device_id = "
	"u.device_id AND a.over)";

static const char amount_without_share[] =
	"SELECT 'an amount of ' || resource || ' is held on device id ' || device_id || ' without a share' FROM usage AS u WHERE "
	"resource <> ''"
	" AND NOT EXISTS (SELECT 1 FROM usage AS s WHERE s.device_id = u.device_id AND s.allocation_id = u.allocation_id AND "
	"s.claim = u.claim"
	" AND s.resource = '')";

static const char handout_without_allocation[] =
	"SELECT DISTINCT 'allocation id ' || allocation_id || ' was handed out and is not there' FROM handout"
	" WHERE allocation_id NOT IN (SELECT id FROM allocation)";

static const char promised_without_nomination[] =
	"SELECT DISTINCT 'device id ' || device_id || ' is promised to nomination id ' || nomination_id || ', which is not "
	"there' FROM promised"
	" WHERE nomination_id NOT IN (SELECT id FROM nomination)";

static const char event_beyond_meta[] =
	"SELECT 'the last event has revision ' || e.revision || ', the database is at ' || m.revision"
	" FROM (SELECT revision FROM event ORDER BY id DESC LIMIT 1) AS e, meta AS m WHERE e.revision > m.revision";

static const char *const questions[] = { integrity, foreign_keys, bound_without_lock, usage_without_allocation, usage_elsewhere,
	whole_shared, amount_without_share, handout_without_allocation, promised_without_nomination, event_beyond_meta };

/* Whether a line of integrity_check says that something is wrong with the data; what went wrong in reading it goes to *rc. */
static bool is_damage(const char *report, int *rc)
{
	*rc = connection_judge(report);
	if ((*rc & 0xff) != SQLITE_CORRUPT)
		return false;
	*rc = SQLITE_OK;
	return true;
}

/* One sentence for each row. Prepared when it is asked: these run once in a while, not once in a turn. */
static int ask(sqlite3 *db, const char *question, void (*violation)(void *context, const char *sentence), void *context)
{
	sqlite3_stmt *s = NULL;
	int rc = sqlite3_prepare_v2(db, question, -1, &s, NULL);
	while (rc == SQLITE_OK && (rc = sqlite3_step(s)) == SQLITE_ROW) {
		const char *sentence = (const char *)sqlite3_column_text(s, 0);
		rc = sentence ? SQLITE_OK : SQLITE_NOMEM;
		if (question != integrity ? sentence != NULL : is_damage(sentence, &rc))
			violation(context, sentence);
	}
	(void)sqlite3_finalize(s);
	return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

struct error *store_reader_check(
	struct store_reader *reader, void (*violation)(void *context, const char *sentence), void *context)
{
	for (size_t i = 0; i < sizeof questions / sizeof *questions; i++) {
		int rc = ask(reader->db, questions[i], violation, context);
		if (rc != SQLITE_OK)
			return reader_failed(reader, rc);
	}
	return NULL;
}

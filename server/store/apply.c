#include "store/apply.h"

#include <string.h>

int writer_prepare(struct writer *w, sqlite3 *db, const struct store_codec *codec)
{
	int rc = node_writer_prepare(&w->node, db);
	if (rc == SQLITE_OK)
		rc = device_writer_prepare(&w->device, db);
	if (rc == SQLITE_OK)
		rc = allocation_writer_prepare(&w->allocation, db);
	if (rc == SQLITE_OK)
		rc = nomination_writer_prepare(&w->nomination, db);
	if (rc == SQLITE_OK)
		rc = lock_writer_prepare(&w->lock, db);
	if (rc == SQLITE_OK)
		rc = lapse_writer_prepare(&w->lapse, db);
	if (rc == SQLITE_OK)
		rc = refusal_writer_prepare(&w->refusal, db);
	if (rc == SQLITE_OK)
		rc = event_writer_prepare(&w->event, db, codec);
	return rc;
}

void writer_free(struct writer *w)
{
	text_free(&w->allocation.ids);
	text_free(&w->refusal.counts);
	text_free(&w->refusal.nodes);
	text_free(&w->event.data);
}

int apply_change(struct writer *w, const struct change *change)
{
	switch (change->kind) {
	case RECORD_NODE:
		return apply_node(&w->node, change->before, change->after);
	case RECORD_DEVICE:
		return apply_device(&w->device, change->before, change->after);
	case RECORD_ALLOCATION:
		return apply_allocation(&w->allocation, change->before, change->after);
	case RECORD_NOMINATION:
		return apply_nomination(&w->nomination, change->before, change->after);
	case RECORD_LOCK:
		return apply_lock(&w->lock, change->before, change->after);
	case RECORD_LAPSE:
		return apply_lapse(&w->lapse, change->before, change->after);
	case RECORD_REFUSAL:
		return apply_refusal(&w->refusal, change->before, change->after);
	case RECORD_EVENT:
		return apply_event(&w->event, change->after);
	default:
		return SQLITE_MISUSE;
	}
}

bool labels_same(const struct label *a, size_t n_a, const struct label *b, size_t n_b)
{
	if (n_a != n_b)
		return false;
	for (size_t i = 0; i < n_a; i++)
		if (strcmp(a[i].key, b[i].key) != 0 || strcmp(a[i].value, b[i].value) != 0)
			return false;
	return true;
}

int apply_labels(struct label_writer *w, int64_t owner, const struct label *labels, size_t n)
{
	int rc = SQLITE_OK;
	for (size_t i = 0; rc == SQLITE_OK && i < n; i++) {
		statement_integer(&w->insert, ":owner", owner);
		statement_text(&w->insert, ":key", labels[i].key);
		statement_text(&w->insert, ":value", labels[i].value);
		rc = statement_run(&w->insert);
	}
	return rc;
}

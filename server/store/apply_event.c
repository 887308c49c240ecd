/* event. The row id is given by SQLite: one above the last. */
#include "store/apply.h"

static const char event_insert[] =
	"INSERT INTO event (revision, n, at, kind, node, uid, actor, data) VALUES (:revision, :n, :at, :kind, :node, :uid, "
	":actor, :data)";

int apply_event(struct event_writer *w, const struct event *event)
{
	struct statement *s = &w->insert;
	text_clear(&w->data);
	w->codec->print_event(event, &w->data);
	statement_integer(s, ":revision", event->revision);
	statement_integer(s, ":n", event->n);
	statement_integer(s, ":at", event->at);
	statement_text(s, ":kind", event->kind);
	statement_text(s, ":node", event->node);
	statement_text(s, ":uid", event->uid);
	statement_text(s, ":actor", event->actor);
	statement_text(s, ":data", text_string(&w->data));
	return statement_run(s);
}

int event_writer_prepare(struct event_writer *w, sqlite3 *db, const struct store_codec *codec)
{
	const struct statement_source sources[] = { { &w->insert, event_insert } };
	w->codec = codec;
	return statement_prepare(db, sources, sizeof sources / sizeof *sources);
}

#include "fake_store.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "core/state.h"

struct store *fake_store_new(void)
{
	struct store *s = mem_alloc(sizeof *s);
	(void)pthread_mutex_init(&s->mutex, NULL);
	(void)pthread_cond_init(&s->changed, NULL);
	s->disk = cluster_new();
	return s;
}

void fake_store_free(struct store *s)
{
	cluster_free(s->disk);
	text_free(&s->events);
	(void)pthread_cond_destroy(&s->changed);
	(void)pthread_mutex_destroy(&s->mutex);
	free(s);
}

static void lock(struct store *s)
{
	(void)pthread_mutex_lock(&s->mutex);
}

static void unlock(struct store *s)
{
	(void)pthread_cond_broadcast(&s->changed);
	(void)pthread_mutex_unlock(&s->mutex);
}

/* The disk's own record of the same identity: what `before` is there. */
static const void *present(struct store *s, enum record_kind kind, const void *like)
{
	if (kind == RECORD_NODE) {
		struct node *n = cluster_node(s->disk, ((const struct node_record *)like)->name);
		return n ? n->record : NULL;
	}
	assert(kind == RECORD_LOCK); /* the tests use no others */
	struct node *n = cluster_node(s->disk, ((const struct lock *)like)->node);
	return n && n->lock ? n->lock->record : NULL;
}

/* A disk has bytes of its own: a copy of a node or lock; NULL stays NULL. */
static const void *copy(enum record_kind kind, const void *record)
{
	if (!record)
		return NULL;
	return kind == RECORD_NODE ? (const void *)node_record_new(record) : lock_new(record);
}

static void put(struct store *s, const struct change *change)
{
	if (change->kind == RECORD_EVENT) {
		const struct event *e = change->after;
		text_printf(&s->events, "%s %s%s%s\n", e->kind, e->uid[0] ? e->uid : e->node, e->cause[0] ? " " : "", e->cause);
		return;
	}
	struct change own = { .kind = change->kind, .after = copy(change->kind, change->after) };
	if (change->before) {
		own.before = present(s, change->kind, change->before);
		assert(own.before &&
			record_equal(change->kind, own.before, change->before)); /* the engine wrote from what is not there */
	} else {
		assert(!present(s, change->kind, change->after));
	}
	cluster_apply(s->disk, &own);
	record_unref(own.kind, own.after);
}

void fake_store_put(struct store *s, const struct change *change)
{
	lock(s);
	put(s, change);
	unlock(s);
}

void fake_store_write_outside(struct store *s, const struct change *change)
{
	lock(s);
	put(s, change);
	s->outside = true;
	unlock(s);
}

void fake_store_script(struct store *s, const enum store_outcome *outcomes, size_t n)
{
	lock(s);
	assert(n <= FAKE_SCRIPT);
	memcpy(s->script, outcomes, n * sizeof *outcomes);
	s->scripted = n;
	s->played = 0;
	unlock(s);
}

void fake_store_always(struct store *s, enum store_outcome outcome)
{
	lock(s);
	s->always = outcome;
	unlock(s);
}

void fake_store_close_gate(struct store *s)
{
	lock(s);
	s->gate = true;
	unlock(s);
}

void fake_store_let(struct store *s, size_t n)
{
	lock(s);
	s->let_through += n;
	unlock(s);
}

void fake_store_open_gate(struct store *s)
{
	lock(s);
	s->gate = false;
	unlock(s);
}

void fake_store_wait_at_gate(struct store *s)
{
	lock(s);
	while (!s->at_gate)
		(void)pthread_cond_wait(&s->changed, &s->mutex);
	unlock(s);
}

size_t fake_store_committed(struct store *s)
{
	lock(s);
	size_t n = s->committed;
	unlock(s);
	return n;
}

size_t fake_store_tried(struct store *s)
{
	lock(s);
	size_t n = s->tried;
	unlock(s);
	return n;
}

char *fake_store_events(struct store *s)
{
	lock(s);
	char *copy = mem_string(text_string(&s->events));
	unlock(s);
	return copy;
}

bool fake_store_equals(struct store *s, const struct cluster *memory)
{
	struct change_list mine = { 0 }, theirs = { 0 }, difference = { 0 };
	lock(s);
	cluster_snapshot(memory, &mine);
	cluster_snapshot(s->disk, &theirs);
	unlock(s);
	snapshot_difference(&mine, &theirs, &difference);
	bool equal = difference.n == 0;
	change_list_free(&mine);
	change_list_free(&theirs);
	change_list_free(&difference);
	return equal;
}

/* ---- store.h */

struct store_meta store_meta(const struct store *store)
{
	struct store *s = (struct store *)(uintptr_t)store;
	lock(s);
	struct store_meta meta = s->meta;
	unlock(s);
	return meta;
}

size_t store_alarms(const struct store *store, const char *ret[STORE_ALARMS])
{
	ret[0] = "fake";
	return 1;
}

struct error *store_load(struct store *s, struct change_list *ret, struct store_meta *meta)
{
	lock(s);
	s->loads++;
	s->outside = false;
	bool fails = s->load_fails;
	cluster_snapshot(s->disk, ret);
	*meta = s->meta;
	unlock(s);
	return fails ? error_new(ERR_INTERNAL, "unreadable") : NULL;
}

static enum store_outcome next_outcome(struct store *s)
{
	if (s->played < s->scripted)
		return s->script[s->played++];
	return s->always;
}

static void wait_for_gate(struct store *s)
{
	s->at_gate++;
	(void)pthread_cond_broadcast(&s->changed);
	while (s->gate && !s->let_through)
		(void)pthread_cond_wait(&s->changed, &s->mutex);
	s->let_through -= s->let_through > 0;
	s->at_gate--;
}

enum store_outcome store_commit(struct store *s, const struct change_list *changes, const struct store_meta *meta, char **why)
{
	lock(s);
	wait_for_gate(s);
	s->tried++;
	s->last_changes = changes->n;
	enum store_outcome outcome = s->outside ? STORE_EXTERNAL : next_outcome(s);
	if (outcome == STORE_OK) {
		for (size_t i = 0; i < changes->n; i++)
			put(s, &changes->changes[i]);
		assert(meta->revision >= s->meta.revision && meta->token >= s->meta.token && meta->now >= s->meta.now);
		s->meta = *meta;
		s->committed++;
	} else {
		*why = mem_string("scripted");
	}
	unlock(s);
	return outcome;
}

bool store_changed_outside(struct store *s)
{
	lock(s);
	bool outside = s->outside;
	unlock(s);
	return outside;
}

enum store_outcome store_tidy(struct store *s, const struct store_retention *retention, int64_t now, char **why)
{
	lock(s);
	enum store_outcome outcome = s->tidy_outcome;
	unlock(s);
	return outcome;
}

struct error *store_reader_open(struct store *s, struct store_reader **ret)
{
	lock(s);
	s->readers_open++;
	unlock(s);
	*ret = mem_alloc(sizeof **ret);
	(*ret)->store = s;
	return NULL;
}

void store_reader_close(struct store_reader *reader)
{
	if (!reader)
		return;
	lock(reader->store);
	reader->store->readers_open--;
	unlock(reader->store);
	free(reader);
}

struct error *store_reader_begin(struct store_reader *reader)
{
	lock(reader->store);
	reader->store->snapshots++;
	reader->locks = cluster_count(reader->store->disk).locks;
	reader->revision = reader->store->meta.revision;
	reader->seen = 0;
	for (struct node *n = reader->store->disk->nodes; n; n = n->hh.next)
		reader->seen += n->record->last_seen_at;
	unlock(reader->store);
	return NULL;
}

void store_reader_end(struct store_reader *reader)
{
	lock(reader->store);
	reader->store->snapshots--;
	unlock(reader->store);
}

const char *store_shortage(const struct store *s)
{
	return s->shortage;
}

void store_measure(struct store *s)
{
	(void)s;
}

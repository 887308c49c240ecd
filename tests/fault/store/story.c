#include "story.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "core/check.h"
#include "core/cluster.h"
#include "core/expire.h"
#include "property/history.h"
#include "support/check.h"
#include "unit/core/brief.h"

enum { STEPS_OF_A_TURN = 4 };

static const int64_t start = INT64_C(1700000000000);

static const struct log quiet = { .level = LOG_ERROR };

/* A brief is the canonical text of its request. */
static struct error *parse_request(const char *text, struct request **ret)
{
	*ret = brief_request(text);
	return NULL;
}

static void print_event(const struct event *event, struct text *to)
{
	text_printf(to, "{\"kind\":\"%s\"}", event->kind);
}

static const struct store_codec codec = { .print_event = print_event, .parse_request = parse_request };

static int64_t count_events(const struct change_list *changes)
{
	int64_t n = 0;
	for (size_t i = 0; i < changes->n; i++)
		n += changes->changes[i].kind == RECORD_EVENT;
	return n;
}

static void expire(struct cluster *c, struct change_list *list, int64_t now)
{
	while (expire_next(c) <= now) {
		struct txn txn = txn_begin(c, list, now, "server");
		if (!expire_one(c, &txn))
			break;
	}
}

/* One turn: what is overdue, then a few decisions at the same time, of which some are refused. */
static void decide(struct cluster *c, struct random *random, int64_t now, struct change_list *list)
{
	expire(c, list, now);
	for (size_t i = random_below(random, STEPS_OF_A_TURN) + 1; i > 0 || list->n == 0; i -= i > 0) {
		struct txn txn = txn_begin(c, list, now, "test");
		struct step step = history_step(random, &txn);
		error_free(step.error);
	}
}

struct story *story_new(uint64_t seed, size_t n)
{
	struct story *story = mem_alloc(sizeof *story);
	struct cluster *c = cluster_new();
	struct random random = { seed };
	int64_t now = start;
	story->n = n + 1;
	story->chapters = mem_array(story->n, sizeof *story->chapters);
	story->chapters[0].meta.now = start;
	for (size_t k = 1; k < story->n; k++) {
		struct chapter *chapter = &story->chapters[k];
		now += history_pause(&random);
		decide(c, &random, now, &chapter->changes);
		cluster_snapshot(c, &chapter->after);
		chapter->meta = (struct store_meta){
			.revision = cluster_counters(c)->revision, .token = cluster_counters(c)->token, .now = now
		};
		chapter->events = story->chapters[k - 1].events + count_events(&chapter->changes);
	}
	cluster_free(c);
	return story;
}

void story_free(struct story *story)
{
	if (!story)
		return;
	for (size_t k = 0; k < story->n; k++) {
		change_list_free(&story->chapters[k].changes);
		change_list_free(&story->chapters[k].after);
	}
	free(story->chapters);
	free(story);
}

struct error *story_open(const char *directory, struct store **ret)
{
	const struct store_options options = { .directory = directory, .codec = &codec, .log = &quiet, .now = start };
	return store_open(&options, ret);
}

enum store_outcome story_commit(const struct story *story, struct store *store, size_t k, char **why)
{
	struct store_meta meta = story->chapters[k].meta, present = store_meta(store);
	memcpy(meta.db_id, present.db_id, sizeof meta.db_id);
	meta.epoch = present.epoch;
	return store_commit(store, &story->chapters[k].changes, &meta, why);
}

/* ---- what is there afterwards */

static void complain(void *where, const char *sentence)
{
	check_failed("%s: %s", (const char *)where, sentence);
}

struct count {
	int64_t n, last;
	const char *where;
};

static void count_event(void *context, const struct store_event *event)
{
	struct count *count = context;
	count->n++;
	if (event->revision < count->last)
		check_failed("%s: the events are not in order", count->where);
	count->last = event->revision;
}

static struct error *read_events(struct store_reader *reader, const char *where, int64_t *ret)
{
	struct count count = { 0, 0, where };
	struct error *e = NULL;
	for (int64_t last = 0, before = -1; !e && last > before;) {
		const struct store_event_query query = { .limit = 1000, .after = before = last };
		e = store_reader_events(reader, &query, count_event, &count, &last);
	}
	*ret = count.n;
	return e;
}

static bool meta_is(const struct store_meta *a, const struct chapter *b)
{
	return a->revision == b->meta.revision && a->token == b->meta.token && a->now == b->meta.now && strlen(a->db_id) == 32;
}

/* The difference between what is there and a chapter in words; NULL when there is none. */
static char *differs(
	const struct story *story, size_t k, const struct change_list *rows, const struct store_meta *meta, int64_t events)
{
	const struct chapter *chapter = &story->chapters[k];
	if (!meta_is(meta, chapter))
		return mem_format("revision %lld and token %lld instead of %lld and %lld", (long long)meta->revision,
			(long long)meta->token, (long long)chapter->meta.revision, (long long)chapter->meta.token);
	if (events != chapter->events)
		return mem_format("%lld events instead of %lld", (long long)events, (long long)chapter->events);
	return history_difference(&chapter->after, rows);
}

static void check_cluster(const struct change_list *rows, const struct store_meta *meta, const char *where)
{
	struct cluster *c = cluster_new();
	for (size_t i = 0; i < rows->n; i++)
		cluster_apply(c, &rows->changes[i]);
	cluster_counters(c)->revision = meta->revision;
	cluster_counters(c)->token = meta->token;
	cluster_check(c, complain, (void *)(uintptr_t)where);
	cluster_free(c);
}

static size_t find_chapter(const struct story *story, size_t k, bool maybe, const struct change_list *rows,
	const struct store_meta *meta, int64_t events, const char *where)
{
	char *difference = differs(story, k, rows, meta, events);
	if (difference && maybe && k + 1 < story->n) {
		free(difference);
		difference = differs(story, ++k, rows, meta, events);
	}
	if (difference)
		check_failed("%s: this is not what was committed: %s", where, difference);
	return k;
}

/* Loads and compares with chapter *k or, if `maybe`, the next one. */
static struct error *load_chapter(const struct story *story, struct store *store, size_t *k, bool maybe, const char *where)
{
	struct change_list rows = { 0 };
	struct store_meta meta;
	struct error *e = store_load(store, &rows, &meta);
	if (!e && maybe && *k + 1 < story->n && meta_is(&meta, &story->chapters[*k + 1]))
		++*k;
	if (!e)
		(void)find_chapter(story, *k, false, &rows, &meta, story->chapters[*k].events, where);
	change_list_free(&rows);
	return e;
}

struct error *story_load(const struct story *story, struct store *store, size_t k, const char *where)
{
	return load_chapter(story, store, &k, false, where);
}

struct error *story_find(const struct story *story, struct store *store, size_t *k, const char *where)
{
	return load_chapter(story, store, k, true, where);
}

/* What a reader sees, between chapter k and, if `maybe`, the next one: *found. */
static struct error *read_chapter(
	const struct story *story, struct store_reader *reader, size_t k, bool maybe, const char *where, size_t *found)
{
	struct change_list rows = { 0 };
	struct store_meta meta;
	int64_t events = 0;
	struct error *e = store_reader_begin(reader);
	if (e)
		return e;
	e = store_reader_load(reader, &rows, &meta);
	if (!e)
		e = store_reader_check(reader, complain, (void *)(uintptr_t)where);
	if (!e)
		e = read_events(reader, where, &events);
	if (!e) {
		*found = find_chapter(story, k, maybe, &rows, &meta, events, where);
		check_cluster(&rows, &meta, where);
	}
	change_list_free(&rows);
	store_reader_end(reader);
	return e;
}

static struct error *read_store(
	const struct story *story, struct store *store, size_t k, bool maybe, const char *where, size_t *found)
{
	struct store_reader *reader = NULL;
	struct error *e = store_reader_open(store, &reader);
	if (e)
		return e;
	e = read_chapter(story, reader, k, maybe, where, found);
	store_reader_close(reader);
	return e;
}

struct error *story_read(const struct story *story, struct store *store, size_t k, const char *where)
{
	size_t found;
	return read_store(story, store, k, false, where, &found);
}

size_t story_verify(const struct story *story, const char *directory, size_t k, bool maybe, const char *where)
{
	struct store *store = NULL;
	size_t found = k;
	struct error *e = story_open(directory, &store);
	if (!e)
		e = read_store(story, store, k, maybe, where, &found);
	if (!e)
		e = story_load(story, store, found, where);
	if (e)
		check_failed("%s: cannot be opened again: %s", where, e->message);
	store_close(store);
	return found;
}

/* History: pages, filters, snapshots, the horizon and what is cut off. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sample.h"

/* Commits one revision with n events: node n<revision % 3>, uid u<n>, at = revision seconds. */
static void add_revision(struct place *p, struct change_list *changes, int64_t revision, int64_t n)
{
	char node[24], uid[24];
	(void)p;
	(void)snprintf(node, sizeof node, "n%d", (int)(revision % 3));
	for (int64_t i = 0; i < n; i++) {
		(void)snprintf(uid, sizeof uid, "u%d", (int)i);
		change_list_add(
			changes, RECORD_EVENT, NULL, sample_event(revision, i, revision * 1000, "pod.reserved", node, uid));
	}
}

/* Revisions 1, 3, 5 ... of 1, 2, 3, 1, 2, 3 ... events; returns the last revision. */
static int64_t history(struct place *p, int revisions)
{
	struct change_list changes = { 0 };
	int64_t revision = -1;
	for (int i = 0; i < revisions; i++) {
		revision += 2;
		add_revision(p, &changes, revision, 1 + i % 3);
	}
	commit(p, &changes);
	change_list_free(&changes);
	return revision;
}

/* What a page says, as text: "revision.n " for each event. */
struct page {
	struct text text;
	int64_t events, last;
};

static void collect(void *context, const struct store_event *event)
{
	struct page *page = context;
	text_printf(&page->text, "%" PRId64 ".%" PRId64 " ", event->revision, event->n);
	page->events++;
	assert_string_equal(event->kind, "pod.reserved");
	assert_string_equal(event->actor, "test");
	assert_string_equal(event->data, "{\"kind\":\"pod.reserved\"}");
	assert_int_equal(event->at, event->revision * 1000);
}

static struct page read_page(struct store_reader *reader, int64_t after, int64_t limit, const char *node, const char *uid)
{
	struct page page = { 0 };
	const struct store_event_query query = { .after = after, .limit = limit, .node = node, .uid = uid };
	struct error *e = store_reader_events(reader, &query, collect, &page, &page.last);
	if (e)
		fail_msg("store_reader_events: %s", e->message);
	return page;
}

static void expect_page(struct store_reader *reader, int64_t after, int64_t limit, const char *node, const char *uid,
	const char *want, int64_t last)
{
	struct page page = read_page(reader, after, limit, node, uid);
	assert_string_equal(text_string(&page.text), want);
	assert_int_equal(page.last, last);
	text_free(&page.text);
}

static struct store_reader *reader_of(struct place *p)
{
	struct store_reader *reader = NULL;
	assert_null(store_reader_open(p->store, &reader));
	return reader;
}

static void compacted(struct store_reader *reader, int64_t after, int64_t oldest)
{
	struct page page = { .last = -7 };
	const struct store_event_query query = { .after = after, .limit = 10 };
	struct error *e = store_reader_events(reader, &query, collect, &page, &page.last);
	assert_non_null(e);
	assert_int_equal(e->code, ERR_COMPACTED);
	assert_string_equal(e->details[0].key, "oldest");
	assert_int_equal(e->details[0].integer, oldest);
	assert_string_equal(e->details[1].key, "epoch");
	assert_int_equal(e->details[1].integer, 1);
	assert_int_equal(page.events, 0);
	assert_int_equal(page.last, -7);
	error_free(e);
}

static void pages(void **state)
{
	struct store_reader *reader = reader_of(*state);
	expect_page(reader, 0, 10, NULL, NULL, "", 0);
	assert_int_equal(history(*state, 5), 9); /* 1.0  3.0 3.1  5.0 5.1 5.2  7.0  9.0 9.1 */
	expect_page(reader, 0, 100, NULL, NULL, "1.0 3.0 3.1 5.0 5.1 5.2 7.0 9.0 9.1 ", 9);
	expect_page(reader, 0, 1, NULL, NULL, "1.0 ", 1);
	expect_page(reader, 0, 2, NULL, NULL, "1.0 3.0 3.1 ", 3);
	expect_page(reader, 1, 1, NULL, NULL, "3.0 3.1 ", 3);
	expect_page(reader, 2, 4, NULL, NULL, "3.0 3.1 5.0 5.1 5.2 ", 5);
	expect_page(reader, 5, 1, NULL, NULL, "7.0 ", 7);
	expect_page(reader, 7, 100, NULL, NULL, "9.0 9.1 ", 9);
	expect_page(reader, 8, 1, NULL, NULL, "9.0 9.1 ", 9);
	expect_page(reader, 9, 100, NULL, NULL, "", 9);
	expect_page(reader, 1000, 100, NULL, NULL, "", 9);
	store_reader_close(reader);
}

/* At the end of history the answer is complete up to the revision of the database, also without events. */
static void the_end_is_the_database(void **state)
{
	struct place *p = *state;
	struct change_list none = { 0 };
	struct store_reader *reader = reader_of(p);
	int64_t last = history(p, 2);
	commit(p, &none);
	expect_page(reader, last, 10, NULL, NULL, "", last + 1);
	expect_page(reader, 0, 10, "elsewhere", NULL, "", last + 1);
	expect_page(reader, 0, 1, NULL, NULL, "1.0 ", 1);
	store_reader_close(reader);
}

static void filters(void **state)
{
	struct store_reader *reader = reader_of(*state);
	(void)history(*state, 6); /* 1.0  3.0 3.1  5.0 5.1 5.2  7.0  9.0 9.1  11.0 11.1 11.2 */
	expect_page(reader, 0, 100, "n1", NULL, "1.0 7.0 ", 11);
	expect_page(reader, 0, 1, "n1", NULL, "1.0 ", 1);
	expect_page(reader, 1, 1, "n1", NULL, "7.0 ", 7);
	expect_page(reader, 0, 100, NULL, "u2", "5.2 11.2 ", 11);
	expect_page(reader, 0, 100, "n2", "u2", "5.2 11.2 ", 11);
	expect_page(reader, 0, 100, "n0", "u2", "", 11);
	expect_page(reader, 5, 100, "n0", "u1", "9.1 ", 11);
	store_reader_close(reader);
}

/* A filter that matches nothing looks at a bounded number of rows and says how far it came, at the end of a revision. */
static void a_call_is_bounded(void **state)
{
	struct place *p = *state;
	struct change_list changes = { 0 };
	struct store_reader *reader = reader_of(p);
	int64_t after = 0;
	int calls = 0;
	for (int64_t revision = 1; revision <= 30000; revision++)
		add_revision(p, &changes, revision, 4);
	commit(p, &changes);
	for (; after < 30000; calls++) {
		struct page page = read_page(reader, after, 10, NULL, "nobody");
		assert_int_equal(page.events, 0);
		assert_true(page.last > after);
		after = page.last;
	}
	assert_int_equal(after, 30000);
	assert_int_equal(calls, 3);
	struct page page = read_page(reader, 0, 60000, NULL, NULL);
	assert_int_equal(page.events, 50000);
	assert_int_equal(page.last, 12500);
	text_free(&page.text);
	store_reader_close(reader);
	change_list_free(&changes);
}

/* A snapshot shows what was committed when it began, not when it is first used. */
static void a_snapshot_begins_at_once(void **state)
{
	struct place *p = *state;
	struct store_reader *reader = reader_of(p);
	int64_t last = history(p, 2);
	struct change_list changes = { 0 };
	assert_null(store_reader_begin(reader));
	add_revision(p, &changes, last + 1, 1);
	commit(p, &changes);
	expect_page(reader, 0, 100, NULL, NULL, "1.0 3.0 3.1 ", 3);
	store_reader_end(reader);
	expect_page(reader, 0, 100, NULL, NULL, "1.0 3.0 3.1 4.0 ", 4);
	store_reader_close(reader);
	change_list_free(&changes);
}

static void tidy(struct place *p, int64_t keep_events, int64_t keep_ms, int64_t now)
{
	const struct store_retention retention = { .keep_events = keep_events, .keep_ms = keep_ms };
	char *why = NULL;
	if (store_tidy(p->store, &retention, now, &why) != STORE_OK)
		fail_msg("store_tidy: %s", why);
	assert_null(why);
}

/* By count: never fewer than asked, never part of a revision. */
static void kept_by_count(void **state)
{
	struct place *p = *state;
	struct store_reader *reader = reader_of(p);
	(void)history(p, 6); /* 12 events */
	tidy(p, 0, 0, 0);
	tidy(p, 12, 0, 0);
	tidy(p, 100, 0, 0);
	expect_page(reader, 0, 2, NULL, NULL, "1.0 3.0 3.1 ", 3);
	tidy(p, 11, 0, 0);
	assert_int_equal(store_meta(p->store).horizon, 1);
	compacted(reader, 0, 2);
	expect_page(reader, 1, 2, NULL, NULL, "3.0 3.1 ", 3);
	tidy(p, 8, 0, 0); /* 8 would cut into revision 5 */
	assert_int_equal(store_meta(p->store).horizon, 3);
	expect_page(reader, 3, 2, NULL, NULL, "5.0 5.1 5.2 ", 5);
	tidy(p, 6, 0, 0);
	compacted(reader, 4, 6);
	expect_page(reader, 5, 100, NULL, NULL, "7.0 9.0 9.1 11.0 11.1 11.2 ", 11);
	tidy(p, 1, 0, 0);
	expect_page(reader, 9, 100, NULL, NULL, "11.0 11.1 11.2 ", 11);
	place_close(p);
	place_open(p, true);
	assert_int_equal(store_meta(p->store).horizon, 9);
	store_reader_close(reader);
}

static void kept_by_age(void **state)
{
	struct place *p = *state;
	struct store_reader *reader = reader_of(p);
	(void)history(p, 6); /* revision r happened at r seconds */
	tidy(p, 0, 4000, 8999);
	compacted(reader, 2, 4);
	expect_page(reader, 3, 1, NULL, NULL, "5.0 5.1 5.2 ", 5);
	tidy(p, 0, 4000, 9000);
	expect_page(reader, 3, 1, NULL, NULL, "5.0 5.1 5.2 ", 5);
	tidy(p, 3, 4000, 13001); /* the stricter of both counts: by age from 11 on */
	expect_page(reader, 9, 100, NULL, NULL, "11.0 11.1 11.2 ", 11);
	tidy(p, 3, 4000, 99000);
	compacted(reader, 10, 12);
	expect_page(reader, 11, 100, NULL, NULL, "", 11);
	/* a history that was emptied goes on */
	struct change_list changes = { 0 };
	add_revision(p, &changes, 13, 2);
	commit(p, &changes);
	expect_page(reader, 11, 100, NULL, NULL, "13.0 13.1 ", 13);
	change_list_free(&changes);
	store_reader_close(reader);
}

/* One call removes a bounded number, in whole revisions, also when one revision is larger than that. */
static void cut_in_steps(void **state)
{
	struct place *p = *state;
	struct change_list changes = { 0 };
	sqlite3 *db = hand_open(p);
	for (int64_t revision = 1; revision <= 5; revision++)
		add_revision(p, &changes, revision, 3000);
	commit(p, &changes);
	place_close(p); /* forgets how many were written, so that the least budget counts */
	place_open(p, true);
	for (int64_t left = 4; left > 0; left--) {
		tidy(p, 1, 0, 0);
		assert_int_equal(hand_number(db, "SELECT count(*) FROM event"), left * 3000);
		assert_int_equal(store_meta(p->store).horizon, 5 - left);
	}
	tidy(p, 1, 0, 0);
	assert_int_equal(hand_number(db, "SELECT count(*) FROM event"), 3000);
	sqlite3_close(db);
	change_list_free(&changes);
}

/* As fast as events are written they can be removed. */
static void cutting_keeps_up(void **state)
{
	struct place *p = *state;
	struct change_list changes = { 0 };
	sqlite3 *db = hand_open(p);
	for (int64_t round = 0; round < 5; round++) {
		for (int64_t i = 1; i <= 5000; i++)
			add_revision(p, &changes, round * 5000 + i, 1);
		commit(p, &changes);
		tidy(p, 100, 0, 0);
		assert_int_equal(hand_number(db, "SELECT count(*) FROM event"), 100);
	}
	sqlite3_close(db);
	change_list_free(&changes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(pages, place_new_open, place_end),
		cmocka_unit_test_setup_teardown(the_end_is_the_database, place_new_open, place_end),
		cmocka_unit_test_setup_teardown(filters, place_new_open, place_end),
		cmocka_unit_test_setup_teardown(a_call_is_bounded, place_new_open, place_end),
		cmocka_unit_test_setup_teardown(a_snapshot_begins_at_once, place_new_open, place_end),
		cmocka_unit_test_setup_teardown(kept_by_count, place_new_guarded, place_end),
		cmocka_unit_test_setup_teardown(kept_by_age, place_new_guarded, place_end),
		cmocka_unit_test_setup_teardown(cut_in_steps, place_new_guarded, place_end),
		cmocka_unit_test_setup_teardown(cutting_keeps_up, place_new_guarded, place_end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

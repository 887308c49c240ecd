/* What is written is what is read: random records, random changes, the guard off and on, across restarts and by readers. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/cluster.h"
#include "support.h"
#include "world.h"

static void assert_same(const struct change_list *is, const struct change_list *want)
{
	struct change_list difference = { 0 };
	assert_int_equal(is->n, want->n);
	snapshot_difference(is, want, &difference);
	if (difference.n)
		fail_msg("%zu records differ, the first of kind %d", difference.n, difference.changes[0].kind);
	change_list_free(&difference);
}

/* Loaded records come in the documented order and can be applied to an empty cluster. */
static void assert_order(const struct change_list *list)
{
	struct cluster *c = cluster_new();
	for (size_t i = 0; i < list->n; i++) {
		assert_null(list->changes[i].before);
		assert_true(i == 0 || list->changes[i - 1].kind <= list->changes[i].kind);
		if (i && list->changes[i].kind == RECORD_DEVICE && list->changes[i - 1].kind == RECORD_DEVICE)
			assert_true(((const struct device_record *)list->changes[i - 1].after)->id <
				    ((const struct device_record *)list->changes[i].after)->id);
		cluster_apply(c, &list->changes[i]);
	}
	cluster_free(c);
}

static void assert_loads(struct place *p, const struct world *w)
{
	struct change_list want = { 0 }, is = { 0 };
	world_snapshot(w, &want);
	(void)load(p, &is);
	assert_same(&is, &want);
	assert_order(&is);
	change_list_free(&is);
	change_list_free(&want);
}

static void assert_reads(struct place *p, const struct world *w)
{
	struct store_reader *reader = NULL;
	struct change_list want = { 0 }, is = { 0 };
	struct store_meta meta;
	assert_null(store_reader_open(p->store, &reader));
	assert_null(store_reader_begin(reader));
	assert_null(store_reader_load(reader, &is, &meta));
	store_reader_end(reader);
	store_reader_close(reader);
	world_snapshot(w, &want);
	assert_same(&is, &want);
	assert_int_equal(meta.revision, store_meta(p->store).revision);
	change_list_free(&is);
	change_list_free(&want);
}

static void violated(void *context, const char *sentence)
{
	(void)context;
	fail_msg("store_reader_check: %s", sentence);
}

static void assert_checks(struct place *p)
{
	struct store_reader *reader = NULL;
	assert_null(store_reader_open(p->store, &reader));
	assert_null(store_reader_check(reader, violated, NULL));
	store_reader_close(reader);
}

static void play(struct place *p, uint64_t seed)
{
	struct world w;
	struct change_list changes = { 0 };
	world_init(&w, seed);
	for (int i = 0; i < 80; i++) {
		for (size_t k = 0; k < 1 + seed % 16; k++)
			world_step(&w, &changes);
		commit(p, &changes);
		if (i % 20 == 19)
			assert_loads(p, &w);
	}
	bool guard = seed % 2;
	place_close(p);
	place_open(p, !guard);
	assert_loads(p, &w);
	assert_reads(p, &w);
	assert_checks(p);
	change_list_free(&changes);
	world_free(&w);
}

static void histories(void **state, bool guard)
{
	(void)state;
	for (uint64_t seed = guard; seed < 16; seed += 2) {
		void *p = NULL;
		assert_int_equal(guard ? place_new_guarded(&p) : place_new_open(&p), 0);
		play(p, seed);
		assert_int_equal(place_end(&p), 0);
	}
}

static void random_histories(void **state)
{
	histories(state, false);
}

static void random_histories_guarded(void **state)
{
	histories(state, true);
}

static void an_empty_database(void **state)
{
	struct change_list is = { 0 };
	struct store_meta meta = load(*state, &is);
	assert_int_equal(is.n, 0);
	assert_int_equal(meta.revision, 0);
	assert_int_equal(meta.epoch, 1);
	assert_int_equal(meta.now, (int64_t)START * 1000);
	assert_int_equal(strlen(meta.db_id), 32);
}

/* 4,096 ids of 253 bytes, as the contract allows. */
static void the_largest_handout(void **state)
{
	struct place *p = *state;
	struct change_list changes = { 0 }, is = { 0 };
	struct request *request = request_of("gpu,1,main,1");
	char **ids = calloc(4096, sizeof *ids);
	for (int i = 0; i < 4096; i++) {
		ids[i] = malloc(254);
		memset(ids[i], 'a' + i % 26, 253);
		ids[i][253] = '\0';
	}
	const struct node_record *node = node_record_new(&(struct node_record){ .id = 1, .name = "n", .reason = "" });
	const struct handout *handout = handout_new(
		&(struct handout){ .call = "c", .device_ids = (const char *const *)ids, .n_device_ids = 4096, .detail = "" });
	const struct allocation like = { .id = 2,
		.pod = { .uid = "u", .namespace = "", .name = "", .gang = "" },
		.node_id = 1,
		.node = "n",
		.state = POD_ALLOCATED,
		.request = request,
		.handed_out = 1,
		.handouts = { handout } };
	const struct allocation *a = allocation_new(&like);
	change_list_add(&changes, RECORD_NODE, NULL, node);
	change_list_add(&changes, RECORD_ALLOCATION, NULL, record_ref(a));
	commit(p, &changes);
	(void)load(p, &is);
	assert_int_equal(is.n, 2);
	assert_true(record_equal(RECORD_ALLOCATION, is.changes[1].after, a));
	record_unref(RECORD_ALLOCATION, a);
	handout_unref(handout);
	request_unref(request);
	for (int i = 0; i < 4096; i++)
		free(ids[i]);
	free(ids);
	change_list_free(&is);
	change_list_free(&changes);
}

/* Equal requests are parsed once and shared. */
static void requests_are_shared(void **state)
{
	struct place *p = *state;
	struct change_list changes = { 0 }, is = { 0 };
	change_list_add(
		&changes, RECORD_NODE, NULL, node_record_new(&(struct node_record){ .id = 1, .name = "n", .reason = "" }));
	for (int64_t i = 2; i < 12; i++) {
		char uid[16];
		struct request *request = request_of(i % 2 ? "gpu,1,main,1" : "gpu,2,main,1");
		(void)snprintf(uid, sizeof uid, "u%d", (int)i);
		const struct allocation like = { .id = i,
			.pod = { .uid = uid, .namespace = "", .name = "", .gang = "" },
			.node_id = 1,
			.node = "n",
			.state = POD_ALLOCATED,
			.request = request };
		change_list_add(&changes, RECORD_ALLOCATION, NULL, allocation_new(&like));
		request_unref(request);
	}
	commit(p, &changes);
	(void)load(p, &is);
	for (size_t i = 1; i + 2 < is.n; i++) {
		const struct allocation *a = is.changes[i].after, *b = is.changes[i + 2].after;
		assert_ptr_equal(a->request, b->request);
	}
	change_list_free(&is);
	change_list_free(&changes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_histories),
		cmocka_unit_test(random_histories_guarded),
		cmocka_unit_test_setup_teardown(an_empty_database, place_new_open, place_end),
		cmocka_unit_test_setup_teardown(the_largest_handout, place_new_open, place_end),
		cmocka_unit_test_setup_teardown(requests_are_shared, place_new_open, place_end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

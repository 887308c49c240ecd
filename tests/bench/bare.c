/* The baseline: what the database alone can do. One process, one thread, no server: lanes that each cycle reserve, bind, allocate and
 * release on a node of their own write their changes through store_commit, so the schema, the statements and the settings are those of
 * the server; nothing is decided, parsed or sent.
 *
 *	bare [--guard] [--handout] [--seconds S] [--background N] [--dir DIR] [OPERATIONS_PER_COMMIT ...]
 *
 * --guard leaves the database's triggers on, which the server keeps off on its own connection; --handout adds what a node agent says.
 * Prints a line for each number of operations per commit (default 1, 64 and 256). */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "synthetic.h"

enum { NODES = 1000, BACKGROUND = 32000 };

/* A pod on its way round; each lane has a node of its own. */
struct lane {
	size_t node;
	const struct allocation *allocation; /* NULL between rounds */
	const struct lock *lock;
	unsigned rounds;
};

struct bench {
	struct synthetic *cluster;
	struct store *store;
	bool handout;
};

static void fill(struct bench *b, int n)
{
	struct synthetic *c = b->cluster;
	struct change_list changes = { 0 };
	c->meta.revision++;
	synthetic_inventory(c, &changes);
	synthetic_commit(c, b->store, &changes);
	for (int i = 0; i < n; i++) {
		c->meta.revision++;
		change_list_add(&changes, RECORD_ALLOCATION, NULL,
			synthetic_allocation(c, (size_t)(i % NODES), (size_t)(i / NODES % SYNTHETIC_DEVICES), POD_ALLOCATED));
		if (i % 1000 == 999)
			synthetic_commit(c, b->store, &changes);
	}
	synthetic_commit(c, b->store, &changes);
	change_list_free(&changes);
}

static void tell(struct bench *b, struct change_list *changes, const char *kind, const struct allocation *subject)
{
	change_list_add(changes, RECORD_EVENT, NULL, synthetic_event(b->cluster, kind, subject));
}

/* Puts the allocation's next version in place of the present one; NULL ends it. */
static void advance(struct lane *lane, struct change_list *changes, const struct allocation *like)
{
	const struct allocation *after = like ? allocation_new(like) : NULL;
	change_list_add(changes, RECORD_ALLOCATION, lane->allocation, record_ref(after));
	lane->allocation = after;
}

static void reserve(struct bench *b, struct lane *lane, struct change_list *changes)
{
	lane->allocation = synthetic_allocation(b->cluster, lane->node, lane->rounds++ % SYNTHETIC_DEVICES, POD_RESERVED);
	change_list_add(changes, RECORD_ALLOCATION, NULL, record_ref(lane->allocation));
	tell(b, changes, "pod.reserved", lane->allocation);
}

static void bind(struct bench *b, struct lane *lane, struct change_list *changes)
{
	struct store_meta *meta = &b->cluster->meta;
	struct allocation like = *lane->allocation;
	const struct lock lock = { .node_id = like.node_id,
		.node = like.node,
		.uid = like.pod.uid,
		.token = ++meta->token,
		.acquired_at = meta->now,
		.expires_at = meta->now + 300000,
		.ttl = 300000 };
	lane->lock = lock_new(&lock);
	change_list_add(changes, RECORD_LOCK, NULL, record_ref(lane->lock));
	like.state = POD_BOUND;
	like.state_at = meta->now;
	like.expires_at = lock.expires_at;
	like.token = lock.token;
	like.revision = meta->revision;
	advance(lane, changes, &like);
	tell(b, changes, "pod.bound", lane->allocation);
}

static void allocate(struct bench *b, struct lane *lane, struct change_list *changes)
{
	static const char *const ids[] = { "GPU-00000000-0000-4000-8000-000000000000-_-7" };
	struct allocation like = *lane->allocation;
	const struct handout *handout = handout_new(&(struct handout){
		.call = "6f1a1c3e-0000-4000-8000-000000000000", .device_ids = ids, .n_device_ids = 1, .detail = "" });
	like.state = POD_ALLOCATED;
	like.handed_out = 1;
	like.state_at = b->cluster->meta.now;
	like.expires_at = 0;
	like.revision = b->cluster->meta.revision;
	if (b->handout)
		like.handouts[0] = handout;
	advance(lane, changes, &like);
	handout_unref(handout);
	change_list_add(changes, RECORD_LOCK, lane->lock, NULL);
	lane->lock = NULL;
	tell(b, changes, "pod.allocated", lane->allocation);
}

/* The lane's next operation. */
static void operate(struct bench *b, struct lane *lane, struct change_list *changes)
{
	b->cluster->meta.revision++;
	if (!lane->allocation) {
		reserve(b, lane, changes);
	} else if (lane->allocation->state == POD_RESERVED) {
		bind(b, lane, changes);
	} else if (lane->allocation->state == POD_BOUND) {
		allocate(b, lane, changes);
	} else {
		tell(b, changes, "pod.released", lane->allocation);
		advance(lane, changes, NULL);
	}
}

/* Commits `size` operations at a time for `length` seconds, one after the other over the lanes; returns operations per second. */
static double measure(struct bench *b, struct lane *lanes, size_t n_lanes, size_t size, double length)
{
	struct change_list changes = { 0 };
	double start = synthetic_seconds(), end;
	size_t done = 0, lane = 0;
	do {
		for (size_t i = 0; i < size; i++, lane = (lane + 1) % n_lanes)
			operate(b, &lanes[lane], &changes);
		synthetic_commit(b->cluster, b->store, &changes);
		done += size;
		end = synthetic_seconds();
	} while (end - start < length);
	change_list_free(&changes);
	return (double)done / (end - start);
}

static struct lane *lanes_new(size_t n)
{
	struct lane *lanes = mem_array(n, sizeof *lanes);
	for (size_t i = 0; i < n; i++)
		lanes[i].node = i % NODES;
	return lanes;
}

static void lanes_free(struct lane *lanes, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		record_unref(RECORD_ALLOCATION, lanes[i].allocation);
		record_unref(RECORD_LOCK, lanes[i].lock);
	}
	free(lanes);
}

/* Ends every round that is under way. */
static void drain(struct bench *b, struct lane *lanes, size_t n)
{
	struct change_list changes = { 0 };
	for (size_t i = 0; i < n; i++)
		while (lanes[i].allocation)
			operate(b, &lanes[i], &changes);
	synthetic_commit(b->cluster, b->store, &changes);
	change_list_free(&changes);
}

static void report(struct bench *b, size_t size, double length)
{
	size_t n = size < 64 ? 64 : size;
	struct lane *lanes = lanes_new(n);
	(void)measure(b, lanes, n, size, length / 4);
	printf("%6zu operations per commit: %8.0f operations/s\n", size, measure(b, lanes, n, size, length));
	(void)fflush(stdout);
	drain(b, lanes, n);
	lanes_free(lanes, n);
}

struct options {
	bool guard, handout;
	double seconds;
	int background;
	const char *directory;
};

static struct options parse_options(int argc, char **argv)
{
	static const struct option names[] = {
		{ "guard", no_argument, NULL, 'g' },
		{ "handout", no_argument, NULL, 'h' },
		{ "seconds", required_argument, NULL, 's' },
		{ "background", required_argument, NULL, 'b' },
		{ "dir", required_argument, NULL, 'd' },
		{ 0 },
	};
	struct options o = { .seconds = 3, .background = BACKGROUND };
	for (int c; (c = getopt_long(argc, argv, "", names, NULL)) != -1;) {
		if (c == 'g')
			o.guard = true;
		else if (c == 'h')
			o.handout = true;
		else if (c == 's')
			o.seconds = strtod(optarg, NULL);
		else if (c == 'b')
			o.background = atoi(optarg);
		else if (c == 'd')
			o.directory = optarg;
		else
			exit(2);
	}
	return o;
}

static void bench_run(const struct options *o, const char *directory, char *const *sizes)
{
	static char *const usual[] = { "1", "64", "256", NULL };
	struct bench b = { .store = synthetic_open(directory, o->guard), .handout = o->handout };
	const struct store_meta meta = store_meta(b.store);
	b.cluster = synthetic_new(NODES, &meta);
	fill(&b, o->background);
	for (sizes = *sizes ? sizes : usual; *sizes; sizes++)
		report(&b, (size_t)strtoul(*sizes, NULL, 10), o->seconds);
	store_close(b.store);
	synthetic_free(b.cluster);
}

int main(int argc, char **argv)
{
	struct options o = parse_options(argc, argv);
	char *directory = synthetic_directory(o.directory);
	bench_run(&o, directory, argv + optind);
	synthetic_remove(directory);
	return 0;
}

/* The baseline: what the database alone can do. One process, one thread, no server: lanes that each cycle reserve, bind, allocate and
 * release on a node of their own write their changes through store_commit, so the schema, the statements and the settings are those of
 * the server; nothing is decided, parsed or sent.
 *
 *	bare [--guard] [--handout] [--seconds S] [--background N] [--dir DIR] [OPERATIONS_PER_COMMIT ...]
 *
 * Prints a line for each number of operations per commit (default 1, 64 and 256). */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/mem.h"
#include "store/store.h"

enum {
	NODES = 1000,
	DEVICES = 8,       /* of each node */
	BACKGROUND = 32000,
};

static const char request_text[] =
	"[{\"type\":\"gpu\",\"count\":1,\"container\":\"main\",\"resources\":{\"core\":10,\"memory\":10},\"agent\":true}]";

static struct error *parse_request(const char *text, struct request **ret)
{
	static const struct need needs[] = { { .resource = "core", .amount = 10 }, { .resource = "memory", .amount = 10 } };
	const struct claim claim = { .type = "gpu", .count = 1, .container = "main", .reuse = "", .together = "", .agent = true,
		.needs = needs, .n_needs = 2 };
	*ret = request_new(&claim, 1, text);
	return NULL;
}

/* About what the server writes. */
static void print_event(const struct event *event, struct text *to)
{
	const struct allocation *a = event->subject;
	const struct share *s = &a->shares[0];
	text_printf(to,
		"{\"pod\":{\"uid\":\"%s\",\"namespace\":\"%s\",\"name\":\"%s\",\"priority\":%d,\"preemptible\":true,\"external\":false},"
		"\"node\":\"%s\",\"state\":\"%s\",\"devices\":[{\"container\":\"main\",\"type\":\"gpu\",\"uuid\":\"%s\",\"minor\":%" PRId64
		",\"whole\":false,\"resources\":{\"core\":%" PRId64 ",\"memory\":%" PRId64 "},\"claimed\":false}],\"created_at\":%" PRId64
		",\"state_at\":%" PRId64 ",\"expires_at\":%" PRId64 ",\"token\":%" PRId64 ",\"revision\":%" PRId64 "}",
		a->pod.uid, a->pod.namespace, a->pod.name, (int)a->pod.priority, a->node, pod_state_name(a->state), s->uuid, s->minor,
		s->amounts[0].value, s->amounts[1].value, a->created_at, a->state_at, a->expires_at, a->token, a->revision);
}

static const struct store_codec codec = { .print_event = print_event, .parse_request = parse_request };

/* A pod on its way round; each lane has a node of its own. */
struct lane {
	size_t node;
	const struct allocation *allocation; /* NULL between rounds */
	const struct lock *lock;
	unsigned rounds;
};

struct bench {
	struct store *store;
	struct store_meta meta;
	struct request *request;
	const struct node_record *nodes[NODES];
	const struct device_record *devices[NODES][DEVICES];
	int64_t id;
	uint64_t random;
	bool handout;
};

static void die(const char *what, const char *why)
{
	fprintf(stderr, "bare: %s: %s\n", what, why);
	exit(1);
}

static double seconds(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* splitmix64 */
static uint64_t random_next(struct bench *b)
{
	uint64_t z = b->random += UINT64_C(0x9e3779b97f4a7c15);
	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

static void commit(struct bench *b, struct change_list *changes)
{
	char *why = NULL;
	b->meta.now++;
	if (store_commit(b->store, changes, &b->meta, &why) != STORE_OK)
		die("commit", why);
	change_list_truncate(changes, 0);
}

static void inventory(struct bench *b)
{
	static const struct amount capacity[] = { { "core", 100 }, { "memory", 80 } };
	struct change_list changes = { 0 };
	char name[32], uuid[64];
	for (int n = 0; n < NODES; n++) {
		(void)snprintf(name, sizeof name, "node-%04d", n);
		b->nodes[n] = node_record_new(&(struct node_record){ .id = ++b->id, .name = name, .reason = "", .revision = 1 });
		change_list_add(&changes, RECORD_NODE, NULL, record_ref(b->nodes[n]));
		for (int d = 0; d < DEVICES; d++) {
			(void)snprintf(uuid, sizeof uuid, "GPU-%08x-%04x-4000-8000-%012x", n * 7919, d, n * DEVICES + d);
			b->devices[n][d] = device_record_new(&(struct device_record){ .id = ++b->id, .node_id = b->nodes[n]->id,
				.node = name, .uuid = uuid, .type = "gpu", .minor = d, .model = "A10", .healthy = true, .numa = d / 4,
				.socket = -1, .pcie = d < 4 ? "pci0" : "pci1", .bus_id = "", .reason = "", .revision = 1,
				.capacity = capacity, .n_capacity = 2 });
			change_list_add(&changes, RECORD_DEVICE, NULL, record_ref(b->devices[n][d]));
		}
	}
	b->meta.revision++;
	commit(b, &changes);
	change_list_free(&changes);
}

static const struct allocation *make_allocation(struct bench *b, const struct node_record *node, const struct device_record *device,
	enum pod_state state, int64_t revision)
{
	static const struct amount amounts[] = { { "core", 10 }, { "memory", 10 } };
	const struct share share = { .device_id = device->id, .uuid = device->uuid, .minor = device->minor, .amounts = amounts, .n_amounts = 2 };
	uint64_t r = random_next(b), q = random_next(b);
	char uid[40], name[40];
	(void)snprintf(uid, sizeof uid, "%08x-%04x-4%03x-8%03x-%012" PRIx64, (unsigned)(r >> 32), (unsigned)(r & 0xffff), (unsigned)(r >> 16 & 0xfff),
		(unsigned)(q >> 48 & 0xfff), q & UINT64_C(0xffffffffffff));
	(void)snprintf(name, sizeof name, "pod-%" PRId64, b->id);
	const struct allocation like = { .id = ++b->id, .pod = { .uid = uid, .namespace = "default", .name = name, .gang = "", .preemptible = true },
		.node_id = node->id, .node = node->name, .state = state, .request = b->request, .created_at = b->meta.now, .state_at = b->meta.now,
		.expires_at = state == POD_RESERVED ? b->meta.now + 600000 : 0, .revision = revision, .shares = &share, .n_shares = 1 };
	return allocation_new(&like);
}

static void background(struct bench *b, int n)
{
	struct change_list changes = { 0 };
	for (int i = 0; i < n; i++) {
		int node = i % NODES, device = i / NODES % DEVICES;
		const struct allocation *a = make_allocation(b, b->nodes[node], b->devices[node][device], POD_ALLOCATED, ++b->meta.revision);
		change_list_add(&changes, RECORD_ALLOCATION, NULL, a);
		if (i % 1000 == 999)
			commit(b, &changes);
	}
	commit(b, &changes);
	change_list_free(&changes);
}

static void add_event(struct bench *b, struct change_list *changes, const char *kind, const struct allocation *subject)
{
	const struct event like = { .revision = b->meta.revision, .at = b->meta.now, .kind = kind, .node = subject->node, .uid = subject->pod.uid,
		.actor = "unix:0", .reason = "", .cause = "", .by = "", .subject_kind = SUBJECT_ALLOCATION, .subject = subject };
	change_list_add(changes, RECORD_EVENT, NULL, event_new(&like));
}

/* Puts the allocation's next version in place of the present one. */
static void advance(struct lane *lane, struct change_list *changes, const struct allocation *like)
{
	const struct allocation *after = like ? allocation_new(like) : NULL;
	change_list_add(changes, RECORD_ALLOCATION, lane->allocation, record_ref(after));
	lane->allocation = after;
}

static void bind(struct bench *b, struct lane *lane, struct change_list *changes)
{
	struct allocation like = *lane->allocation;
	const struct lock lock = { .node_id = like.node_id, .node = like.node, .uid = like.pod.uid, .token = ++b->meta.token,
		.acquired_at = b->meta.now, .expires_at = b->meta.now + 300000, .ttl = 300000 };
	lane->lock = lock_new(&lock);
	change_list_add(changes, RECORD_LOCK, NULL, record_ref(lane->lock));
	like.state = POD_BOUND;
	like.state_at = b->meta.now;
	like.expires_at = lock.expires_at;
	like.token = lock.token;
	like.revision = b->meta.revision;
	advance(lane, changes, &like);
	add_event(b, changes, "pod.bound", lane->allocation);
}

static void allocate(struct bench *b, struct lane *lane, struct change_list *changes)
{
	struct allocation like = *lane->allocation;
	const char *const ids[] = { "GPU-00000000-0000-4000-8000-000000000000-_-7" };
	const struct handout *handout = handout_new(&(struct handout){ .call = "6f1a1c3e-0000-4000-8000-000000000000", .device_ids = ids,
		.n_device_ids = 1, .detail = "" });
	like.state = POD_ALLOCATED;
	like.handed_out = 1;
	like.state_at = b->meta.now;
	like.expires_at = 0;
	like.revision = b->meta.revision;
	if (b->handout)
		like.handouts[0] = handout;
	advance(lane, changes, &like);
	handout_unref(handout);
	change_list_add(changes, RECORD_LOCK, lane->lock, NULL);
	lane->lock = NULL;
	add_event(b, changes, "pod.allocated", lane->allocation);
}

/* The lane's next operation. */
static void operate(struct bench *b, struct lane *lane, struct change_list *changes)
{
	b->meta.revision++;
	if (!lane->allocation) {
		const struct device_record *device = b->devices[lane->node][lane->rounds++ % DEVICES];
		lane->allocation = make_allocation(b, b->nodes[lane->node], device, POD_RESERVED, b->meta.revision);
		change_list_add(changes, RECORD_ALLOCATION, NULL, record_ref(lane->allocation));
		add_event(b, changes, "pod.reserved", lane->allocation);
	} else if (lane->allocation->state == POD_RESERVED) {
		bind(b, lane, changes);
	} else if (lane->allocation->state == POD_BOUND) {
		allocate(b, lane, changes);
	} else {
		add_event(b, changes, "pod.released", lane->allocation);
		advance(lane, changes, NULL);
	}
}

/* Commits `size` operations at a time for `length` seconds, one after the other over the lanes; returns operations per second. */
static double measure(struct bench *b, struct lane *lanes, size_t n_lanes, size_t size, double length)
{
	struct change_list changes = { 0 };
	double start = seconds(), end;
	size_t done = 0, lane = 0;
	do {
		for (size_t i = 0; i < size; i++, lane = (lane + 1) % n_lanes)
			operate(b, &lanes[lane], &changes);
		commit(b, &changes);
		done += size;
		end = seconds();
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
	commit(b, &changes);
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
	static const struct log quiet = { LOG_WARN };
	struct bench *b = mem_alloc(sizeof *b);
	const struct store_options options = { .directory = directory, .codec = &codec, .log = &quiet, .guard = o->guard, .now = 1700000000000 };
	struct error *e = store_open(&options, &b->store);
	if (e)
		die("open", e->message);
	b->handout = o->handout;
	b->meta = store_meta(b->store);
	(void)parse_request(request_text, &b->request);
	inventory(b);
	background(b, o->background);
	if (!*sizes) {
		report(b, 1, o->seconds);
		report(b, 64, o->seconds);
		report(b, 256, o->seconds);
	}
	for (; *sizes; sizes++)
		report(b, (size_t)strtoul(*sizes, NULL, 10), o->seconds);
	store_close(b->store);
	for (int n = 0; n < NODES; n++) {
		record_unref(RECORD_NODE, b->nodes[n]);
		for (int d = 0; d < DEVICES; d++)
			record_unref(RECORD_DEVICE, b->devices[n][d]);
	}
	request_unref(b->request);
	free(b);
}

static void remove_directory(const char *directory)
{
	static const char *const names[] = { "allotd.db", "allotd.db-wal", "allotd.db-shm", "allotd.lock", "allotd.highwater" };
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		char *path = mem_format("%s/%s", directory, names[i]);
		(void)unlink(path);
		free(path);
	}
	(void)rmdir(directory);
}

int main(int argc, char **argv)
{
	struct options o = parse_options(argc, argv);
	const char *parent = o.directory ? o.directory : getenv("TMPDIR");
	char *directory = mem_format("%s/allot-bare-XXXXXX", parent ? parent : "/tmp");
	if (!mkdtemp(directory))
		die(directory, "cannot be made");
	bench_run(&o, directory, argv + optind);
	remove_directory(directory);
	free(directory);
	return 0;
}

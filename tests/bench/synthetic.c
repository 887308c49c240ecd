#include "synthetic.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/mem.h"

static const char request_text[] =
	"[{\"type\":\"gpu\",\"count\":1,\"container\":\"main\",\"resources\":{\"core\":10,\"memory\":10},\"agent\":true}]";

static struct error *parse_request(const char *text, struct request **ret)
{
	static const struct need needs[] = { { .resource = "core", .amount = 10 }, { .resource = "memory", .amount = 10 } };
	const struct claim claim = { .type = "gpu",
		.count = 1,
		.container = "main",
		.reuse = "",
		.together = "",
		.agent = true,
		.needs = needs,
		.n_needs = 2 };
	*ret = request_new(&claim, 1, text);
	return NULL;
}

/* About what the server writes. */
static void print_event(const struct event *event, struct text *to)
{
	const struct allocation *a = event->subject;
	const struct share *s = &a->shares[0];
	text_printf(to,
		"{\"pod\":{\"uid\":\"%s\",\"namespace\":\"%s\",\"name\":\"%s\",\"priority\":%d,\"preemptible\":true,\"external\":"
		"false},"
		"\"node\":\"%s\",\"state\":\"%s\",\"devices\":[{\"container\":\"main\",\"type\":\"gpu\",\"uuid\":\"%s\","
		"\"minor\":%" PRId64 ",\"whole\":false,\"resources\":{\"core\":%" PRId64 ",\"memory\":%" PRId64
		"},\"claimed\":false}],\"created_at\":%" PRId64 ",\"state_at\":%" PRId64 ",\"expires_at\":%" PRId64
		",\"token\":%" PRId64 ",\"revision\":%" PRId64 "}",
		a->pod.uid, a->pod.namespace, a->pod.name, (int)a->pod.priority, a->node, pod_state_name(a->state), s->uuid,
		s->minor, s->amounts[0].value, s->amounts[1].value, a->created_at, a->state_at, a->expires_at, a->token,
		a->revision);
}

const struct store_codec synthetic_codec = { .print_event = print_event, .parse_request = parse_request };

void synthetic_die(const char *what, const char *why)
{
	(void)fprintf(stderr, "%s: %s\n", what, why);
	exit(1);
}

double synthetic_seconds(void)
{
	struct timespec t;
	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* splitmix64 */
static uint64_t random_next(struct synthetic *s)
{
	uint64_t z = s->random += UINT64_C(0x9e3779b97f4a7c15);
	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

static const struct device_record *make_device(struct synthetic *s, const struct node_record *node, int minor)
{
	static const struct amount capacity[] = { { "core", 100 }, { "memory", 80 } };
	char uuid[64];
	int64_t id = ++s->id;
	(void)snprintf(
		uuid, sizeof uuid, "GPU-%08x-%04x-4000-8000-%012" PRIx64, (unsigned)(random_next(s) >> 32), (unsigned)minor, id);
	return device_record_new(&(struct device_record){ .id = id,
		.node_id = node->id,
		.node = node->name,
		.uuid = uuid,
		.type = "gpu",
		.minor = minor,
		.model = "A10",
		.healthy = true,
		.numa = minor / 4,
		.socket = -1,
		.pcie = minor < 4 ? "pci0" : "pci1",
		.bus_id = "",
		.reason = "",
		.revision = 1,
		.capacity = capacity,
		.n_capacity = 2 });
}

struct synthetic *synthetic_new(size_t n_nodes, const struct store_meta *meta)
{
	struct synthetic *s = mem_alloc(sizeof *s);
	char name[32];
	s->meta = *meta;
	s->n_nodes = n_nodes;
	s->nodes = mem_array(n_nodes, sizeof *s->nodes);
	s->devices = mem_array(n_nodes * SYNTHETIC_DEVICES, sizeof *s->devices);
	(void)parse_request(request_text, &s->request);
	for (size_t n = 0; n < n_nodes; n++) {
		(void)snprintf(name, sizeof name, "node-%05zu", n);
		s->nodes[n] = node_record_new(&(struct node_record){ .id = ++s->id, .name = name, .reason = "", .revision = 1 });
		for (int d = 0; d < SYNTHETIC_DEVICES; d++)
			s->devices[n * SYNTHETIC_DEVICES + (size_t)d] = make_device(s, s->nodes[n], d);
	}
	return s;
}

void synthetic_free(struct synthetic *s)
{
	for (size_t n = 0; n < s->n_nodes; n++)
		record_unref(RECORD_NODE, s->nodes[n]);
	for (size_t d = 0; d < s->n_nodes * SYNTHETIC_DEVICES; d++)
		record_unref(RECORD_DEVICE, s->devices[d]);
	request_unref(s->request);
	free(s->nodes);
	free(s->devices);
	free(s);
}

void synthetic_inventory(const struct synthetic *s, struct change_list *ret)
{
	for (size_t n = 0; n < s->n_nodes; n++)
		change_list_add(ret, RECORD_NODE, NULL, record_ref(s->nodes[n]));
	for (size_t d = 0; d < s->n_nodes * SYNTHETIC_DEVICES; d++)
		change_list_add(ret, RECORD_DEVICE, NULL, record_ref(s->devices[d]));
}

const struct allocation *synthetic_allocation(struct synthetic *s, size_t node, size_t device, enum pod_state state)
{
	static const struct amount amounts[] = { { "core", 10 }, { "memory", 10 } };
	const struct node_record *n = s->nodes[node];
	const struct device_record *d = s->devices[node * SYNTHETIC_DEVICES + device];
	const struct share share = { .device_id = d->id, .uuid = d->uuid, .minor = d->minor, .amounts = amounts, .n_amounts = 2 };
	uint64_t r = random_next(s), q = random_next(s);
	char uid[40], name[40];
	(void)snprintf(uid, sizeof uid, "%08x-%04x-4%03x-8%03x-%012" PRIx64, (unsigned)(r >> 32), (unsigned)(r & 0xffff),
		(unsigned)(r >> 16 & 0xfff), (unsigned)(q >> 48 & 0xfff), q & UINT64_C(0xffffffffffff));
	(void)snprintf(name, sizeof name, "pod-%" PRId64, s->id);
	const struct allocation like = { .id = ++s->id,
		.pod = { .uid = uid, .namespace = "default", .name = name, .gang = "", .preemptible = true },
		.node_id = n->id,
		.node = n->name,
		.state = state,
		.request = s->request,
		.created_at = s->meta.now,
		.state_at = s->meta.now,
		.expires_at = state == POD_RESERVED ? s->meta.now + 600000 : 0,
		.revision = s->meta.revision,
		.shares = &share,
		.n_shares = 1 };
	return allocation_new(&like);
}

const struct event *synthetic_event(const struct synthetic *s, const char *kind, const struct allocation *subject)
{
	return event_new(&(struct event){ .revision = s->meta.revision,
		.at = s->meta.now,
		.kind = kind,
		.node = subject->node,
		.uid = subject->pod.uid,
		.actor = "unix:0",
		.reason = "",
		.cause = "",
		.by = "",
		.subject_kind = SUBJECT_ALLOCATION,
		.subject = subject });
}

void synthetic_commit(struct synthetic *s, struct store *store, struct change_list *changes)
{
	char *why = NULL;
	s->meta.now++;
	if (store_commit(store, changes, &s->meta, &why) != STORE_OK)
		synthetic_die("commit", why);
	change_list_truncate(changes, 0);
}

char *synthetic_directory(const char *parent)
{
	if (!parent)
		parent = getenv("TMPDIR");
	char *directory = mem_format("%s/allot-bench-XXXXXX", parent ? parent : "/tmp");
	if (!mkdtemp(directory))
		synthetic_die(directory, "cannot be made");
	return directory;
}

struct store *synthetic_open(const char *directory, bool guard)
{
	static const struct log quiet = { LOG_WARN };
	const struct store_options options = {
		.directory = directory, .codec = &synthetic_codec, .log = &quiet, .guard = guard, .now = 1700000000000
	};
	struct store *store = NULL;
	struct error *e = store_open(&options, &store);
	if (e)
		synthetic_die("open", e->message);
	return store;
}

void synthetic_remove(char *directory)
{
	static const char *const names[] = { "allotd.db", "allotd.db-wal", "allotd.db-shm", "allotd.lock", "allotd.highwater" };
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		char *path = mem_format("%s/%s", directory, names[i]);
		(void)unlink(path);
		free(path);
	}
	(void)rmdir(directory);
	free(directory);
}

#include "property/cases.h"

static const char *const node_names[] = { "n1", "n2", "n3" };

static void add_device(struct random *r, const char *node, size_t i, struct device_report *ret, char uuid[64])
{
	static const struct amount both[] = { { "core", 100 }, { "memory", 80 } }, small[] = { { "core", 60 }, { "memory", 80 } },
				   only_core[] = { { "core", 100 } };
	static const char *const pcies[] = { "", "p0", "p1" };
	size_t kind = random_below(r, 6);
	(void)snprintf(uuid, 64, "%s-%zu", node, i);
	*ret = (struct device_report){ .record = {
					       .uuid = uuid,
					       .type = random_once_in(r, 6) ? "nic" : "gpu",
					       .minor = (int64_t)i,
					       .model = random_once_in(r, 3) ? "B" : "A",
					       .healthy = true,
					       .max_shares = random_once_in(r, 3) ? 2 : 0,
					       .numa = (int64_t)random_below(r, 3) - 1,
					       .socket = -1,
					       .pcie = pcies[random_below(r, 3)],
					       .bus_id = "",
					       .reason = "",
					       .capacity = kind == 0   ? small
							   : kind == 1 ? only_core
								       : both,
					       .n_capacity = kind == 1 ? 1 : 2,
				       } };
}

static void add_node(struct random *r, struct lab *lab, const char *name, size_t devices)
{
	struct device_report list[6];
	char uuids[6][64];
	struct registered ignored;
	for (size_t i = 0; i < devices; i++)
		add_device(r, name, i, &list[i], uuids[i]);
	const struct register_node args = { .node = name, .devices = list, .n_devices = devices, .allow_empty = true };
	lab_ok(node_register(lab_txn(lab), &args, &ignored));
}

static size_t random_needs(struct random *r, struct need *needs)
{
	static const int64_t amounts[] = { 10, 20, 30, 40, 50, 60, 100 };
	size_t n = 0;
	if (random_once_in(r, 3))
		return 0;
	if (!random_once_in(r, 5))
		needs[n++] = (struct need){ .resource = "core", .amount = amounts[random_below(r, 7)] };
	if (random_once_in(r, 2) || !n)
		needs[n++] = (struct need){ .resource = "memory", .amount = amounts[random_below(r, 6)] };
	if (random_once_in(r, 4))
		needs[0] = (struct need){ .resource = needs[0].resource, .percent = amounts[random_below(r, 7)] };
	return n;
}

static void random_claim(struct random *r, struct claim *c, struct need *needs, size_t count)
{
	static const char *const model_a[] = { "A" }, *const model_b[] = { "B" }, *const not [] = { "n1-0", "n2-1" };
	*c = (struct claim){ .type = random_once_in(r, 8) ? "nic" : "gpu",
		.count = 1 + (int64_t)random_below(r, count),
		.container = "main",
		.reuse = "",
		.together = "",
		.agent = true,
		.needs = needs };
	c->n_needs = random_needs(r, needs);
	if (random_once_in(r, 4)) {
		c->models = random_once_in(r, 2) ? model_b : model_a;
		c->n_models = 1;
	}
	if (random_once_in(r, 6)) {
		c->exclude_uuids = not ;
		c->n_exclude_uuids = 2;
	}
	if (random_once_in(r, 3)) {
		c->same = random_once_in(r, 2) ? TOPOLOGY_PCIE : TOPOLOGY_NUMA;
		c->together = random_once_in(r, 4) ? "" : c->same == TOPOLOGY_PCIE ? "t" : "u";
	}
}

struct request *case_request(struct random *r, size_t claims, size_t count)
{
	struct claim list[REQUEST_CLAIMS];
	struct need needs[REQUEST_CLAIMS][2];
	char text[32];
	size_t n = 1 + random_below(r, claims);
	for (size_t i = 0; i < n; i++)
		random_claim(r, &list[i], needs[i], count);
	(void)snprintf(text, sizeof text, "%016llx", (unsigned long long)random_bits(r));
	return request_new(list, n, text);
}

struct pod case_pod(struct random *r, const char *uid)
{
	static const char *const gangs[] = { "", "", "g", "h" };
	return (struct pod){ .uid = uid,
		.namespace = "default",
		.name = uid,
		.gang = gangs[random_below(r, 4)],
		.priority = (int32_t)random_below(r, 7) - 2,
		.preemptible = !random_once_in(r, 6) };
}

static void some_nomination(struct random *r, struct lab *lab, const char *uid, const char *node)
{
	struct pod pod = case_pod(r, uid);
	const struct node *n = cluster_node(lab->cluster, node);
	const char *victims[8];
	size_t found = 0;
	pod.priority++;
	for (const struct holding *h = n->holdings; h && found < 8; h = h->next)
		if (h->record->pod.priority < pod.priority && random_once_in(r, 2))
			victims[found++] = h->record->pod.uid;
	(void)lab_nominate(lab, &pod, node, case_request(r, 2, 2), victims, found);
}

static void some_defect(struct random *r, struct lab *lab, const char *node)
{
	const struct node *n = cluster_node(lab->cluster, node);
	const struct device_record *device;
	const struct node_record *record;
	if (random_once_in(r, 3)) {
		lab_ok(node_cordon(lab_txn(lab), node, !n->record->cordoned, "", &record));
	} else if (n->n_devices) {
		const struct device *d = &n->devices[random_below(r, n->n_devices)];
		bool ill = random_once_in(r, 2);
		lab_ok(device_update(lab_txn(lab), node, d->record->uuid, ill ? SAID_NO : SAID_NOTHING,
			ill ? SAID_NOTHING : SAID_YES, "", &device));
		record_unref(RECORD_DEVICE, device);
	}
}

struct lab *case_cluster(struct random *r, const struct case_shape *shape)
{
	struct lab *lab = lab_new();
	size_t left = 6;
	for (size_t i = 0; i < shape->nodes; i++) {
		size_t most = left - (shape->nodes - i - 1), devices = i + 1 == shape->nodes ? left : 1 + random_below(r, most);
		add_node(r, lab, node_names[i], devices);
		left -= devices;
	}
	for (size_t i = 0; i < shape->steps; i++) {
		const char *node = node_names[random_below(r, shape->nodes)];
		char uid[32];
		(void)snprintf(uid, sizeof uid, "p%zu", i);
		struct pod pod = case_pod(r, uid);
		if (shape->nominations && random_once_in(r, 4))
			some_nomination(r, lab, uid, node);
		else if (shape->defects && random_once_in(r, 12))
			some_defect(r, lab, node);
		else
			(void)lab_reserve_pod(lab, &pod, node, case_request(r, 2, 2));
	}
	return lab;
}

static void print_shares(const struct share *shares, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		fprintf(stderr, " %s%s", shares[i].uuid, shares[i].whole ? "!" : "");
		for (size_t a = 0; a < shares[i].n_amounts; a++)
			fprintf(stderr, "%c%lld", a ? '/' : ':', (long long)shares[i].amounts[a].value);
	}
	fputc('\n', stderr);
}

static void print_device(const struct device_record *r)
{
	fprintf(stderr, "  %s %s %s numa %lld pcie '%s' max %lld%s%s", r->uuid, r->type, r->model, (long long)r->numa, r->pcie,
		(long long)r->max_shares, r->healthy ? "" : " ill", r->cordoned ? " cordoned" : "");
	for (size_t i = 0; i < r->n_capacity; i++)
		fprintf(stderr, " %s=%lld", r->capacity[i].resource, (long long)r->capacity[i].value);
	fputc('\n', stderr);
}

void case_print(const struct cluster *c)
{
	for (size_t i = 0; i < c->n_nodes; i++) {
		const struct node *n = c->order[i];
		fprintf(stderr, "%s%s\n", n->record->name, n->record->cordoned ? " cordoned" : "");
		for (size_t k = 0; k < n->n_devices; k++)
			print_device(n->devices[k].record);
		for (const struct holding *h = n->holdings; h; h = h->next) {
			fprintf(stderr, "  %s priority %d%s holds", h->record->pod.uid, h->record->pod.priority,
				h->record->pod.preemptible ? "" : " stubborn");
			print_shares(h->record->shares, h->record->n_shares);
		}
		for (const struct promise *p = n->promises; p; p = p->next) {
			fprintf(stderr, "  %s priority %d gang '%s' is promised", p->record->pod.uid, p->record->pod.priority,
				p->record->pod.gang);
			print_shares(p->record->shares, p->record->n_shares);
			for (size_t v = 0; v < p->record->n_victims; v++)
				fprintf(stderr, "    over %s\n", p->record->victims[v]);
		}
	}
}

void case_print_request(const struct pod *pod, const struct request *request)
{
	fprintf(stderr, "%s priority %d gang '%s' asks for\n", pod->uid, pod->priority, pod->gang);
	for (size_t i = 0; i < request->n_claims; i++) {
		const struct claim *c = &request->claims[i];
		fprintf(stderr, "  %lld %s %s same %s together '%s'%s", (long long)c->count, c->type,
			c->n_models ? c->models[0] : "", topology_name(c->same), c->together,
			c->n_exclude_uuids ? " not n1-0 n2-1" : "");
		for (size_t k = 0; k < c->n_needs; k++)
			fprintf(stderr, " %s=%lld/%lld%%", c->needs[k].resource, (long long)c->needs[k].amount,
				(long long)c->needs[k].percent);
		fputc('\n', stderr);
	}
}

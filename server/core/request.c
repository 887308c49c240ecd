#include "core/request.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "core/counted.h"
#include "core/pack.h"

static void pack_claim(struct pack *p, struct claim *to, const struct claim *from)
{
	*to = *from;
	to->type = pack_string(p, from->type);
	to->container = pack_string(p, from->container);
	to->reuse = pack_string(p, from->reuse);
	to->together = pack_string(p, from->together);
	to->models = pack_strings(p, from->models, from->n_models);
	to->uuids = pack_strings(p, from->uuids, from->n_uuids);
	to->exclude_uuids = pack_strings(p, from->exclude_uuids, from->n_exclude_uuids);
	struct need *needs = (struct need *)(uintptr_t)pack_bytes(p, from->needs, from->n_needs * sizeof *needs);
	for (size_t i = 0; i < from->n_needs; i++) {
		const char *resource = pack_string(p, from->needs[i].resource);
		if (p->at)
			needs[i].resource = resource;
	}
	to->needs = needs;
	/* a selector has the layout of a label, but is named for what it does */
	struct selector *labels = (struct selector *)(uintptr_t)pack_bytes(p, from->labels, from->n_labels * sizeof *labels);
	for (size_t i = 0; i < from->n_labels; i++) {
		const char *key = pack_string(p, from->labels[i].key), *value = pack_string(p, from->labels[i].value);
		if (p->at)
			labels[i] = (struct selector){ .key = key, .value = value };
	}
	to->labels = labels;
}

/* The groups of the claims, into `ret` with room for REQUEST_GROUPS; returns their number. */
static size_t derive_groups(const struct claim *claims, size_t n, struct group *ret)
{
	size_t groups = 0;
	for (size_t i = 0; i < n; i++) {
		const struct claim *c = &claims[i];
		size_t g = 0;
		if (!c->agent)
			continue;
		while (g < groups && (strcmp(ret[g].container, c->container) != 0 || strcmp(ret[g].type, c->type) != 0))
			g++;
		if (g == groups)
			ret[groups++] = (struct group){ .container = c->container, .type = c->type };
		ret[g].claims |= UINT32_C(1) << i;
		ret[g].devices += c->count;
	}
	return groups;
}

static size_t request_pack(struct pack *p, struct request *r, const struct claim *from, size_t n, const char *text)
{
	struct claim claims[REQUEST_CLAIMS];
	struct group groups[REQUEST_GROUPS];
	for (size_t i = 0; i < n; i++)
		pack_claim(p, &claims[i], &from[i]);
	size_t n_groups = derive_groups(claims, n, groups);
	r->text = pack_string(p, text);
	r->claims = pack_bytes(p, claims, n * sizeof *claims);
	r->groups = pack_bytes(p, groups, n_groups * sizeof *groups);
	return n_groups;
}

struct request *request_new(const struct claim *claims, size_t n_claims, const char *text)
{
	assert(n_claims > 0 && n_claims <= REQUEST_CLAIMS);
	struct pack p = { 0 };
	struct request measured;
	const size_t head = (sizeof measured + 7) & ~(size_t)7;
	(void)request_pack(&p, &measured, claims, n_claims, text);
	struct request *r = counted_new(head + p.size);
	p = (struct pack){ .at = (char *)r + head };
	r->n_groups = request_pack(&p, r, claims, n_claims, text);
	r->n_claims = n_claims;
	return r;
}

const struct request *request_ref(const struct request *r)
{
	return counted_ref(r);
}

void request_unref(const struct request *r)
{
	if (counted_drop(r))
		counted_free(r);
}

static struct error *bad_claim(size_t claim, const char *member, const char *sentence)
{
	char path[64];
	(void)snprintf(path, sizeof path, "request[%zu].%s", claim, member);
	return error_invalid(path, "%s: %s", path, sentence);
}

static struct error *check_reuse(const struct claim *claims, size_t n, size_t i)
{
	const struct claim *c = &claims[i];
	int64_t held = 0;
	if (c->n_needs)
		return bad_claim(i, "resources", "a claim that reuses another container's devices takes nothing of its own");
	if (c->same != TOPOLOGY_ANY || *c->together)
		return bad_claim(i, "same", "a claim that reuses another container's devices cannot choose a topology");
	if (c->n_models || c->n_uuids || c->n_exclude_uuids || c->n_labels)
		return bad_claim(i, "reuse", "a claim that reuses another container's devices cannot select devices");
	for (size_t k = 0; k < n; k++)
		if (!*claims[k].reuse && strcmp(claims[k].container, c->reuse) == 0 && strcmp(claims[k].type, c->type) == 0)
			held += claims[k].count;
	if (held < c->count)
		return bad_claim(i, "reuse", "no container of that name holds that many devices of the type");
	return NULL;
}

static struct error *check_together(const struct claim *claims, size_t i)
{
	const struct claim *c = &claims[i];
	if (c->same == TOPOLOGY_ANY)
		return bad_claim(i, "together", "needs `same`: which topology key the claims share");
	for (size_t k = 0; k < i; k++)
		if (strcmp(claims[k].together, c->together) == 0 && claims[k].same != c->same)
			return bad_claim(i, "same", "claims with one `together` tag must name the same topology key");
	return NULL;
}

struct error *request_check(const struct claim *claims, size_t n_claims)
{
	for (size_t i = 0; i < n_claims; i++) {
		struct error *e = *claims[i].reuse ? check_reuse(claims, n_claims, i) : NULL;
		if (!e && *claims[i].together)
			e = check_together(claims, i);
		if (e)
			return e;
	}
	return NULL;
}

bool request_equal(const struct request *a, const struct request *b)
{
	return a == b || strcmp(a->text, b->text) == 0;
}

uint32_t request_all_groups(const struct request *r)
{
	return r->n_groups >= 32 ? UINT32_MAX : (UINT32_C(1) << r->n_groups) - 1;
}

const char *topology_name(enum topology t)
{
	static const char *const names[] = { "", "numa", "socket", "pcie" };
	return names[t];
}

/* Requests in brief, for tests: claims separated by ';', each "container:type*count words", where a word is
 *   core=50 or core=10%   what is needed of a resource; none: whole devices
 *   same=numa together=t reuse=main label=key:value
 *   model=A uuid=U not=U  may be repeated
 *   unattended            no node agent hands it out
 * and container and count may be left out: "gpu", "main:gpu*2 core=50; init:gpu reuse=main". The text is also the canonical text of the
 * request, so equal briefs are equal requests, and a store can decode it. */
#ifndef ALLOTD_TESTS_BRIEF_H
#define ALLOTD_TESTS_BRIEF_H

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/request.h"

enum { BRIEF_WORDS = 16 };

/* One claim with the arrays it points to. */
struct brief_claim {
	struct claim claim;
	struct need needs[BRIEF_WORDS];
	struct selector labels[BRIEF_WORDS];
	const char *models[BRIEF_WORDS], *uuids[BRIEF_WORDS], *not_uuids[BRIEF_WORDS];
};

static inline enum topology brief_topology(const char *name)
{
	for (enum topology t = TOPOLOGY_NUMA; t <= TOPOLOGY_PCIE; t++)
		if (strcmp(topology_name(t), name) == 0)
			return t;
	abort();
}

/* Keeps the needs sorted by resource. */
static inline void brief_need(struct brief_claim *b, const char *resource, const char *value)
{
	size_t at = b->claim.n_needs++;
	for (; at > 0 && strcmp(b->needs[at - 1].resource, resource) > 0; at--)
		b->needs[at] = b->needs[at - 1];
	int64_t n = strtoll(value, NULL, 10);
	bool percent = value[strlen(value) - 1] == '%';
	b->needs[at] = (struct need){ .resource = resource, .amount = percent ? 0 : n, .percent = percent ? n : 0 };
}

static inline void brief_word(struct brief_claim *b, char *word)
{
	struct claim *c = &b->claim;
	char *value = strchr(word, '=');
	if (!value) {
		c->agent = strcmp(word, "unattended") != 0;
		return;
	}
	*value++ = '\0';
	if (strcmp(word, "same") == 0) {
		c->same = brief_topology(value);
	} else if (strcmp(word, "together") == 0) {
		c->together = value;
	} else if (strcmp(word, "reuse") == 0) {
		c->reuse = value;
	} else if (strcmp(word, "model") == 0) {
		b->models[c->n_models++] = value;
	} else if (strcmp(word, "uuid") == 0) {
		b->uuids[c->n_uuids++] = value;
	} else if (strcmp(word, "not") == 0) {
		b->not_uuids[c->n_exclude_uuids++] = value;
	} else if (strcmp(word, "label") == 0) {
		char *separator = strchr(value, ':');
		*separator = '\0';
		b->labels[c->n_labels++] = (struct selector){ value, separator + 1 };
	} else {
		brief_need(b, word, value);
	}
}

static inline void brief_head(struct claim *c, char *head)
{
	char *type = strchr(head, ':'), *count = strchr(head, '*');
	if (type)
		*type++ = '\0';
	c->container = type ? head : "";
	c->type = type ? type : head;
	if (count) {
		*count++ = '\0';
		c->count = strtoll(count, NULL, 10);
	}
}

static inline void brief_parse(struct brief_claim *b, char *text)
{
	char *rest, *word = strtok_r(text, " ", &rest);
	*b = (struct brief_claim){ .claim = { .count = 1, .reuse = "", .together = "", .agent = true } };
	brief_head(&b->claim, word);
	while ((word = strtok_r(NULL, " ", &rest)))
		brief_word(b, word);
	b->claim.needs = b->needs;
	b->claim.labels = b->labels;
	b->claim.models = b->models;
	b->claim.uuids = b->uuids;
	b->claim.exclude_uuids = b->not_uuids;
}

/* A request of that brief, with one reference. */
static inline struct request *brief_request(const char *brief)
{
	struct brief_claim *parsed = mem_array(REQUEST_CLAIMS, sizeof *parsed);
	struct claim claims[REQUEST_CLAIMS];
	char *text = mem_string(brief), *rest = text;
	size_t n = 0;
	for (char *one; n < REQUEST_CLAIMS && (one = strsep(&rest, ";")); n++) {
		brief_parse(&parsed[n], one);
		claims[n] = parsed[n].claim;
	}
	struct request *r = request_new(claims, n, brief);
	free(text);
	free(parsed);
	return r;
}

#endif

#include "core/report.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"

struct report report_new(const struct request *request, size_t keep)
{
	return (struct report){ .request = request, .keep = keep };
}

void report_free(struct report *report)
{
	for (size_t i = 0; i < report->n_nodes; i++)
		free(report->nodes[i].by);
	free(report->nodes);
	*report = (struct report){ 0 };
}

/* The uids to whom the node is promised, in one block: a report may outlive the promises it tells of. */
static const char **promised_to(const struct fit *fit, const struct node *node, size_t *n)
{
	assert(node); /* an unknown node is refused for being unknown */
	const char **uids = mem_array(node->n_promises, sizeof *uids);
	*n = fit_promised_to(fit, node, uids);
	size_t size = *n * sizeof *uids;
	for (size_t i = 0; i < *n; i++)
		size += strlen(uids[i]) + 1;
	uids = mem_resize(uids, size, 1);
	char *at = (char *)(uids + *n);
	for (size_t i = 0; i < *n; i++) {
		size_t length = strlen(uids[i]) + 1;
		uids[i] = memcpy(at, uids[i], length);
		at += length;
	}
	return uids;
}

static void keep_node(
	struct report *report, const struct fit *fit, const struct node *node, const char *name, const struct reason *why)
{
	struct report_node kept = { .node = name, .reason = *why };
	if (why->slug == SLUG_NOMINATED)
		kept.by = promised_to(fit, node, &kept.n_by);
	report->nodes = mem_grow(report->nodes, report->n_nodes, &report->room, sizeof *report->nodes);
	report->nodes[report->n_nodes++] = kept;
}

void report_refused(
	struct report *report, const struct fit *fit, const struct node *node, const char *name, const struct reason *why)
{
	report->total++;
	report->counts[why->slug][why->claim]++;
	if (report->n_nodes < report->keep)
		keep_node(report, fit, node, name, why);
}

void report_fits(struct report *report)
{
	report->total++;
	report->fits++;
}

int64_t report_count(const struct report *report, enum slug slug)
{
	int64_t sum = 0;
	for (size_t i = 0; i < REQUEST_CLAIMS; i++)
		sum += report->counts[slug][i];
	return sum;
}

/* "no device of model A10", "too few matching gpu". */
static void put_no_match(const struct claim *c, struct text *to)
{
	const char *few = c->count == 1 ? "no" : "too few";
	if (!c->n_models) {
		text_printf(to, "%s matching %s", few, c->type);
		return;
	}
	text_printf(to, "%s device%s of model ", few, c->count == 1 ? "" : "s");
	for (size_t i = 0; i < c->n_models; i++)
		text_printf(to, "%s%s", i ? " or " : "", c->models[i]);
}

static void put_phrase(const struct report *report, enum slug slug, size_t claim, struct text *to)
{
	const struct claim *c = &report->request->claims[claim];
	switch (slug) {
	case SLUG_UNKNOWN_NODE:
		text_puts(to, "unknown");
		break;
	case SLUG_NODE_CORDONED:
		text_puts(to, "cordoned");
		break;
	case SLUG_UNVERIFIED:
		text_puts(to, "not yet verified by their agent");
		break;
	case SLUG_NO_DEVICE:
		text_printf(to, "no device of type %s", c->type);
		break;
	case SLUG_NO_MATCH:
		put_no_match(c, to);
		break;
	case SLUG_UNHEALTHY:
		text_printf(to, "unhealthy %s", c->type);
		break;
	case SLUG_TOO_LARGE:
		text_printf(to, "too small in %s", c->type);
		break;
	case SLUG_TOPOLOGY:
		text_printf(to, "without enough %s on one %s", c->type, topology_name(c->same));
		break;
	case SLUG_NOMINATED:
		text_puts(to, "promised to pods of equal or higher priority");
		break;
	default:
		text_printf(to, "insufficient %s", c->type);
		break;
	}
}

struct phrase {
	enum slug slug;
	size_t claim;
	int64_t count;
};

static int by_count(const void *a_, const void *b_)
{
	const struct phrase *a = a_, *b = b_;
	if (a->count != b->count)
		return a->count > b->count ? -1 : 1;
	if (a->slug != b->slug)
		return a->slug < b->slug ? -1 : 1;
	return a->claim < b->claim ? -1 : a->claim > b->claim;
}

void report_summary(const struct report *report, struct text *to)
{
	struct phrase phrases[SLUGS * REQUEST_CLAIMS];
	size_t n = 0;
	for (enum slug s = 0; s < SLUGS; s++)
		for (size_t c = 0; c < REQUEST_CLAIMS; c++)
			if (report->counts[s][c])
				phrases[n++] = (struct phrase){ s, c, report->counts[s][c] };
	qsort(phrases, n, sizeof *phrases, by_count);
	text_printf(to, "%zu/%zu nodes are available", report->fits, report->total);
	for (size_t i = 0; i < n; i++) {
		text_printf(to, "%s %lld ", i ? "," : ":", (long long)phrases[i].count);
		put_phrase(report, phrases[i].slug, phrases[i].claim, to);
	}
	text_puts(to, ".");
}

struct error *report_error(const struct report *report)
{
	struct text t = { 0 };
	report_summary(report, &t);
	struct error *e = error_new(ERR_INSUFFICIENT, "%s", text_string(&t));
	text_free(&t);
	return e;
}

struct error *search_time_error(void)
{
	struct error *e = error_new(
		ERR_OVERLOADED, "the search for an assignment took too long; ask for fewer or less entangled claims");
	return error_with_string(e, "limit", "search_time");
}

bool report_ask(struct report *report, struct fit *fit, struct node *const *nodes, const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct reason why;
		fit_ahead(nodes, n, i);
		enum fit_verdict verdict = fit_node(fit, nodes[i], &why);
		if (verdict == FIT_TOO_HARD)
			return false;
		if (verdict == FIT_YES)
			report_fits(report);
		else
			report_refused(report, fit, nodes[i], nodes[i] ? nodes[i]->record->name : names[i], &why);
	}
	return true;
}

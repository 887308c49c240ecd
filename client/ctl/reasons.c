/* Why nodes were refused; see reasons.h. */
#include "ctl/reasons.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/human.h"
#include "ctl/mem.h"
#include "ctl/table.h"

/* How a slug reads with the type of device; slugs of newer servers are shown as they are. */
static char *opening(const char *slug, const char *type)
{
	static const struct {
		const char *slug, *format;
	} known[] = {
		{ "unknown_node", "no such node" },
		{ "node_cordoned", "the node is cordoned" },
		{ "unverified", "the node is not verified yet" },
		{ "no_device", "no %s at all" },
		{ "no_match", "too few %s match the claim" },
		{ "unhealthy", "too few matching %s are healthy and not cordoned" },
		{ "too_large", "more %s than even the empty node could give" },
		{ "topology", "no %s with the topology in common" },
		{ "nominated", "%s promised to other pods" },
		{ "insufficient", "insufficient %s" },
	};
	size_t i;

	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		const char *place = strstr(known[i].format, "%s");

		if (strcmp(known[i].slug, slug) == 0) {
			return place ? mem_format("%.*s%s%s", (int)(place - known[i].format), known[i].format, type, place + 2)
				     : mem_string(known[i].format);
		}
	}
	return mem_format("%s%s%s", slug, *type ? " " : "", type);
}

/* One Reason as a phrase: "insufficient gpu: 1 of 2 fit (claim 0)"; new memory. */
static char *reason_phrase(const json_t *reason)
{
	char *start = opening(get_string(reason, "reason"), get_string(reason, "type")), *by, *phrase, *counts;
	const json_t *need = json_object_get(reason, "need"), *pods = json_object_get(reason, "by");

	by = join_strings(pods, ", ", 5);
	counts = need ? mem_format(": claim %" PRId64 " needs %" PRId64 ", %" PRId64 " fit", get_integer(reason, "claim"),
				get_integer(reason, "need"), get_integer(reason, "have"))
		      : mem_string("");
	phrase = mem_format("%s%s%s%s", start, counts, *by ? "; by " : "", by);
	free(start);
	free(by);
	free(counts);
	return phrase;
}

static void print_node(FILE *out, const char *node, const json_t *reasons)
{
	char *name = text_clean(mem_string(node));
	const json_t *reason;
	size_t i;

	json_array_foreach ((json_t *)reasons, i, reason) {
		char *phrase = text_clean(reason_phrase(reason));

		fprintf(out, "  %s: %s\n", name, phrase);
		free(phrase);
	}
	free(name);
}

void reasons_print(FILE *out, const json_t *nodes, size_t most)
{
	const char *node;
	const json_t *reasons;
	size_t shown = 0;

	json_object_foreach ((json_t *)nodes, node, reasons) {
		if (shown++ == most) {
			fprintf(out, "  ... and %zu more nodes (-o wide shows them)\n", json_object_size(nodes) - most);
			return;
		}
		print_node(out, node, reasons);
	}
}

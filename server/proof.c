#include "proof.h"

#include <stdlib.h>
#include <sysexits.h>

#include "base/error.h"
#include "base/mem.h"
#include "core/check.h"
#include "core/cluster.h"
#include "methods/shapes.h"
#include "methods/views.h"

/* The first violation is enough. */
static void note(void *context, const char *sentence)
{
	char **first = context;
	if (!*first)
		*first = mem_string(sentence);
}

static struct error *prove(void *context, const struct change_list *rows, const struct store_meta *meta)
{
	char *violation = NULL;
	struct error *error = NULL;
	struct cluster *c = cluster_new();
	(void)context;
	for (size_t i = 0; i < rows->n; i++)
		cluster_apply(c, &rows->changes[i]);
	cluster_counters(c)->revision = meta->revision;
	cluster_counters(c)->token = meta->token;
	cluster_check(c, note, &violation);
	cluster_free(c);
	if (violation)
		error = error_with_integer(
			error_new(ERR_INTERNAL, "the rows contradict each other: %s", violation), "exit", EX_DATAERR);
	free(violation);
	return error;
}

const struct store_codec server_codec = { .print_event = view_event_data, .parse_request = request_parse };
const struct store_proof server_proof = { .prove = prove };

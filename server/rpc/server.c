#include "rpc/server.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "rpc/exchange.h"
#include "rpc/parse.h"
#include "rpc/schema.h"

static int compare_names(const void *a, const void *b)
{
	const struct rpc_method *const *x = a, *const *y = b;
	return strcmp((*x)->name, (*y)->name);
}

/* What is wrong with a method, as a text to be freed; NULL when it is all right. */
static char *method_mistake(const struct rpc_server *server, const struct rpc_method *m)
{
	if (!m->summary || !m->handle || !m->roles)
		return mem_string("it needs a summary, a role and a handler");
	if (m->frees && !m->writes)
		return mem_string("what frees also writes");
	for (const struct rpc_member *r = m->result; r && r->name; r++) {
		char *mistake = type_check(server, r->type);
		if (mistake)
			return mistake;
	}
	return m->params ? rpc_shape_check(m->params) : NULL;
}

static char *types_mistake(const struct rpc_server *server)
{
	for (size_t i = 0; i < server->n_types; i++) {
		for (const struct rpc_member *r = server->types[i]->members; r->name; r++) {
			char *mistake = type_check(server, r->type);
			if (mistake)
				return mistake;
		}
	}
	return NULL;
}

static void give_up(const char *name, const char *mistake)
{
	fprintf(stderr, "allotd: the tables of %s are wrong: %s\n", name, mistake);
	abort();
}

/* Tables are constants, so a mistake in one is a mistake in the program. */
static void check_tables(const struct rpc_server *server)
{
	char *mistake = types_mistake(server);
	if (mistake)
		give_up("the result types", mistake);
	for (size_t i = 0; i < server->n_methods; i++) {
		mistake = method_mistake(server, server->by_name[i]);
		if (mistake)
			give_up(server->by_name[i]->name, mistake);
		if (i && strcmp(server->by_name[i - 1]->name, server->by_name[i]->name) == 0)
			give_up(server->by_name[i]->name, "two methods have this name");
	}
}

/* Two shapes or types of one name, or a custom schema that is not JSON, show in the document. */
static void check_document(const char *document)
{
	struct error *e;
	json_t *json;

	e = rpc_parse(document, strlen(document), &json);
	if (e)
		give_up("the OpenRPC document", e->message);
	json_decref(json);
}

struct rpc_server *rpc_server_new(const struct rpc_method *const *methods, size_t n_methods, const struct rpc_type *const *types,
	size_t n_types, const char *version)
{
	struct rpc_server *server = mem_alloc(sizeof *server);
	*server = (struct rpc_server){
		.methods = methods, .n_methods = n_methods, .types = types, .n_types = n_types, .version = version
	};
	server->by_name = mem_array(n_methods, sizeof(const struct rpc_method *));
	for (size_t i = 0; i < n_methods; i++)
		server->by_name[i] = methods[i];
	qsort(server->by_name, n_methods, sizeof(const struct rpc_method *), compare_names);
	check_tables(server);

	struct text document = { 0 };
	openrpc_compact(server, &document);
	server->openrpc = text_take(&document);
	check_document(server->openrpc);
	return server;
}

void rpc_server_free(struct rpc_server *server)
{
	if (!server)
		return;
	free(server->by_name);
	free(server->openrpc);
	free(server);
}

const struct rpc_method *rpc_server_method(const struct rpc_server *server, const char *name)
{
	size_t low = 0, high = server->n_methods;

	while (low < high) {
		size_t middle = (low + high) / 2;
		int order = strcmp(name, server->by_name[middle]->name);
		if (order == 0)
			return server->by_name[middle];
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return NULL;
}

const struct rpc_type *server_type(const struct rpc_server *server, const char *name, size_t length)
{
	for (size_t i = 0; i < server->n_types; i++) {
		const char *type = server->types[i]->name;
		if (strlen(type) == length && memcmp(type, name, length) == 0)
			return server->types[i];
	}
	return NULL;
}

void roles_text(unsigned roles, char *to, size_t size)
{
	static const char *const names[] = { "scheduler", "plugin", "debug", "admin" };
	int used = 0;

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (roles >> i & 1)
			used += snprintf(to + used, size - (size_t)used, "%s%s", used ? "|" : "", names[i]);
}

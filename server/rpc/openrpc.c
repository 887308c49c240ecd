#include "rpc/openrpc.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "rpc/schema.h"
#include "rpc/server.h"

/* When an error comes, in the order of enum error_code. */
static const char *const error_docs[ERR_CODES] = {
	[ERR_PARSE] = "The text is not valid JSON; `detail` says where and why.",
	[ERR_INVALID_REQUEST] = "The JSON is not a call; `path` names the member.",
	[ERR_UNKNOWN_METHOD] = "There is no such method.",
	[ERR_INVALID_PARAMS] = "A parameter is wrong; `path` names it.",
	[ERR_INTERNAL] = "The server met a state that it does not understand.",
	[ERR_INSUFFICIENT] = "The request does not fit; `counts` and `nodes` say why.",
	[ERR_NOT_FOUND] = "What is named does not exist; `kind` and `name` say what.",
	[ERR_CONFLICT] = "It exists with other content, elsewhere, at another revision, or in a state that does not allow this.",
	[ERR_LOCKED] = "Another pod holds the node lock; `holder` names it.",
	[ERR_STALE_TOKEN] = "The token given is not the right one.",
	[ERR_AMBIGUOUS] = "More than one thing matches; `candidates` or `types` list them.",
	[ERR_EXPIRED] = "The pod's bind lapsed on this node, or the pod is being released.",
	[ERR_MISMATCH] = "What the node agent says is not what the pod reserved.",
	[ERR_EXHAUSTED] = "Every group of the pod was handed out already.",
	[ERR_FORBIDDEN] = "The caller lacks the role; `role` names it.",
	[ERR_UNAUTHENTICATED] = "The caller has no valid credentials.",
	[ERR_READ_ONLY] = "No growing writes now; `alarm` says why. Releases still work.",
	[ERR_OUTCOME_UNKNOWN] = "The disk failed during commit: the change may or may not survive.",
	[ERR_OVERLOADED] = "A limit was reached and nothing was done; `limit` names it.",
	[ERR_COMPACTED] = "Events before `oldest` are gone, or belong to another epoch.",
	[ERR_UNAVAILABLE] = "Nothing was done; try again.",
};

/* What every method can answer. */
static const uint32_t errors_of_all = RPC_ERROR(ERR_INVALID_PARAMS) | RPC_ERROR(ERR_INTERNAL) | RPC_ERROR(ERR_FORBIDDEN) |
				      RPC_ERROR(ERR_OUTCOME_UNKNOWN) | RPC_ERROR(ERR_OVERLOADED) | RPC_ERROR(ERR_UNAVAILABLE);

static uint32_t all_errors(const struct rpc_method *m)
{
	uint32_t growing = m->writes && !m->frees ? RPC_ERROR(ERR_READ_ONLY) : 0;
	return m->errors | errors_of_all | growing;
}

static void print_param(const struct rpc_field *f, struct json_out *o)
{
	out_object(o, NULL);
	out_string(o, "name", f->name);
	out_string(o, "description", f->doc);
	out_bool(o, "required", f->required);
	schema_field(f, o, "schema");
	out_end(o);
}

/* OpenRPC wants required parameters before optional ones. */
static void print_params(const struct rpc_shape *params, struct json_out *o)
{
	out_array(o, "params");
	for (int required = 1; required >= 0; required--)
		for (size_t i = 0; params && i < params->n_fields; i++)
			if (params->fields[i].required == required)
				print_param(&params->fields[i], o);
	out_end(o);
}

static void print_result(const struct rpc_method *m, struct json_out *o)
{
	out_object(o, "result");
	out_string(o, "name", "result");
	schema_members(m->result, NULL, o, "schema");
	out_end(o);
}

static void print_error_references(const struct rpc_method *m, struct json_out *o)
{
	char path[64];

	out_array(o, "errors");
	for (unsigned code = 0; code < ERR_CODES; code++) {
		if (!(all_errors(m) >> code & 1))
			continue;
		(void)snprintf(path, sizeof path, "#/components/errors/%s", error_slug(code));
		out_object(o, NULL);
		out_string(o, "$ref", path);
		out_end(o);
	}
	out_end(o);
}

static void print_roles(unsigned roles, struct json_out *o)
{
	char name[64];

	out_array(o, "x-roles");
	for (unsigned role = ROLE_SCHEDULER; role <= ROLE_ADMIN; role <<= 1) {
		if (!((roles | ROLE_ADMIN) & role))
			continue;
		roles_text(role, name, sizeof name);
		out_string(o, NULL, name);
	}
	out_end(o);
}

static void print_method(const struct rpc_method *m, struct json_out *o)
{
	out_object(o, NULL);
	out_string(o, "name", m->name);
	out_string(o, "summary", m->summary);
	out_string_if(o, "description", m->description);
	out_string(o, "paramStructure", "by-name");
	print_params(m->params, o);
	print_result(m, o);
	print_error_references(m, o);
	print_roles(m->roles, o);
	out_bool(o, "x-writes", m->writes);
	out_bool(o, "x-frees", m->frees);
	out_end(o);
}

static void print_schemas(const struct rpc_server *server, struct json_out *o)
{
	const struct rpc_shape *shapes[SHAPES_MAX];
	size_t n = server_shapes(server, shapes, SHAPES_MAX);

	out_object(o, "schemas");
	for (size_t i = 0; i < n; i++)
		schema_shape(shapes[i], o, shapes[i]->name);
	for (size_t i = 0; i < server->n_types; i++)
		schema_members(server->types[i]->members, server->types[i]->doc, o, server->types[i]->name);
	out_end(o);
}

static void print_errors(struct json_out *o)
{
	out_object(o, "errors");
	for (unsigned code = 0; code < ERR_CODES; code++) {
		out_object(o, error_slug(code));
		out_int(o, "code", error_number(code));
		out_string(o, "message", error_docs[code]);
		out_object(o, "data");
		out_string(o, "reason", error_slug(code));
		out_end(o);
		out_end(o);
	}
	out_end(o);
}

static void print_info(const struct rpc_server *server, struct json_out *o)
{
	out_object(o, "info");
	out_string(o, "title", "allotd");
	out_string(o, "version", server->version);
	out_string(o, "description",
		"The durable record of who holds which device. JSON-RPC 2.0; parameters by name; absent members are omitted, "
		"never null. "
		"Names are 1 to 253 bytes of UTF-8 without control characters, times Unix milliseconds, durations seconds. "
		"Clients must ignore unknown members, reasons, event kinds, states and error codes.");
	out_object(o, "license");
	out_string(o, "name", "Apache-2.0");
	out_end(o);
	out_end(o);
}

void openrpc_compact(const struct rpc_server *server, struct text *out)
{
	struct json_out o = json_out_start(out);

	out_object(&o, NULL);
	out_string(&o, "openrpc", "1.3.2");
	print_info(server, &o);
	out_array(&o, "methods");
	for (size_t i = 0; i < server->n_methods; i++)
		print_method(server->methods[i], &o);
	out_end(&o);
	out_object(&o, "components");
	print_schemas(server, &o);
	print_errors(&o);
	out_end(&o);
	out_end(&o);
}

void rpc_openrpc(const struct rpc_server *server, struct text *out)
{
	json_t *document = json_loads(server->openrpc, 0, NULL);
	char *pretty = json_dumps(document, JSON_INDENT(2) | JSON_PRESERVE_ORDER);

	text_puts(out, pretty);
	text_putc(out, '\n');
	free(pretty);
	json_decref(document);
}

static struct rpc_done discover(struct rpc_call *call, const void *params, void *world)
{
	(void)params;
	(void)world;
	rpc_result_text(call, rpc_call_server(call)->openrpc);
	return rpc_done(call);
}

static const struct rpc_member discover_result[] = {
	{ "openrpc", "string", "The version of the OpenRPC specification." },
	{ "info", "object", "Title and version." },
	{ "methods", "[object]", "The methods." },
	{ "components", "object", "What the methods refer to." },
	{ 0 },
};

const struct rpc_method rpc_discover = {
	.name = "rpc.discover",
	.summary = "Describes all methods as an OpenRPC document.",
	.roles = ROLE_ALL,
	.result = discover_result,
	.handle = discover,
};

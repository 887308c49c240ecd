#include "rpc/exchange.h"

#include <assert.h>
#include <string.h>

#include "rpc/call.h"
#include "rpc/decode.h"
#include "rpc/envelope.h"
#include "rpc/parse.h"
#include "rpc/server.h"

enum { NAME_SHOWN = 64 }; /* bytes of a foreign method name that are repeated in an error */

static const struct rpc_shape no_params = { .name = NULL };

static struct rpc_exchange *exchange_open(const struct rpc_server *server, const struct rpc_peer *peer, void *owner)
{
	struct arena *arena = arena_new();
	struct rpc_exchange *x = arena_alloc(arena, sizeof *x);
	x->server = server;
	x->arena = arena;
	x->peer = (struct rpc_peer){ .actor = arena_string(arena, peer->actor, strlen(peer->actor)), .roles = peer->roles };
	x->owner = owner;
	return x;
}

static void add_calls(struct rpc_exchange *x, size_t count, size_t extra)
{
	const size_t align = alignof(max_align_t);
	x->count = count;
	x->stride = offsetof(struct rpc_call, extra) + (extra + align - 1) / align * align;
	x->calls = arena_alloc(x->arena, count * x->stride);
	for (size_t i = 0; i < count; i++) {
		struct rpc_call *call = rpc_exchange_call(x, i);
		call->exchange = x;
		call->id = "null";
	}
}

static struct error *unknown_method(const char *name)
{
	size_t shown = rpc_cut(name, NAME_SHOWN);
	return error_new(ERR_UNKNOWN_METHOD, "There is no method \"%.*s\"%s.", (int)shown, name, name[shown] ? " (shortened)" : "");
}

static struct error *check_role(const struct rpc_method *method, const struct rpc_peer *peer)
{
	char roles[64];

	if (peer->roles & (method->roles | ROLE_ADMIN))
		return NULL;
	roles_text(method->roles | ROLE_ADMIN, roles, sizeof roles);
	struct error *e = error_new(ERR_FORBIDDEN, "The method %s needs the role %s.", method->name, roles);
	return error_with_string(e, "role", roles);
}

/* Finds the method and decodes the parameters. */
static struct error *resolve(struct rpc_call *call, const struct envelope *envelope)
{
	struct rpc_exchange *x = call->exchange;
	const struct rpc_method *method = rpc_server_method(x->server, envelope->method);
	if (!method)
		return unknown_method(envelope->method);

	struct error *e = check_role(method, &x->peer);
	if (e)
		return e;

	void *params;
	if (envelope->params && !json_is_object(envelope->params))
		return rpc_invalid("params", "Parameters are passed by name: \"params\" must be an object.");
	e = rpc_decode(method->params ? method->params : &no_params, envelope->params, x->arena, &params);
	if (e)
		return e;
	call->params = params;
	call->method = method;
	return NULL;
}

static void read_call(struct rpc_call *call, json_t *json)
{
	struct envelope envelope;
	struct error *e = envelope_read(json, call->exchange->arena, &envelope);
	call->id = envelope.id;
	call->notification = envelope.notification;
	if (!e)
		e = resolve(call, &envelope);
	if (e)
		call_born_refused(call, e);
}

static struct error *check_batch(size_t count)
{
	if (!count)
		return error_new(ERR_INVALID_REQUEST, "A batch must have at least one call.");
	if (count > RPC_BATCH_MAX)
		return error_new(ERR_INVALID_REQUEST, "A batch must have at most %d calls, not %zu.", RPC_BATCH_MAX, count);
	return NULL;
}

/* One call that is an error: what cannot be read as calls at all. */
static void read_nothing(struct rpc_exchange *x, size_t extra, struct error *error_take)
{
	add_calls(x, 1, extra);
	call_born_refused(rpc_exchange_call(x, 0), error_take);
}

static void read_batch(struct rpc_exchange *x, json_t *array, size_t extra)
{
	size_t count = json_array_size(array);
	struct error *e = check_batch(count);
	if (e) {
		read_nothing(x, extra, e);
		return;
	}
	x->batch = true;
	add_calls(x, count, extra);
	for (size_t i = 0; i < count; i++)
		read_call(rpc_exchange_call(x, i), json_array_get(array, i));
}

struct rpc_exchange *rpc_exchange_new(const struct rpc_server *server, const char *text, size_t length, const struct rpc_peer *peer,
	size_t extra, void *owner)
{
	struct rpc_exchange *x = exchange_open(server, peer, owner);
	json_t *json;
	struct error *e = rpc_parse(text, length, &json);

	if (e) {
		read_nothing(x, extra, e);
		return x;
	}
	if (json_is_array(json)) {
		read_batch(x, json, extra);
	} else {
		add_calls(x, 1, extra);
		read_call(rpc_exchange_call(x, 0), json);
	}
	json_decref(json);
	return x;
}

void rpc_exchange_free(struct rpc_exchange *x)
{
	if (!x)
		return;
	for (size_t i = 0; i < x->count; i++) {
		struct rpc_call *call = rpc_exchange_call(x, i);
		if (call->state_end)
			call->state_end(call->state);
		text_free(&call->answer);
	}
	arena_free(x->arena);
}

void *rpc_exchange_owner(const struct rpc_exchange *x)
{
	return x->owner;
}

size_t rpc_exchange_count(const struct rpc_exchange *x)
{
	return x->count;
}

struct rpc_call *rpc_exchange_call(struct rpc_exchange *x, size_t i)
{
	assert(i < x->count);
	return (struct rpc_call *)(void *)(x->calls + i * x->stride);
}

bool rpc_exchange_has_work(const struct rpc_exchange *x)
{
	for (size_t i = 0; i < x->count; i++)
		if (rpc_call_has_work((const struct rpc_call *)(const void *)(x->calls + i * x->stride)))
			return true;
	return false;
}

/* Results of `work` were not counted while the calls were decided, so together they may be too long after all. They are answers to reads:
 * nothing is lost by asking again. */
static void fit_work_results(struct rpc_exchange *x)
{
	size_t said = x->decided;

	for (size_t i = 0; i < x->count; i++) {
		struct rpc_call *call = rpc_exchange_call(x, i);
		if (!rpc_call_has_work(call) || call->notification || call->counted)
			continue;
		if (said + call->answer.length > response_room(x))
			call_answer_too_long(call);
		said += call->answer.length + 1;
	}
}

bool rpc_exchange_answer(struct rpc_exchange *x, struct text *out)
{
	size_t start = out->length;

	fit_work_results(x);
	for (size_t i = 0; i < x->count; i++) {
		struct rpc_call *call = rpc_exchange_call(x, i);
		assert(call->stage >= CALL_DONE);
		if (call->notification)
			continue;
		if (x->batch)
			text_putc(out, out->length == start ? '[' : ',');
		text_add(out, call->answer.bytes, call->answer.length);
	}
	if (x->batch && out->length > start)
		text_putc(out, ']');
	return out->length > start;
}

void rpc_overlong_text(struct text *out)
{
	struct error *e = error_new(ERR_OVERLOADED, "A request is at most %d bytes long.", RPC_REQUEST_MAX);
	struct json_out o = json_out_start(out);

	e = error_with_string(e, "limit", "request");
	out_object(&o, NULL);
	out_string(&o, "jsonrpc", "2.0");
	out_null(&o, "id");
	rpc_print_error(&o, "error", e);
	out_end(&o);
	error_free(e);
}

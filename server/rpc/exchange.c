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
	struct rpc_exchange *exchange = arena_alloc(arena, sizeof *exchange);
	exchange->server = server;
	exchange->arena = arena;
	exchange->peer = (struct rpc_peer){ .actor = arena_string(arena, peer->actor, strlen(peer->actor)),
		.roles = peer->roles };
	exchange->owner = owner;
	return exchange;
}

static void add_calls(struct rpc_exchange *exchange, size_t count, size_t extra)
{
	const size_t align = alignof(max_align_t);
	exchange->count = count;
	exchange->stride = offsetof(struct rpc_call, extra) + (extra + align - 1) / align * align;
	exchange->calls = arena_alloc(exchange->arena, count * exchange->stride);
	for (size_t i = 0; i < count; i++) {
		struct rpc_call *call = rpc_exchange_call(exchange, i);
		call->exchange = exchange;
		call->id = "null";
	}
}

static struct error *unknown_method(const char *name)
{
	size_t shown = rpc_cut(name, NAME_SHOWN);
	return error_new(
		ERR_UNKNOWN_METHOD, "there is no method \"%.*s\"%s", (int)shown, name, name[shown] ? " (shortened)" : "");
}

static struct error *check_role(const struct rpc_method *method, const struct rpc_peer *peer)
{
	char roles[64];

	if (peer->roles & (method->roles | ROLE_ADMIN))
		return NULL;
	roles_text(method->roles | ROLE_ADMIN, roles, sizeof roles);
	struct error *e = error_new(ERR_FORBIDDEN, "the method %s needs the role %s", method->name, roles);
	return error_with_string(e, "role", roles);
}

/* Finds the method and decodes the parameters. */
static struct error *resolve(struct rpc_call *call, const struct envelope *envelope)
{
	struct rpc_exchange *exchange = call->exchange;
	const struct rpc_method *method = rpc_server_method(exchange->server, envelope->method);
	if (!method)
		return unknown_method(envelope->method);

	struct error *e = check_role(method, &exchange->peer);
	if (e)
		return e;

	void *params;
	if (envelope->params && !json_is_object(envelope->params))
		return error_invalid("params", "params must be an object: parameters are passed by name");
	e = rpc_decode(method->params ? method->params : &no_params, envelope->params, exchange->arena, &params);
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
		return error_new(ERR_INVALID_REQUEST, "a batch must have at least one call");
	if (count > RPC_BATCH_MAX)
		return error_new(ERR_INVALID_REQUEST, "a batch must have at most %d calls, not %zu", RPC_BATCH_MAX, count);
	return NULL;
}

/* One call that is an error: what cannot be read as calls at all. */
static void read_nothing(struct rpc_exchange *exchange, size_t extra, struct error *error_take)
{
	add_calls(exchange, 1, extra);
	call_born_refused(rpc_exchange_call(exchange, 0), error_take);
}

static void read_batch(struct rpc_exchange *exchange, json_t *array, size_t extra)
{
	size_t count = json_array_size(array);
	struct error *e = check_batch(count);
	if (e) {
		read_nothing(exchange, extra, e);
		return;
	}
	exchange->batch = true;
	add_calls(exchange, count, extra);
	for (size_t i = 0; i < count; i++)
		read_call(rpc_exchange_call(exchange, i), json_array_get(array, i));
}

struct rpc_exchange *rpc_exchange_new(
	const struct rpc_server *server, const char *text, size_t length, const struct rpc_peer *peer, size_t extra, void *owner)
{
	struct rpc_exchange *exchange = exchange_open(server, peer, owner);
	json_t *json;
	struct error *e = rpc_parse(text, length, &json);

	if (e) {
		read_nothing(exchange, extra, e);
		return exchange;
	}
	if (json_is_array(json)) {
		read_batch(exchange, json, extra);
	} else {
		add_calls(exchange, 1, extra);
		read_call(rpc_exchange_call(exchange, 0), json);
	}
	json_decref(json);
	return exchange;
}

void rpc_exchange_free(struct rpc_exchange *exchange)
{
	if (!exchange)
		return;
	for (size_t i = 0; i < exchange->count; i++) {
		struct rpc_call *call = rpc_exchange_call(exchange, i);
		if (call->state_end)
			call->state_end(call->state);
		arena_free(call->work_arena);
		text_free(&call->answer);
	}
	arena_free(exchange->arena);
}

void *rpc_exchange_owner(const struct rpc_exchange *exchange)
{
	return exchange->owner;
}

size_t rpc_exchange_count(const struct rpc_exchange *exchange)
{
	return exchange->count;
}

struct rpc_call *rpc_exchange_call(struct rpc_exchange *exchange, size_t i)
{
	assert(i < exchange->count);
	return (struct rpc_call *)(void *)(exchange->calls + i * exchange->stride);
}

bool rpc_exchange_has_work(const struct rpc_exchange *exchange)
{
	for (size_t i = 0; i < exchange->count; i++)
		if (rpc_call_has_work((const struct rpc_call *)(const void *)(exchange->calls + i * exchange->stride)))
			return true;
	return false;
}

/* Results of `work` were not counted while the calls were decided, so together they may be too long after all. They are answers
 * to reads: nothing is lost by asking again. */
static void fit_work_results(struct rpc_exchange *exchange)
{
	size_t said = exchange->decided;

	for (size_t i = 0; i < exchange->count; i++) {
		struct rpc_call *call = rpc_exchange_call(exchange, i);
		if (!rpc_call_has_work(call) || call->notification || call->counted)
			continue;
		if (said + call->answer.length > response_room(exchange))
			call_answer_too_long(call);
		said += call->answer.length + 1;
	}
}

bool rpc_exchange_answer(struct rpc_exchange *exchange, struct text *out)
{
	size_t start = out->length;

	fit_work_results(exchange);
	for (size_t i = 0; i < exchange->count; i++) {
		struct rpc_call *call = rpc_exchange_call(exchange, i);
		assert(call->stage >= CALL_DONE);
		if (call->notification)
			continue;
		if (exchange->batch)
			text_putc(out, out->length == start ? '[' : ',');
		text_add(out, call->answer.bytes, call->answer.length);
	}
	if (exchange->batch && out->length > start)
		text_putc(out, ']');
	return out->length > start;
}

void rpc_overlong_text(struct text *out)
{
	struct error *e = error_new(ERR_OVERLOADED, "a request is at most %d bytes long", RPC_REQUEST_MAX);
	struct json_out o = json_out_start(out);

	e = error_with_string(e, "limit", "request");
	out_object(&o, NULL);
	out_string(&o, "jsonrpc", "2.0");
	out_null(&o, "id");
	rpc_print_error(&o, "error", e);
	out_end(&o);
	error_free(e);
}

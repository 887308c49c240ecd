/* Running one call and what its handler sees. The answer is printed while the handler writes: the response's head when the handler
 * asks for the result, the rest when it says it is done. */
#include "rpc/call.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "rpc/server.h"

enum { VERDICT_DONE = 1, VERDICT_REFUSED, VERDICT_LATER };
enum {
	ANSWER_ROOM = 500,   /* bytes an answer begins with, so that common ones need no second allocation */
	TOO_LONG_ROOM = 2048 /* bytes that suffice to say that an answer is too long, whatever its id */
};

static void print_detail(struct json_out *o, const struct error_detail *d)
{
	switch (d->kind) {
	case DETAIL_INTEGER:
		out_int(o, d->key, d->integer);
		break;
	case DETAIL_STRING:
		out_string(o, d->key, d->string);
		break;
	case DETAIL_STRINGS:
		out_strings(o, d->key, (const char *const *)d->strings, d->count);
		break;
	case DETAIL_JSON:
		out_raw(o, d->key, d->string);
		break;
	}
}

void rpc_print_error(struct json_out *o, const char *key, const struct error *e)
{
	out_object(o, key);
	out_int(o, "code", error_number(e->code));
	out_string(o, "message", e->message);
	out_object(o, "data");
	out_string(o, "reason", error_slug(e->code));
	for (size_t i = 0; i < e->n_details; i++)
		print_detail(o, &e->details[i]);
	out_end(o);
	out_end(o);
}

/* Begins a response object and leaves it open at its last member. */
static struct json_out answer_start(struct rpc_call *call)
{
	text_clear(&call->answer);
	text_room(&call->answer, ANSWER_ROOM);
	struct json_out o = json_out_start(&call->answer);
	out_object(&o, NULL);
	out_string(&o, "jsonrpc", "2.0");
	out_raw(&o, "id", call->id);
	return o;
}

/* The call's answer is this error; the error is borrowed. */
static void call_answer_error(struct rpc_call *call, const struct error *e)
{
	struct json_out o = answer_start(call);
	rpc_print_error(&o, "error", e);
	out_end(&o);
	call->stage = CALL_REFUSED;
}

void call_born_refused(struct rpc_call *call, struct error *error_take)
{
	call_answer_error(call, error_take);
	call->stage = CALL_BORN_REFUSED;
	error_free(error_take);
}

/* Forgets everything a handler left, as before its first run. */
static void call_reset(struct rpc_call *call)
{
	if (call->state_end)
		call->state_end(call->state);
	call->state = NULL;
	call->state_end = NULL;
	call->exchange->decided -= call->counted;
	call->counted = 0;
	call->stage = CALL_READY;
	call->cut = false;
	text_clear(&call->answer);
}

size_t response_room(const struct rpc_exchange *exchange)
{
	return RPC_RESPONSE_MAX - (exchange->batch ? exchange->count * TOO_LONG_ROOM + 2 : 0);
}

void call_answer_too_long(struct rpc_call *call)
{
	struct error *e = error_new(ERR_OVERLOADED, "the answer would be longer than %d bytes; ask for less", RPC_RESPONSE_MAX);
	e = error_with_string(e, "limit", "response");
	call_answer_error(call, e);
	error_free(e);
}

/* Counts a decided answer, and refuses the call when the exchange cannot say that much. A notification says nothing. */
static void count_answer(struct rpc_call *call)
{
	struct rpc_exchange *x = call->exchange;
	if (call->notification)
		return;
	if (x->decided + call->answer.length > response_room(x)) {
		call->cut = call->stage == CALL_DONE;
		call_answer_too_long(call);
	}
	call->counted = call->answer.length + 1; /* and a comma */
	x->decided += call->counted;
}

bool rpc_call_run(struct rpc_call *call, void *world)
{
	if (call->stage == CALL_BORN_REFUSED)
		return false;
	call_reset(call);
	struct rpc_done done = call->method->handle(call, call->params, world);
	assert(done.verdict);
	(void)done;
	if (call->stage == CALL_LATER)
		return true;
	count_answer(call);
	return call->stage == CALL_DONE;
}

void rpc_call_work(struct rpc_call *call, void *world, void *reader)
{
	if (call->stage != CALL_LATER)
		return;
	call->stage = CALL_READY;
	call->working = true;
	struct rpc_done done = call->method->work(call, call->params, world, reader);
	assert(done.verdict && call->stage != CALL_LATER);
	(void)done;
}

void rpc_call_fail(struct rpc_call *call, const struct error *failure)
{
	if (call->stage == CALL_BORN_REFUSED)
		return;
	call_reset(call);
	call_answer_error(call, failure);
}

struct json_out *rpc_result(struct rpc_call *call)
{
	if (call->stage != CALL_OPEN) {
		assert(call->stage == CALL_READY);
		call->result = answer_start(call);
		out_object(&call->result, "result");
		call->stage = CALL_OPEN;
	}
	return &call->result;
}

void rpc_result_text(struct rpc_call *call, const char *json)
{
	assert(call->stage == CALL_READY);
	call->result = answer_start(call);
	out_raw(&call->result, "result", json);
	call->stage = CALL_OPEN;
}

struct rpc_done rpc_done(struct rpc_call *call)
{
	rpc_result(call);
	assert(call->result.depth <= 2); /* the handler closed what it opened; the response and its result remain */
	while (call->result.depth)
		out_end(&call->result);
	call->stage = CALL_DONE;
	return (struct rpc_done){ VERDICT_DONE };
}

struct rpc_done rpc_refuse(struct rpc_call *call, struct error *error_take)
{
	assert(call->stage == CALL_READY || call->stage == CALL_OPEN);
	call_answer_error(call, error_take);
	error_free(error_take);
	return (struct rpc_done){ VERDICT_REFUSED };
}

struct rpc_done rpc_later(struct rpc_call *call)
{
	assert(call->stage == CALL_READY && call->method->work);
	call->stage = CALL_LATER;
	return (struct rpc_done){ VERDICT_LATER };
}

struct arena *rpc_call_arena(struct rpc_call *call)
{
	if (!call->working)
		return call->exchange->arena;
	if (!call->work_arena)
		call->work_arena = arena_new();
	return call->work_arena;
}

const struct rpc_peer *rpc_call_peer(const struct rpc_call *call)
{
	return &call->exchange->peer;
}

const struct rpc_server *rpc_call_server(const struct rpc_call *call)
{
	return call->exchange->server;
}

void rpc_call_keep(struct rpc_call *call, void *state_take, void (*end)(void *state))
{
	assert(!call->state);
	call->state = state_take;
	call->state_end = end;
}

void *rpc_call_state(const struct rpc_call *call)
{
	return call->state;
}

const struct rpc_method *rpc_call_method(const struct rpc_call *call)
{
	return call->method;
}

bool rpc_call_cut(const struct rpc_call *call)
{
	return call->cut;
}

size_t rpc_call_size(const struct rpc_call *call)
{
	return call->answer.length;
}

bool rpc_call_waits_for_work(const struct rpc_call *call)
{
	return call->stage == CALL_LATER;
}

bool rpc_call_has_work(const struct rpc_call *call)
{
	return call->method && call->method->work;
}

struct rpc_exchange *rpc_call_exchange(struct rpc_call *call)
{
	return call->exchange;
}

void *rpc_call_extra(struct rpc_call *call)
{
	return call->extra;
}

struct rpc_call *rpc_call_of_extra(void *extra)
{
	return (struct rpc_call *)(void *)((char *)extra - offsetof(struct rpc_call, extra));
}

bool rpc_call_finish(struct rpc_call *call)
{
	struct rpc_exchange *x = call->exchange;
	assert(x->finished < x->count);
	return ++x->finished == x->count;
}

#include "fake.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "base/mem.h"
#include "rpc/openrpc.h"

struct subtract_params {
	int64_t minuend, subtrahend;
};

static const struct rpc_field subtract_fields[] = {
	REQUIRED(struct subtract_params, minuend, "From this.", RANGE(-1000, 1000)),
	REQUIRED(struct subtract_params, subtrahend, "Take this.", RANGE(-1000, 1000)),
};
static const struct rpc_shape subtract_shape = { SHAPE_OF(struct subtract_params, subtract_fields) };
static const struct rpc_member subtract_result[] = { { "difference", "integer", "What remains." }, { 0 } };

static struct rpc_done subtract(struct rpc_call *call, const void *params, void *world)
{
	const struct subtract_params *p = params;
	((struct fake_world *)world)->runs++;
	out_int(rpc_result(call), "difference", p->minuend - p->subtrahend);
	return rpc_done(call);
}

static const struct rpc_method fake_subtract = { .name = "subtract",
	.summary = "Subtracts.",
	.roles = ROLE_ALL,
	.params = &subtract_shape,
	.result = subtract_result,
	.handle = subtract };

struct sum_params {
	int64_t a, b, c;
};

static const struct rpc_field sum_fields[] = {
	OPTIONAL(struct sum_params, a, "A term."),
	OPTIONAL(struct sum_params, b, "A term."),
	OPTIONAL(struct sum_params, c, "A term."),
};
static const struct rpc_shape sum_shape = { SHAPE_OF(struct sum_params, sum_fields) };
static const struct rpc_member sum_result[] = { { "sum", "integer", "All together." }, { 0 } };

static struct rpc_done sum(struct rpc_call *call, const void *params, void *world)
{
	const struct sum_params *p = params;
	((struct fake_world *)world)->runs++;
	out_int(rpc_result(call), "sum", p->a + p->b + p->c);
	return rpc_done(call);
}

static const struct rpc_method fake_sum = {
	.name = "sum", .summary = "Adds.", .roles = ROLE_ALL, .params = &sum_shape, .result = sum_result, .handle = sum
};

static struct rpc_done nothing(struct rpc_call *call, const void *params, void *world)
{
	(void)params;
	((struct fake_world *)world)->runs++;
	return rpc_done(call);
}

static const struct rpc_method fake_update = {
	.name = "update", .summary = "Does nothing.", .roles = ROLE_ALL, .handle = nothing
};

struct hello_params {
	int64_t n;
};

static const struct rpc_field hello_fields[] = { OPTIONAL(struct hello_params, n, "A number.") };
static const struct rpc_shape hello_shape = { SHAPE_OF(struct hello_params, hello_fields) };
static const struct rpc_method fake_hello = {
	.name = "notify_hello", .summary = "Does nothing.", .roles = ROLE_ALL, .params = &hello_shape, .handle = nothing
};

static struct rpc_done get_data(struct rpc_call *call, const void *params, void *world)
{
	(void)params;
	((struct fake_world *)world)->runs++;
	struct json_out *o = rpc_result(call);
	out_array(o, "data");
	out_string(o, NULL, "hello");
	out_int(o, NULL, 5);
	out_end(o);
	return rpc_done(call);
}

static const struct rpc_member data_result[] = { { "data", "[string|integer]", "Data." }, { 0 } };
static const struct rpc_method fake_data = {
	.name = "get_data", .summary = "Data.", .roles = ROLE_ALL, .result = data_result, .handle = get_data
};

struct count_params {
	int64_t by;
};

static const struct rpc_field count_fields[] = { OPTIONAL(struct count_params, by, "How many.", RANGE(1, 100), DEFAULT(1)) };
static const struct rpc_shape count_shape = { SHAPE_OF(struct count_params, count_fields) };
static const struct rpc_member count_result[] = { { "counter", "integer", "The counter." }, { 0 } };

static struct rpc_done count(struct rpc_call *call, const void *params, void *world)
{
	struct fake_world *w = world;
	w->runs++;
	w->counter += ((const struct count_params *)params)->by;
	out_int(rpc_result(call), "counter", w->counter);
	return rpc_done(call);
}

static const struct rpc_method fake_count = { .name = "count",
	.summary = "Counts.",
	.description = "It counts up. Never down.",
	.roles = ROLE_SCHEDULER,
	.writes = true,
	.params = &count_shape,
	.result = count_result,
	.errors = RPC_ERROR(ERR_CONFLICT),
	.handle = count };

struct big_params {
	int64_t bytes;
};

static const struct rpc_field big_fields[] = { REQUIRED(struct big_params, bytes, "Of the answer.") };
static const struct rpc_shape big_shape = { SHAPE_OF(struct big_params, big_fields) };
static const struct rpc_member big_result[] = { { "x", "string", "Many." }, { 0 } };

static struct rpc_done big(struct rpc_call *call, const void *params, void *world)
{
	const struct big_params *p = params;
	size_t n = (size_t)p->bytes;
	char *x = mem_alloc(n + 1);

	((struct fake_world *)world)->runs++;
	memset(x, 'x', n);
	out_string(rpc_result(call), "x", x);
	free(x);
	return rpc_done(call);
}

static const struct rpc_method fake_big = { .name = "big",
	.summary = "Answers at length.",
	.roles = ROLE_ALL,
	.params = &big_shape,
	.result = big_result,
	.handle = big };

static struct rpc_done refuse(struct rpc_call *call, const void *params, void *world)
{
	static const char *const names[] = { "a", "b\"c" };

	(void)params;
	((struct fake_world *)world)->runs++;
	out_object(rpc_result(call), "half");
	struct error *e = error_new(ERR_CONFLICT, "it says \"%s\"", "no");
	e = error_with_integer(e, "revision", 7);
	e = error_with_string(e, "node", "n1");
	e = error_with_strings(e, "candidates", names, 2);
	e = error_with_json(e, "counts", mem_string("{\"x\":1}"));
	return rpc_refuse(call, e);
}

static const struct rpc_method fake_refuse = { .name = "refuse", .summary = "Refuses.", .roles = ROLE_ALL, .handle = refuse };

struct later_params {
	int64_t x;
	bool early;
};

static const struct rpc_field later_fields[] = {
	REQUIRED(struct later_params, x, "A number."),
	OPTIONAL(struct later_params, early, "Answer at once."),
};
static const struct rpc_shape later_shape = { SHAPE_OF(struct later_params, later_fields) };
static const struct rpc_member later_result[] = { { "x", "integer", "The number." }, { "y", "string?", "As text." }, { 0 } };

struct later_state {
	struct fake_world *world;
	struct arena *arena;
	int64_t x;
};

static void later_end(void *state)
{
	((struct later_state *)state)->world->ended++;
	free(state);
}

static struct rpc_done later(struct rpc_call *call, const void *params, void *world)
{
	const struct later_params *p = params;
	struct later_state state = { .world = world, .arena = rpc_call_arena(call), .x = p->x };

	state.world->runs++;
	if (p->early) {
		out_int(rpc_result(call), "x", p->x);
		return rpc_done(call);
	}
	rpc_call_keep(call, mem_copy(&state, sizeof state), later_end);
	return rpc_later(call);
}

static struct rpc_done later_work(struct rpc_call *call, const void *params, void *world, void *reader)
{
	const struct later_params *p = params;
	const struct later_state *state = rpc_call_state(call);

	((struct fake_world *)world)->works++;
	assert_non_null(reader);
	assert_ptr_not_equal(rpc_call_arena(call), state->arena); /* that one may be in use by the other calls of a batch */
	assert_int_equal(state->x, p->x);
	if (state->x < 0)
		return rpc_refuse(call, error_new(ERR_COMPACTED, "Gone."));
	out_int(rpc_result(call), "x", state->x);
	if (state->x > 1000) {
		char *y = arena_alloc(rpc_call_arena(call), (size_t)state->x + 1);
		memset(y, 'y', (size_t)state->x);
		out_string(rpc_result(call), "y", y);
	}
	return rpc_done(call);
}

static const struct rpc_method fake_later = { .name = "later",
	.summary = "Answers later.",
	.roles = ROLE_ALL,
	.params = &later_shape,
	.result = later_result,
	.handle = later,
	.work = later_work };

static const struct rpc_method fake_order = { .name = "order", .summary = "For admins.", .roles = ROLE_ADMIN, .handle = nothing };
static const struct rpc_method fake_plug = { .name = "plug", .summary = "For plugins.", .roles = ROLE_PLUGIN, .handle = nothing };

struct renew_params {
	const char *uid;
	int64_t ttl;
};

static const struct rpc_field renew_fields[] = {
	REQUIRED(struct renew_params, uid, "The pod."),
	REQUIRED(struct renew_params, ttl, "Seconds.", RANGE(1, 86400)),
};
static const struct rpc_shape renew_shape = { SHAPE_OF(struct renew_params, renew_fields) };
static const struct rpc_method fake_renew = {
	.name = "pod.renew", .summary = "As in the contract.", .roles = ROLE_SCHEDULER, .params = &renew_shape, .handle = nothing
};

struct events_params {
	int64_t after, limit;
	const char *uid, *node;
};

static const struct rpc_field events_fields[] = {
	OPTIONAL(struct events_params, after, "Revisions above this.", RANGE(0, RPC_INTEGER_MAX)),
	OPTIONAL(struct events_params, limit, "At most so many.", RANGE(1, 5000), DEFAULT(1000)),
	OPTIONAL(struct events_params, uid, "Only of this pod."),
	OPTIONAL(struct events_params, node, "Only of this node."),
};
static const struct rpc_shape events_shape = { SHAPE_OF(struct events_params, events_fields) };
static const struct rpc_method fake_events = {
	.name = "event.list", .summary = "As in the contract.", .roles = ROLE_ALL, .params = &events_shape, .handle = nothing
};

static const struct rpc_method *const methods[] = { &fake_subtract, &fake_sum, &fake_update, &fake_hello, &fake_data, &fake_count,
	&fake_big, &fake_refuse, &fake_later, &fake_order, &fake_plug, &fake_renew, &fake_events, &rpc_discover };

struct rpc_server *fake_server(void)
{
	return rpc_server_new(methods, sizeof methods / sizeof methods[0], NULL, 0, "1.2.3");
}

void fake_run(struct rpc_exchange *exchange, struct fake_world *world)
{
	int reader = 0;
	size_t n = rpc_exchange_count(exchange);

	for (size_t i = 0; i < n; i++) {
		struct rpc_call *call = rpc_exchange_call(exchange, i);
		rpc_call_run(call, world);
		rpc_call_work(call, world, &reader);
		assert_int_equal(rpc_call_finish(call), i + 1 == n);
	}
}

char *fake_answer_to(const struct rpc_server *server, unsigned roles, const char *text, size_t length, struct fake_world *world)
{
	const struct rpc_peer peer = { .actor = "test", .roles = roles };
	struct rpc_exchange *x = rpc_exchange_new(server, text, length, &peer, 0, NULL);
	struct text out = { 0 };

	fake_run(x, world);
	bool due = rpc_exchange_answer(x, &out);
	assert_int_equal(due, out.length > 0);
	assert_null(strchr(text_string(&out), '\n'));
	assert_int_equal(out.length, strlen(text_string(&out)));
	rpc_exchange_free(x);
	return text_take(&out);
}

char *fake_answer(const struct rpc_server *server, const char *text, size_t length, struct fake_world *world)
{
	return fake_answer_to(server, ROLE_ADMIN, text, length, world);
}

void assert_answer(const struct rpc_server *server, const char *text, const char *expected)
{
	struct fake_world world = { 0 };
	char *answer = fake_answer(server, text, strlen(text), &world);
	assert_string_equal(answer, expected);
	free(answer);
}

void assert_error(const char *answer, const char *id, int code, const char *reason, const char *path)
{
	json_t *json = json_loads(answer, JSON_REJECT_DUPLICATES, NULL);
	const char *version, *got_reason, *got_path = NULL, *message;
	json_t *got_id, *data;
	int got_code;

	assert_non_null(json);
	assert_int_equal(json_unpack(json, "{s:s, s:o, s:{s:i, s:s, s:o !} !}", "jsonrpc", &version, "id", &got_id, "error",
				 "code", &got_code, "message", &message, "data", &data),
		0);
	assert_int_equal(json_unpack(data, "{s:s, s?s}", "reason", &got_reason, "path", &got_path), 0);
	char *id_text = json_dumps(got_id, JSON_ENCODE_ANY);
	assert_string_equal(version, "2.0");
	assert_string_equal(id_text, id);
	assert_int_equal(got_code, code);
	assert_string_equal(got_reason, reason);
	assert_true(strlen(message) > 0 && strlen(message) < 2000);
	if (path) {
		assert_non_null(got_path);
		assert_string_equal(got_path, path);
	}
	if (code == -32700)
		assert_non_null(json_object_get(data, "detail"));
	free(id_text);
	json_decref(json);
}

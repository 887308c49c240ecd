/* One JSON text in, at most one JSON text out. An exchange owns everything about a text that was received: its calls (one, or
 * those of a batch), their decoded parameters, their answers. Text that is not even JSON makes an exchange with one call that
 * has its error already, so that the owner treats all alike and answers stay in order:
 *
 *	new -> for each call in order: rpc_call_run [-> rpc_call_work] [-> rpc_call_fail] -> rpc_call_finish
 *	    -> when the last one finished: rpc_exchange_answer -> free
 *
 * The text and the peer may go once rpc_exchange_new returned. Calls run one at a time except in `work`; all functions belong
 * to the loop thread, only rpc_call_work may run on another one. */
#ifndef ALLOTD_RPC_EXCHANGE_H
#define ALLOTD_RPC_EXCHANGE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"
#include "rpc/method.h"

struct rpc_exchange;

enum {
	RPC_REQUEST_MAX = 1 << 20,  /* bytes of one text */
	RPC_RESPONSE_MAX = 8 << 20, /* bytes of one answer */
	RPC_BATCH_MAX = 128,        /* calls */
	RPC_DEPTH_MAX = 32          /* nested arrays and objects */
};

/* The methods of a server, looked up by name. Borrows the tables. Aborts with a sentence on stderr when a table makes no sense,
 * so a mistake cannot get past the first start. `types` (n_types of them) document results. `version` goes into the OpenRPC
 * document. */
struct rpc_server *rpc_server_new(const struct rpc_method *const *methods, size_t n_methods, const struct rpc_type *const *types,
	size_t n_types, const char *version);
void rpc_server_free(struct rpc_server *server);

/* The method of that name, NULL when there is none. */
const struct rpc_method *rpc_server_method(const struct rpc_server *server, const char *name);

/* Parses and decodes a text. Each call gets `extra` bytes of zeroed memory for its owner (rpc_call_extra), `owner` is kept for
 * rpc_exchange_owner. */
struct rpc_exchange *rpc_exchange_new(
	const struct rpc_server *server, const char *text, size_t length, const struct rpc_peer *peer, size_t extra, void *owner);

/* Releases the exchange and its calls; NULL is legal. */
void rpc_exchange_free(struct rpc_exchange *exchange);

/* What rpc_exchange_new was given as `owner`. */
void *rpc_exchange_owner(const struct rpc_exchange *exchange);

/* The calls, at least one. */
size_t rpc_exchange_count(const struct rpc_exchange *exchange);
struct rpc_call *rpc_exchange_call(struct rpc_exchange *exchange, size_t i);

/* Whether any of its calls has work: such an exchange is a barrier on its connection. */
bool rpc_exchange_has_work(const struct rpc_exchange *exchange);

/* Appends the answer, one JSON text without a line end. False, and nothing appended, when none is due (only notifications). */
bool rpc_exchange_answer(struct rpc_exchange *exchange, struct text *out);

/* The owner's memory in a call, and back: aligned for any type. */
void *rpc_call_extra(struct rpc_call *call);
struct rpc_call *rpc_call_of_extra(void *extra);

/* The exchange that the call is part of. */
struct rpc_exchange *rpc_call_exchange(struct rpc_call *call);

/* The method called; NULL when the call is an error already (unknown method, bad parameters ...). */
const struct rpc_method *rpc_call_method(const struct rpc_call *call);

/* Whether rpc_call_work is needed after rpc_call_run. */
bool rpc_call_has_work(const struct rpc_call *call);

/* Runs the handler, once more if it ran already. False when the call was refused. */
bool rpc_call_run(struct rpc_call *call, void *world);

/* Whether the handler succeeded but its result was too long and was replaced by an error: then nothing it changed may stay. */
bool rpc_call_cut(const struct rpc_call *call);

/* Whether the handler left the answer to rpc_call_work. */
bool rpc_call_waits_for_work(const struct rpc_call *call);

/* Bytes of the answer so far. */
size_t rpc_call_size(const struct rpc_call *call);

/* Runs the method's work; nothing happens when `handle` answered by itself. */
void rpc_call_work(struct rpc_call *call, void *world, void *reader);

/* The answer is this error instead, whatever was answered before. */
void rpc_call_fail(struct rpc_call *call, const struct error *failure);

/* The call's answer is final. True when it was the last of its exchange to say so. */
bool rpc_call_finish(struct rpc_call *call);

/* Prints an error as the member `key` of a response: {"code", "message", "data": {"reason", ...}}. */
void rpc_print_error(struct json_out *o, const char *key, const struct error *e);

/* Appends the answer to a text that is longer than RPC_REQUEST_MAX and was never read to its end. */
void rpc_overlong_text(struct text *out);

#endif

/* The insides of an exchange and its calls. Private to rpc/; the public parts are rpc/exchange.h and rpc/method.h. */
#ifndef ALLOTD_RPC_CALL_H
#define ALLOTD_RPC_CALL_H

#include <stdalign.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/text.h"
#include "rpc/exchange.h"
#include "rpc/json_out.h"

/* How far the answer of a call is. */
enum call_stage {
	CALL_READY,       /* decoded, never run, or run without effect */
	CALL_OPEN,        /* a handler is writing */
	CALL_LATER,       /* handle is done, work will answer */
	CALL_DONE,        /* `answer` is complete and a result */
	CALL_REFUSED,     /* `answer` is complete and an error */
	CALL_BORN_REFUSED /* the same since it was read: there is nothing to run */
};

struct rpc_call {
	struct rpc_exchange *exchange;
	const struct rpc_method *method; /* NULL: born refused */
	const void *params;              /* decoded, in the exchange's arena */
	const char *id;                  /* as JSON text */
	bool notification;
	enum call_stage stage;
	struct text answer;     /* the response object */
	struct json_out result; /* writes into `answer` */
	bool cut;               /* the handler's result was too long and was replaced by an error */
	size_t counted;         /* bytes of `answer` that `exchange->decided` contains */
	void *state;            /* of the handler */
	void (*state_end)(void *state);
	bool working;             /* in `work`: other calls may use the exchange's arena meanwhile */
	struct arena *work_arena; /* made when `work` wants one */
	alignas(max_align_t) char extra[];
};

/* Invariants: `count` > 0; calls lie `stride` bytes apart in one block of the arena; `finished` <= `count`. */
struct rpc_exchange {
	const struct rpc_server *server; /* borrowed */
	struct arena *arena;             /* holds the exchange itself */
	struct rpc_peer peer;            /* a copy */
	void *owner;
	bool batch; /* answered by an array */
	size_t count, finished;
	size_t stride;
	size_t decided; /* bytes of the answers decided so far, those of `work` not included */
	char *calls;
};

/* The same, for good. */
void call_born_refused(struct rpc_call *call, struct error *error_take);

/* The bytes that the results of an exchange may have together. What remains up to RPC_RESPONSE_MAX is for the errors that say
 * so. */
size_t response_room(const struct rpc_exchange *exchange);

/* Replaces an answer by the error that says it is too long. */
void call_answer_too_long(struct rpc_call *call);

#endif

/* A method is one constant that is its own manual: name, summary, roles, parameters, result, errors, handler.
 * The handler reads: parameters; refusals, one per paragraph, by early return; the deed; the answer. */
#ifndef ALLOTD_RPC_METHOD_H
#define ALLOTD_RPC_METHOD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "rpc/field.h"
#include "rpc/json_out.h"

struct rpc_call;
struct rpc_server;

/* Who may call a method. An admin may call every method. */
enum rpc_role {
	ROLE_SCHEDULER = 1,
	ROLE_PLUGIN = 2,
	ROLE_DEBUG = 4,
	ROLE_ADMIN = 8,
	ROLE_ALL = ROLE_SCHEDULER | ROLE_PLUGIN | ROLE_DEBUG | ROLE_ADMIN
};

/* Who calls. */
struct rpc_peer {
	const char *actor; /* named in events, e.g. "unix:uid=1000" */
	unsigned roles;    /* of enum rpc_role */
};

/* What a handler returns. Only the functions below make one, so a handler cannot forget to answer. */
struct rpc_done {
	int verdict; /* private */
};

/* The answer is what was written to rpc_result (nothing: an empty object). */
struct rpc_done rpc_done(struct rpc_call *call);

/* The answer is this error; what was written of a result is discarded. */
struct rpc_done rpc_refuse(struct rpc_call *call, struct error *error_take);

/* The method's `work` will answer. Only from the `handle` of a method that has one. */
struct rpc_done rpc_later(struct rpc_call *call);

/* The result: an object that is open already; write members into it. */
struct json_out *rpc_result(struct rpc_call *call);

/* The whole result as the text of a JSON object, instead of rpc_result. */
void rpc_result_text(struct rpc_call *call, const char *json);

/* Memory that lives as long as the call. Only for the thread that runs the call. */
struct arena *rpc_call_arena(struct rpc_call *call);

/* Who calls; which server was called. */
const struct rpc_peer *rpc_call_peer(const struct rpc_call *call);
const struct rpc_server *rpc_call_server(const struct rpc_call *call);

/* What `handle` leaves for `work`: kept until the call ends or is run again, then handed to `end` (NULL: nothing to do). */
void rpc_call_keep(struct rpc_call *call, void *state_take, void (*end)(void *state));
void *rpc_call_state(const struct rpc_call *call);

/* A member of a result, for the documentation. Tables end with { 0 }. `type`: integer, string, boolean, object, or the name of
 * a struct rpc_type or named shape; [T] = array of T; {T} = object whose members are all T; a final ? = may be absent; "a|b" in
 * quotes: one of these strings, as "\"reserved\"|\"bound\"". */
struct rpc_member {
	const char *name, *type, *doc;
};

/* A named object of results ("Allocation"), for the documentation. */
struct rpc_type {
	const char *name, *doc;
	const struct rpc_member *members;
};

/* A set of error codes. */
#define RPC_ERROR(code) (UINT32_C(1) << (code))

struct rpc_method {
	const char *name;
	const char *summary;            /* one sentence */
	const char *description;        /* more of them; NULL = none */
	unsigned roles;                 /* of enum rpc_role; ROLE_ADMIN need not be named */
	bool writes;                    /* it can change something */
	bool frees;                     /* it only takes away: still allowed when the server is read-only */
	bool slow;                      /* its `work` may take long: one such works at a time */
	const struct rpc_shape *params; /* NULL = it takes none */
	const struct rpc_member *result;
	uint32_t errors; /* of RPC_ERROR; what any method can answer need not be named */

	/* Decides and answers, on the loop thread. May be run again for the same call, with the same params, when its first answer
	 * could not be made durable. `world` is whatever the server's owner passes to rpc_call_run. */
	struct rpc_done (*handle)(struct rpc_call *call, const void *params, void *world);

	/* NULL for most. Answers on another thread after a handle that returned rpc_later. `reader` is passed through
	 * rpc_call_work. */
	struct rpc_done (*work)(struct rpc_call *call, const void *params, void *world, void *reader);
};

#endif

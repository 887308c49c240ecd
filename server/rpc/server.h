/* The method table of a server. Private to rpc/; the public part is rpc/exchange.h. */
#ifndef ALLOTD_RPC_SERVER_H
#define ALLOTD_RPC_SERVER_H

#include "rpc/method.h"

struct rpc_server {
	const struct rpc_method *const *methods; /* borrowed, in the owner's order */
	size_t n_methods;
	const struct rpc_method **by_name;   /* the same, sorted */
	const struct rpc_type *const *types; /* borrowed */
	size_t n_types;
	const char *version; /* borrowed */
	char *openrpc;       /* the document, compact, as rpc.discover answers it */
};

/* The result type of that name; NULL when there is none. */
const struct rpc_type *server_type(const struct rpc_server *server, const char *name, size_t length);

/* "scheduler|admin": the names of the roles. `size` must suffice for all of them (64). */
void roles_text(unsigned roles, char *to, size_t size);

#endif

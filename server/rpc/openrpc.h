/* The OpenRPC 1.3 document, made from the method tables: what rpc.discover answers, schema/openrpc.json, and the help of
 * allotctl. */
#ifndef ALLOTD_RPC_OPENRPC_H
#define ALLOTD_RPC_OPENRPC_H

#include "base/text.h"
#include "rpc/exchange.h"
#include "rpc/method.h"

/* Appends the document, indented by two spaces, with a final line end. The same tables give the same bytes. */
void rpc_openrpc(const struct rpc_server *server, struct text *out);

/* rpc.discover, to be put in the table of methods. */
extern const struct rpc_method rpc_discover;

#endif

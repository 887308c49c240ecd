/* The wiring. A text comes from the transport, becomes an exchange of rpc, its calls go through the engine, and when the last of
 * them is durable the answer goes back to the transport. Everything here runs on the loop thread but `work`. */
#include "serve.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <sysexits.h>
#include <unistd.h>
#include <uthash.h>

#include "backups.h"
#include "base/error.h"
#include "base/mem.h"
#include "core/state.h"
#include "engine/engine.h"
#include "methods/methods.h"
#include "methods/shapes.h"
#include "methods/views.h"
#include "methods/world.h"
#include "proof.h"
#include "rpc/exchange.h"
#include "services.h"
#include "transport/transport.h"

enum {
	RESTART_GRACE = 60 * 1000, /* ms after a start in which nothing expires */
	FLUSH_INTERVAL = 1000,     /* ms after which counters are written */
	DRAIN_TIME = 5 * 1000,     /* ms for the last answers to leave */
	BALLAST = 8 * 1024 * 1024  /* bytes */
};

/* A connection, for as long as the transport has it. */
struct connection {
	uint64_t id;
	char *actor;
	UT_hash_handle hh;
};

struct server {
	struct serve_options options;
	struct clock clock;
	struct cluster *cluster;
	struct store *store;
	struct engine *engine;
	struct rpc_server *rpc;
	struct transport *transport;
	struct connection *connections; /* hash by id */
	struct services services;
	struct backups backups;
	char *backup_dir;
	bool stopping, broken;
};

/* A call on its way through the engine. */
struct served_call {
	struct engine_call head;
	struct server *server;
	uint64_t connection;
	size_t index; /* in its exchange */
	size_t size;  /* bytes of its part of the text */
};

static struct rpc_call *rpc_of(struct engine_call *call)
{
	return rpc_call_of_extra(call);
}

static void decide(struct engine_call *head, struct txn *txn)
{
	struct served_call *call = (struct served_call *)(void *)head;
	struct server *s = call->server;
	struct world world = { .cluster = s->cluster, .txn = txn, .services = &world_services, .server = &s->services };
	(void)rpc_call_run(rpc_of(head), &world);
	if (rpc_call_cut(rpc_of(head)))
		txn_undo(txn);
	head->no_work = !rpc_call_waits_for_work(rpc_of(head));
	head->size = call->size + rpc_call_size(rpc_of(head));
}

static void work(struct engine_call *head, struct store_reader *reader)
{
	struct served_call *call = (struct served_call *)(void *)head;
	struct world world = { .services = &world_services, .server = &call->server->services };
	rpc_call_work(rpc_of(head), &world, reader);
}

static void answer(struct server *s, struct rpc_exchange *exchange, uint64_t connection)
{
	struct text out = { 0 };
	if (rpc_exchange_answer(exchange, &out)) {
		text_putc(&out, '\n');
		transport_send(s->transport, connection, out.bytes, out.length);
	}
	text_free(&out);
	if (rpc_exchange_has_work(exchange))
		transport_release(s->transport, connection);
	transport_done(s->transport, connection);
	rpc_exchange_free(exchange);
}

static void submit_next(struct served_call *call, size_t i);

static void release(struct engine_call *head, const struct error *failure)
{
	struct served_call *call = (struct served_call *)(void *)head;
	struct rpc_call *rpc = rpc_of(head);
	if (failure)
		rpc_call_fail(rpc, failure);
	if (rpc_call_finish(rpc))
		answer(call->server, rpc_call_exchange(rpc), call->connection);
	else if (rpc_call_has_work(rpc))
		submit_next(call, call->index + 1);
}

static const struct engine_call_class plain_class = { .decide = decide, .release = release };
static const struct engine_call_class work_class = { .decide = decide, .work = work, .release = release };

static void submit(struct rpc_call *rpc, const struct served_call *like, size_t index)
{
	struct served_call *call = rpc_call_extra(rpc);
	const struct rpc_method *method = rpc_call_method(rpc);
	*call = *like;
	call->index = index;
	call->head = (struct engine_call){
		.class = rpc_call_has_work(rpc) ? &work_class : &plain_class,
		.actor = rpc_call_peer(rpc)->actor,
		.slow = method && method->slow,
		.frees = !method || !method->writes || method->frees,
		.size = like->size,
	};
	engine_submit(call->server->engine, &call->head);
}

/* Submits the calls of an exchange from index `i` on. One with work runs beside the loop, so the next one waits until it has ended. */
static void submit_from(struct rpc_exchange *x, const struct served_call *like, size_t i)
{
	for (size_t n = rpc_exchange_count(x); i < n; i++) {
		struct rpc_call *rpc = rpc_exchange_call(x, i);
		bool last = i + 1 == n || rpc_call_has_work(rpc);
		submit(rpc, like, i);
		if (last)
			return;
	}
}

static void submit_next(struct served_call *call, size_t i)
{
	submit_from(rpc_call_exchange(rpc_of(&call->head)), call, i);
}

/* The transport tells only of connections that are open. */
static struct connection *find_connection(const struct server *s, uint64_t id)
{
	struct connection *c;
	HASH_FIND(hh, s->connections, &id, sizeof id, c);
	assert(c);
	return c;
}

static void on_text(void *context, uint64_t id, const char *text, size_t length)
{
	struct server *s = context;
	const struct rpc_peer peer = { .actor = find_connection(s, id)->actor, .roles = ROLE_ALL };
	struct rpc_exchange *x = rpc_exchange_new(s->rpc, text, length, &peer, sizeof(struct served_call), NULL);
	size_t n = rpc_exchange_count(x);
	if (rpc_exchange_has_work(x))
		transport_hold(s->transport, id);
	submit_from(x, &(struct served_call){ .server = s, .connection = id, .size = length / n }, 0);
	if (engine_full(s->engine))
		transport_pause(s->transport);
}

static void on_room(void *context)
{
	struct server *s = context;
	transport_resume(s->transport);
}

static void on_overlong(void *context, uint64_t id)
{
	struct server *s = context;
	struct text out = { 0 };
	rpc_overlong_text(&out);
	text_putc(&out, '\n');
	transport_send(s->transport, id, out.bytes, out.length);
	text_free(&out);
}

static void on_open(void *context, uint64_t id, const char *peer)
{
	struct server *s = context;
	struct connection *c = mem_alloc(sizeof *c);
	c->id = id;
	c->actor = mem_string(peer);
	HASH_ADD(hh, s->connections, id, sizeof c->id, c);
}

static void on_close(void *context, uint64_t id)
{
	struct server *s = context;
	struct connection *c = find_connection(s, id);
	HASH_DEL(s->connections, c);
	free(c->actor);
	free(c);
}

static void on_signal(void *context, int signal)
{
	struct server *s = context;
	log_write(s->options.log, LOG_INFO, "signal %d: stopping", signal);
	s->stopping = true;
}

static void on_broken(void *context)
{
	struct server *s = context;
	s->broken = true;
}

static void on_engine_ready(void *context)
{
	struct server *s = context;
	engine_collect(s->engine);
}

static struct error *open_database(struct server *s)
{
	struct clock wall = clock_start(CLOCK_SYSTEM, 0);
	const struct store_options options = {
		.directory = s->options.data_dir,
		.codec = &server_codec,
		.log = s->options.log,
		.guard = s->options.guard,
		.now = clock_now(&wall),
		.max_bytes = s->options.max_bytes,
		.ballast = BALLAST,
	};
	struct change_list rows = { 0 };
	struct store_meta meta;
	struct error *error = store_open(&options, &s->store);
	if (!error)
		error = store_load(s->store, &rows, &meta);
	if (error)
		return error;
	s->cluster = cluster_new();
	for (size_t i = 0; i < rows.n; i++)
		cluster_apply(s->cluster, &rows.changes[i]);
	change_list_free(&rows);
	cluster_counters(s->cluster)->revision = meta.revision;
	cluster_counters(s->cluster)->token = meta.token;
	s->clock = clock_start(s->options.clock, meta.now);
	const struct engine_options engine = {
		.cluster = s->cluster,
		.store = s->store,
		.meta = meta,
		.clock = &s->clock,
		.log = s->options.log,
		.restart_grace = s->options.clock == CLOCK_MANUAL ? 0 : RESTART_GRACE,
		.flush_interval = FLUSH_INTERVAL,
		.retention = { .keep_events = s->options.keep_events, .keep_ms = s->options.keep_ms },
		.on_room = on_room,
		.on_broken = on_broken,
		.context = s,
	};
	s->engine = engine_new(&engine);
	return NULL;
}

static struct error *open_sockets(struct server *s, char **tcp)
{
	const struct transport_options options = {
		.handlers = { .on_open = on_open,
			.on_text = on_text,
			.on_overlong = on_overlong,
			.on_close = on_close,
			.on_signal = on_signal,
			.context = s },
		.limits = { .connections = (size_t)s->options.connections, .request_bytes = RPC_REQUEST_MAX },
		.log = s->options.log,
	};
	s->transport = transport_new(&options);
	transport_watch(s->transport, engine_descriptor(s->engine), on_engine_ready, s);
	struct error *error = transport_listen_unix(s->transport, s->options.socket, 0600);
	if (!error && s->options.listen)
		error = transport_listen_tcp(s->transport, s->options.listen, tcp);
	return error;
}

static void say_ready(const struct server *s, const char *tcp)
{
	printf("allotd %s ready: socket %s%s%s, data %s\n", s->options.version, s->options.socket, tcp ? ", tcp " : "",
		tcp ? tcp : "", s->options.data_dir);
	(void)fflush(stdout);
}

static void run(struct server *s)
{
	while (!s->stopping && !s->broken) {
		transport_once(s->transport, backups_timeout(&s->backups, engine_timeout(s->engine)));
		backups_pass(&s->backups);
		engine_pass(s->engine);
	}
}

/* Ends the turns and lets the last answers leave. */
static void wind_up(struct server *s)
{
	transport_stop(s->transport);
	s->backups.stop = true;
	engine_stop(s->engine);
	struct clock clock = clock_start(CLOCK_SYSTEM, 0);
	int64_t end = clock_now(&clock) + DRAIN_TIME;
	while (!transport_drained(s->transport) && clock_now(&clock) < end)
		transport_once(s->transport, 100);
}

static void close_all(struct server *s)
{
	transport_free(s->transport);
	engine_free(s->engine);
	store_close(s->store);
	cluster_free(s->cluster);
	rpc_server_free(s->rpc);
	free(s->backup_dir);
}

static void start_services(struct server *s)
{
	const struct serve_options *o = &s->options;
	const struct backups_options backups = {
		.directory = s->backup_dir = o->backup_dir ? mem_string(o->backup_dir) : mem_format("%s/backups", o->data_dir),
		.every_ms = o->backup_every_ms,
		.keep = o->backup_keep,
	};
	backups_start(&s->backups, &backups, s->engine, o->log);
	s->services = (struct services){
		.engine = s->engine, .cluster = s->cluster, .clock = &s->clock, .version = o->version, .backups = &s->backups
	};
}

struct error *serve(const struct serve_options *options)
{
	struct server s = { .options = *options };
	char *tcp = NULL;
	s.rpc = rpc_server_new(all_methods, n_all_methods, view_types, n_view_types, options->version);
	struct error *error = options->listen ? transport_check_tcp(options->listen) : NULL;
	if (!error)
		error = open_database(&s);
	bool opened = !error;
	if (opened)
		error = open_sockets(&s, &tcp);
	if (!error) {
		start_services(&s);
		say_ready(&s, tcp);
		run(&s);
	}
	if (opened)
		wind_up(&s);
	if (s.broken)
		error = error_with_integer(
			error_new(ERR_OUTCOME_UNKNOWN, "the disk failed; what is on disk is read again at the next start"),
			"exit", EX_IOERR);
	free(tcp);
	close_all(&s);
	return error;
}

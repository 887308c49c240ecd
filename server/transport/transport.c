/* The loop: one pass after the other. A pass writes what was queued, works off lines that were left from the pass before, waits,
 * handles what is ready, and looks at deadlines. Connections that died in the pass before are released. */
#include "transport/transport.h"

#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "base/mem.h"
#include "transport/internal.h"

static int64_t monotonic_ms(void)
{
	struct timespec t;
	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static size_t or_size(size_t value, size_t otherwise)
{
	return value ? value : otherwise;
}

static int64_t or_ms(int64_t value, int64_t otherwise)
{
	return value ? value : otherwise;
}

static struct transport_limits limits_complete(const struct transport_limits *given)
{
	return (struct transport_limits){
		.connections = or_size(given->connections, 1024),
		.request_bytes = or_size(given->request_bytes, 1024 * 1024),
		.output_bytes = or_size(given->output_bytes, 32 * 1024 * 1024),
		.output_total = or_size(given->output_total, 256 * 1024 * 1024),
		.pass_texts = or_size(given->pass_texts, 256),
		.open_texts = or_size(given->open_texts, 1024),
		.request_ms = or_ms(given->request_ms, 60000),
		.drain_ms = or_ms(given->drain_ms, 60000),
	};
}

/* Raises the soft limit of descriptors as far as needed and allowed; returns how many connections there can be. */
static size_t reserve_descriptors(size_t connections)
{
	struct rlimit limit;
	rlim_t want = (rlim_t)connections + RESERVED_FDS;
	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur >= want)
		return connections;
	limit.rlim_cur = limit.rlim_max < want ? limit.rlim_max : want;
	if (setrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur >= want)
		return connections;
	return limit.rlim_cur > RESERVED_FDS ? (size_t)limit.rlim_cur - RESERVED_FDS : 1;
}

static void on_timer(evutil_socket_t fd, short what, void *context)
{
	(void)fd, (void)what, (void)context; /* it only ends the waiting */
}

static void on_signal(evutil_socket_t number, short what, void *context)
{
	struct transport *t = context;
	(void)what;
	t->handlers.on_signal(t->handlers.context, (int)number);
}

static void on_watch(evutil_socket_t fd, short what, void *context)
{
	struct watch *w = context;
	(void)fd, (void)what;
	w->ready(w->context);
}

static void base_new(struct transport *t)
{
	struct event_config *config = event_config_new();
	(void)event_config_set_flag(config, EVENT_BASE_FLAG_NOLOCK);
	t->base = event_base_new_with_config(config);
	event_config_free(config);
	if (!t->base)
		abort(); /* without memory or descriptors at the start there is nothing to serve */
	(void)event_assign(&t->timer, t->base, -1, 0, on_timer, NULL);
	(void)event_assign(&t->term, t->base, SIGTERM, EV_SIGNAL | EV_PERSIST, on_signal, t);
	(void)event_assign(&t->interrupt, t->base, SIGINT, EV_SIGNAL | EV_PERSIST, on_signal, t);
	(void)event_add(&t->term, NULL);
	(void)event_add(&t->interrupt, NULL);
}

struct transport *transport_new(const struct transport_options *options)
{
	struct transport *t = mem_alloc(sizeof *t);
	t->handlers = options->handlers;
	t->limits = limits_complete(&options->limits);
	t->log = options->log;
	size_t possible = reserve_descriptors(t->limits.connections);
	if (possible < t->limits.connections)
		log_write(t->log, LOG_WARN, "the limit of open files allows %zu connections instead of %zu", possible,
			t->limits.connections);
	t->limits.connections = possible;
	t->slots = mem_array(possible, sizeof(struct conn *));
	t->free_slots = mem_array(possible, sizeof *t->free_slots);
	for (size_t i = possible; i-- > 0;)
		t->free_slots[t->n_free++] = i;
	t->ready_end = &t->ready;
	t->now = t->swept_at = monotonic_ms();
	(void)signal(SIGPIPE, SIG_IGN);
	base_new(t);
	return t;
}

static void release(struct conn *resting)
{
	for (struct conn *c = resting, *next; c; c = next) {
		next = c->next_resting;
		conn_free(c);
	}
}

void transport_free(struct transport *t)
{
	if (!t)
		return;
	t->stopped = true;
	for (size_t i = 0; i < t->limits.connections; i++)
		if (t->slots[i])
			conn_kill(t->slots[i]);
	release(t->resting);
	listeners_free(t);
	for (struct watch *w = t->watches, *next; w; w = next) {
		next = w->next;
		(void)event_del(&w->event);
		free(w);
	}
	(void)event_del(&t->timer);
	(void)event_del(&t->term);
	(void)event_del(&t->interrupt);
	event_base_free(t->base);
	free(t->slots);
	free(t->free_slots);
	free(t);
}

void transport_watch(struct transport *t, int fd, void (*ready)(void *context), void *context)
{
	struct watch *w = mem_alloc(sizeof *w);
	*w = (struct watch){ .ready = ready, .context = context, .next = t->watches };
	t->watches = w;
	(void)event_assign(&w->event, t->base, fd, EV_READ | EV_PERSIST, on_watch, w);
	(void)event_add(&w->event, NULL);
}

static void flush_dirty(struct transport *t)
{
	struct conn *list = t->dirty;
	t->dirty = NULL;
	for (struct conn *c = list, *next; c; c = next) {
		next = c->next_dirty;
		c->dirty = false;
		conn_flush(c);
	}
}

static void run_ready(struct transport *t)
{
	struct conn *list = t->ready;
	t->ready = NULL;
	t->ready_end = &t->ready;
	for (struct conn *c = list, *next; c; c = next) {
		next = c->next;
		c->queued = false;
		conn_run(c);
	}
}

/* How often deadlines are looked at: often enough to be kept within a quarter, at most once in 10 ms. */
static int64_t sweep_interval(const struct transport *t)
{
	int64_t least = t->limits.request_ms < t->limits.drain_ms ? t->limits.request_ms : t->limits.drain_ms;
	int64_t interval = least / 4 < 1000 ? least / 4 : 1000;
	return interval > 10 ? interval : 10;
}

static void sweep_deadlines(struct transport *t)
{
	if (t->accept_after && t->now >= t->accept_after) {
		t->accept_after = 0;
		listeners_update(t);
	}
	if (!t->timed || t->now - t->swept_at < sweep_interval(t))
		return;
	t->swept_at = t->now;
	for (size_t i = 0; i < t->limits.connections; i++)
		if (t->slots[i])
			conn_check_deadline(t->slots[i]);
}

static int64_t earlier(int64_t a, int64_t b)
{
	return a < 0 || b < a ? b : a;
}

/* How long this pass may wait; -1 = for ever. */
static int64_t wait_time(const struct transport *t, int64_t timeout_ms)
{
	if (t->ready || t->dirty || t->resting)
		return 0;
	if (t->timed)
		timeout_ms = earlier(timeout_ms, sweep_interval(t));
	if (t->accept_after)
		timeout_ms = earlier(timeout_ms, ACCEPT_PAUSE_MS);
	return timeout_ms;
}

static void wait_for_events(struct transport *t, int64_t timeout_ms)
{
	struct timeval wait = { .tv_sec = timeout_ms / 1000, .tv_usec = timeout_ms % 1000 * 1000 };
	if (timeout_ms > 0)
		(void)event_add(&t->timer, &wait);
	(void)event_base_loop(t->base, (timeout_ms == 0 ? EVLOOP_NONBLOCK : EVLOOP_ONCE) | EVLOOP_NO_EXIT_ON_EMPTY);
	if (timeout_ms > 0)
		(void)event_del(&t->timer);
}

void transport_once(struct transport *t, int64_t timeout_ms)
{
	t->pass++;
	t->now = monotonic_ms();
	struct conn *resting = t->resting;
	t->resting = NULL;
	flush_dirty(t);
	bool started = t->ready != NULL; /* texts: whoever got them did not know of them when it chose the timeout */
	run_ready(t);
	release(resting);
	if (resting)
		listeners_update(t);
	wait_for_events(t, started ? 0 : wait_time(t, timeout_ms));
	t->now = monotonic_ms();
	sweep_deadlines(t);
}

/* The connection of that number, NULL when it is gone. */
static struct conn *find_connection(struct transport *t, uint64_t id)
{
	struct conn *c = t->slots[id % t->limits.connections];
	return c && c->id == id && !c->dead ? c : NULL;
}

uint64_t transport_adopt(struct transport *t, int fd_take)
{
	struct conn *c = conn_new(t, fd_take);
	return c ? c->id : 0;
}

void transport_send(struct transport *t, uint64_t conn, const char *bytes, size_t length)
{
	struct conn *c = find_connection(t, conn);
	if (c && length && !c->lingering)
		conn_queue(c, bytes, length);
}

void transport_done(struct transport *t, uint64_t conn)
{
	struct conn *c = find_connection(t, conn);
	if (!c)
		return;
	assert(c->open_texts > 0);
	if (c->open_texts-- == t->limits.open_texts)
		conn_wake(c);
	conn_settle(c);
}

void transport_close_after_flush(struct transport *t, uint64_t conn)
{
	struct conn *c = find_connection(t, conn);
	if (!c)
		return;
	c->closing = true;
	conn_settle(c);
}

void transport_hold(struct transport *t, uint64_t conn)
{
	struct conn *c = find_connection(t, conn);
	if (c)
		c->held = true;
}

void transport_release(struct transport *t, uint64_t conn)
{
	struct conn *c = find_connection(t, conn);
	if (!c || !c->held)
		return;
	c->held = false;
	conn_wake(c);
}

void transport_pause(struct transport *t)
{
	t->paused = true;
}

void transport_resume(struct transport *t)
{
	if (!t->paused)
		return;
	t->paused = false;
	for (size_t i = 0; i < t->limits.connections; i++)
		if (t->slots[i])
			conn_wake(t->slots[i]);
}

void transport_stop(struct transport *t)
{
	t->stopped = true;
	listeners_free(t);
}

bool transport_drained(const struct transport *t)
{
	if (t->queued_bytes > 0)
		return false;
	for (size_t i = 0; i < t->limits.connections; i++)
		if (t->slots[i] && t->slots[i]->open_texts > 0 && !t->slots[i]->dead)
			return false;
	return true;
}

size_t transport_connections(const struct transport *t)
{
	return t->limits.connections - t->n_free;
}

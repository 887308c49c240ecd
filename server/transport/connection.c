/* A connection: its bytes cut into lines, and its life from the first byte to the last.
 *
 *	open ──▶ (eof | closing | overlong) ──▶ all texts done, all output sent ──▶ lingering ──▶ dead ──▶ released
 *
 * A connection lingers when the peer may still be sending: closing a socket with unread bytes makes the kernel throw away the answer
 * that was just sent. */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <arpa/inet.h>

#include "base/mem.h"
#include "transport/internal.h"

static void conn_readable(evutil_socket_t fd, short what, void *context);

/* Writes who the peer is. */
static void describe_peer(int fd, char *to)
{
	union {
		struct sockaddr any;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
		struct sockaddr_storage room;
	} address = { .any.sa_family = AF_UNSPEC };
	socklen_t length = sizeof address;
	struct ucred who;
	socklen_t who_length = sizeof who;
	char host[INET6_ADDRSTRLEN] = "";
	(void)getpeername(fd, &address.any, &length);
	if (address.any.sa_family == AF_INET) {
		(void)inet_ntop(AF_INET, &address.v4.sin_addr, host, sizeof host);
		(void)snprintf(to, PEER_LENGTH, "tcp:%s:%u", host, (unsigned)ntohs(address.v4.sin_port));
	} else if (address.any.sa_family == AF_INET6) {
		(void)inet_ntop(AF_INET6, &address.v6.sin6_addr, host, sizeof host);
		(void)snprintf(to, PEER_LENGTH, "tcp:[%s]:%u", host, (unsigned)ntohs(address.v6.sin6_port));
	} else if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &who_length) == 0) {
		(void)snprintf(to, PEER_LENGTH, "unix:uid=%u,pid=%d", (unsigned)who.uid, (int)who.pid);
	} else {
		(void)snprintf(to, PEER_LENGTH, "unix:unknown");
	}
}

/* TCP: answers leave at once, and a peer that vanished without a word is noticed some day. */
static void set_tcp_options(int fd)
{
	const int on = 1;
	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
	(void)setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
}

static void set_reading(struct conn *c, bool on)
{
	if (on == c->reading)
		return;
	c->reading = on;
	c->line_since = c->transport->now; /* while we did not read, the peer could not finish its line */
	(void)(on ? event_add(&c->read, NULL) : event_del(&c->read));
}

struct conn *conn_new(struct transport *t, int fd_take)
{
	if (t->n_free == 0 || t->stopped) {
		(void)close(fd_take);
		return NULL;
	}
	size_t slot = t->free_slots[--t->n_free];
	struct conn *c = mem_alloc(sizeof *c);
	c->transport = t;
	c->id = ++t->serial * t->limits.connections + slot;
	c->fd = fd_take;
	describe_peer(c->fd, c->peer);
	if (c->peer[0] == 't')
		set_tcp_options(c->fd);
	(void)evutil_make_socket_nonblocking(c->fd);
	(void)event_assign(&c->read, t->base, c->fd, EV_READ | EV_PERSIST, conn_readable, c);
	(void)event_assign(&c->write, t->base, c->fd, EV_WRITE | EV_PERSIST, conn_writable, c);
	t->slots[slot] = c;
	t->handlers.on_open(t->handlers.context, c->id, c->peer);
	if (!c->dead)
		set_reading(c, true);
	return c;
}

/* Whether a deadline runs for this connection, and counts it. */
static void set_timed(struct conn *c, bool timed)
{
	if (timed && !c->timed)
		c->transport->timed++;
	if (!timed && c->timed)
		c->transport->timed--;
	c->timed = timed;
}

void conn_kill(struct conn *c)
{
	struct transport *t = c->transport;
	if (c->dead)
		return;
	set_timed(c, false);
	c->dead = true;
	(void)event_del(&c->read);
	(void)event_del(&c->write);
	conn_drop_output(c);
	c->next_resting = t->resting;
	t->resting = c;
	t->handlers.on_close(t->handlers.context, c->id);
}

void conn_free(struct conn *c)
{
	struct transport *t = c->transport;
	size_t slot = (size_t)(c->id % t->limits.connections);
	t->slots[slot] = NULL;
	t->free_slots[t->n_free++] = slot;
	(void)close(c->fd);
	text_free(&c->in);
	text_free(&c->out);
	free(c);
}

/* Whether something keeps the connection from starting a text; conn_wake is called when that ends. */
static bool held_back(const struct conn *c)
{
	const struct transport *t = c->transport;
	return t->paused || t->stopped || c->held || c->closing || c->overlong || c->dead || c->lingering ||
	       c->open_texts >= t->limits.open_texts || conn_unsent(c) > OUTPUT_HEAVY;
}

/* Whether it had its share of this pass. */
static bool share_used(struct conn *c)
{
	if (c->pass != c->transport->pass) {
		c->pass = c->transport->pass;
		c->pass_texts = 0;
	}
	return c->pass_texts >= c->transport->limits.pass_texts;
}

static bool is_http(const char *line, size_t length)
{
	static const char *const verbs[] = { "GET ", "HEAD ", "POST ", "PUT ", "DELETE ", "CONNECT ", "OPTIONS ", "TRACE ",
		"PATCH " };
	for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
		if (length >= strlen(verbs[i]) && memcmp(line, verbs[i], strlen(verbs[i])) == 0)
			return true;
	return false;
}

/* Hands on one line (without its \n), which may be written to. */
static void take_line(struct conn *c, char *line, size_t length)
{
	struct transport *t = c->transport;
	if (length > 0 && line[length - 1] == '\r')
		length--;
	if (length == 0)
		return;
	if (length > t->limits.request_bytes) {
		c->overlong = true;
		return;
	}
	line[length] = '\0';
	if (!c->spoken && is_http(line, length)) {
		log_write(t->log, LOG_INFO, "%s: speaks HTTP, closed", c->peer);
		conn_kill(c);
		return;
	}
	c->spoken = true;
	c->open_texts++;
	c->pass_texts++;
	t->handlers.on_text(t->handlers.context, c->id, line, length);
}

/* Hands on the whole lines at the start of `bytes`, as far as the connection may start them. Returns how many bytes are done with;
 * of the rest, c->scanned bytes are known to hold no line end. */
static size_t take_lines(struct conn *c, char *bytes, size_t length)
{
	size_t at = 0, scanned = c->scanned;
	c->scanned = 0;
	c->running = true;
	while (!held_back(c) && !share_used(c)) {
		char *end = length > at + scanned ? memchr(bytes + at + scanned, '\n', length - at - scanned) : NULL;
		if (!end) {
			c->scanned = length - at;
			c->overlong = c->scanned > c->transport->limits.request_bytes + 1; /* the 1 may be a \r */
			break;
		}
		char *line = bytes + at;
		scanned = 0;
		at = (size_t)(end - bytes) + 1;
		take_line(c, line, (size_t)(end - line));
	}
	c->running = false;
	return at;
}

/* Keeps what take_lines left of the buffered input. */
static void drop_taken(struct conn *c, size_t taken)
{
	size_t rest = c->in.length - taken;
	if (taken == 0)
		return;
	c->line_since = c->transport->now;
	if (rest == 0 && c->in.room > KEEP_ROOM) {
		text_free(&c->in);
		return;
	}
	memmove(c->in.bytes, c->in.bytes + taken, rest);
	c->in.length = rest;
	c->in.bytes[rest] = '\0';
}

static void enqueue(struct conn *c)
{
	struct transport *t = c->transport;
	if (c->queued)
		return;
	c->queued = true;
	c->next = NULL;
	*t->ready_end = c;
	t->ready_end = &c->next;
}

void conn_wake(struct conn *c)
{
	if (held_back(c))
		return;
	if (c->scanned < c->in.length)
		enqueue(c);
	else if (!c->eof)
		set_reading(c, true);
}

void conn_run(struct conn *c)
{
	if (c->dead || c->lingering)
		return;
	drop_taken(c, take_lines(c, c->in.bytes, c->in.length));
	conn_wake(c);
	conn_settle(c);
}

/* New bytes: lines that lie in them whole are handed on from where they were read, only the rest is copied. */
static void feed(struct conn *c, char *bytes, size_t length)
{
	if (c->in.length > 0) {
		text_add(&c->in, bytes, length);
		conn_run(c);
		return;
	}
	size_t taken = take_lines(c, bytes, length);
	if (c->dead)
		return;
	c->line_since = c->transport->now;
	if (taken < length)
		text_add(&c->in, bytes + taken, length - taken);
	conn_wake(c);
	conn_settle(c);
}

static void throw_away_input(struct conn *c)
{
	ssize_t n = read(c->fd, c->transport->chunk, sizeof c->transport->chunk);
	if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
		conn_kill(c);
}

static void conn_readable(evutil_socket_t fd, short what, void *context)
{
	struct conn *c = context;
	(void)fd, (void)what;
	if (c->lingering) {
		throw_away_input(c);
		return;
	}
	if (held_back(c)) {
		set_reading(c, false);
		return;
	}
	if (c->scanned < c->in.length) { /* lines are waiting: they come first */
		conn_wake(c);
		return;
	}
	ssize_t n = read(c->fd, c->transport->chunk, sizeof c->transport->chunk);
	if (n > 0) {
		feed(c, c->transport->chunk, (size_t)n);
	} else if (n == 0) {
		c->eof = true;
		set_reading(c, false);
		conn_settle(c);
	} else if (errno != EAGAIN && errno != EINTR) {
		conn_kill(c);
	}
}

/* Everything was said: waits for the peer to close, so that it can read the end in peace. */
static void linger(struct conn *c)
{
	if (c->eof || shutdown(c->fd, SHUT_WR) < 0) {
		conn_kill(c);
		return;
	}
	c->lingering = true;
	c->moved_at = c->transport->now;
	text_free(&c->in);
	c->scanned = 0;
	set_reading(c, true);
}

void conn_settle(struct conn *c)
{
	struct transport *t = c->transport;
	if (c->dead || c->lingering || c->running)
		return;
	if (c->overlong && !c->closing && c->open_texts == 0) {
		c->closing = true;
		text_free(&c->in);
		c->scanned = 0;
		t->handlers.on_overlong(t->handlers.context, c->id);
	}
	bool finished = c->closing || (c->eof && c->scanned == c->in.length);
	if (finished && c->open_texts == 0 && conn_unsent(c) == 0)
		linger(c);
	if (!c->dead)
		set_timed(c, c->lingering || c->in.length > 0 || conn_unsent(c) > 0);
}

void conn_check_deadline(struct conn *c)
{
	const struct transport *t = c->transport;
	if (c->dead || !c->timed)
		return;
	bool unfinished = c->reading && !c->lingering && c->in.length > 0 && c->scanned == c->in.length;
	if (c->lingering && t->now - c->moved_at >= LINGER_MS) {
		conn_kill(c);
	} else if (unfinished && t->now - c->line_since >= t->limits.request_ms) {
		log_write(t->log, LOG_INFO, "%s: did not finish its request in time, closed", c->peer);
		conn_kill(c);
	} else if (conn_unsent(c) > 0 && t->now - c->moved_at >= t->limits.drain_ms) {
		log_write(t->log, LOG_WARN, "%s: does not read its answers, closed", c->peer);
		conn_kill(c);
	}
}

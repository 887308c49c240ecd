/* What leaves a connection: bytes gather during a pass and are offered to the kernel in one write. A peer that does not read costs
 * a bounded amount of memory for a bounded time. */
#include <errno.h>
#include <sys/socket.h>

#include "transport/internal.h"

size_t conn_unsent(const struct conn *c)
{
	return c->out.length - c->sent;
}

void conn_drop_output(struct conn *c)
{
	c->transport->queued_bytes -= conn_unsent(c);
	c->sent = 0;
	if (c->out.room > KEEP_ROOM)
		text_free(&c->out);
	else
		text_clear(&c->out);
}

static bool too_much(const struct conn *c, size_t more)
{
	const struct transport *t = c->transport;
	return conn_unsent(c) + more > t->limits.output_bytes || t->queued_bytes + more > t->limits.output_total;
}

void conn_queue(struct conn *c, const char *bytes, size_t length)
{
	struct transport *t = c->transport;
	if (too_much(c, length))
		conn_flush(c); /* the kernel may take some */
	if (c->dead)
		return;
	if (too_much(c, length)) {
		log_write(t->log, LOG_WARN, "%s: does not read its answers (%zu bytes are waiting), closed", c->peer,
			conn_unsent(c));
		conn_kill(c);
		return;
	}
	if (conn_unsent(c) == 0)
		c->moved_at = t->now;
	text_add(&c->out, bytes, length);
	t->queued_bytes += length;
	if (!c->dirty && !c->writing) {
		c->dirty = true;
		c->next_dirty = t->dirty;
		t->dirty = c;
	}
}

/* Waits for the kernel to take more, or stops waiting. */
static void want_write(struct conn *c, bool want)
{
	if (want == c->writing)
		return;
	c->writing = want;
	(void)(want ? event_add(&c->write, NULL) : event_del(&c->write));
}

/* Moves the unsent bytes to the front once most of the buffer is sent, so that it does not grow with a peer that never quite catches up. */
static void compact(struct conn *c)
{
	if (c->sent < OUTPUT_HEAVY || c->sent < c->out.length / 2)
		return;
	struct text rest = { 0 };
	text_add(&rest, c->out.bytes + c->sent, conn_unsent(c));
	text_free(&c->out);
	c->out = rest;
	c->sent = 0;
}

void conn_flush(struct conn *c)
{
	if (c->dead || conn_unsent(c) == 0)
		return;
	bool heavy = conn_unsent(c) > OUTPUT_HEAVY;
	ssize_t n = send(c->fd, c->out.bytes + c->sent, conn_unsent(c), MSG_NOSIGNAL | MSG_DONTWAIT);
	if (n < 0 && errno != EAGAIN && errno != EINTR) {
		conn_kill(c);
		return;
	}
	if (n > 0) {
		c->sent += (size_t)n;
		c->transport->queued_bytes -= (size_t)n;
		c->moved_at = c->transport->now;
	}
	want_write(c, conn_unsent(c) > 0);
	if (conn_unsent(c) == 0)
		conn_drop_output(c);
	else
		compact(c);
	if (heavy && conn_unsent(c) <= OUTPUT_HEAVY)
		conn_wake(c);
	conn_settle(c);
}

void conn_writable(evutil_socket_t fd, short what, void *context)
{
	(void)fd, (void)what;
	conn_flush(context);
}

/* Moving bytes between the buffers and the socket. The socket never blocks; waiting is done by poll. */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "allot_internal.h"

int64_t allot_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

void allot_set_timeout(struct allot_conn *conn, int timeout)
{
	conn->timeout = timeout;
}

int allot_descriptor(const struct allot_conn *conn)
{
	return conn->fd;
}

short allot_interest(const struct allot_conn *conn)
{
	return allot_buffer_used(&conn->out) ? POLLIN | POLLOUT : POLLIN;
}

static bool again(void)
{
	return errno == EAGAIN || errno == EINTR;
}

/* What cannot be written is dropped: the peer closed, and reading finds its last words and then the end. */
static void write_some(struct allot_conn *conn)
{
	while (allot_buffer_used(&conn->out)) {
		ssize_t n = send(conn->fd, conn->out.bytes + conn->out.start, allot_buffer_used(&conn->out), MSG_NOSIGNAL);

		if (n < 0 && again()) {
			return;
		}
		allot_buffer_drop(&conn->out, n < 0 ? allot_buffer_used(&conn->out) : (size_t)n);
	}
}

/* Reads until the socket has nothing more; what the peer sent before it closed stays in `in`. */
static int read_some(struct allot_conn *conn, struct allot_error *error)
{
	for (;;) {
		size_t room;
		ssize_t n;

		if (!allot_buffer_reserve(&conn->in, ALLOT_IN_STEP)) {
			return allot_break(conn, error, ALLOT_INVALID, "out of memory");
		}
		room = conn->in.room - conn->in.end;
		n = recv(conn->fd, conn->in.bytes + conn->in.end, room, 0);
		if (n < 0) {
			return again() ? 0
				       : allot_break(
						 conn, error, ALLOT_UNREACHABLE, "the connection was lost: %s", strerror(errno));
		}
		if (n == 0) {
			return allot_break(conn, error, ALLOT_UNREACHABLE, "the server closed the connection");
		}
		conn->in.end += (size_t)n;
		if ((size_t)n < room || allot_buffer_used(&conn->in) > ALLOT_ANSWER_MAX) {
			return 0;
		}
	}
}

int allot_process(struct allot_conn *conn, struct allot_error *error)
{
	if (allot_usable(conn, error) < 0) {
		return -1;
	}
	write_some(conn);
	return read_some(conn, error);
}

int allot_wait(struct allot_conn *conn, int64_t deadline, struct allot_error *error)
{
	struct pollfd wanted = { .fd = conn->fd, .events = allot_interest(conn) };
	int64_t left = deadline < 0 ? -1 : deadline - allot_now();

	if (allot_usable(conn, error) < 0) {
		return -1;
	}
	if (deadline >= 0 && left <= 0) {
		return allot_fail(error, ALLOT_TIMED_OUT, "no answer from the server within %g s", conn->timeout / 1000.0);
	}
	if (poll(&wanted, 1, (int)left) < 0 && errno != EINTR) {
		return allot_break(conn, error, ALLOT_UNREACHABLE, "cannot wait for the server: %s", strerror(errno));
	}
	return wanted.revents ? allot_process(conn, error) : 0;
}

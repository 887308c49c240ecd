#include "support/wire.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "support/check.h"

static struct wire *wire_of(int fd)
{
	struct wire *w = calloc(1, sizeof *w);
	if (!w)
		abort();
	w->fd = fd;
	return w;
}

struct wire *wire_try_open(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	if (strlen(path) >= sizeof address.sun_path)
		check_failed("the socket path %s is too long", path);
	(void)stpcpy(address.sun_path, path);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		check_failed("socket: %s", strerror(errno));
	if (connect(fd, (const struct sockaddr *)&address, sizeof address) != 0) {
		(void)close(fd);
		return NULL;
	}
	return wire_of(fd);
}

struct wire *wire_open(const char *path)
{
	struct wire *w = wire_try_open(path);
	if (!w)
		check_failed("cannot connect to %s: %s", path, strerror(errno));
	return w;
}

struct wire *wire_open_tcp(int port)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || connect(fd, (const struct sockaddr *)&address, sizeof address) != 0)
		check_failed("cannot connect to port %d: %s", port, strerror(errno));
	return wire_of(fd);
}

void wire_close(struct wire *w)
{
	if (!w)
		return;
	(void)close(w->fd);
	free(w->bytes);
	free(w);
}

bool wire_send(struct wire *w, const char *bytes, size_t length)
{
	while (length) {
		struct pollfd ready = { .fd = w->fd, .events = POLLOUT };
		if (poll(&ready, 1, check_patience()) == 0)
			check_failed("the server does not read");
		ssize_t n = send(w->fd, bytes, length, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			continue;
		if (n < 0)
			return false;
		bytes += n;
		length -= (size_t)n;
	}
	return true;
}

bool wire_say(struct wire *w, const char *line)
{
	size_t n = strlen(line);
	char *whole = malloc(n + 1);
	if (!whole)
		abort();
	memcpy(whole, line, n);
	whole[n] = '\n';
	bool sent = wire_send(w, whole, n + 1);
	free(whole);
	return sent;
}

/* Reads what is there, waiting up to `ms` for the first byte: > 0 bytes, 0 end, < 0 nothing came. */
static ssize_t fill(struct wire *w, int ms)
{
	struct pollfd ready = { .fd = w->fd, .events = POLLIN };
	int polled = poll(&ready, 1, ms);
	if (polled == 0)
		return -1;
	if (polled < 0)
		return errno == EINTR ? fill(w, ms) : -1;
	if (w->room - w->used < 65536) {
		w->room = w->room * 2 + 131072;
		w->bytes = realloc(w->bytes, w->room);
		if (!w->bytes)
			abort();
	}
	ssize_t n = read(w->fd, w->bytes + w->used, w->room - w->used);
	if (n > 0)
		w->used += (size_t)n;
	return n < 0 ? 0 : n; /* a reset is an end too */
}

enum wire_event wire_try_line(struct wire *w, int ms, char **line)
{
	size_t seen = 0;
	for (;;) {
		char *newline = w->used > seen ? memchr(w->bytes + seen, '\n', w->used - seen) : NULL;
		if (newline) {
			size_t n = (size_t)(newline - w->bytes);
			*line = strndup(w->bytes, n);
			w->used -= n + 1;
			memmove(w->bytes, newline + 1, w->used);
			return WIRE_LINE;
		}
		seen = w->used;
		ssize_t n = fill(w, ms);
		if (n <= 0)
			return n < 0 ? WIRE_NOTHING : WIRE_END;
	}
}

char *wire_line(struct wire *w)
{
	char *line = NULL;
	switch (wire_try_line(w, check_patience(), &line)) {
	case WIRE_NOTHING:
		check_failed("the server did not answer in %d ms", check_patience());
	case WIRE_END:
		if (w->used)
			check_failed("the connection ended in the middle of a line: %.*s", (int)w->used, w->bytes);
		return NULL;
	default:
		return line;
	}
}

bool wire_silent(struct wire *w, int ms)
{
	return w->used == 0 && fill(w, ms) < 0;
}

bool wire_ended(struct wire *w)
{
	if (w->used)
		return false;
	ssize_t n = fill(w, check_patience());
	if (n < 0)
		check_failed("the server did not close the connection in %d ms", check_patience());
	return n == 0;
}

void wire_end(struct wire *w)
{
	(void)shutdown(w->fd, SHUT_WR);
}

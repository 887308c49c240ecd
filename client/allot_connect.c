/* Opening and closing a connection. */
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "allot_internal.h"

struct allot_conn *allot_attach(int descriptor_take)
{
	struct allot_conn *conn = calloc(1, sizeof(*conn));

	if (!conn || fcntl(descriptor_take, F_SETFL, O_NONBLOCK) < 0) {
		free(conn);
		close(descriptor_take);
		return NULL;
	}
	conn->fd = descriptor_take;
	conn->timeout = -1;
	return conn;
}

void allot_close(struct allot_conn *conn)
{
	if (!conn) {
		return;
	}
	close(conn->fd);
	allot_buffer_free(&conn->in);
	allot_buffer_free(&conn->out);
	free(conn);
}

/* A socket connected to `address`, or -1 with errno. The send timeout of a Linux socket bounds connect as well. */
static int open_socket(const struct sockaddr *address, socklen_t length, int timeout)
{
	int fd = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1, reason;
	struct timeval limit = { .tv_sec = timeout / 1000, .tv_usec = timeout % 1000 * 1000 };

	if (fd < 0) {
		return -1;
	}
	if (timeout == 0) {
		limit.tv_usec = 1;
	}
	if (timeout >= 0) {
		setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	}
	if (connect(fd, address, length) == 0) {
		if (address->sa_family != AF_UNIX) {
			setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
		}
		return fd;
	}
	reason = errno == EINPROGRESS || errno == EAGAIN ? ETIMEDOUT : errno;
	close(fd);
	errno = reason;
	return -1;
}

static struct allot_conn *finish(int fd, const char *address, int timeout, struct allot_error *error)
{
	struct allot_conn *conn;
	int reason = errno;

	if (fd < 0) {
		allot_fail(error, ALLOT_UNREACHABLE, "cannot reach %s: %s", address, strerror(reason));
		errno = reason;
		return NULL;
	}
	conn = allot_attach(fd);
	if (!conn) {
		allot_fail(error, ALLOT_INVALID, "out of memory");
		return NULL;
	}
	allot_set_timeout(conn, timeout);
	return conn;
}

static struct allot_conn *connect_unix(const char *path, int timeout, struct allot_error *error)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	if (!*path || strlen(path) >= sizeof(address.sun_path)) {
		allot_fail(error, ALLOT_INVALID, "a socket path has 1 to %zu bytes: %s", sizeof(address.sun_path) - 1, path);
		return NULL;
	}
	memcpy(address.sun_path, path, strlen(path));
	return finish(open_socket((const struct sockaddr *)&address, sizeof(address), timeout), path, timeout, error);
}

/* Splits HOST:PORT or [HOST]:PORT at its last colon into two new strings; false when it has another form. */
static bool split(const char *address, char **ret_host, char **ret_port)
{
	const char *colon = strrchr(address, ':'), *host = address;
	size_t length;

	if (!colon || colon == address || !colon[1]) {
		return false;
	}
	length = (size_t)(colon - address);
	if (*host == '[' && host[length - 1] == ']') {
		host++;
		length -= 2;
	} else if (memchr(host, ':', length)) {
		return false;
	}
	*ret_host = strndup(host, length);
	*ret_port = strdup(colon + 1);
	return *ret_host && *ret_port;
}

static int connect_first(const struct addrinfo *found, int timeout)
{
	int fd = -1;

	errno = EADDRNOTAVAIL;
	for (; found && fd < 0; found = found->ai_next) {
		fd = open_socket(found->ai_addr, found->ai_addrlen, timeout);
	}
	return fd;
}

static struct allot_conn *connect_tcp(const char *address, int timeout, struct allot_error *error)
{
	const struct addrinfo hints = { .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM };
	struct addrinfo *found = NULL;
	struct allot_conn *conn = NULL;
	char *host = NULL, *port = NULL;
	int failed;

	if (!split(address, &host, &port)) {
		allot_fail(error, ALLOT_INVALID, "a server address is HOST:PORT or [ADDRESS]:PORT: %s", address);
	} else if ((failed = getaddrinfo(host, port, &hints, &found)) != 0) {
		allot_fail(error, ALLOT_UNREACHABLE, "cannot find %s: %s", address, gai_strerror(failed));
	} else {
		conn = finish(connect_first(found, timeout), address, timeout, error);
		freeaddrinfo(found);
	}
	free(host);
	free(port);
	return conn;
}

struct allot_conn *allot_connect(const char *address, int timeout, struct allot_error *error)
{
	if (strncmp(address, "unix:", 5) == 0) {
		return connect_unix(address + 5, timeout, error);
	}
	return strchr(address, '/') ? connect_unix(address, timeout, error) : connect_tcp(address, timeout, error);
}

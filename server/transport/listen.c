/* Listeners: how connections come in. Nothing is accepted while all places are taken or descriptors are short: the listening events
 * are removed then, so a flood waits in the kernel and costs nothing. */
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/error.h"
#include "base/mem.h"
#include "transport/internal.h"

enum { BACKLOG = 512 };

static struct error *listen_error(int status, const char *where, const char *what)
{
	return error_with_integer(error_new(ERR_INTERNAL, "cannot listen on %s: %s", where, what), "exit", status);
}

/* The sysexits status for a failed bind or socket. */
static int exit_status(int number)
{
	return number == EACCES || number == EPERM || number == EROFS ? EX_NOPERM : EX_UNAVAILABLE;
}

/* Accepts one connection; false when no more can be had now. */
static bool accept_one(struct listener *l)
{
	struct transport *t = l->transport;
	int fd = accept4(l->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (fd >= 0) {
		(void)conn_new(t, fd);
		return true;
	}
	if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
		log_write(t->log, LOG_WARN, "cannot accept connections for a moment: %s", strerror(errno));
		t->accept_after = t->now + ACCEPT_PAUSE_MS;
		return false;
	}
	return errno == EINTR || errno == ECONNABORTED || errno == EPROTO;
}

static void on_acceptable(evutil_socket_t fd, short what, void *context)
{
	struct listener *l = context;
	struct transport *t = l->transport;
	(void)fd, (void)what;
	for (int i = 0; i < ACCEPT_BURST && t->n_free > 0 && !t->stopped; i++)
		if (!accept_one(l))
			break;
	listeners_update(t);
}

void listeners_update(struct transport *t)
{
	bool accepting = t->n_free > 0 && !t->accept_after && !t->stopped;
	for (struct listener *l = t->listeners; l; l = l->next) {
		if (accepting != l->added)
			(void)(accepting ? event_add(&l->event, NULL) : event_del(&l->event));
		l->added = accepting;
	}
}

static struct listener *listener_add(struct transport *t, enum transport_kind kind, int fd)
{
	struct listener *l = mem_alloc(sizeof *l);
	*l = (struct listener){ .transport = t, .kind = kind, .fd = fd, .next = t->listeners };
	t->listeners = l;
	(void)event_assign(&l->event, t->base, fd, EV_READ | EV_PERSIST, on_acceptable, l);
	listeners_update(t);
	return l;
}

static void listener_free(struct listener *l)
{
	struct stat now;
	(void)event_del(&l->event);
	(void)close(l->fd);
	if (l->path && lstat(l->path, &now) == 0 && now.st_dev == l->dev && now.st_ino == l->ino)
		(void)unlink(l->path);
	free(l->path);
	free(l);
}

void listeners_free(struct transport *t)
{
	for (struct listener *l = t->listeners, *next; l; l = next) {
		next = l->next;
		listener_free(l);
	}
	t->listeners = NULL;
}

/* Removes a socket file that nobody listens on; an error when somebody does, or when it is no socket. */
static struct error *remove_stale(const struct sockaddr_un *address)
{
	const char *path = address->sun_path;
	struct stat file;
	if (lstat(path, &file) < 0)
		return errno == ENOENT ? NULL : listen_error(exit_status(errno), path, strerror(errno));
	if (!S_ISSOCK(file.st_mode))
		return listen_error(EX_CANTCREAT, path, "there is a file that is not a socket");
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return listen_error(EX_OSERR, path, strerror(errno));
	bool refused = connect(fd, (const struct sockaddr *)address, sizeof *address) < 0 && errno == ECONNREFUSED;
	(void)close(fd);
	if (!refused)
		return listen_error(EX_UNAVAILABLE, path, "another server answers there");
	if (unlink(path) < 0 && errno != ENOENT)
		return listen_error(exit_status(errno), path, strerror(errno));
	return NULL;
}

/* Binds and listens; the mode is given to the socket before, so the file never has another. */
static struct error *bind_unix(const struct sockaddr_un *address, unsigned mode, int *ret)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return listen_error(EX_OSERR, address->sun_path, strerror(errno));
	if (fchmod(fd, (mode_t)mode) < 0 || bind(fd, (const struct sockaddr *)address, sizeof *address) < 0 ||
		listen(fd, BACKLOG) < 0) {
		int number = errno;
		(void)close(fd);
		return listen_error(exit_status(number), address->sun_path, strerror(number));
	}
	*ret = fd;
	return NULL;
}

struct error *transport_listen_unix(struct transport *t, const char *path, unsigned mode)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct stat file = { 0 };
	int fd = -1;
	if (strlen(path) == 0 || strlen(path) >= sizeof address.sun_path)
		return listen_error(EX_USAGE, path, "the path of a unix socket must have 1 to 107 bytes");
	memcpy(address.sun_path, path, strlen(path));
	struct error *e = remove_stale(&address);
	if (!e)
		e = bind_unix(&address, mode, &fd);
	if (e)
		return e;
	(void)chmod(path, (mode_t)mode); /* what the umask took away */
	(void)lstat(path, &file);
	struct listener *l = listener_add(t, LISTEN_UNIX, fd);
	l->path = mem_string(path);
	l->dev = file.st_dev;
	l->ino = file.st_ino;
	return NULL;
}

/* Splits "HOST:PORT" or "[IPV6]:PORT"; the host is for the caller to free. */
static struct error *split_address(const char *address, char **host, const char **port)
{
	const char *colon = strrchr(address, ':');
	size_t length = colon ? (size_t)(colon - address) : 0;
	const char *start = address;
	bool bracketed = address[0] == '[';
	bool whole = bracketed ? length > 2 && address[length - 1] == ']' : length > 0 && !memchr(address, ':', length);
	if (!whole || colon[1] == '\0')
		return listen_error(EX_USAGE, address, "an address is HOST:PORT or [IPV6]:PORT");
	if (strtoul(colon + 1, NULL, 10) > UINT16_MAX)
		return listen_error(EX_USAGE, address, "a port is at most 65535");
	if (bracketed) {
		start++;
		length -= 2;
	}
	*host = mem_format("%.*s", (int)length, start);
	*port = colon + 1;
	return NULL;
}

static struct error *resolve(const char *address, struct addrinfo **ret)
{
	const struct addrinfo hints = {
		.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV
	};
	char *host = NULL;
	const char *port = NULL;
	struct error *e = split_address(address, &host, &port);
	if (e)
		return e;
	int failure = getaddrinfo(host, port, &hints, ret);
	free(host);
	return failure ? listen_error(EX_NOHOST, address, gai_strerror(failure)) : NULL;
}

static struct error *bind_tcp(const char *address, const struct addrinfo *to, int *ret)
{
	const int on = 1;
	int fd = socket(to->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return listen_error(EX_OSERR, address, strerror(errno));
	(void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
	if (bind(fd, to->ai_addr, to->ai_addrlen) < 0 || listen(fd, BACKLOG) < 0) {
		int number = errno;
		(void)close(fd);
		return listen_error(exit_status(number), address, strerror(number));
	}
	*ret = fd;
	return NULL;
}

/* Binds to the first address of the list that works; the error is that of the last one. */
static struct error *bind_any(const char *address, const struct addrinfo *found, int *ret)
{
	struct error *e = bind_tcp(address, found, ret);
	for (const struct addrinfo *next = found->ai_next; e && next; next = next->ai_next) {
		error_free(e);
		e = bind_tcp(address, next, ret);
	}
	return e;
}

/* The address a socket is bound to, as "HOST:PORT". */
static char *bound_address(int fd)
{
	struct sockaddr_storage address;
	socklen_t length = sizeof address;
	char host[NI_MAXHOST] = "?", port[NI_MAXSERV] = "?";
	(void)getsockname(fd, (struct sockaddr *)&address, &length);
	(void)getnameinfo(
		(struct sockaddr *)&address, length, host, sizeof host, port, sizeof port, NI_NUMERICHOST | NI_NUMERICSERV);
	return mem_format(strchr(host, ':') ? "[%s]:%s" : "%s:%s", host, port);
}

struct error *transport_check_tcp(const char *address)
{
	struct addrinfo *found = NULL;
	struct error *e = resolve(address, &found);
	if (!e)
		freeaddrinfo(found);
	return e;
}

struct error *transport_listen_tcp(struct transport *t, const char *address, char **bound)
{
	struct addrinfo *found = NULL;
	int fd = -1;
	struct error *e = resolve(address, &found);
	if (e)
		return e;
	e = bind_any(address, found, &fd);
	freeaddrinfo(found);
	if (e)
		return e;
	if (bound)
		*bound = bound_address(fd);
	(void)listener_add(t, LISTEN_TCP, fd);
	return NULL;
}

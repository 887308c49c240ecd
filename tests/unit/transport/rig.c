#include "rig.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"

static const struct log quiet = { .level = LOG_ERROR };

static void on_open(void *context, uint64_t conn, const char *peer)
{
	struct rig *rig = context;
	rig->opened++;
	rig->last = conn;
	(void)snprintf(rig->peer, sizeof rig->peer, "%s", peer);
}

static void on_text(void *context, uint64_t conn, const char *text, size_t length)
{
	struct rig *rig = context;
	rig->texts++;
	text_add(&rig->seen, text, length);
	text_putc(&rig->seen, '\n');
	if (rig->hold_each)
		transport_hold(rig->transport, conn);
	if (rig->pause_each)
		transport_pause(rig->transport);
	if (!rig->echo)
		return;
	transport_send(rig->transport, conn, text, length);
	transport_send(rig->transport, conn, "\n", 1);
	transport_done(rig->transport, conn);
}

static void on_overlong(void *context, uint64_t conn)
{
	struct rig *rig = context;
	rig->overlong++;
	transport_send(rig->transport, conn, "overloaded\n", 11);
}

static void on_close(void *context, uint64_t conn)
{
	struct rig *rig = context;
	(void)conn;
	rig->closed++;
}

static void on_signal(void *context, int signal)
{
	struct rig *rig = context;
	(void)signal;
	rig->signals++;
}

struct rig *rig_new(struct transport_limits limits)
{
	struct rig *rig = mem_alloc(sizeof *rig);
	struct transport_options options = {
		.handlers = { on_open, on_text, on_overlong, on_close, on_signal, rig },
		.limits = limits,
		.log = &quiet,
	};
	rig->transport = transport_new(&options);
	return rig;
}

void rig_free(struct rig *rig)
{
	transport_free(rig->transport);
	text_free(&rig->seen);
	free(rig);
}

int rig_connect(struct rig *rig)
{
	int fds[2];
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds) < 0)
		abort();
	(void)transport_adopt(rig->transport, fds[0]);
	return fds[1];
}

void rig_run(struct rig *rig)
{
	for (int i = 0; i < 8; i++)
		transport_once(rig->transport, 0);
}

static int64_t now_ms(void)
{
	struct timespec t;
	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

void rig_run_for(struct rig *rig, int ms)
{
	for (int64_t end = now_ms() + ms, now = now_ms(); now < end; now = now_ms())
		transport_once(rig->transport, end - now);
}

size_t peer_write(struct rig *rig, int fd, const char *bytes, size_t length)
{
	size_t done = 0;
	for (int idle = 0; done < length && idle < 50;) {
		ssize_t n = send(fd, bytes + done, length - done, MSG_NOSIGNAL);
		idle = n > 0 ? 0 : idle + 1;
		done += n > 0 ? (size_t)n : 0;
		if (n < 0 && errno != EAGAIN)
			break;
		if (n < 0)
			rig_run(rig);
	}
	return done;
}

void peer_puts(struct rig *rig, int fd, const char *string)
{
	(void)peer_write(rig, fd, string, strlen(string));
}

bool peer_read(struct rig *rig, int fd, struct text *to)
{
	static char chunk[65536];
	for (int idle = 0; idle < 3;) {
		ssize_t n = read(fd, chunk, sizeof chunk);
		if (n == 0)
			return true;
		if (n > 0)
			text_add(to, chunk, (size_t)n);
		else if (errno != EAGAIN)
			return true;
		idle = n > 0 ? 0 : idle + 1;
		rig_run(rig);
	}
	return false;
}

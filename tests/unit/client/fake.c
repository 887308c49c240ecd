#include "fake.h"

#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { THREADS = 64 };

struct fake {
	fake_answer *answer;
	void *context;
	pthread_mutex_t one_at_a_time;
	int ours, theirs; /* a socket pair */
	int listener;
	int stop[2]; /* a pipe whose end ends the listener */
	char directory[64];
	char path[96];
	pthread_t threads[THREADS];
	int fds[THREADS];
	int n_threads;
};

struct seat {
	struct fake *fake;
	int fd;
};

static char close_mark[] = "";
char *const FAKE_CLOSE = close_mark;

static void say(int fd, const char *text)
{
	size_t length = strlen(text);

	while (length) {
		ssize_t n = send(fd, text, length, MSG_NOSIGNAL);

		if (n <= 0) {
			return;
		}
		text += n;
		length -= (size_t)n;
	}
}

static bool answer_line(struct fake *fake, int fd, const char *line)
{
	json_t *call = json_loads(line, 0, NULL);
	char *text;

	pthread_mutex_lock(&fake->one_at_a_time);
	text = call ? fake->answer(fake->context, call) : NULL;
	pthread_mutex_unlock(&fake->one_at_a_time);
	json_decref(call);
	if (text == FAKE_CLOSE) {
		return false;
	}
	if (text) {
		say(fd, text);
	}
	free(text);
	return true;
}

static void *serve(void *context)
{
	struct seat *seat = context;
	FILE *in = fdopen(dup(seat->fd), "r");
	char *line = NULL;
	size_t room = 0;

	while (getline(&line, &room, in) > 0 && answer_line(seat->fake, seat->fd, line)) {
	}
	free(line);
	fclose(in);
	shutdown(seat->fd, SHUT_RDWR);
	free(seat);
	return NULL;
}

static void begin(struct fake *fake, int fd)
{
	struct seat *seat = malloc(sizeof(*seat));

	*seat = (struct seat){ fake, fd };
	fake->fds[fake->n_threads] = fd;
	pthread_create(&fake->threads[fake->n_threads++], NULL, serve, seat);
}

struct fake *fake_start(fake_answer *answer, void *context)
{
	struct fake *fake = calloc(1, sizeof(*fake));
	int fds[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	*fake = (struct fake){ .answer = answer, .context = context, .ours = fds[0], .theirs = fds[1], .listener = -1 };
	pthread_mutex_init(&fake->one_at_a_time, NULL);
	begin(fake, fake->ours);
	return fake;
}

static void *accept_all(void *context)
{
	struct fake *fake = context;
	struct pollfd polled[2] = { { .fd = fake->listener, .events = POLLIN }, { .fd = fake->stop[0], .events = POLLIN } };

	while (poll(polled, 2, -1) > 0 && !polled[1].revents && fake->n_threads < THREADS) {
		begin(fake, accept(fake->listener, NULL, NULL));
	}
	return NULL;
}

struct fake *fake_listen(fake_answer *answer, void *context)
{
	struct fake *fake = calloc(1, sizeof(*fake));
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	*fake = (struct fake){ .answer = answer, .context = context, .ours = -1, .theirs = -1 };
	pthread_mutex_init(&fake->one_at_a_time, NULL);
	strcpy(fake->directory, "/tmp/allot-fake-XXXXXX");
	assert_non_null(mkdtemp(fake->directory));
	snprintf(fake->path, sizeof(fake->path), "%s/s.sock", fake->directory);
	strcpy(address.sun_path, fake->path);
	fake->listener = socket(AF_UNIX, SOCK_STREAM, 0);
	assert_int_equal(bind(fake->listener, (const struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(fake->listener, 64), 0);
	assert_int_equal(pipe(fake->stop), 0);
	fake->fds[0] = -1;
	fake->n_threads = 1;
	pthread_create(&fake->threads[0], NULL, accept_all, fake);
	return fake;
}

int fake_descriptor(struct fake *fake)
{
	int fd = fake->theirs;

	fake->theirs = -1;
	return fd;
}

struct allot_conn *fake_conn(struct fake *fake)
{
	struct allot_conn *conn = allot_attach(fake_descriptor(fake));

	assert_non_null(conn);
	allot_set_timeout(conn, 20000);
	return conn;
}

const char *fake_path(const struct fake *fake)
{
	return fake->path;
}

void fake_stop(struct fake *fake)
{
	int i;

	if (fake->listener >= 0) {
		close(fake->stop[1]);
		pthread_join(fake->threads[0], NULL);
		close(fake->stop[0]);
		close(fake->listener);
		unlink(fake->path);
		rmdir(fake->directory);
	}
	for (i = fake->listener >= 0; i < fake->n_threads; i++) {
		shutdown(fake->fds[i], SHUT_RDWR);
		pthread_join(fake->threads[i], NULL);
		close(fake->fds[i]);
	}
	if (fake->theirs >= 0) {
		close(fake->theirs);
	}
	pthread_mutex_destroy(&fake->one_at_a_time);
	free(fake);
}

static char *envelope(const json_t *call, const char *member, json_t *value_take)
{
	json_t *answer = json_pack("{s:s, s:O, s:o}", "jsonrpc", "2.0", "id", json_object_get(call, "id"), member, value_take);
	char *text = json_dumps(answer, JSON_COMPACT), *line;

	assert_true(asprintf(&line, "%s\n", text) > 0);
	free(text);
	json_decref(answer);
	return line;
}

char *fake_result(const json_t *call, json_t *result_take)
{
	return envelope(call, "result", result_take);
}

char *fake_error(const json_t *call, int code, const char *reason, const char *message, json_t *data_take)
{
	json_t *data = data_take ? data_take : json_object();

	json_object_set_new(data, "reason", json_string(reason));
	return envelope(call, "error", json_pack("{s:i, s:s, s:o}", "code", code, "message", message, "data", data));
}

json_t *fake_json(const char *text)
{
	char *copy = strdup(text), *c;
	json_error_t where;
	json_t *value;

	for (c = copy; *c; c++) {
		if (*c == '\'') {
			*c = '"';
		}
	}
	value = json_loads(copy, JSON_DECODE_ANY, &where);
	if (!value) {
		fail_msg("%s: %s", where.text, copy);
	}
	free(copy);
	return value;
}

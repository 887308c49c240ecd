#include "support/server.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/call.h"
#include "support/check.h"
#include "support/directory.h"

enum { WRAP_WORDS = 32, WORDS = 64 };

char **server_command(char *const *arguments)
{
	const char *binary = getenv("ALLOTD"), *wrap = getenv("ALLOTD_WRAP");
	size_t n = 0, room = WORDS + 1;
	/* one block: the array, and behind it the text whose words it begins with */
	char **words = calloc(1, room * sizeof(char *) + strlen(wrap ? wrap : "") + 1);
	if (!words)
		abort();
	char *rest = strcpy((char *)(words + room), wrap ? wrap : ""), *place = NULL;
	for (char *word = strtok_r(rest, " ", &place); word && n < WRAP_WORDS; word = strtok_r(NULL, " ", &place))
		words[n++] = word;
	words[n++] = (char *)(uintptr_t)(binary && *binary ? binary : "build/allotd");
	for (size_t i = 0; arguments && arguments[i] && n < WORDS; i++)
		words[n++] = arguments[i];
	return words;
}

/* In the child: becomes the server. */
static _Noreturn void become(const struct server *s, char **words, pid_t parent)
{
	int log = open(s->log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent || dup2(nothing, STDIN_FILENO) < 0 || dup2(log, STDOUT_FILENO) < 0 ||
		dup2(log, STDERR_FILENO) < 0)
		_exit(126);
	(void)execvp(words[0], words);
	fprintf(stderr, "cannot run %s: %s\n", words[0], strerror(errno));
	_exit(127);
}

void server_launch(struct server *s)
{
	char *first[] = { (char[]){ "--data-dir" }, s->data, (char[]){ "--socket" }, s->socket, (char[]){ "--clock=manual" },
		NULL };
	char **words = server_command(first);
	size_t n = 0;
	while (words[n])
		n++;
	for (size_t i = 0; s->arguments && s->arguments[i] && n < WORDS; i++)
		words[n++] = s->arguments[i];
	pid_t parent = getpid();
	s->pid = fork();
	if (s->pid == 0)
		become(s, words, parent);
	free(words);
	if (s->pid < 0)
		check_failed("fork: %s", strerror(errno));
}

/* Ends the test, and whatever there is of the server: a setup that fails has no teardown. */
static _Noreturn void did_not_start(struct server *s, const char *what)
{
	char *log = file_read(s->log);
	size_t n = strlen(log);
	if (s->pid) {
		(void)kill(s->pid, SIGKILL);
		(void)waitpid(s->pid, NULL, 0);
		s->pid = 0;
	}
	directory_remove(s->directory);
	s->directory = NULL;
	check_failed("the server %s:\n%s", what, log + (n > 2000 ? n - 2000 : 0));
}

/* Whether the server has ended by itself. */
static bool has_ended(struct server *s, int *status)
{
	if (waitpid(s->pid, status, WNOHANG) != s->pid)
		return false;
	s->pid = 0;
	return true;
}

static void wait_until_ready(struct server *s)
{
	int64_t end = check_now() + check_patience();
	int status;
	while (!(s->wire = wire_try_open(s->socket))) {
		if (has_ended(s, &status))
			did_not_start(s, status_words(status));
		if (check_now() > end)
			did_not_start(s, "did not come up");
		check_sleep(5);
	}
	json_decref(call_result(s->wire, "server.info", NULL));
}

static char *below(const char *directory, const char *name)
{
	char *path = NULL;
	if (asprintf(&path, "%s/%s", directory, name) < 0)
		abort();
	return path;
}

struct server *server_start(char *const *arguments)
{
	struct server *s = calloc(1, sizeof *s);
	if (!s)
		abort();
	s->directory = directory_new();
	s->data = below(s->directory, "data");
	s->socket = below(s->directory, "s.sock");
	s->log = below(s->directory, "log");
	s->arguments = arguments;
	server_continue(s);
	return s;
}

void server_continue(struct server *s)
{
	server_launch(s);
	wait_until_ready(s);
}

const char *status_words(int status)
{
	static _Thread_local char words[64];
	if (WIFSIGNALED(status))
		(void)snprintf(words, sizeof words, "was killed by signal %d", WTERMSIG(status));
	else
		(void)snprintf(words, sizeof words, "ended with status %d", WEXITSTATUS(status));
	return words;
}

int server_end(struct server *s, int signal)
{
	int status = 0;
	int64_t end = check_now() + check_patience();
	wire_close(s->wire);
	s->wire = NULL;
	if (s->pid == 0)
		return 0;
	(void)kill(s->pid, signal);
	while (!has_ended(s, &status)) {
		if (check_now() > end) {
			did_not_start(s, "did not end");
		}
		check_sleep(1);
	}
	return status;
}

void server_restart(struct server *s, int signal)
{
	(void)server_end(s, signal);
	server_continue(s);
}

static void release(struct server *s)
{
	wire_close(s->wire);
	directory_remove(s->directory);
	free(s->data);
	free(s->socket);
	free(s->log);
	free(s);
}

void server_stop(struct server *s)
{
	if (!s)
		return;
	int status = server_end(s, SIGTERM);
	char *log = status == 0 ? NULL : file_read(s->log);
	release(s);
	if (log)
		check_failed("the server %s:\n%.4000s", status_words(status), log);
}

int server_setup(void **state)
{
	*state = server_start(NULL);
	return 0;
}

int server_teardown(void **state)
{
	server_stop(*state);
	return 0;
}

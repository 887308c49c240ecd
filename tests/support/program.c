#include "support/program.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/check.h"
#include "support/directory.h"

static _Noreturn void become(char *const *words, const char *out, const char *err)
{
	int o = open(out, O_WRONLY | O_CREAT | O_CLOEXEC, 0600), e = open(err, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	(void)setpgid(0, 0);
	if (dup2(nothing, STDIN_FILENO) < 0 || dup2(o, STDOUT_FILENO) < 0 || dup2(e, STDERR_FILENO) < 0)
		_exit(126);
	for (; *words && strchr(*words, '='); words++)
		(void)putenv(*words);
	(void)execvp(words[0], words);
	fprintf(stderr, "cannot run %s: %s\n", words[0], strerror(errno));
	_exit(127);
}

static int wait_for(pid_t pid, const char *name)
{
	int status = 0;
	int64_t end = check_now() + 3 * (int64_t)check_patience();
	while (waitpid(pid, &status, WNOHANG) != pid) {
		if (check_now() > end) {
			(void)kill(-pid, SIGKILL);
			(void)waitpid(pid, &status, 0);
			check_failed("%s does not end", name);
		}
		check_sleep(2);
	}
	(void)kill(-pid, SIGKILL); /* whatever it started and left */
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

struct outcome program_run(char *const *words)
{
	struct outcome o = { 0 };
	char *directory = directory_new(), *out = NULL, *err = NULL;
	if (asprintf(&out, "%s/out", directory) < 0 || asprintf(&err, "%s/err", directory) < 0)
		abort();
	pid_t pid = fork();
	if (pid == 0)
		become(words, out, err);
	if (pid < 0)
		check_failed("fork: %s", strerror(errno));
	o.status = wait_for(pid, words[0]);
	o.out = file_read(out);
	o.err = file_read(err);
	free(out);
	free(err);
	directory_remove(directory);
	return o;
}

struct outcome shell(const char *format, ...)
{
	char *script = NULL;
	va_list args;
	va_start(args, format);
	if (vasprintf(&script, format, args) < 0)
		abort();
	va_end(args);
	char *words[] = { (char[]){ "sh" }, (char[]){ "-c" }, script, NULL };
	struct outcome o = program_run(words);
	free(script);
	return o;
}

void outcome_free(struct outcome *o)
{
	free(o->out);
	free(o->err);
	*o = (struct outcome){ 0 };
}

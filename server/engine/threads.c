#include "engine/threads.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void thread_start(pthread_t *thread, const char *name, void *(*run)(void *), void *argument)
{
	sigset_t all, before;
	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &before);
	if (pthread_create(thread, NULL, run, argument) != 0) {
		(void)fputs("allotd: cannot start a thread\n", stderr);
		abort();
	}
	(void)pthread_setname_np(*thread, name);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void thread_cond_init(pthread_cond_t *cond)
{
	pthread_condattr_t attributes;
	(void)pthread_condattr_init(&attributes);
	(void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	(void)pthread_cond_init(cond, &attributes);
	(void)pthread_condattr_destroy(&attributes);
}

struct timespec thread_deadline(int64_t ms)
{
	struct timespec t;
	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	t.tv_sec += (time_t)(ms / 1000);
	t.tv_nsec += (long)(ms % 1000) * 1000000;
	if (t.tv_nsec >= 1000000000) {
		t.tv_sec++;
		t.tv_nsec -= 1000000000;
	}
	return t;
}

int64_t thread_now_ms(void)
{
	struct timespec t;
	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

int64_t thread_now_us(void)
{
	struct timespec t;
	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

void thread_relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#endif
}

void thread_sleep_ms(int64_t ms)
{
	struct timespec t = { .tv_sec = (time_t)(ms / 1000), .tv_nsec = (long)(ms % 1000) * 1000000 };
	(void)nanosleep(&t, NULL);
}

void thread_notify(int eventfd)
{
	const uint64_t one = 1;
	ssize_t n = write(eventfd, &one, sizeof one);
	(void)n; /* it can only fail when the counter is full, and then it is readable already */
}

/* The little that the engine's threads need from the system. */
#ifndef ALLOTD_ENGINE_THREADS_H
#define ALLOTD_ENGINE_THREADS_H

#include <pthread.h>
#include <stdint.h>
#include <time.h>

/* Starts a thread that gets no signals; aborts when there is none to be had (crash-only). */
void thread_start(pthread_t *thread, const char *name, void *(*run)(void *), void *argument);

/* A condition whose deadlines are those of thread_deadline. */
void thread_cond_init(pthread_cond_t *cond);

/* The point in time `ms` from now. */
struct timespec thread_deadline(int64_t ms);

/* Monotonic milliseconds. */
int64_t thread_now_ms(void);

/* Monotonic microseconds, and one turn of a loop that waits without sleeping. */
int64_t thread_now_us(void);
void thread_relax(void);

/* Sleeps for `ms`, signals or not. */
void thread_sleep_ms(int64_t ms);

/* Makes an eventfd readable. */
void thread_notify(int eventfd);

#endif

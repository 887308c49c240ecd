#include "engine/storage_thread.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/mem.h"
#include "engine/reader_thread.h"
#include "engine/threads.h"

enum {
	IDLE_MS = 500,  /* between two looks at the database when there is nothing to do */
	TIDY_MS = 1000, /* between two times of housekeeping, while there are commits */
	LINGER_US = 60, /* after a commit: the next one often comes at once, and going to sleep and waking costs about as much */
	BUSY_PAUSE_MS = 10 /* between two tries while another writer holds the database */
};

struct storage {
	pthread_t thread;
	struct store *store;
	struct store_retention retention;
	const struct log *log;
	int notify;

	pthread_mutex_t mutex; /* guards what follows */
	pthread_cond_t wake;
	struct job *job; /* to do or being done */
	struct job *finished;
	struct storage_news news;
	bool stop;

	atomic_bool given; /* there is a job or the end; a hint that may be read without the mutex */

	/* the thread's own */
	bool lingers;                    /* the last job was a commit */
	bool untidy;                     /* there were commits since the last housekeeping */
	int64_t tidied_at;               /* monotonic ms */
	int64_t now;                     /* of the last commit, Unix ms */
	enum store_outcome tidy_outcome; /* of the last time */
};

static void tell(struct storage *s, struct storage_news news)
{
	(void)pthread_mutex_lock(&s->mutex);
	s->news.outside |= news.outside;
	s->news.broken |= news.broken;
	(void)pthread_mutex_unlock(&s->mutex);
	thread_notify(s->notify);
}

static void run_commit(struct storage *s, struct job *job)
{
	struct store_meta meta = store_meta(s->store);
	int64_t until = thread_now_ms() + job->patience_ms;
	meta.revision = job->revision;
	meta.token = job->token;
	meta.now = job->now;
	for (;;) {
		if (job->empty)
			job->outcome = store_changed_outside(s->store) ? STORE_EXTERNAL : STORE_OK;
		else
			job->outcome = store_commit(s->store, job->changes, &meta, &job->why);
		if (job->outcome != STORE_BUSY || thread_now_ms() >= until)
			break;
		free(job->why);
		job->why = NULL;
		thread_sleep_ms(BUSY_PAUSE_MS);
	}
	if (job->outcome != STORE_OK)
		return;
	if (job->reader)
		reader_begin(job->reader);
	job->meta = store_meta(s->store);
	s->now = job->now;
	s->untidy |= !job->empty;
}

static void run_job(struct storage *s, struct job *job)
{
	if (job->kind == JOB_COMMIT)
		run_commit(s, job);
	else
		job->error = store_load(s->store, &job->loaded, &job->meta);
	s->lingers = job->kind == JOB_COMMIT;
	(void)pthread_mutex_lock(&s->mutex);
	s->job = NULL;
	s->finished = job;
	if (job->kind == JOB_LOAD)
		s->news.outside = false; /* what was seen before is in what was read */
	(void)pthread_mutex_unlock(&s->mutex);
	thread_notify(s->notify); /* from here on the job is the loop's again */
}

static void tidy(struct storage *s)
{
	char *why = NULL;
	if (!s->untidy || thread_now_ms() - s->tidied_at < TIDY_MS)
		return;
	enum store_outcome outcome = store_tidy(s->store, &s->retention, s->now, &why);
	s->tidied_at = thread_now_ms();
	s->untidy = false;
	if (outcome != STORE_OK && outcome != s->tidy_outcome)
		log_write(s->log, outcome == STORE_UNKNOWN ? LOG_ERROR : LOG_WARN, "housekeeping: %s", why ? why : "failed");
	s->tidy_outcome = outcome;
	free(why);
	if (outcome == STORE_UNKNOWN || outcome == STORE_EXTERNAL)
		tell(s, (struct storage_news){ .outside = outcome == STORE_EXTERNAL, .broken = outcome == STORE_UNKNOWN });
}

/* Between jobs: has somebody else written, is there room. */
static void look_around(struct storage *s)
{
	store_measure(s->store);
	if (store_changed_outside(s->store))
		tell(s, (struct storage_news){ .outside = true });
}

/* Stays awake for a moment after a commit. */
static void linger(struct storage *s)
{
	int64_t until = thread_now_us() + LINGER_US;
	while (s->lingers && !atomic_load_explicit(&s->given, memory_order_acquire) && thread_now_us() < until)
		thread_relax();
	s->lingers = false;
}

/* Waits for a job; NULL when IDLE_MS went by. `*stop`: there will be none. */
static struct job *wait_for_job(struct storage *s, bool *stop)
{
	struct timespec until = thread_deadline(IDLE_MS);
	int timed_out = 0;
	linger(s);
	(void)pthread_mutex_lock(&s->mutex);
	while (!s->job && !s->stop && timed_out != ETIMEDOUT)
		timed_out = pthread_cond_timedwait(&s->wake, &s->mutex, &until);
	struct job *job = s->job;
	*stop = s->stop && !job;
	atomic_store_explicit(&s->given, false, memory_order_relaxed);
	(void)pthread_mutex_unlock(&s->mutex);
	return job;
}

static void *run(void *argument)
{
	struct storage *s = argument;
	for (bool stop = false; !stop;) {
		struct job *job = wait_for_job(s, &stop);
		if (job)
			run_job(s, job);
		else if (!stop)
			look_around(s);
		if (!stop)
			tidy(s);
	}
	return NULL;
}

struct storage *storage_start(struct store *store, const struct store_retention *retention, const struct log *log, int notify)
{
	struct storage *s = mem_alloc(sizeof *s);
	s->store = store;
	s->retention = *retention;
	s->log = log;
	s->notify = notify;
	s->now = store_meta(store).now;
	s->untidy = true;
	s->tidied_at = thread_now_ms();
	(void)pthread_mutex_init(&s->mutex, NULL);
	thread_cond_init(&s->wake);
	thread_start(&s->thread, "storage", run, s);
	return s;
}

void storage_give(struct storage *s, struct job *job)
{
	(void)pthread_mutex_lock(&s->mutex);
	assert(!s->job && !s->finished);
	s->job = job;
	(void)pthread_mutex_unlock(&s->mutex);
	atomic_store_explicit(&s->given, true, memory_order_release);
	(void)pthread_cond_signal(&s->wake);
}

struct job *storage_take(struct storage *s)
{
	(void)pthread_mutex_lock(&s->mutex);
	struct job *job = s->finished;
	s->finished = NULL;
	(void)pthread_mutex_unlock(&s->mutex);
	return job;
}

struct storage_news storage_news(struct storage *s)
{
	(void)pthread_mutex_lock(&s->mutex);
	struct storage_news news = s->news;
	s->news = (struct storage_news){ 0 };
	(void)pthread_mutex_unlock(&s->mutex);
	return news;
}

void storage_stop(struct storage *s)
{
	(void)pthread_mutex_lock(&s->mutex);
	assert(!s->job);
	s->stop = true;
	(void)pthread_mutex_unlock(&s->mutex);
	(void)pthread_cond_signal(&s->wake);
	(void)pthread_join(s->thread, NULL);
	(void)pthread_cond_destroy(&s->wake);
	(void)pthread_mutex_destroy(&s->mutex);
	free(s);
}

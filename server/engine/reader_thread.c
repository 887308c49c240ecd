#include "engine/reader_thread.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/mem.h"
#include "engine/engine.h"
#include "engine/threads.h"

enum reader_state { READER_FREE, READER_RESERVED, READER_WORKING, READER_DONE };

struct reader {
	pthread_t thread;
	struct store *store;
	int notify;

	pthread_mutex_t mutex; /* guards `state` and `stop`; the rest belongs to whose turn it is by the state */
	pthread_cond_t wake;
	enum reader_state state;
	bool stop;
	struct engine_call *call;
	struct store_reader *connection; /* NULL until it is needed */
	struct error *failure;           /* why the work was not done */
};

static enum reader_state state_of(struct reader *r)
{
	(void)pthread_mutex_lock(&r->mutex);
	enum reader_state state = r->state;
	(void)pthread_mutex_unlock(&r->mutex);
	return state;
}

static void move(struct reader *r, enum reader_state from, enum reader_state to)
{
	(void)pthread_mutex_lock(&r->mutex);
	assert(r->state == from);
	r->state = to;
	(void)pthread_mutex_unlock(&r->mutex);
	(void)pthread_cond_signal(&r->wake);
}

/* Waits for work; false when there will be none. */
static bool wait_for_work(struct reader *r)
{
	(void)pthread_mutex_lock(&r->mutex);
	while (r->state != READER_WORKING && !r->stop)
		(void)pthread_cond_wait(&r->wake, &r->mutex);
	bool work = r->state == READER_WORKING;
	(void)pthread_mutex_unlock(&r->mutex);
	return work;
}

static void *run(void *argument)
{
	struct reader *r = argument;
	while (wait_for_work(r)) {
		if (!r->failure) {
			r->call->class->work(r->call, r->connection);
			store_reader_end(r->connection);
		}
		move(r, READER_WORKING, READER_DONE);
		thread_notify(r->notify);
	}
	return NULL;
}

struct reader *reader_start(struct store *store, int notify)
{
	struct reader *r = mem_alloc(sizeof *r);
	r->store = store;
	r->notify = notify;
	(void)pthread_mutex_init(&r->mutex, NULL);
	thread_cond_init(&r->wake);
	thread_start(&r->thread, "reader", run, r);
	return r;
}

void reader_stop(struct reader *r)
{
	(void)pthread_mutex_lock(&r->mutex);
	assert(r->state == READER_FREE);
	r->stop = true;
	(void)pthread_mutex_unlock(&r->mutex);
	(void)pthread_cond_signal(&r->wake);
	(void)pthread_join(r->thread, NULL);
	store_reader_close(r->connection);
	(void)pthread_cond_destroy(&r->wake);
	(void)pthread_mutex_destroy(&r->mutex);
	free(r);
}

bool reader_is_free(struct reader *r)
{
	return state_of(r) == READER_FREE;
}

void reader_reserve(struct reader *r, struct engine_call *call)
{
	r->call = call;
	move(r, READER_FREE, READER_RESERVED);
}

void reader_cancel(struct reader *r)
{
	r->call = NULL;
	move(r, READER_RESERVED, READER_FREE);
}

void reader_begin(struct reader *r)
{
	if (!r->connection)
		r->failure = store_reader_open(r->store, &r->connection);
	if (!r->failure)
		r->failure = store_reader_begin(r->connection);
	move(r, READER_RESERVED, READER_WORKING);
}

struct engine_call *reader_collect(struct reader *r, const struct error **failure)
{
	if (state_of(r) != READER_DONE)
		return NULL;
	struct engine_call *call = r->call;
	*failure = r->failure;
	r->call = NULL;
	return call;
}

void reader_free_again(struct reader *r)
{
	error_free(r->failure);
	r->failure = NULL;
	move(r, READER_DONE, READER_FREE);
}

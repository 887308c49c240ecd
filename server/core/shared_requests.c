/* Most pods of a cluster ask for one of a few things, so allocations with equal requests share one in memory. */
#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"
#include "core/cluster_private.h"

struct shared_request {
	const struct request *request; /* held by reference */
	size_t users;                  /* allocations that have it, or an equal one */
	UT_hash_handle hh;             /* by its text */
};

static struct shared_request *find(const struct cluster *c, const struct request *r)
{
	struct shared_request *found;
	HASH_FIND_STR(c->requests, r->text, found);
	return found;
}

const struct request *cluster_shared_request(const struct cluster *c, const struct request *r)
{
	const struct shared_request *found = find(c, r);
	return found ? found->request : r;
}

void shared_request_add(struct cluster *c, const struct request *r)
{
	struct shared_request *s = find(c, r);
	if (!s) {
		s = mem_alloc(sizeof *s);
		s->request = request_ref(r);
		HASH_ADD_KEYPTR(hh, c->requests, s->request->text, strlen(s->request->text), s);
	}
	s->users++;
}

void shared_request_drop(struct cluster *c, const struct request *r)
{
	struct shared_request *s = find(c, r);
	assert(s && s->users);
	if (--s->users)
		return;
	HASH_DEL(c->requests, s);
	request_unref(s->request);
	free(s);
}

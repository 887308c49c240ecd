/* A transport with handlers that write down what they see, for the tests of this directory. One thread: the test plays the peers. */
#ifndef TESTS_UNIT_TRANSPORT_RIG_H
#define TESTS_UNIT_TRANSPORT_RIG_H

#include "base/text.h"
#include "transport/transport.h"

struct rig {
	struct transport *transport;
	bool echo;        /* each text is answered at once with itself; else the test calls transport_done */
	bool hold_each;   /* each text holds its connection */
	bool pause_each;  /* each text pauses the transport */
	struct text seen; /* "text\n" for each on_text */
	size_t texts, opened, closed, overlong, signals;
	uint64_t last;  /* the connection opened last */
	char peer[128]; /* its peer */
};

/* A rig with these limits (zeros: the defaults). Ends with rig_close. */
struct rig *rig_new(struct transport_limits limits);
void rig_free(struct rig *rig);

/* A connection made with socketpair; the peer's end, not blocking. */
int rig_connect(struct rig *rig);

/* Runs passes until nothing has happened for a few of them. */
void rig_run(struct rig *rig);

/* Runs passes for that many milliseconds. */
void rig_run_for(struct rig *rig, int ms);

/* Writes all of it from the peer's end, running the transport while the kernel takes no more. Returns what was written. */
size_t peer_write(struct rig *rig, int fd, const char *bytes, size_t length);
void peer_puts(struct rig *rig, int fd, const char *string);

/* What can be read at the peer's end now, running the transport in between; appended to `to`. True when the end was reached. */
bool peer_read(struct rig *rig, int fd, struct text *to);

#endif

/* One connection to the server as bytes and lines, for tests that care about the wire. Blocking, with a time limit: a wait that is
 * too long fails the test. */
#ifndef TESTS_SUPPORT_WIRE_H
#define TESTS_SUPPORT_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct wire {
	int fd;
	int64_t next_id; /* of the calls made through call.h */
	char *bytes;     /* read and not yet taken */
	size_t used;
	size_t room;
};

/* Connects to a unix socket; fails the test when that is impossible. */
struct wire *wire_open(const char *path);

/* The same; NULL when nobody listens. */
struct wire *wire_try_open(const char *path);

/* Connects to a TCP port of the loopback interface; fails the test when that is impossible. */
struct wire *wire_open_tcp(int port);

/* Closes the connection; NULL is legal. */
void wire_close(struct wire *w);

/* Sends everything; false when the other side has closed. Fails the test when the other side does not read. */
bool wire_send(struct wire *w, const char *bytes, size_t length);

/* Sends a string and a newline. */
bool wire_say(struct wire *w, const char *line);

/* The next line without its newline, owned by the caller; NULL when the server has closed the connection. */
char *wire_line(struct wire *w);

enum wire_event { WIRE_LINE, WIRE_NOTHING, WIRE_END };

/* The next line if it comes within `ms` (0 = only what is here already). An end in the middle of a line is an end. */
enum wire_event wire_try_line(struct wire *w, int ms, char **line);

/* Whether nothing arrives for `ms`. */
bool wire_silent(struct wire *w, int ms);

/* Whether the server closes the connection without saying anything more. */
bool wire_ended(struct wire *w);

/* Ends this side's half of the connection. */
void wire_end(struct wire *w);

#endif

/* A real server under test: started on a temporary directory of its own, ended and started again on the same data, and gone with
 * everything it left when the test is over. It also dies when the test program dies.
 *
 * The binary is $ALLOTD (build/allotd); words in $ALLOTD_WRAP are put before it (valgrind). */
#ifndef TESTS_SUPPORT_SERVER_H
#define TESTS_SUPPORT_SERVER_H

#include <stdbool.h>
#include <sys/types.h>

#include "support/wire.h"

struct server {
	pid_t pid;              /* 0 = not running */
	char *directory;        /* of this server; holds the three below */
	char *data;             /* its --data-dir */
	char *socket;           /* its --socket */
	char *log;              /* what it printed, of all starts */
	char *const *arguments; /* further ones, NULL-terminated, or NULL; borrowed */
	struct wire *wire;      /* a connection that server_start and server_restart opened */
};

/* Starts a server with the manual clock and waits until it answers. A NULL-terminated list of further arguments may be
 * given; a later --clock there overrides. Fails the test when it does not come up. */
struct server *server_start(char *const *arguments);

/* Sends the signal (0 = none) and waits for the end: the status as of waitpid. */
int server_end(struct server *s, int signal);

/* Ends the server by the signal (unless it has ended) and starts it again on the same data. */
void server_restart(struct server *s, int signal);

/* Starts a server that has ended. */
void server_continue(struct server *s);

/* The same without waiting until it answers. */
void server_launch(struct server *s);

/* Ends it by SIGTERM, demands exit status 0, and removes everything. NULL is legal. */
void server_stop(struct server *s);

/* setup and teardown of a cmocka test whose *state is a server. */
int server_setup(void **state);
int server_teardown(void **state);

/* A status of waitpid in words, for messages; valid until the next call on this thread. */
const char *status_words(int status);

/* The command line of the server binary: ALLOTD_WRAP, ALLOTD, and the arguments; free() the array, not its words. */
char **server_command(char *const *arguments);

#endif

/* A client that keeps its own log. It works on a node of its own with calls that follow from its log alone, so that the state of that
 * node after any number of its calls is known. It sends ahead of the answers; after a crash the server must have executed all answered
 * calls and, in order, some of the unanswered ones. */
#ifndef TESTS_FAULT_CLIENT_H
#define TESTS_FAULT_CLIENT_H

#include <stdbool.h>
#include <stdint.h>

#include "support/wire.h"

enum { CLIENT_DEVICES = 4 };

enum pod_phase { PHASE_NONE, PHASE_RESERVED, PHASE_BOUND, PHASE_ALLOCATED };

/* The pods of the node: at most one for each device. */
struct node_state {
	int pods[CLIENT_DEVICES]; /* their numbers; uid "c<client>-<number>" */
	enum pod_phase phases[CLIENT_DEVICES];
};

struct client_step {
	struct node_state after; /* what the node is once this call was executed */
	bool answered;
	int64_t revision; /* the answer said, 0 = it said none */
};

struct client {
	int number;
	unsigned random;
	struct wire *wire;
	int next_pod;
	struct node_state start;   /* before the first step of the log */
	struct client_step *steps; /* sent since then */
	size_t sent;
	size_t answered;
	size_t room;
	bool may_fail;      /* the disk is going to fail: calls may be answered with errors that say so, and after one all are */
	size_t unknown;     /* answered `outcome_unknown` */
	size_t unavailable; /* answered `unavailable` */
	int64_t max_token;  /* that an answer named */
	int64_t max_revision;
	int64_t since; /* max_revision when the log began */
};

/* A client for the node "c<number>", which must be registered. */
struct client *client_new(int number, unsigned seed);
void client_free(struct client *c); /* NULL is legal */

/* Connects; the log starts anew from the state that is known. */
void client_connect(struct client *c, const char *socket);

/* Sends calls until `window` are unanswered; false when the connection has ended. */
bool client_send(struct client *c, size_t window);

/* Takes the answers that are here; false when the connection has ended. Each must be a result. */
bool client_receive(struct client *c);

/* Compares the pods of the node with the log: they must be what they were after the answered calls or some of the later ones. Goes on from
 * what was found. Fails the test when they are anything else, or when an answered revision has no event. */
void client_verify(struct client *c, struct wire *wire);

#endif

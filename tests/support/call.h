/* JSON-RPC calls over a wire. JSON values are written as text in which ' stands for ": json_of("{'uid': '%s'}", uid). */
#ifndef TESTS_SUPPORT_CALL_H
#define TESTS_SUPPORT_CALL_H

#include <jansson.h>

#include "support/wire.h"

/* A value from its text; fails the test when it is no JSON. Owned by the caller. */
json_t *json_of(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Sends a call without waiting for its answer; `params` is taken over (NULL = none). The id is returned. */
int64_t call_send(struct wire *w, const char *method, json_t *params_take);

/* The next answer, checked to be a JSON-RPC response with this id; owned by the caller. */
json_t *call_receive(struct wire *w, int64_t id);

/* Makes a call; the whole answer is the caller's. */
json_t *call(struct wire *w, const char *method, json_t *params_take);

/* Makes a call that must succeed; the result is the caller's. */
json_t *call_result(struct wire *w, const char *method, json_t *params_take);

/* Makes a call that must succeed with a result that matches `want` (see match.h); both values are taken over. */
void expect(struct wire *w, const char *method, json_t *params_take, json_t *want_take);

/* Makes a call that must be refused for `reason` with data that matches `want` (NULL = any); both values are taken over. */
void refused(struct wire *w, const char *method, json_t *params_take, const char *reason, json_t *want_take);

/* data.reason of an answer; "ok" when it is a result. Borrowed from the answer. */
const char *answer_reason(const json_t *answer);

/* Fails the test unless `got` matches `want`, which is taken over. */
void expect_match(const json_t *got, json_t *want_take);

/* The revision of server.info. */
int64_t revision_of(struct wire *w);

#endif

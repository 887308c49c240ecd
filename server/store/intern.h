/* Strings and requests that occur many times in the database, kept once while it is loaded. */
#ifndef ALLOTD_STORE_INTERN_H
#define ALLOTD_STORE_INTERN_H

#include "core/request.h"
#include "store/store.h"

struct intern;

struct intern *intern_new(const struct store_codec *codec);
void intern_free(struct intern *in);

/* The same string, alive until intern_free. */
const char *intern_string(struct intern *in, const char *string);

/* The request of that canonical text, parsed when it is seen for the first time. The reference stays the intern's. */
struct error *intern_request(struct intern *in, const char *text, const struct request **ret) __attribute__((warn_unused_result));

#endif

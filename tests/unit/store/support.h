/* What the tests of the store share: a data directory each, a codec that needs no JSON, and a hand in the sqlite3 shell. */
#ifndef TESTS_UNIT_STORE_SUPPORT_H
#define TESTS_UNIT_STORE_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "base/error.h"
#include "store/store.h"

enum { START = 1700000000 }; /* the first time of test databases, in seconds */

struct place {
	char directory[64];
	char database[96];
	struct store *store; /* closed at the end if it is open */
};

/* cmocka's setup and teardown: an empty directory; and the same with an open store in it, guard off or on. */
int place_new(void **state);
int place_new_open(void **state);
int place_new_guarded(void **state);
int place_end(void **state);

/* Requests are written as "type,count,container,agent;...", events as {"kind":"..."}. */
extern const struct store_codec test_codec;
struct request *request_of(const char *text);

/* The options every test begins with. */
struct store_options options_for(const struct place *p);

/* Opens; the test fails when that does. */
void place_open(struct place *p, bool guard);
void place_close(struct place *p);

/* Must not open: checks the exit status and that the message contains `part`. */
void refused(const struct place *p, int status, const char *part);

/* The path of a file beside the database, "" appended to the directory: place_file(p, "allotd.lock"). Owned by the caller. */
char *place_file(const struct place *p, const char *name);

/* The bytes of a file; the caller's. */
char *bytes_of(const char *path, size_t *size);
void write_bytes(const char *path, const char *bytes, size_t size);
bool file_exists(const char *path);

/* Commits; must succeed. The list is empty afterwards. */
void commit(struct place *p, struct change_list *changes);

/* Loads; must succeed. */
struct store_meta load(struct place *p, struct change_list *ret);

/* A connection as the sqlite3 shell opens one: foreign keys off, the schema trusted, no extra rules. */
sqlite3 *hand_open(const struct place *p);

/* Runs SQL that must succeed; SQL that must fail with a message that contains `part`. */
void hand_may(sqlite3 *db, const char *sql);
void hand_may_not(sqlite3 *db, const char *sql, const char *part);

/* The number or text a query yields; the text is the caller's. */
int64_t hand_number(sqlite3 *db, const char *sql);
char *hand_text(sqlite3 *db, const char *sql);

#endif

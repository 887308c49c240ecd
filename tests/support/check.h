/* cmocka with the headers it wants before it. Everything in tests/support reports what is wrong by failing the running test. */
#ifndef TESTS_SUPPORT_CHECK_H
#define TESTS_SUPPORT_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Fails the running test with a sentence; unlike fail_msg the compiler knows that it does not return. */
_Noreturn void check_failed(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* What a wait for the server may take, in ms: long under sanitizers and valgrind, which ALLOT_SANITIZE names. */
int check_patience(void);

/* Whether the programs under test are instrumented, so that memory and time mean nothing. */
bool check_instrumented(void);

/* Unix milliseconds by the monotonic clock; only differences mean anything. */
int64_t check_now(void);

/* Sleeps for `ms`. */
void check_sleep(int ms);

#endif

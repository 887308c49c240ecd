/* The modules everything stands on: memory, arena, text, errors, clock, log. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"

static void memory(void **state)
{
	char *zero = mem_alloc(16), *copy = mem_copy("abc", 4), *text = mem_format("%d-%s", 7, "x");
	int *numbers = NULL;
	size_t room = 0;
	for (size_t i = 0; i < 100; i++) {
		numbers = mem_grow(numbers, i, &room, sizeof *numbers);
		numbers[i] = (int)i;
	}
	assert_int_equal(zero[15], 0);
	assert_string_equal(copy, "abc");
	assert_string_equal(text, "7-x");
	assert_int_equal(numbers[99], 99);
	assert_true(room >= 100);
	assert_null(mem_string(NULL));
	free(mem_alloc(0));
	free(mem_array(0, 8));
	free(mem_copy(NULL, 0));
	free(zero);
	free(copy);
	free(text);
	free(numbers);
}

/* A product that does not fit ends the process instead of giving too little. */
static void memory_that_cannot_be(void **state)
{
	int status;
	pid_t child = fork();
	if (child == 0) {
		if (!freopen("/dev/null", "w", stderr))
			_exit(0);
		(void)signal(SIGABRT, SIG_DFL);
		free(mem_array(SIZE_MAX / 2, 4));
		_exit(0);
	}
	assert_true(child > 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_false(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void arenas(void **state)
{
	struct arena *a = arena_new();
	char *last = NULL;
	for (size_t size = 1; size < 10000; size = size * 2 + 1) {
		char *p = arena_alloc(a, size);
		assert_non_null(p);
		assert_int_equal((uintptr_t)p % _Alignof(max_align_t), 0);
		assert_ptr_not_equal(p, last);
		for (size_t i = 0; i < size; i++)
			assert_int_equal(p[i], 0);
		memset(p, 'x', size);
		last = p;
	}
	assert_string_equal(arena_string(a, "hello world", 5), "hello");
	assert_string_equal(arena_string(a, "", 0), "");
	arena_free(a);
	arena_free(NULL);
}

static void texts(void **state)
{
	struct text t = { 0 };
	assert_string_equal(text_string(&t), "");
	text_puts(&t, "one");
	text_putc(&t, ' ');
	text_printf(&t, "%d %s", 2, "three");
	text_add(&t, "xyz", 1);
	assert_string_equal(text_string(&t), "one 2 threex");
	assert_int_equal(t.length, 12);
	text_clear(&t);
	assert_string_equal(text_string(&t), "");
	for (size_t i = 0; i < 5000; i++)
		text_printf(&t, "%zu,", i);
	assert_int_equal(strlen(text_string(&t)), t.length);
	memcpy(text_room(&t, 3), "abc", 3);
	char *taken = text_take(&t);
	assert_int_equal(t.length, 0);
	free(taken);
	taken = text_take(&t);
	assert_string_equal(taken, ""); /* never NULL */
	free(taken);
	text_free(&t);
}

static void errors(void **state)
{
	static const char *const uids[] = { "a", "b" };
	struct error *e = error_new(ERR_CONFLICT, "pod %s is %s", "x", "bound");
	error_with_string(error_with_integer(e, "revision", 7), "state", "bound");
	error_with_strings(e, "uids", uids, 2);
	error_with_json(e, "counts", mem_string("{}"));
	assert_string_equal(e->message, "pod x is bound");
	assert_int_equal(e->n_details, 4);
	assert_int_equal(e->details[0].integer, 7);
	assert_string_equal(e->details[1].string, "bound");
	assert_int_equal(e->details[2].count, 2);
	assert_string_equal(e->details[2].strings[1], "b");
	error_free(e);
	error_free(NULL);
}

/* The table of the contract, section 4. */
static void error_codes(void **state)
{
	static const struct {
		enum error_code code;
		int number;
		const char *slug;
	} table[] = {
		{ ERR_PARSE, -32700, "parse_error" },
		{ ERR_INVALID_REQUEST, -32600, "invalid_request" },
		{ ERR_UNKNOWN_METHOD, -32601, "unknown_method" },
		{ ERR_INVALID_PARAMS, -32602, "invalid_params" },
		{ ERR_INTERNAL, -32603, "internal" },
		{ ERR_INSUFFICIENT, -32001, "insufficient" },
		{ ERR_NOT_FOUND, -32002, "not_found" },
		{ ERR_CONFLICT, -32003, "conflict" },
		{ ERR_LOCKED, -32004, "locked" },
		{ ERR_STALE_TOKEN, -32005, "stale_token" },
		{ ERR_AMBIGUOUS, -32006, "ambiguous" },
		{ ERR_EXPIRED, -32007, "expired" },
		{ ERR_MISMATCH, -32008, "mismatch" },
		{ ERR_EXHAUSTED, -32009, "exhausted" },
		{ ERR_FORBIDDEN, -32010, "forbidden" },
		{ ERR_UNAUTHENTICATED, -32011, "unauthenticated" },
		{ ERR_READ_ONLY, -32012, "read_only" },
		{ ERR_OUTCOME_UNKNOWN, -32013, "outcome_unknown" },
		{ ERR_OVERLOADED, -32014, "overloaded" },
		{ ERR_COMPACTED, -32015, "compacted" },
		{ ERR_UNAVAILABLE, -32016, "unavailable" },
	};
	assert_int_equal(sizeof table / sizeof *table, ERR_CODES);
	for (size_t i = 0; i < ERR_CODES; i++) {
		assert_int_equal(error_number(table[i].code), table[i].number);
		assert_string_equal(error_slug(table[i].code), table[i].slug);
	}
}

static void clocks(void **state)
{
	struct clock manual = clock_start(CLOCK_MANUAL, 5000);
	assert_int_equal(clock_now(&manual), 5000); /* it resumes where it stood */
	clock_advance(&manual, 250);
	assert_int_equal(clock_now(&manual), 5250);
	assert_int_equal(clock_skew(&manual), 0);
	struct clock system = clock_start(CLOCK_SYSTEM, 0);
	assert_in_range(clock_now(&system), 1577836800000, INT64_MAX); /* after 2020 */
	assert_in_range(clock_skew(&system) + 1000, 0, 2000);
	int64_t future = clock_now(&system) + 3600000;
	struct clock late = clock_start(CLOCK_SYSTEM, future);
	assert_true(clock_now(&late) >= future); /* never behind what the database knew */
	assert_true(clock_skew(&late) < -3000000);
}

/* What `log_write` says, on a pipe in place of stderr. */
static void say(const struct log *log, enum log_level level, const char *message, char *ret, size_t size)
{
	int ends[2], saved = dup(STDERR_FILENO);
	assert_int_equal(pipe(ends), 0);
	assert_true(saved >= 0 && dup2(ends[1], STDERR_FILENO) >= 0);
	log_write(log, level, "%s", message);
	assert_true(dup2(saved, STDERR_FILENO) >= 0);
	(void)close(saved);
	(void)close(ends[1]);
	ssize_t n = read(ends[0], ret, size - 1);
	ret[n > 0 ? n : 0] = '\0';
	(void)close(ends[0]);
}

static void logs(void **state)
{
	const struct log log = { .level = LOG_INFO };
	enum log_level level;
	char line[4096], text[3000];
	say(&log, LOG_DEBUG, "hidden", line, sizeof line);
	assert_string_equal(line, "");
	say(&log, LOG_WARN, "seen", line, sizeof line);
	assert_non_null(strstr(line, "Z warn seen\n"));
	memset(text, 'x', sizeof text - 1);
	text[sizeof text - 1] = '\0';
	say(&log, LOG_ERROR, text, line, sizeof line);
	assert_true(strlen(line) <= 2048);
	assert_int_equal(line[strlen(line) - 1], '\n'); /* cut, but a line */
	assert_true(log_level_parse("debug", &level));
	assert_int_equal(level, LOG_DEBUG);
	assert_false(log_level_parse("loud", &level));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory),
		cmocka_unit_test(memory_that_cannot_be),
		cmocka_unit_test(arenas),
		cmocka_unit_test(texts),
		cmocka_unit_test(errors),
		cmocka_unit_test(error_codes),
		cmocka_unit_test(clocks),
		cmocka_unit_test(logs),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

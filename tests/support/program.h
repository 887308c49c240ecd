/* Running a command to its end, for tests of command lines. */
#ifndef TESTS_SUPPORT_PROGRAM_H
#define TESTS_SUPPORT_PROGRAM_H

/* How a command ended. */
struct outcome {
	int status; /* exit status; 128 + n when killed by signal n */
	char *out;  /* what it wrote to standard output */
	char *err;  /* what it wrote to standard error */
};

/* Runs the NULL-terminated words with empty standard input; fails the test when it does not end in time. The words
 * NAME=VALUE before the command are put into its environment. */
struct outcome program_run(char *const *words);

/* Runs `sh -c` with the formatted script. */
struct outcome shell(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Releases both texts. */
void outcome_free(struct outcome *o);

#endif

/* Three kinds of error: MPI's, the user's, our own.
 *
 * SK_MPI(call)           any process: prints rank, place, call and MPI's text, aborts the job when the call failed.
 * SK_REQUIRE(ok, ...)    user input: every process must call it; when one process says no, the lowest such process
 *                        prints the message once, MPI is finalized and all leave with status 2.
 * SK_ASSERT(x)           our own mistakes: never compiled out, aborts.
 */
#ifndef SK_BASE_CHECK_H
#define SK_BASE_CHECK_H

#include <stdbool.h>

enum sk_exit { SK_EXIT_OK = 0, SK_EXIT_INPUT = 2, SK_EXIT_SIZE = 3, SK_EXIT_WRONG_RESULT = 4 };

#define SK_MPI(call) sk_mpi_check((call), #call, __FILE__, __LINE__)
#define SK_REQUIRE(ok, ...) sk_require((ok), __VA_ARGS__)
#define SK_ASSERT(x) ((x) ? (void)0 : sk_assert_failed(#x, __FILE__, __LINE__))

void sk_mpi_check(int status, const char *call, const char *file, int line);
void sk_require(bool ok, const char *format, ...) __attribute__((format(printf, 2, 3)));
_Noreturn void sk_assert_failed(const char *text, const char *file, int line);

/* Name of the program that every message begins with; call once before anything else. */
void sk_program_name(const char *name);
const char *sk_program(void);

/* Prints "program: message" on standard error; any single process. */
void sk_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif

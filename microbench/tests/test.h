/* Tests without a framework: CHECK says where it failed and goes on; main counts. */
#ifndef SK_TESTS_TEST_H
#define SK_TESTS_TEST_H

#include <stdbool.h>

#define CHECK(x) test_check((x), #x, __FILE__, __LINE__)

void test_check(bool ok, const char *text, const char *file, int line);

/* Returns a path in the directory of the tests' own files; the buffer is reused. */
const char *test_path(const char *name);

#define TEST(name) void test_##name(void);
#include "tests/tests.def"
#undef TEST

#endif

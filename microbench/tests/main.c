#include "tests/test.h"

#include "base/check.h"

#include <stdio.h>

static int checks, failures;
static const char *directory;

void test_check(bool ok, const char *text, const char *file, int line)
{
    checks++;
    failures += !ok;
    if (!ok)
        fprintf(stderr, "%s:%d: failed: %s\n", file, line, text);
}

const char *test_path(const char *name)
{
    static char path[1024];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    return path;
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: unit DIRECTORY, where the tests may write\n");
        return 2;
    }
    directory = argv[1];
    sk_program_name("tests");
#define TEST(name) test_##name();
#include "tests/tests.def"
#undef TEST
    printf("unit tests: %d checks, %d failed\n", checks, failures);
    return failures > 0;
}

/* check_file FILE OP...: is FILE a complete run file in which every OP has a record? Status 0 when it is. */
#include "base/alloc.h"
#include "base/env.h"
#include "base/json.h"

#include <stdio.h>
#include <string.h>

static int fail(const char *path, int line, const char *what)
{
    fprintf(stderr, "%s, line %d: %s\n", path, line, what);
    return 1;
}

/* Cuts `text` into lines; returns how many. */
static int cut(char *text, char **lines, int most)
{
    int n = 0;
    for (char *line = strtok(text, "\n"); line && n < most; line = strtok(NULL, "\n"))
        lines[n++] = line;
    return n;
}

static int check_lines(const char *path, char **lines, int n)
{
    int failures = 0;
    for (int i = 0; i < n; i++) {
        if (!sk_json_is_object(lines[i]))
            failures += fail(path, i + 1, "no JSON object");
        if (strstr(lines[i], "\"verified\":false"))
            failures += fail(path, i + 1, "not verified");
    }
    if (n == 0 || !strstr(lines[0], "\"rec\":\"env\""))
        failures += fail(path, 1, "the first record is not 'env'");
    if (n == 0 || !strstr(lines[n - 1], "\"rec\":\"end\""))
        failures += fail(path, n, "the last record is not 'end'");
    char count[64];
    snprintf(count, sizeof count, "\"records\":%d,", n - 1);
    if (n > 0 && !strstr(lines[n - 1], count))
        failures += fail(path, n, "the last record does not count those before it");
    return failures;
}

int main(int argc, char **argv)
{
    static char *lines[10000];
    char *text = argc > 1 ? sk_env_read_file(argv[1]) : NULL;
    if (!text)
        return fail(argc > 1 ? argv[1] : "?", 0, "cannot be read");
    int n = cut(text, lines, 10000), failures = check_lines(argv[1], lines, n);
    for (int i = 2; i < argc; i++) {
        char wanted[128];
        int found = 0;
        snprintf(wanted, sizeof wanted, "\"op\":\"%s\"", argv[i]);
        for (int k = 0; k < n; k++)
            found += strstr(lines[k], wanted) != NULL;
        if (found == 0)
            failures += fail(argv[1], n, wanted);
    }
    sk_free(text);
    return failures > 0;
}

/* base/check.h for a program of one process, without MPI. */
#include "base/check.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static const char *program = "mafia";

void sk_program_name(const char *name)
{
    program = name;
}

const char *sk_program(void)
{
    return program;
}

static void say(const char *format, va_list arguments)
{
    fprintf(stderr, "%s: ", program);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
}

void sk_say(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say(format, arguments);
    va_end(arguments);
}

void sk_require(bool ok, const char *format, ...)
{
    if (ok)
        return;
    va_list arguments;
    va_start(arguments, format);
    say(format, arguments);
    va_end(arguments);
    exit(SK_EXIT_INPUT);
}

_Noreturn void sk_assert_failed(const char *text, const char *file, int line)
{
    sk_say("%s:%d: this must hold and does not: %s", file, line, text);
    abort();
}

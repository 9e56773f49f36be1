/* What base/check.c does in programs of MPI: messages on standard error. */
#include "base/check.h"

#include <stdarg.h>
#include <stdio.h>

void sk_say(const char *format, ...)
{
    va_list words;
    va_start(words, format);
    fputs("sk_otf2_read: ", stderr);
    vfprintf(stderr, format, words);
    fputs(".\n", stderr);
    va_end(words);
}

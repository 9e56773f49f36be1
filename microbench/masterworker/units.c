#include "masterworker/units.h"

#include "base/rng.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = sizeof(int64_t), MOST_DIGITS = 18 };

/* Where the number stands for the second time; in short messages, which have no room for it, there is the first one. */
static size_t second_of(size_t bytes)
{
    return bytes >= 2 * WIDTH ? bytes - WIDTH : 0;
}

void sk_unit_number(char *message, size_t bytes, int64_t number)
{
    memcpy(message, &number, WIDTH);
    memcpy(message + second_of(bytes), &number, WIDTH);
}

int64_t sk_unit_read(const char *message, size_t bytes)
{
    int64_t first, last;
    memcpy(&first, message, WIDTH);
    memcpy(&last, message + second_of(bytes), WIDTH);
    return first == last && first >= 0 ? first : -1;
}

/* The end of what the number does not cover. */
static size_t end_of(size_t bytes)
{
    return second_of(bytes) > 0 ? bytes - WIDTH : bytes;
}

static char between(size_t i, int64_t number)
{
    return (char)(i * 31 + i / 251 + (size_t)number * 17 + 5);
}

void sk_unit_fill(char *message, size_t bytes, int64_t number)
{
    for (size_t i = WIDTH; i < end_of(bytes); i++)
        message[i] = between(i, number);
}

bool sk_unit_is_whole(const char *message, size_t bytes, int64_t number)
{
    for (size_t i = WIDTH; i < end_of(bytes); i++)
        if (message[i] != between(i, number))
            return false;
    return sk_unit_read(message, bytes) == number;
}

int64_t sk_unit_answer(int64_t number, uint64_t seed)
{
    struct sk_rng rng = sk_rng_seeded(seed, (uint64_t)number);
    return (int64_t)(sk_rng_next(&rng) >> 1);
}

int sk_unit_counts(const char *option, const char *text, int64_t least, int64_t largest, int64_t *counts, int most,
                   char *why, size_t room)
{
    int n = 0;
    for (const char *at = text;; at++, n++) {
        size_t digits = strspn(at, "0123456789");
        int64_t count = digits > 0 && digits <= MOST_DIGITS ? strtoll(at, NULL, 10) : -1;
        if (count < least || count > largest || (at[digits] != ',' && at[digits] != '\0')) {
            snprintf(why, room, "--%s: '%.*s' is no whole number from %" PRId64 " to %" PRId64 "; see --help", option,
                     (int)strcspn(at, ","), at, least, largest);
            return -1;
        }
        if (n < most)
            counts[n] = count;
        at += digits;
        if (*at == '\0')
            return n + 1;
    }
}

#include "base/options.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool read_count(const struct sk_option *option, const char *text)
{
    char *end = NULL;
    errno = 0;
    long long number = strtoll(text, &end, 10);
    if (errno || end == text || *end || number < option->least)
        return false;
    *(int64_t *)option->target = number;
    return true;
}

static bool read_seed(const struct sk_option *option, const char *text)
{
    char *end = NULL;
    errno = 0;
    unsigned long long number = strtoull(text, &end, 10);
    if (errno || end == text || *end || text[0] == '-')
        return false;
    *(uint64_t *)option->target = number;
    return true;
}

static bool read_real(const struct sk_option *option, const char *text)
{
    char *end = NULL;
    double number = strtod(text, &end);
    if (end == text || *end || !isfinite(number) || number <= (double)option->least)
        return false;
    *(double *)option->target = number;
    return true;
}

static bool read_value(const struct sk_option *option, const char *text, char *why, size_t room)
{
    switch (option->kind) {
    case SK_OPTION_TEXT:
        *(const char **)option->target = text;
        return true;
    case SK_OPTION_COUNT:
        if (read_count(option, text))
            return true;
        snprintf(why, room, "--%s: '%s' is not a whole number of at least %" PRId64 "; see --help", option->name, text,
                 option->least);
        return false;
    case SK_OPTION_SEED:
        if (read_seed(option, text))
            return true;
        snprintf(why, room, "--%s: '%s' is not a whole number from 0 to 2^64 - 1; see --help", option->name, text);
        return false;
    case SK_OPTION_REAL:
        if (read_real(option, text))
            return true;
        snprintf(why, room, "--%s: '%s' is not a number greater than %" PRId64 "; see --help", option->name, text,
                 option->least);
        return false;
    }
    return false;
}

static const struct sk_option *find(const struct sk_option *options, size_t n, const char *name, size_t length)
{
    for (size_t i = 0; i < n; i++)
        if (strlen(options[i].name) == length && strncmp(options[i].name, name, length) == 0)
            return &options[i];
    return NULL;
}

bool sk_options_read(const struct sk_option *options, size_t n, int argc, char **argv, bool *help, char *why,
                     size_t room)
{
    *help = false;
    for (int i = 1; i < argc; i++) {
        const char *name = argv[i] + 2;
        if (strcmp(argv[i], "--help") == 0) {
            *help = true;
            continue;
        }
        size_t length = strncmp(argv[i], "--", 2) == 0 ? strcspn(name, "=") : 0;
        const struct sk_option *option = length ? find(options, n, name, length) : NULL;
        if (!option) {
            snprintf(why, room, "unknown argument '%s'; see --help for the options", argv[i]);
            return false;
        }
        const char *value = name[length] == '=' ? name + length + 1 : i + 1 < argc ? argv[++i] : NULL;
        if (!value) {
            snprintf(why, room, "--%s needs a value (%s); see --help", option->name, option->value);
            return false;
        }
        if (!read_value(option, value, why, room))
            return false;
    }
    return true;
}

static void print_default(const struct sk_option *option)
{
    const char *text = option->kind == SK_OPTION_TEXT ? *(const char **)option->target : NULL;
    if (option->kind == SK_OPTION_COUNT)
        printf(" [%" PRId64 "]", *(int64_t *)option->target);
    else if (option->kind == SK_OPTION_SEED)
        printf(" [%" PRIu64 "]", *(uint64_t *)option->target);
    else if (option->kind == SK_OPTION_REAL)
        printf(" [%g]", *(double *)option->target);
    else if (text && *text)
        printf(" [%s]", text);
}

void sk_options_help(const struct sk_option *options, size_t n, const char *summary)
{
    printf("%s\n\nOptions, as --name=value or --name value:\n", summary);
    for (size_t i = 0; i < n; i++) {
        char left[64];
        snprintf(left, sizeof left, "--%s %s", options[i].name, options[i].value);
        printf("  %-28s %s", left, options[i].help);
        print_default(&options[i]);
        printf("\n");
    }
    printf("  %-28s %s\n", "--help", "this text");
}

static int index_of(const char *const *names, int n, const char *word, size_t length)
{
    for (int i = 0; i < n; i++)
        if (strlen(names[i]) == length && strncmp(names[i], word, length) == 0)
            return i;
    return -1;
}

static void explain(const char *option, const char *word, size_t length, const char *const *names, int n, char *why,
                    size_t room)
{
    int used = snprintf(why, room, "--%s: '%.*s' is not one of", option, (int)length, word);
    for (int i = 0; i < n && used >= 0 && (size_t)used < room; i++)
        used += snprintf(why + used, room - (size_t)used, "%s %s", i ? "," : "", names[i]);
}

int sk_options_choose(const char *option, const char *text, const char *const *names, int n, int *found, char *why,
                      size_t room)
{
    int count = 0;
    for (const char *word = text;; word++) {
        size_t length = strcspn(word, ",");
        int index = index_of(names, n, word, length);
        if (index < 0) {
            explain(option, word, length, names, n, why, room);
            return -1;
        }
        bool known = false;
        for (int i = 0; i < count; i++)
            known = known || found[i] == index;
        if (!known)
            found[count++] = index;
        word += length;
        if (!*word)
            return count;
    }
}

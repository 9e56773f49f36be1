/* Is a text one JSON object? A recursive descent without building anything. */
#include "base/json.h"

#include <ctype.h>
#include <string.h>

enum { DEEPEST = 100 };

static bool value(const char **s, int depth);

static void blanks(const char **s)
{
    *s += strspn(*s, " \t\r\n");
}

static bool word(const char **s, const char *expected)
{
    size_t n = strlen(expected);
    if (strncmp(*s, expected, n) != 0)
        return false;
    *s += n;
    return true;
}

static bool digits(const char **s)
{
    const char *begin = *s;
    while (isdigit((unsigned char)**s))
        ++*s;
    return *s > begin;
}

static bool number(const char **s)
{
    if (**s == '-')
        ++*s;
    if (**s == '0')
        ++*s;
    else if (!digits(s))
        return false;
    if (**s == '.' && (++*s, !digits(s)))
        return false;
    if (**s != 'e' && **s != 'E')
        return true;
    ++*s;
    if (**s == '+' || **s == '-')
        ++*s;
    return digits(s);
}

static bool escape(const char **s)
{
    ++*s;
    if (**s == 'u') {
        for (int i = 0; i < 4; i++)
            if (!isxdigit((unsigned char)*++*s))
                return false;
    } else if (!**s || !strchr("\"\\/bfnrt", **s))
        return false;
    ++*s;
    return true;
}

static bool string(const char **s)
{
    if (!word(s, "\""))
        return false;
    while (**s != '"') {
        if ((unsigned char)**s < 0x20)
            return false;
        if (**s != '\\')
            ++*s;
        else if (!escape(s))
            return false;
    }
    ++*s;
    return true;
}

static bool member(const char **s, bool named, int depth)
{
    blanks(s);
    if (named) {
        if (!string(s))
            return false;
        blanks(s);
        if (!word(s, ":"))
            return false;
    }
    if (!value(s, depth))
        return false;
    blanks(s);
    return true;
}

static bool collection(const char **s, char open, const char *close, int depth)
{
    ++*s;
    blanks(s);
    if (word(s, close))
        return true;
    if (depth >= DEEPEST)
        return false;
    do
        if (!member(s, open == '{', depth + 1))
            return false;
    while (word(s, ","));
    return word(s, close);
}

static bool value(const char **s, int depth)
{
    blanks(s);
    switch (**s) {
    case '{': return collection(s, '{', "}", depth);
    case '[': return collection(s, '[', "]", depth);
    case '"': return string(s);
    case 't': return word(s, "true");
    case 'f': return word(s, "false");
    case 'n': return word(s, "null");
    default: return number(s);
    }
}

bool sk_json_is_object(const char *text)
{
    const char *s = text;
    blanks(&s);
    if (*s != '{' || !value(&s, 0))
        return false;
    blanks(&s);
    return *s == '\0';
}

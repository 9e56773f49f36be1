#include "base/json.h"

#include "base/alloc.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static void append(struct sk_json *json, const char *text, size_t n)
{
    if (json->length + n + 1 > json->room) {
        size_t room = 2 * (json->length + n + 1) + 1024;
        json->text = sk_grow(json->text, json->room, room);
        json->room = room;
    }
    memcpy(json->text + json->length, text, n);
    json->length += n;
    json->text[json->length] = '\0';
}

static void append_text(struct sk_json *json, const char *text)
{
    append(json, text, strlen(text));
}

/* Returns the length of the UTF-8 sequence at `s`, 0 if there is none (overlong, surrogate, above U+10FFFF, cut). */
static size_t utf8_length(const unsigned char *s)
{
    if (s[0] < 0x80)
        return 1;
    size_t n = s[0] >= 0xC2 && s[0] <= 0xDF ? 2 : (s[0] & 0xF0) == 0xE0 ? 3 : s[0] >= 0xF0 && s[0] <= 0xF4 ? 4 : 0;
    for (size_t i = 1; i < n; i++)
        if ((s[i] & 0xC0) != 0x80)
            return 0;
    if ((s[0] == 0xE0 && s[1] < 0xA0) || (s[0] == 0xED && s[1] > 0x9F))
        return 0;
    if ((s[0] == 0xF0 && s[1] < 0x90) || (s[0] == 0xF4 && s[1] > 0x8F))
        return 0;
    return n;
}

static void append_quoted(struct sk_json *json, const char *value)
{
    append_text(json, "\"");
    for (const unsigned char *s = (const unsigned char *)value; *s;) {
        size_t n = utf8_length(s);
        char escaped[8];
        if (n == 0)
            append_text(json, "\xEF\xBF\xBD");
        else if (*s == '"' || *s == '\\')
            append(json, (char[]){'\\', (char)*s}, 2);
        else if (*s < 0x20 || *s == 0x7F)
            append(json, escaped, (size_t)snprintf(escaped, sizeof escaped, "\\u%04x", *s));
        else
            append(json, (const char *)s, n);
        s += n ? n : 1;
    }
    append_text(json, "\"");
}

static void append_name(struct sk_json *json, const char *name)
{
    char last = json->length ? json->text[json->length - 1] : '{';
    if (last != '{' && last != '[')
        append_text(json, ",");
    if (name) {
        append_quoted(json, name);
        append_text(json, ":");
    }
}

void sk_json_clear(struct sk_json *json)
{
    json->length = 0;
}

void sk_json_free(struct sk_json *json)
{
    sk_free(json->text);
    *json = (struct sk_json){0};
}

void sk_json_begin(struct sk_json *json, const char *name, char bracket)
{
    if (json->length)
        append_name(json, name);
    append(json, &bracket, 1);
}

void sk_json_end(struct sk_json *json, char bracket)
{
    append(json, &bracket, 1);
}

void sk_json_text(struct sk_json *json, const char *name, const char *value)
{
    append_name(json, name);
    append_quoted(json, value);
}

void sk_json_int(struct sk_json *json, const char *name, int64_t value)
{
    char digits[32];
    append_name(json, name);
    append(json, digits, (size_t)snprintf(digits, sizeof digits, "%" PRId64, value));
}

void sk_json_uint(struct sk_json *json, const char *name, uint64_t value)
{
    char digits[32];
    append_name(json, name);
    append(json, digits, (size_t)snprintf(digits, sizeof digits, "%" PRIu64, value));
}

void sk_json_real(struct sk_json *json, const char *name, double value)
{
    char digits[40] = "null";
    append_name(json, name);
    if (isfinite(value))
        snprintf(digits, sizeof digits, "%.9g", value);
    append_text(json, digits);
}

void sk_json_bool(struct sk_json *json, const char *name, bool value)
{
    append_name(json, name);
    append_text(json, value ? "true" : "false");
}

void sk_json_ints(struct sk_json *json, const char *name, const int64_t *values, size_t n)
{
    sk_json_begin(json, name, '[');
    for (size_t i = 0; i < n; i++)
        sk_json_int(json, NULL, values[i]);
    sk_json_end(json, ']');
}

void sk_json_reals(struct sk_json *json, const char *name, const double *values, size_t n)
{
    sk_json_begin(json, name, '[');
    for (size_t i = 0; i < n; i++)
        sk_json_real(json, NULL, values[i]);
    sk_json_end(json, ']');
}

void sk_json_raw(struct sk_json *json, const char *name, const char *value)
{
    append_name(json, name);
    for (; *value; value++)
        append(json, *value == '\n' || *value == '\r' ? " " : value, 1);
}

/* One line of JSON, built in memory.
 *
 * Inside an array every `name` is NULL. Text is written as UTF-8: control characters are escaped, bytes that are no
 * UTF-8 become U+FFFD. Numbers that JSON does not have (nan, infinity) become null.
 */
#ifndef SK_BASE_JSON_H
#define SK_BASE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sk_json {
    char *text;    /* always ends in NUL once something was written */
    size_t length; /* without the NUL */
    size_t room;
};

void sk_json_clear(struct sk_json *json); /* empty again, keeps its memory */
void sk_json_free(struct sk_json *json);

void sk_json_begin(struct sk_json *json, const char *name, char bracket); /* '{' or '[' */
void sk_json_end(struct sk_json *json, char bracket);                    /* '}' or ']' */
void sk_json_text(struct sk_json *json, const char *name, const char *value);
void sk_json_int(struct sk_json *json, const char *name, int64_t value);
void sk_json_uint(struct sk_json *json, const char *name, uint64_t value);
void sk_json_real(struct sk_json *json, const char *name, double value);
void sk_json_bool(struct sk_json *json, const char *name, bool value);
void sk_json_ints(struct sk_json *json, const char *name, const int64_t *values, size_t n);
void sk_json_reals(struct sk_json *json, const char *name, const double *values, size_t n);

/* Writes `value`, which must be valid JSON, with its line breaks replaced by blanks. */
void sk_json_raw(struct sk_json *json, const char *name, const char *value);

/* Returns whether `text` is one JSON object with nothing after it (RFC 8259, nesting of at most 100). */
bool sk_json_is_object(const char *text);

#endif

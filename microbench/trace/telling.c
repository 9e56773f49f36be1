#include "trace/telling.h"

void sk_tell_pair(struct sk_json *to, uint64_t number, const char *text)
{
    sk_json_begin(to, NULL, '[');
    sk_json_uint(to, NULL, number);
    sk_json_text(to, NULL, text);
    sk_json_end(to, ']');
}

void sk_tell_path(struct sk_json *to, uint64_t number, uint64_t parent, uint64_t region, int64_t site)
{
    sk_json_begin(to, NULL, '[');
    sk_json_uint(to, NULL, number);
    sk_json_uint(to, NULL, parent);
    sk_json_uint(to, NULL, region);
    sk_json_int(to, NULL, site);
    sk_json_end(to, ']');
}

void sk_tell_scope(struct sk_json *to, int64_t number, const char *kind, const int64_t identity[2], int64_t size,
                   int64_t rank, const char *name)
{
    sk_json_begin(to, NULL, '[');
    sk_json_int(to, NULL, number);
    sk_json_text(to, NULL, kind);
    sk_json_int(to, NULL, identity[0]);
    sk_json_int(to, NULL, identity[1]);
    sk_json_int(to, NULL, size);
    sk_json_int(to, NULL, rank);
    sk_json_text(to, NULL, name);
    sk_json_end(to, ']');
}

void sk_tell_pending(struct sk_json *to, const char *name, struct sk_json *pending)
{
    sk_json_begin(to, name, '[');
    if (pending->length > 0)
        sk_json_raw(to, NULL, pending->text);
    sk_json_end(to, ']');
    sk_json_clear(pending);
}

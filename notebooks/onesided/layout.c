#include "onesided/layout.h"

#include "trace/kinds.h"

#include <string.h>

static int64_t place(const struct sk1s_layout *layout, int64_t k)
{
    return layout->at ? layout->at[k] : layout->start + k * layout->stride;
}

struct sk1s_layout sk1s_contiguous(int64_t start, int64_t bytes)
{
    return (struct sk1s_layout){ start, bytes, 0, 1, NULL };
}

struct sk1s_layout sk1s_strided(int64_t start, int64_t bytes, int64_t stride, int64_t count)
{
    return (struct sk1s_layout){ start, bytes, stride, count, NULL };
}

struct sk1s_layout sk1s_vector(const int64_t *at, int64_t bytes, int64_t count)
{
    return (struct sk1s_layout){ 0, bytes, 0, count, at };
}

int64_t sk1s_total(const struct sk1s_layout *layout)
{
    return layout->bytes * layout->count;
}

bool sk1s_is_within(const struct sk1s_layout *layout, int64_t room)
{
    if (layout->bytes < 0 || layout->count < 0 || layout->bytes > room)
        return false;
    for (int64_t k = 0; k < layout->count; k++)
        if (place(layout, k) < 0 || place(layout, k) > room - layout->bytes)
            return false;
    return true;
}

uint32_t sk1s_kind(const struct sk1s_layout *layout)
{
    if (layout->count <= 1 && !layout->at)
        return 0;
    return layout->at ? SK_VECTOR : SK_STRIDED;
}

void sk1s_pack(void *to, const void *memory, const struct sk1s_layout *layout)
{
    for (int64_t k = 0; k < layout->count; k++)
        memcpy((char *)to + k * layout->bytes, (const char *)memory + place(layout, k), (size_t)layout->bytes);
}

void sk1s_unpack(void *memory, const struct sk1s_layout *layout, const void *from)
{
    for (int64_t k = 0; k < layout->count; k++)
        memcpy((char *)memory + place(layout, k), (const char *)from + k * layout->bytes, (size_t)layout->bytes);
}

void sk1s_add(void *memory, const struct sk1s_layout *layout, const void *from)
{
    double sum, more;
    for (int64_t k = 0; k < layout->count; k++)
        for (int64_t at = 0; at + (int64_t)sizeof sum <= layout->bytes; at += (int64_t)sizeof sum) {
            char *to = (char *)memory + place(layout, k) + at;
            memcpy(&sum, to, sizeof sum);
            memcpy(&more, (const char *)from + k * layout->bytes + at, sizeof more);
            sum += more;
            memcpy(to, &sum, sizeof sum);
        }
}

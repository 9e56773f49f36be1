/* Which bytes of a memory a transfer means: one piece, pieces at equal distances, or pieces anywhere. */
#ifndef SK_ONESIDED_LAYOUT_H
#define SK_ONESIDED_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

/* `count` pieces of `bytes` each. Piece k begins at start + k * stride, or, if `at` is given, at at[k], which must stay
 * valid until the transfer is complete. All in bytes from the beginning of the memory. */
struct sk1s_layout { int64_t start, bytes, stride, count; const int64_t *at; };

struct sk1s_layout sk1s_contiguous(int64_t start, int64_t bytes);
struct sk1s_layout sk1s_strided(int64_t start, int64_t bytes, int64_t stride, int64_t count);
struct sk1s_layout sk1s_vector(const int64_t *at, int64_t bytes, int64_t count);

int64_t sk1s_total(const struct sk1s_layout *layout); /* bytes of all pieces */
bool sk1s_is_within(const struct sk1s_layout *layout, int64_t room); /* whether all lie in the first `room` bytes */
uint32_t sk1s_kind(const struct sk1s_layout *layout); /* 0, SK_STRIDED or SK_VECTOR, as in the tables of a trace */

/* Between the pieces of a memory and consecutive bytes; the last one adds doubles. */
void sk1s_pack(void *to, const void *memory, const struct sk1s_layout *layout);
void sk1s_unpack(void *memory, const struct sk1s_layout *layout, const void *from);
void sk1s_add(void *memory, const struct sk1s_layout *layout, const void *from);

#endif

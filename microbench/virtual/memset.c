/* memset of much memory before virtual time begins: see zero.h. Computing in virtual time is left as it is. */
#define _GNU_SOURCE
#include "virtual/real.h"
#include "virtual/self.h"
#include "virtual/zero.h"

/* The C library's own, which needs no look-up; by another name, lest the compiler turn it into a call of ours. */
extern void *real_memset(void *at, int value, size_t bytes, size_t room) __asm__("__memset_chk");

SK_EXPORT void *memset(void *at, int value, size_t bytes)
{
    char *begin, *end;
    if (bytes < SK_ZERO_LEAST || value != 0 || sk_self_is_timed() || !sk_zero_pages(at, bytes, &begin, &end))
        return real_memset(at, value, bytes, bytes);
    real_memset(at, 0, (size_t)(begin - (char *)at), bytes);
    real_memset(end, 0, (size_t)((char *)at + bytes - end), bytes);
    return at;
}

#include "mem/counter.h"

#include <stdatomic.h>

static _Atomic int64_t live, requested, peak;

bool sk_counts_available(void)
{
#if (defined(__GLIBC__) || defined(__SANITIZE_ADDRESS__)) && !defined(SK_NO_INTERPOSER)
    return true;
#else
    return false;
#endif
}

struct sk_counts sk_counts_now(void)
{
    return (struct sk_counts){atomic_load(&live), atomic_load(&requested), atomic_load(&peak)};
}

void sk_counts_reset_peak(void)
{
    atomic_store(&peak, atomic_load(&live));
}

void sk_count_allocated(size_t usable, size_t asked)
{
    int64_t now = atomic_fetch_add(&live, (int64_t)usable) + (int64_t)usable;
    int64_t highest = atomic_load(&peak);
    atomic_fetch_add(&requested, (int64_t)asked);
    while (now > highest && !atomic_compare_exchange_weak(&peak, &highest, now))
        continue;
}

void sk_count_freed(size_t usable)
{
    atomic_fetch_sub(&live, (int64_t)usable);
}

#include "base/rng.h"

struct sk_rng sk_rng_seeded(uint64_t seed, uint64_t stream)
{
    struct sk_rng rng = {seed};
    rng.state = sk_rng_next(&rng) ^ (stream * 0xD1342543DE82EF95u);
    return rng;
}

uint64_t sk_rng_next(struct sk_rng *rng)
{
    uint64_t z = (rng->state += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

uint64_t sk_rng_below(struct sk_rng *rng, uint64_t n)
{
    uint64_t surplus = (UINT64_MAX % n + 1) % n;
    uint64_t x;
    do
        x = sk_rng_next(rng);
    while (x > UINT64_MAX - surplus);
    return x % n;
}

void sk_rng_shuffle(struct sk_rng *rng, int *items, int n)
{
    for (int i = n - 1; i > 0; i--) {
        int j = (int)sk_rng_below(rng, (uint64_t)i + 1);
        int kept = items[i];
        items[i] = items[j];
        items[j] = kept;
    }
}

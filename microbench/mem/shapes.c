#include "mem/shapes.h"

#include "base/rng.h"

const char *const sk_shape_names[SK_SHAPES] = {"identity", "reverse", "stride", "random"};

static int has_neighbours(const int *map, int p)
{
    for (int i = 1; i < p; i++)
        if (map[i] - map[i - 1] == 1 || map[i - 1] - map[i] == 1)
            return 1;
    return 0;
}

void sk_shape_map(enum sk_shape shape, int p, uint64_t seed, int *map)
{
    struct sk_rng rng = sk_rng_seeded(seed, 1000);
    int even = (p + 1) / 2;
    for (int i = 0; i < p; i++)
        switch (shape) {
        case SK_REVERSE: map[i] = p - 1 - i; break;
        case SK_STRIDE: map[i] = i < even ? 2 * i : 2 * (i - even) + 1; break;
        default: map[i] = i;
        }
    if (shape != SK_RANDOM)
        return;
    do
        sk_rng_shuffle(&rng, map, p);
    while (p >= 4 && has_neighbours(map, p));
}

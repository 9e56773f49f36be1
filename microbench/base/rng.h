/* A small seeded generator (splitmix64, Steele, Lea, Flood 2014): equal seeds give equal orders on every process. */
#ifndef SK_BASE_RNG_H
#define SK_BASE_RNG_H

#include <stdint.h>

struct sk_rng { uint64_t state; };

/* Returns a generator for `stream` of `seed`: different streams are unrelated. */
struct sk_rng sk_rng_seeded(uint64_t seed, uint64_t stream);

uint64_t sk_rng_next(struct sk_rng *rng);

/* Returns a number from 0 to n - 1, each equally likely; n >= 1. */
uint64_t sk_rng_below(struct sk_rng *rng, uint64_t n);

/* Permutes the `n` items at random, each order equally likely. */
void sk_rng_shuffle(struct sk_rng *rng, int *items, int n);

#endif

/* The interposed malloc, on its own: it cannot share an executable with the address sanitizer's. */
#define _GNU_SOURCE
#include "base/rng.h"
#include "mem/counter.h"

#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int checks, failures;

static void check(bool ok, const char *text, int line)
{
    checks++;
    failures += !ok;
    if (!ok)
        fprintf(stderr, "%s:%d: failed: %s\n", __FILE__, line, text);
}

#define CHECK(x) check((x), #x, __LINE__)

static void *volatile kept; /* so that the compiler removes no allocation */
static volatile size_t huge = SIZE_MAX;

/* Returns by how much the live bytes grow while `memory` is alive, and frees it. */
static void check_block(int64_t before, void *memory, size_t bytes, size_t alignment)
{
    kept = memory;
    CHECK(memory != NULL && (uintptr_t)memory % alignment == 0);
    int64_t grown = sk_counts_now().live - before;
    CHECK(grown == (int64_t)malloc_usable_size(memory) && grown >= (int64_t)bytes);
    memset(memory, 5, bytes);
    free(memory);
    CHECK(sk_counts_now().live == before);
}

static void every_way_is_counted(void)
{
    void *memory = NULL;
    int64_t live = sk_counts_now().live;
    check_block(live, malloc(1000), 1000, 16);
    check_block(live, calloc(10, 100), 1000, 16);
    check_block(live, realloc(NULL, 1000), 1000, 16);
    check_block(live, reallocarray(NULL, 10, 100), 1000, 16);
    check_block(live, memalign(256, 1000), 1000, 256);
    check_block(live, aligned_alloc(128, 1024), 1024, 128);
    check_block(live, valloc(1000), 1000, 4096);
    check_block(live, pvalloc(1000), 4096, 4096);
    check_block(live, malloc(3000000), 3000000, 16);
    CHECK(posix_memalign(&memory, 512, 1000) == 0);
    check_block(live, memory, 1000, 512);
    check_block(live, strdup("a text that glibc allocates"), 20, 16);
    check_block(live, malloc(0), 0, 16);
    free(NULL);
    CHECK(sk_counts_now().live == live);
}

static void realloc_moves_the_count(void)
{
    int64_t live = sk_counts_now().live;
    char *memory = malloc(100);
    memory[99] = 42;
    for (size_t bytes = 100; bytes < 500000; bytes *= 3) {
        memory = realloc(memory, bytes);
        CHECK(memory && memory[99] == 42 && sk_counts_now().live - live == (int64_t)malloc_usable_size(memory));
    }
    kept = memory = realloc(memory, 200);
    CHECK(memory[99] == 42 && sk_counts_now().live - live == (int64_t)malloc_usable_size(memory));
    free(memory);
    CHECK(sk_counts_now().live == live);
}

static void refusals_count_nothing(void)
{
    void *memory = NULL;
    struct sk_counts before = sk_counts_now();
    errno = 0;
    CHECK((kept = malloc(huge)) == NULL && errno == ENOMEM);
    CHECK((kept = calloc(huge, 2)) == NULL && (kept = reallocarray(NULL, huge, 2)) == NULL);
    CHECK((kept = pvalloc(huge)) == NULL && posix_memalign(&memory, 64, huge) == ENOMEM);
    CHECK(posix_memalign(&memory, 3, 10) == EINVAL && memory == NULL);
    CHECK(sk_counts_now().live == before.live);
}

static void requested_and_peak(void)
{
    sk_counts_reset_peak();
    struct sk_counts before = sk_counts_now();
    CHECK(before.peak == before.live);
    void *large = malloc(50001), *small = malloc(101);
    kept = large;
    free(large);
    kept = small;
    struct sk_counts after = sk_counts_now();
    CHECK(after.requested - before.requested == 50102);
    CHECK(after.peak - before.live >= 50102 && after.live - before.live < 200);
    free(small);
    CHECK(sk_counts_now().peak == after.peak);
}

/* A heap full of holes of all sizes: equal requests must count equally all the same. */
static void equal_requests_count_equally(void)
{
    enum { BLOCKS = 4000 };
    static void *blocks[BLOCKS];
    struct sk_rng rng = sk_rng_seeded(3, 0);
    for (int i = 0; i < BLOCKS; i++)
        blocks[i] = malloc(1 + sk_rng_below(&rng, 3000));
    for (int i = 0; i < BLOCKS; i += 2) {
        free(blocks[i]);
        blocks[i] = NULL;
    }
    int wrong = 0;
    for (int i = 0; i < BLOCKS; i += 2) {
        size_t bytes = 1 + sk_rng_below(&rng, 1500);
        int64_t before = sk_counts_now().live;
        blocks[i] = i % 4 ? calloc(1, bytes) : malloc(bytes);
        int64_t expected = bytes <= 24 ? 24 : (int64_t)((bytes + 8 + 15) / 16 * 16 - 8);
        wrong += sk_counts_now().live - before != expected;
        for (size_t k = 0; i % 4 && k < bytes; k++)
            wrong += ((char *)blocks[i])[k] != 0;
    }
    CHECK(sizeof(void *) != 8 || wrong == 0);
    for (int i = 0; i < BLOCKS; i++)
        free(blocks[i]);
}

static void *busy(void *seed)
{
    struct sk_rng rng = sk_rng_seeded((uint64_t)(uintptr_t)seed, 0);
    void *blocks[64] = {NULL};
    for (int i = 0; i < 20000; i++) {
        size_t at = sk_rng_below(&rng, 64);
        if (i % 3)
            blocks[at] = realloc(blocks[at], 1 + sk_rng_below(&rng, 5000));
        else {
            free(blocks[at]);
            blocks[at] = NULL;
        }
    }
    for (int i = 0; i < 64; i++)
        free(blocks[i]);
    return NULL;
}

static void threads_lose_nothing(void)
{
    pthread_t threads[4];
    for (int round = 0; round < 2; round++) { /* the first round pays for the threads themselves */
        int64_t before = sk_counts_now().live;
        for (uintptr_t i = 0; i < 4; i++)
            CHECK(pthread_create(&threads[i], NULL, busy, (void *)(i + 1)) == 0);
        for (int i = 0; i < 4; i++)
            CHECK(pthread_join(threads[i], NULL) == 0);
        CHECK(round == 0 || sk_counts_now().live == before);
    }
}

int main(void)
{
    if (!sk_counts_available()) {
        printf("interposer: not on this C library\n");
        return 0;
    }
    every_way_is_counted();
    realloc_moves_the_count();
    refusals_count_nothing();
    requested_and_peak();
    equal_requests_count_equally();
    threads_lose_nothing();
    printf("interposer: %d checks, %d failed\n", checks, failures);
    return failures > 0;
}

#define _GNU_SOURCE
#include "time/clock.h"

#include "base/check.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

#ifdef SK_SIMULATED
#include <mpi.h>

int64_t sk_clock_now(void)
{
    return (int64_t)llround(1e9 * PMPI_Wtime());
}

int64_t sk_clock_resolution_ns(void)
{
    return 1;
}

const char *sk_clock_source(void)
{
    return "MPI_Wtime, simulated";
}

bool sk_clock_is_virtual(void)
{
    return true;
}

bool sk_clock_is_still(void)
{
    return true;
}

int64_t sk_clock_messages(void)
{
    return -1;
}
#else
#include <dlfcn.h>

static int64_t nanoseconds(const struct timespec *t)
{
    return (int64_t)t->tv_sec * 1000000000 + t->tv_nsec;
}

int64_t sk_clock_now(void)
{
    struct timespec t;
    SK_ASSERT(clock_gettime(CLOCK_MONOTONIC, &t) == 0);
    return nanoseconds(&t);
}

int64_t sk_clock_resolution_ns(void)
{
    struct timespec t;
    SK_ASSERT(clock_getres(CLOCK_MONOTONIC, &t) == 0);
    return nanoseconds(&t);
}

const char *sk_clock_source(void)
{
    return sk_clock_is_virtual() ? "CLOCK_MONOTONIC, virtual" : "CLOCK_MONOTONIC";
}

/* What the layer of virtual time says; `absent` where it is not there. */
static int64_t ask_layer(const char *name, int64_t (**known)(void), bool *is_known, int64_t absent)
{
    if (!*is_known)
        *(void **)known = dlsym(RTLD_DEFAULT, name);
    *is_known = true;
    return *known ? (*known)() : absent;
}

#define ASK_LAYER(name, absent) \
    static int64_t (*known)(void); \
    static bool is_known; \
    return ask_layer(name, &known, &is_known, absent)

bool sk_clock_is_virtual(void)
{
    ASK_LAYER("sk_virtual_is_on", 0);
}

bool sk_clock_is_still(void)
{
    ASK_LAYER("sk_virtual_is_still", 0);
}

int64_t sk_clock_messages(void)
{
    ASK_LAYER("sk_virtual_messages", -1);
}
#endif

void sk_clock_sleep(int64_t ns)
{
    struct timespec t = {.tv_sec = (time_t)(ns / 1000000000), .tv_nsec = (long)(ns % 1000000000)};
    if (ns > 0)
        nanosleep(&t, NULL);
}

static int ascending(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

int64_t sk_clock_read_ns(void)
{
    enum { READINGS = 16, BLOCKS = 31 };
    int64_t cost[BLOCKS];
    for (int i = 0; i < BLOCKS; i++) {
        int64_t begin = sk_clock_now(), end = begin;
        for (int j = 0; j < READINGS; j++)
            end = sk_clock_now();
        cost[i] = (end - begin) / READINGS;
    }
    qsort(cost, BLOCKS, sizeof cost[0], ascending);
    return cost[BLOCKS / 2];
}

int64_t sk_clock_global(const struct sk_clock *clock, int64_t local_ns)
{
    double since = (double)(local_ns - clock->reference_ns);
    return local_ns + clock->offset_ns + (int64_t)llround(clock->drift * since);
}

int64_t sk_clock_local(const struct sk_clock *clock, int64_t global_ns)
{
    int64_t undrifted = global_ns - clock->offset_ns;
    double since = (double)(undrifted - clock->reference_ns);
    return undrifted - (int64_t)llround(clock->drift / (1 + clock->drift) * since);
}

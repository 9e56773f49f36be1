/* Clocks and sleeps of the thread that called MPI_Init, while time is virtual. */
#define _GNU_SOURCE
#include "virtual/real.h"
#include "virtual/turn.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>

/* A program that looks at the clock again and again waits: after so many readings without a message each takes a
 * while, unless
 * computing moves the clock anyway. Programs that only time themselves stay below. */
enum { READINGS = 4096, READING_NS = 50, YIELDS = 64 };

static int64_t now_ns(int64_t begin)
{
    if (++sk_self.readings > READINGS && sk_shared->machine.compute == SK_COMPUTE_NONE)
        sk_self.at->clock += READING_NS * SK_PS_OF_NS;
    return begin + sk_self.at->clock / SK_PS_OF_NS;
}

static bool is_virtual(clockid_t clock)
{
    return sk_self_is_timed() && (clock == CLOCK_MONOTONIC || clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC_RAW ||
                                  clock == CLOCK_MONOTONIC_COARSE || clock == CLOCK_REALTIME_COARSE ||
                                  clock == CLOCK_BOOTTIME);
}

static bool counts_from_1970(clockid_t clock)
{
    return clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE;
}

SK_EXPORT int clock_gettime(clockid_t clock, struct timespec *time)
{
    if (!is_virtual(clock))
        return sk_real()->clock_gettime(clock, time);
    sk_turn_count_computing();
    int64_t ns = now_ns(counts_from_1970(clock) ? sk_shared->realtime_ns : sk_shared->monotonic_ns);
    *time = (struct timespec){.tv_sec = (time_t)(ns / 1000000000), .tv_nsec = (long)(ns % 1000000000)};
    return 0;
}

SK_EXPORT int gettimeofday(struct timeval *restrict time, void *restrict zone)
{
    struct timespec t;
    if (!sk_self_is_timed())
        return sk_real()->gettimeofday(time, zone);
    clock_gettime(CLOCK_REALTIME, &t);
    *time = (struct timeval){.tv_sec = t.tv_sec, .tv_usec = t.tv_nsec / 1000};
    return 0;
}

SK_EXPORT time_t time(time_t *place)
{
    struct timespec t;
    if (!sk_self_is_timed())
        return sk_real()->time(place);
    clock_gettime(CLOCK_REALTIME, &t);
    if (place)
        *place = t.tv_sec;
    return t.tv_sec;
}

static void sleep_ns(int64_t ns)
{
    sk_turn_count_computing();
    sk_self.readings = 0;
    if (sk_turn_depth == 0)
        sk_self.empty = 0; /* a program that looks, sleeps and looks again does not wait */
    if (ns > 0)
        sk_turn_sleep(sk_machine_after(sk_self.at->clock / SK_PS_OF_NS * SK_PS_OF_NS, ns));
}

SK_EXPORT int nanosleep(const struct timespec *wanted, struct timespec *left)
{
    if (!sk_self_is_timed() || !wanted || wanted->tv_sec < 0 || wanted->tv_nsec < 0 || wanted->tv_nsec > 999999999)
        return sk_real()->nanosleep(wanted, left);
    sleep_ns(sk_machine_ns(wanted->tv_sec, wanted->tv_nsec));
    return 0;
}

SK_EXPORT int clock_nanosleep(clockid_t clock, int flags, const struct timespec *wanted, struct timespec *left)
{
    if (!is_virtual(clock) || !wanted || wanted->tv_nsec < 0 || wanted->tv_nsec > 999999999)
        return sk_real()->clock_nanosleep(clock, flags, wanted, left);
    int64_t ns = sk_machine_ns(wanted->tv_sec, wanted->tv_nsec);
    if (flags & TIMER_ABSTIME)
        ns -= (counts_from_1970(clock) ? sk_shared->realtime_ns : sk_shared->monotonic_ns) +
              sk_self.at->clock / SK_PS_OF_NS;
    sleep_ns(ns);
    return 0;
}

SK_EXPORT int usleep(unsigned microseconds)
{
    if (!sk_self_is_timed())
        return sk_real()->usleep(microseconds);
    sleep_ns(INT64_C(1000) * microseconds);
    return 0;
}

SK_EXPORT unsigned sleep(unsigned seconds)
{
    if (!sk_self_is_timed())
        return sk_real()->sleep(seconds);
    sleep_ns(INT64_C(1000000000) * seconds);
    return 0;
}

/* While time is virtual nobody else runs: who spins on memory waits for nothing that could come. Another thread
 * that yields, as
 * that of UCX does while the first one is busy, would take the core from the process that has the turn. */
SK_EXPORT int sched_yield(void)
{
    const struct timespec a_while = {0, 500000}, a_moment = {0, 100000};
    static int yields;
    if (sk_self_is_timed())
        return 0;
    if (sk_self_is_there() && !sk_self_is_first)
        return sk_real()->nanosleep(&a_while, NULL);
    if (sk_self_is_there() && ++yields > YIELDS)
        return sk_real()->nanosleep(&a_moment, NULL); /* all wait for all in MPI_Init: the core is better given up */
    return sk_real()->sched_yield();
}

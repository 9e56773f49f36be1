#include "tests/test.h"

#include "base/rng.h"
#include "time/clock.h"
#include "time/load.h"
#include "time/offset.h"
#include "time/pacer.h"
#include "time/stop.h"

#include <math.h>

void test_clock_maps(void)
{
    const struct sk_clock clock = {.offset_ns = -5000000000, .reference_ns = 1000000000000, .drift = 2e-6};
    CHECK(sk_clock_global(&clock, 1000000000000) == 995000000000);
    CHECK(sk_clock_global(&clock, 1001000000000) == 996000002000);
    for (int64_t local = 990000000000; local < 1010000000000; local += 1234567891) {
        int64_t back = sk_clock_local(&clock, sk_clock_global(&clock, local)) - local;
        CHECK(back >= -1 && back <= 1);
    }
    int64_t first = sk_clock_now();
    CHECK(sk_clock_now() >= first && sk_clock_resolution_ns() > 0 && sk_clock_read_ns() >= 0);
}

/* Ping-pongs over a network whose ways take 1000 ns and a random rest, to a clock that is `ahead` of process 0. */
static void invent(struct sk_exchange *exchanges, int n, int64_t ahead, uint64_t rest, uint64_t seed)
{
    struct sk_rng rng = sk_rng_seeded(seed, 0);
    int64_t now = 77000000;
    for (int i = 0; i < n; i++) {
        exchanges[i].sent_ns = now;
        now += 1000 + (int64_t)sk_rng_below(&rng, rest);
        exchanges[i].seen_ns = now + ahead;
        now += 1000 + (int64_t)sk_rng_below(&rng, rest);
        exchanges[i].received_ns = now;
        now += 500;
    }
}

void test_offset_estimate(void)
{
    struct sk_exchange exchanges[100];
    for (uint64_t seed = 0; seed < 20; seed++) {
        int64_t ahead = 123456789 * (seed % 2 ? 1 : -1);
        invent(exchanges, 100, ahead, 20000, seed);
        struct sk_clock clock = sk_offset_estimate(exchanges, 100);
        int64_t wrong = clock.offset_ns + ahead;
        CHECK(wrong <= clock.error_ns && -wrong <= clock.error_ns);
        CHECK(clock.error_ns < 1500); /* 1000 ns of way and the little that the fastest of 100 had to wait */
        CHECK(clock.reference_ns == exchanges[50].seen_ns && clock.drift == 0);
    }
    invent(exchanges, 1, 50, 1, 1); /* both ways 1000 ns: exact, but nobody can know */
    struct sk_clock clock = sk_offset_estimate(exchanges, 1);
    CHECK(clock.offset_ns == -50 && clock.error_ns == 1001);
}

void test_offset_drift(void)
{
    const struct sk_clock first = {.offset_ns = 100, .reference_ns = 0, .error_ns = 10};
    struct sk_clock later = {.offset_ns = 5100, .reference_ns = 1000000000, .error_ns = 20};
    struct sk_clock clock = sk_offset_with_drift(&first, &later);
    CHECK(fabs(clock.drift - 5e-6) < 1e-12 && clock.offset_ns == 5100 && clock.error_ns == 20);
    later.offset_ns = 130; /* within the errors */
    CHECK(sk_offset_with_drift(&first, &later).drift == 0);
    later.offset_ns = 69;
    CHECK(sk_offset_with_drift(&first, &later).drift < 0);
    CHECK(sk_offset_with_drift(&first, &first).drift == 0);
}

static bool ranks_are(size_t n, double q, size_t low, size_t high)
{
    size_t l, h;
    return sk_stop_ranks(n, q, &l, &h) && l == low && h == high;
}

void test_stop_ranks(void)
{
    size_t low, high;
    CHECK(!sk_stop_ranks(5, 0.5, &low, &high)); /* 2 * 0.5^5 > 5 % */
    CHECK(ranks_are(6, 0.5, 1, 6));
    CHECK(ranks_are(20, 0.5, 6, 15));
    CHECK(ranks_are(100, 0.5, 40, 61));
    CHECK(ranks_are(400, 0.5, 180, 221));
    CHECK(!sk_stop_ranks(12, 0.25, &low, &high));
    CHECK(ranks_are(13, 0.25, 1, 7));
    CHECK(!sk_stop_ranks(1, 0.5, &low, &high));
}

/* The interval of the median must hold the true one in at least 95 % of samples: exactly what it promises. */
static int covered(size_t n, double q, int samples)
{
    struct sk_rng rng = sk_rng_seeded(11, n);
    int hits = 0;
    int64_t truth = (int64_t)(q * 1000000);
    for (int i = 0; i < samples; i++) {
        int64_t values[200];
        for (size_t j = 0; j < n; j++)
            values[j] = (int64_t)sk_rng_below(&rng, 1000000) + 1;
        struct sk_summary summary = sk_stop_assess(values, n, 1, 1);
        const struct sk_interval *interval = q < 0.4 ? &summary.first_quartile : &summary.median;
        double value = (double)interval->value;
        hits += value * (1 - interval->below) <= (double)truth && value * (1 + interval->above) >= (double)truth;
    }
    return hits;
}

void test_stop_interval(void)
{
    const int64_t sorted[] = {10, 20, 30, 40, 50, 60};
    struct sk_interval interval = sk_stop_interval(sorted, 6, 0.5);
    CHECK(interval.value == 30 && fabs(interval.below - 20.0 / 30) < 1e-12 && fabs(interval.above - 1) < 1e-12);
    interval = sk_stop_interval(sorted, 5, 0.5);
    CHECK(interval.value == 30 && isinf(interval.below) && isinf(interval.above));
    CHECK(sk_stop_interval(sorted, 1, 0.25).value == 10);
    CHECK(covered(40, 0.5, 1000) >= 935 && covered(150, 0.25, 1000) >= 935);
}

void test_stop_rule(void)
{
    int64_t quiet[40], loud[40];
    for (int i = 0; i < 40; i++) {
        quiet[i] = 1000 + i % 7;
        loud[i] = 1000 + 100 * i;
    }
    CHECK(sk_stop_assess(quiet, 40, 20, 0.05).converged);
    CHECK(!sk_stop_assess(quiet, 40, 41, 0.05).converged);
    CHECK(!sk_stop_assess(quiet, 12, 1, 0.05).converged); /* too few for the quartile */
    CHECK(!sk_stop_assess(loud, 40, 20, 0.05).converged);
    struct sk_summary summary = sk_stop_assess(loud, 40, 20, 0.05);
    CHECK(summary.n == 40 && summary.median.value == 2900 && summary.first_quartile.value == 1900);
    CHECK(sk_stop_assess(loud, 0, 20, 0.05).n == 0 && !sk_stop_assess(loud, 0, 0, 0.05).converged);
}

static void feed(struct sk_pacer *pacer, int times, int64_t latency, int64_t duration, bool late)
{
    for (int i = 0; i < times; i++) {
        struct sk_order order = sk_pacer_next(pacer, 1000000, 1);
        struct sk_sample samples[SK_BATCH] = {{.latency_ns = latency, .late = late}};
        bool overrun[SK_BATCH];
        samples[0].end_ns = order.start_ns + duration;
        sk_pacer_learn(pacer, &order, samples, overrun);
    }
}

void test_pacer_round(void)
{
    struct sk_pacer pacer = sk_pacer_start(SK_ROUND);
    struct sk_order order = sk_pacer_next(&pacer, 5000, 16);
    CHECK(order.n == 1 && order.sent_ns == 5000 && order.start_ns == 1005000);
    feed(&pacer, 100, 20000, 100, false);
    CHECK(sk_pacer_next(&pacer, 5000, 16).start_ns == 35000);
    feed(&pacer, 100, 1, 100, false);
    CHECK(sk_pacer_next(&pacer, 5000, 16).start_ns == 7000);
    feed(&pacer, 100, 5000000000, 100, false);
    CHECK(sk_pacer_next(&pacer, 5000, 16).start_ns == 1000005000);
}

void test_pacer_window(void)
{
    struct sk_pacer pacer = sk_pacer_start(SK_WINDOW);
    feed(&pacer, 40, 1000, 10000, false);
    CHECK(sk_pacer_window_ns(&pacer) == 40000);
    feed(&pacer, 20, 1000, 10000, true); /* all late: doubled */
    CHECK(sk_pacer_window_ns(&pacer) == 80000);
    feed(&pacer, 20, 1000, 10000, true);
    CHECK(sk_pacer_window_ns(&pacer) == 160000);
    feed(&pacer, 200, 1000, 10000, false); /* eased again */
    CHECK(sk_pacer_window_ns(&pacer) >= 40000 * 0.8 && sk_pacer_window_ns(&pacer) <= 41000);
    feed(&pacer, 2000, 1000, 10000, true);
    CHECK(sk_pacer_window_ns(&pacer) <= 1000000000);
}

void test_pacer_slots(void)
{
    struct sk_pacer pacer = sk_pacer_start(SK_WINDOW);
    struct sk_sample samples[SK_BATCH] = {{0}};
    bool overrun[SK_BATCH];
    int expected[] = {1, 2, 4, 8, 16, 16};
    for (int i = 0; i < 6; i++) {
        struct sk_order order = sk_pacer_next(&pacer, 0, 100);
        CHECK(order.n == expected[i]);
        for (int k = 0; k < order.n; k++)
            samples[k].end_ns = order.start_ns + k * order.length_ns + 100;
        sk_pacer_learn(&pacer, &order, samples, overrun);
        CHECK(!overrun[0]);
    }
    struct sk_order order = sk_pacer_next(&pacer, 0, 3);
    CHECK(order.n == 3);
    for (int k = 0; k < 3; k++)
        samples[k].end_ns = order.start_ns + (k == 1 ? 2 : k) * order.length_ns + 1;
    sk_pacer_learn(&pacer, &order, samples, overrun);
    CHECK(!overrun[0] && overrun[1] && !overrun[2]);
    CHECK(sk_pacer_next(&pacer, 0, 100).n == 1); /* anchored anew */
}

void test_durations(void)
{
    const struct sk_order order = {.n = 3, .start_ns = 1000, .length_ns = 500};
    const struct sk_sample sample = {.start_ns = 2050, .minus_start_ns = -2001, .end_ns = 2100};
    CHECK(sk_sync_duration(SK_ROUND, &order, 0, &sample) == 1100);
    CHECK(sk_sync_duration(SK_WINDOW, &order, 2, &sample) == 100);
    CHECK(sk_sync_duration(SK_DISSEMINATION, &order, 1, &sample) == 50);
}

void test_load(void)
{
    CHECK(fabs(sk_load_busy_seconds("cpu  100 20 30 9999 88 4 5 6 7 8\n", 100) - 1.65) < 1e-12);
    CHECK(isnan(sk_load_busy_seconds("cpu 1 2 3", 100)) && isnan(sk_load_busy_seconds("", 100)));
    const struct sk_load_point from = {0, 10, 5};
    struct sk_load_point to = {2000000000, 13, 7};
    CHECK(fabs(sk_load_share(&from, &to, 2) - 0.25) < 1e-12);
    to.own_s = 9; /* ticks are coarse: never negative */
    CHECK(sk_load_share(&from, &to, 2) == 0);
    to.busy_s = NAN;
    CHECK(isnan(sk_load_share(&from, &to, 2)) && isnan(sk_load_share(&from, &from, 2)));
}

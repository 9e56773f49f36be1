#include "tests/test.h"

#include "base/json.h"
#include "base/rng.h"
#include "main/processes.h"
#include "time/clock.h"
#include "time/load.h"
#include "time/offset.h"
#include "time/pacer.h"
#include "time/stop.h"

#include <math.h>
#include <string.h>

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
        struct sk_summary summary = sk_stop_assess(values, n, &(struct sk_stop_rule){.least = 1, .precision = 1});
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

static bool enough(int64_t *values, size_t n, size_t least, double precision, double standard_error)
{
    const struct sk_stop_rule rule = {least, precision, standard_error, {0, 0}};
    return sk_stop_assess(values, n, &rule).converged;
}

void test_stop_rule(void)
{
    int64_t quiet[40], loud[40];
    for (int i = 0; i < 40; i++) {
        quiet[i] = 1000 + i % 7;
        loud[i] = 1000 + 100 * i;
    }
    CHECK(enough(quiet, 40, 20, 0.05, 0));
    CHECK(!enough(quiet, 40, 41, 0.05, 0));
    CHECK(!enough(quiet, 12, 1, 0.05, 0)); /* too few for the quartile */
    CHECK(!enough(loud, 40, 20, 0.05, 0));
    const struct sk_stop_rule rule = {.least = 20, .precision = 0.05};
    struct sk_summary summary = sk_stop_assess(loud, 40, &rule);
    CHECK(summary.n == 40 && summary.median.value == 2900 && summary.first_quartile.value == 1900);
    CHECK(sk_stop_assess(loud, 0, &rule).n == 0 && !enough(loud, 0, 0, 0.05, 0));
    CHECK(enough(quiet, 12, 2, 0.05, 0.01) && !enough(quiet, 12, 13, 0.05, 0.01)); /* the mean needs fewer */
    CHECK(!enough(loud, 40, 2, 10, 0.05) && enough(loud, 40, 2, 0.0001, 0.07)); /* 1169 / sqrt(40) / 2950 = 0.0627 */
    CHECK(!enough(quiet, 1, 1, 0.05, 0.5));
}

static bool near(double a, double b)
{
    return fabs(a - b) < 1e-9 * (fabs(b) + 1);
}

void test_stop_mean(void)
{
    const int64_t nine[] = {1, 2, 3, 4, 5, 6, 7, 8, 100}, two[] = {4, 10};
    CHECK(near(sk_stop_mean(nine, 9, (struct sk_cut){0, 0}).value, 136.0 / 9));
    CHECK(near(sk_stop_mean(nine, 9, (struct sk_cut){1, 1}).value, 5)); /* from 3 to 7 */
    CHECK(near(sk_stop_mean(nine, 9, (struct sk_cut){0, 1}).value, 4));
    CHECK(near(sk_stop_mean(nine, 9, (struct sk_cut){2, 0}).value, 25.2));
    CHECK(near(sk_stop_mean(nine, 9, (struct sk_cut){0, 3}).value, 2));
    CHECK(near(sk_stop_mean(two, 2, (struct sk_cut){1, 1}).value, 7)); /* nothing between 5.5 and 8.5: the median */
    CHECK(near(sk_stop_mean(two, 2, (struct sk_cut){0, 0}).relative_error, 3.0 / 7));
    /* moved to 3 and 7: squares 4 (5 - 3)^2 ... = 3 * 4 + 1 + 0 + 1 + 3 * 4 = 26 */
    CHECK(near(sk_stop_mean(nine, 9, (struct sk_cut){1, 1}).relative_error, sqrt(26.0 / 8) / (0.5 * 3) / 5));
    CHECK(isinf(sk_stop_mean(nine, 1, (struct sk_cut){1, 1}).relative_error));
}

/* The standard error must be the spread of the means of many samples. */
void test_stop_error(void)
{
    struct sk_rng rng = sk_rng_seeded(5, 1);
    const struct sk_cut cuts[] = {{0, 0}, {1, 1}, {0, 1}, {0, 2}};
    enum { SAMPLES = 2000, N = 100 };
    for (int c = 0; c < 4; c++) {
        double sum = 0, squares = 0, said = 0;
        for (int i = 0; i < SAMPLES; i++) {
            int64_t values[N];
            for (int j = 0; j < N; j++) {
                int64_t late = (int64_t)sk_rng_below(&rng, 1000);
                values[j] = 100000 + late * late / 10; /* a tail to the right */
            }
            const struct sk_stop_rule rule = {1, 1, 1, cuts[c]};
            struct sk_mean mean = sk_stop_assess(values, N, &rule).mean;
            sum += mean.value;
            squares += mean.value * mean.value;
            said += mean.relative_error * mean.value / SAMPLES;
        }
        double spread = sqrt(squares / SAMPLES - sum / SAMPLES * (sum / SAMPLES));
        CHECK(fabs(said / spread - 1) < 0.08);
    }
}

void test_processes(void)
{
    struct sk_processes processes = {.size = 3};
    struct sk_json json = {0};
    sk_processes_begin(&processes);
    sk_processes_add(&processes, (int64_t[]){10, 0, 30}, 1, true);
    sk_processes_add(&processes, (int64_t[]){99, 98, 97}, 1, false);
    sk_processes_add(&processes, (int64_t[]){12, -1, 25, -1, 32, -1}, 2, true);
    sk_json_begin(&json, NULL, '{');
    sk_processes_write(&processes, &json);
    sk_json_end(&json, '}');
    CHECK(strcmp(json.text, "{\"root_ns\":[10,99,12],\"process_ns\":[[10,0,30],[99,98,97],[12,25,32]],"
                            "\"process_median_ns\":[10,0,30]}") == 0);
    sk_processes_begin(&processes); /* the medians are over both passes, the rest is of this one */
    sk_processes_add(&processes, (int64_t[]){14, 27, 34}, 1, true);
    sk_json_clear(&json);
    sk_json_begin(&json, NULL, '{');
    sk_processes_write(&processes, &json);
    sk_json_end(&json, '}');
    CHECK(strcmp(json.text, "{\"root_ns\":[14],\"process_ns\":[[14,27,34]],\"process_median_ns\":[12,25,32]}") == 0);
    sk_processes_free(&processes);

    struct sk_processes many = {.size = SK_MOST_TIMES / 2};
    static int64_t values[SK_MOST_TIMES];
    for (int pass = 1; pass <= 2; pass++) { /* two in each pass, then only the root's time */
        sk_processes_begin(&many);
        for (int i = 0; i < 5; i++)
            sk_processes_add(&many, values, 1, true);
        CHECK(many.n == 5 && many.kept == 2 * pass);
    }
    sk_processes_free(&many);
    struct sk_processes none = {0};
    sk_json_clear(&json);
    sk_processes_write(&none, &json);
    CHECK(json.length == 0);
    sk_json_free(&json);
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
    const struct sk_load_point from = {0, 10, 5, 0};
    struct sk_load_point to = {2000000000, 13, 7, 0};
    CHECK(fabs(sk_load_share(&from, &to, 2) - 0.25) < 1e-12);
    to.own_s = 9; /* ticks are coarse: never negative */
    CHECK(sk_load_share(&from, &to, 2) == 0);
    to.busy_s = NAN;
    CHECK(isnan(sk_load_share(&from, &to, 2)) && isnan(sk_load_share(&from, &from, 2)));
}

#include "ops/work.h"

#include "time/clock.h"

enum { TRIAL_ROUNDS = 20000, TRIALS = 5 };

static volatile double result = 1;

void sk_work(int64_t rounds)
{
    if (rounds <= 0)
        return;
    if (sk_clock_is_still()) {
        sk_clock_sleep(rounds);
        return;
    }
    double x = result;
    for (int64_t i = 0; i < rounds; i++)
        x = x * 0.999999 + 1e-6; /* each step needs the one before */
    result = x;
}

int64_t sk_work_rounds(int64_t ns)
{
    if (sk_clock_is_still() || ns <= 0)
        return ns > 0 ? ns : 0;
    int64_t least = INT64_MAX;
    for (int i = 0; i < TRIALS; i++) {
        int64_t begin = sk_clock_now();
        sk_work(TRIAL_ROUNDS);
        int64_t lasted = sk_clock_now() - begin;
        least = lasted < least ? lasted : least;
    }
    return (int64_t)((double)ns * TRIAL_ROUNDS / (double)(least > 0 ? least : 1)) + 1;
}

#include "time/pacer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_MARGIN_NS = 1000000, LEAST_MARGIN_NS = 2000, FIRST_WINDOW_NS = 1000000, LEAST_WINDOW_NS = 5000,
       LONGEST_NS = 1000000000, JUDGED_SLOTS = 20 };

static void remember(struct sk_recent *recent, int64_t value)
{
    recent->values[recent->next] = value;
    recent->next = (recent->next + 1) % SK_RECENT;
    recent->n += recent->n < SK_RECENT;
}

static int ascending(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static int64_t percentile_95(const struct sk_recent *recent)
{
    int64_t sorted[SK_RECENT];
    memcpy(sorted, recent->values, sizeof sorted);
    qsort(sorted, (size_t)recent->n, sizeof sorted[0], ascending);
    return sorted[(int)ceil(0.95 * recent->n) - 1];
}

static int64_t scaled(const struct sk_recent *recent, double factor, int64_t first, int64_t least)
{
    if (recent->n == 0)
        return first;
    double value = factor * (double)percentile_95(recent);
    return value > LONGEST_NS ? LONGEST_NS : value < (double)least ? least : (int64_t)value;
}

struct sk_pacer sk_pacer_start(enum sk_sync_kind kind)
{
    return (struct sk_pacer){.kind = kind, .stretch = 1, .slots = 1};
}

int64_t sk_pacer_window_ns(const struct sk_pacer *pacer)
{
    return scaled(&pacer->duration, 4 * pacer->stretch, FIRST_WINDOW_NS, LEAST_WINDOW_NS);
}

struct sk_order sk_pacer_next(const struct sk_pacer *pacer, int64_t now_ns, int most)
{
    struct sk_order order = {.n = 1, .sent_ns = now_ns, .start_ns = now_ns};
    if (pacer->kind != SK_DISSEMINATION)
        order.start_ns += scaled(&pacer->latency, 1.5, FIRST_MARGIN_NS, LEAST_MARGIN_NS);
    if (pacer->kind != SK_ROUND)
        order.n = pacer->slots < most ? pacer->slots : most;
    if (pacer->kind == SK_WINDOW)
        order.length_ns = sk_pacer_window_ns(pacer);
    return order;
}

static void judge_window(struct sk_pacer *pacer)
{
    if (pacer->recent_slots < JUDGED_SLOTS)
        return;
    if (10 * pacer->recent_bad > pacer->recent_slots)
        pacer->stretch *= 2;
    else if (pacer->recent_bad == 0 && pacer->stretch > 1)
        pacer->stretch *= 0.8;
    if (pacer->stretch > 1024)
        pacer->stretch = 1024;
    pacer->recent_slots = pacer->recent_bad = 0;
}

void sk_pacer_learn(struct sk_pacer *pacer, const struct sk_order *order, const struct sk_sample *samples,
                    bool *overrun)
{
    int bad = 0;
    remember(&pacer->latency, samples[0].latency_ns);
    for (int i = 0; i < (int)order->n; i++) {
        int64_t duration = sk_sync_duration(pacer->kind, order, i, &samples[i]);
        overrun[i] = pacer->kind == SK_WINDOW && duration > order->length_ns;
        if (!samples[i].late)
            remember(&pacer->duration, duration);
        bad += samples[i].late || overrun[i];
    }
    pacer->recent_slots += (int)order->n;
    pacer->recent_bad += bad;
    pacer->slots = bad ? 1 : pacer->slots * 2 < SK_BATCH ? pacer->slots * 2 : SK_BATCH;
    judge_window(pacer);
}

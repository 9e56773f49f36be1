#include "main/cell.h"

#include "base/alloc.h"
#include "base/check.h"
#include "ops/verify.h"

#include <math.h>

enum { CHECK_EVERY = 10, FEWEST = 3 };

static const char *const status_names[] = {"open", "converged", "capped", "budget"};

struct sk_cell sk_cell_new(const struct sk_op *op, const struct sk_rules *rules, enum sk_sync_kind kind)
{
    struct sk_cell cell = {.op = op, .verified = true, .pacer = sk_pacer_start(kind)};
    size_t room = (size_t)(rules->most + SK_BATCH);
    cell.t_ns = sk_alloc(room * sizeof *cell.t_ns);
    cell.scratch = sk_alloc(room * sizeof *cell.scratch);
    cell.flags = sk_alloc(room);
    return cell;
}

void sk_cell_free(struct sk_cell *cell)
{
    sk_free(cell->t_ns);
    sk_free(cell->scratch);
    sk_free(cell->flags);
}

static void keep(struct sk_cell *cell, const struct sk_order *order, const struct sk_sample *samples,
                 const bool *overrun)
{
    for (int i = 0; i < (int)order->n; i++) {
        cell->t_ns[cell->n] = sk_sync_duration(cell->pacer.kind, order, i, &samples[i]);
        cell->flags[cell->n] = (unsigned char)((samples[i].late ? SK_LATE : 0) | (overrun[i] ? SK_OVERRUN : 0));
        cell->skew_sum_ns += samples[i].start_ns + samples[i].minus_start_ns;
        cell->n++;
    }
}

/* Sends an order of at most `most` repetitions (0: the end), carries it out, learns from it. Returns how many. */
static int order_and_learn(struct sk_cell *cell, const struct sk_sync *sync, const struct sk_operands *operands,
                           int most, bool counts)
{
    struct sk_order order = {0};
    struct sk_sample samples[SK_BATCH];
    bool overrun[SK_BATCH];
    if (sync->world->rank == 0 && most > 0)
        order = sk_pacer_next(&cell->pacer, sk_clock_now(), most < SK_BATCH ? most : SK_BATCH);
    int n = sk_sync_carry_out(sync, &order, cell->op->call, operands, samples);
    if (n == 0 || sync->world->rank != 0)
        return n;
    sk_pacer_learn(&cell->pacer, &order, samples, overrun);
    if (counts)
        keep(cell, &order, samples, overrun);
    else if (cell->first_ns == 0)
        cell->first_ns = sk_sync_duration(cell->pacer.kind, &order, 0, &samples[0]);
    return n;
}

void sk_cell_first(struct sk_cell *cell, const struct sk_sync *sync, const struct sk_operands *operands)
{
    order_and_learn(cell, sync, operands, 1, false);
    cell->verified = sk_verify(cell->op, operands, sync->world, &sync->clock);
}

static void assess(struct sk_cell *cell, const struct sk_rules *rules)
{
    size_t n = 0;
    for (int i = 0; i < cell->n; i++)
        if (!cell->flags[i])
            cell->scratch[n++] = cell->t_ns[i];
    cell->summary = sk_stop_assess(cell->scratch, n, (size_t)rules->least, rules->precision);
}

/* Returns how many repetitions this pass may have: an equal share of what is left, the last pass all of it. */
static int quota(const struct sk_cell *cell, const struct sk_rules *rules, int pass)
{
    int64_t left = rules->most - cell->pass_begin, passes = rules->passes - pass;
    return (int)((left + passes - 1) / passes);
}

/* The state of process 0 within a pass. */
struct progress { int warmup, fewest, quota; int64_t end_ns; };

/* Returns how many repetitions come next, 0 at the end of the pass, and whether they count. */
static int choose(struct sk_cell *cell, const struct sk_rules *rules, struct progress *progress, bool *counts)
{
    int done = cell->n - cell->pass_begin, left = progress->quota - done;
    bool out_of_time = sk_clock_now() >= progress->end_ns;
    *counts = progress->warmup <= 0 || out_of_time;
    if (!*counts)
        return progress->warmup;
    if (out_of_time && done >= FEWEST) {
        cell->status = SK_OUT_OF_BUDGET;
        return 0;
    }
    if (left <= 0)
        return 0;
    if (done < progress->fewest)
        return progress->fewest - done < left ? progress->fewest - done : left;
    int until_check = CHECK_EVERY - done % CHECK_EVERY;
    if (until_check == CHECK_EVERY || done == progress->fewest) {
        assess(cell, rules);
        if (cell->summary.converged)
            return 0;
    }
    return until_check < left ? until_check : left;
}

static void conclude(struct sk_cell *cell, const struct sk_rules *rules, int pass)
{
    bool last = pass == (int)rules->passes - 1;
    assess(cell, rules);
    if (cell->summary.converged)
        cell->status = SK_CONVERGED;
    else if (!last)
        cell->status = SK_OPEN;
    else if (cell->n >= rules->most)
        cell->status = SK_CAPPED;
    else
        cell->status = SK_OUT_OF_BUDGET;
}

void sk_cell_pass(struct sk_cell *cell, const struct sk_sync *sync, const struct sk_operands *operands,
                  const struct sk_rules *rules, int pass, int64_t share_ns)
{
    bool leads = sync->world->rank == 0;
    cell->pass_begin = cell->n;
    cell->skew_sum_ns = 0;
    cell->status = SK_OPEN;
    struct progress progress = {.warmup = (int)(pass == 0 ? rules->warmup : (rules->warmup + 1) / 2)};
    progress.quota = quota(cell, rules, pass);
    progress.fewest = (int)((rules->least + rules->passes - 1) / rules->passes);
    progress.end_ns = sk_clock_now() + share_ns;
    for (;;) {
        bool counts = true;
        int most = leads && (share_ns > 0 || pass == 0) ? choose(cell, rules, &progress, &counts) : 0;
        int n = order_and_learn(cell, sync, operands, most, counts);
        if (n == 0)
            break;
        progress.warmup -= counts ? 0 : n;
    }
    if (leads)
        conclude(cell, rules, pass);
}

static int flagged(const struct sk_cell *cell, int flag)
{
    int n = 0;
    for (int i = cell->pass_begin; i < cell->n; i++)
        n += (cell->flags[i] & flag) != 0;
    return n;
}

static void write_flagged(const struct sk_cell *cell, struct sk_json *json, const char *name, int flag)
{
    sk_json_begin(json, name, '[');
    for (int i = cell->pass_begin; i < cell->n; i++)
        if (cell->flags[i] & flag)
            sk_json_int(json, NULL, i - cell->pass_begin);
    sk_json_end(json, ']');
}

static void write_interval(struct sk_json *json, const char *name, const struct sk_interval *interval)
{
    if (isfinite(interval->below) && isfinite(interval->above))
        sk_json_reals(json, name, (double[]){interval->below, interval->above}, 2);
}

static void write_statistics(const struct sk_cell *cell, struct sk_json *json)
{
    if (cell->summary.n == 0)
        return;
    sk_json_int(json, "median_ns", cell->summary.median.value);
    sk_json_int(json, "q1_ns", cell->summary.first_quartile.value);
    write_interval(json, "ci", &cell->summary.median);
    write_interval(json, "q1_ci", &cell->summary.first_quartile);
}

static void write_repetitions(const struct sk_cell *cell, struct sk_json *json)
{
    int n = cell->n - cell->pass_begin;
    sk_json_int(json, "n", n);
    sk_json_ints(json, "t_ns", cell->t_ns + cell->pass_begin, (size_t)n);
    sk_json_int(json, "late", flagged(cell, SK_LATE));
    sk_json_int(json, "overrun", flagged(cell, SK_OVERRUN));
    write_flagged(cell, json, "late_at", SK_LATE);
    write_flagged(cell, json, "overrun_at", SK_OVERRUN);
}

void sk_cell_write(const struct sk_cell *cell, struct sk_json *json, const struct sk_sync *sync,
                   const struct sk_operands *operands, int pass, double load)
{
    int n = cell->n - cell->pass_begin;
    sk_json_begin(json, NULL, '{');
    sk_json_text(json, "rec", "cell");
    sk_json_text(json, "op", cell->op->name);
    sk_json_int(json, "p", operands->size);
    sk_json_int(json, "size_B", (int64_t)operands->count * (int64_t)sk_datatype_bytes(operands->datatype));
    sk_json_text(json, "datatype", sk_datatype_names[operands->datatype]);
    sk_json_text(json, "sync", sk_sync_names[sync->kind]);
    sk_json_int(json, "pass", pass);
    write_repetitions(cell, json);
    sk_json_text(json, "status", status_names[cell->status]);
    sk_json_bool(json, "verified", cell->verified);
    if (!isnan(load))
        sk_json_real(json, "foreign_load", load);
    if (pass == 0)
        sk_json_int(json, "first_ns", cell->first_ns);
    if (sync->kind == SK_WINDOW)
        sk_json_int(json, "window_ns", sk_pacer_window_ns(&cell->pacer));
    if (sync->kind == SK_DISSEMINATION && n > 0)
        sk_json_int(json, "skew_ns", cell->skew_sum_ns / n);
    write_statistics(cell, json);
    sk_json_end(json, '}');
}

#include "main/cell.h"

#include "base/alloc.h"
#include "base/check.h"
#include "ops/bandwidth.h"
#include "catalogue/verify.h"
#include "ops/work.h"

#include <math.h>

enum { CHECK_EVERY = 10, FEWEST = 3 };

static const char *const status_names[] = {"open", "converged", "capped", "budget"};

struct sk_cell sk_cell_new(const struct sk_op *op, const struct sk_rules *rules, const struct sk_sync *sync)
{
    struct sk_cell cell = {.op = op, .verified = true, .pacer = sk_pacer_start(sync->kind)};
    size_t room = (size_t)(rules->most + SK_BATCH + SK_BESIDE);
    cell.t_ns = sk_alloc(room * sizeof *cell.t_ns);
    cell.scratch = sk_alloc(room * sizeof *cell.scratch);
    cell.flags = sk_alloc(room);
    cell.processes.size = sync->each && sync->world->rank == 0 ? sync->world->size : 0;
    cell.value_ns = sk_alloc((size_t)cell.processes.size * sizeof *cell.value_ns);
    return cell;
}

void sk_cell_free(struct sk_cell *cell)
{
    sk_free(cell->t_ns);
    sk_free(cell->scratch);
    sk_free(cell->flags);
    sk_free(cell->value_ns);
    sk_processes_free(&cell->processes);
}

/* One order and what became of it. */
struct batch {
    struct sk_order order;
    struct sk_sample samples[SK_BATCH];
    bool overrun[SK_BATCH];
};

/* The value of a repetition, as sk_op_definition says, by the end on some process. */
static int64_t value_until(const struct sk_cell *cell, const struct batch *batch, int i, int64_t end_ns)
{
    struct sk_sample sample = batch->samples[i];
    sample.end_ns = end_ns;
    int64_t lasted = sk_sync_duration(cell->pacer.kind, &batch->order, i, &sample);
    lasted = lasted > 0 ? lasted : 0;
    return sk_op_is_round_trip(cell->op) ? (lasted + 1) / 2 : lasted;
}

static int64_t value_ns(const struct sk_cell *cell, const struct batch *batch, int i)
{
    return value_until(cell, batch, i, batch->samples[i].end_ns);
}

static void keep_processes(struct sk_cell *cell, const struct sk_sync *sync, const struct batch *batch, int i)
{
    int n = (int)batch->order.n;
    for (int k = 0; k < cell->processes.size; k++)
        cell->value_ns[k] = value_until(cell, batch, i, sync->ends_ns[k * n + i]);
    if (cell->processes.size > 0)
        sk_processes_add(&cell->processes, cell->value_ns, 1, cell->flags[cell->n] == 0);
}

static void keep(struct sk_cell *cell, const struct sk_sync *sync, const struct batch *batch)
{
    for (int i = 0; i < (int)batch->order.n; i++) {
        const struct sk_sample *sample = &batch->samples[i];
        cell->t_ns[cell->n] = value_ns(cell, batch, i);
        cell->flags[cell->n] = (unsigned char)((sample->late ? SK_LATE : 0) | (batch->overrun[i] ? SK_OVERRUN : 0));
        cell->skew_sum_ns += sample->start_ns + sample->minus_start_ns;
        keep_processes(cell, sync, batch, i);
        cell->n++;
    }
}

/* Sends an order of at most `most` calls (0: the end), carries it out, learns from it. Returns how many; process 0 has
 * them in `batch`. */
static int order_and_learn(struct sk_cell *cell, const struct sk_sync *sync, sk_call call, const void *operands,
                           int most, struct batch *batch)
{
    batch->order = (struct sk_order){0};
    if (sync->world->rank == 0 && most > 0)
        batch->order = sk_pacer_next(&cell->pacer, sk_clock_now(), most < SK_BATCH ? most : SK_BATCH);
    int n = sk_sync_carry_out(sync, &batch->order, call, operands, batch->samples);
    if (n > 0 && sync->world->rank == 0)
        sk_pacer_learn(&cell->pacer, &batch->order, batch->samples, batch->overrun);
    return n;
}

/* Whether an operation that must communicate sent nothing that virtual time could see; process 0 knows. */
static bool is_silent(const struct sk_cell *cell, const struct sk_sync *sync, const struct batch *batch)
{
    enum sk_op_group group = cell->op->group;
    bool is_local = cell->op->flow == SK_FLOW_OBJECT || cell->op->flow == SK_FLOW_SUM_ONTO || group == SK_SIMPLE ||
                    group == SK_OWN;
    return sync->world->rank == 0 && sync->world->size > 1 && !is_local && batch->samples[0].messages == 0;
}

void sk_cell_first(struct sk_cell *cell, const struct sk_sync *sync, const struct sk_operands *operands)
{
    struct batch batch;
    order_and_learn(cell, sync, cell->op->call, cell->op->own ? cell->op->own : operands, 1, &batch);
    if (sync->world->rank == 0)
        cell->first_ns = value_ns(cell, &batch, 0);
    SK_REQUIRE(!is_silent(cell, sync, &batch), "%s sends no message over TCP, so virtual time cannot see it: the "
               "library has another way, such as shared memory; switch that off (docs/virtual-time.md), or measure by "
               "the real clock",
               cell->op->name);
    cell->verified = sk_verify(cell->op, operands, sync->world, &sync->clock);
}

/* ---- overlap: what the call and the work last alone -------------------------------------------------------------- */

static int only_work(const void *operands)
{
    sk_work(((const struct sk_operands *)operands)->work);
    return MPI_SUCCESS;
}

/* Keeps durations of `call` after `skipped` calls, those that began in time; one at least, whatever the time. Returns
 * how many, 0 on other processes. */
static int measure_beside(struct sk_cell *cell, const struct sk_sync *sync, sk_call call,
                          const struct sk_operands *operands, int skipped, int64_t *values, int64_t end_ns)
{
    struct batch batch;
    bool leads = sync->world->rank == 0;
    for (int kept = 0, done = 0;;) {
        bool in_time = sk_clock_now() < end_ns;
        skipped = in_time || done > skipped ? skipped : done;
        int left = done < skipped ? skipped - done : SK_BESIDE - kept;
        bool goes_on = done < skipped + 3 * SK_BESIDE && (in_time || kept == 0);
        int n = order_and_learn(cell, sync, call, operands, leads && goes_on ? left : 0, &batch);
        if (n == 0)
            return leads ? kept : 0;
        for (int i = 0; leads && i < n; i++)
            if (done++ >= skipped && !batch.samples[i].late)
                values[kept++] = value_ns(cell, &batch, i);
    }
}

static int64_t quartile(const int64_t *values, int n, int64_t *scratch)
{
    for (int i = 0; i < n; i++)
        scratch[i] = values[i];
    const struct sk_stop_rule any = {.least = 1, .precision = 1};
    return n > 0 ? sk_stop_assess(scratch, (size_t)n, &any).first_quartile.value : 0;
}

/* Call and wait alone, and the work alone; the first pass sets the work to as long as call and wait. */
static void measure_parts(struct sk_cell *cell, const struct sk_sync *sync, struct sk_operands *operands, int warmup,
                          int pass, int64_t end_ns)
{
    operands->work = 0;
    cell->n_pure = measure_beside(cell, sync, cell->op->call, operands, warmup, cell->pure_ns, end_ns);
    if (pass == 0) {
        cell->work = sk_work_rounds(quartile(cell->pure_ns, cell->n_pure, cell->scratch));
        SK_MPI(PMPI_Bcast(&cell->work, 1, MPI_INT64_T, 0, sync->world->harness));
    }
    operands->work = cell->work;
    cell->n_work = measure_beside(cell, sync, only_work, operands, 1, cell->work_ns, end_ns);
}

/* ---- a pass ------------------------------------------------------------------------------------------------------ */

static void assess(struct sk_cell *cell, const struct sk_rules *rules)
{
    size_t n = 0;
    for (int i = 0; i < cell->n; i++)
        if (!cell->flags[i])
            cell->scratch[n++] = cell->t_ns[i];
    const struct sk_stop_rule rule = {(size_t)rules->least, rules->precision, rules->standard_error, rules->cut};
    cell->summary = sk_stop_assess(cell->scratch, n, &rule);
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

void sk_cell_pass(struct sk_cell *cell, const struct sk_sync *sync, struct sk_operands *operands,
                  const struct sk_rules *rules, int pass, int64_t share_ns)
{
    bool leads = sync->world->rank == 0;
    cell->pass_begin = cell->n;
    cell->skew_sum_ns = 0;
    sk_processes_begin(&cell->processes);
    cell->status = SK_OPEN;
    struct progress progress = {.warmup = (int)(pass == 0 ? rules->warmup : (rules->warmup + 1) / 2)};
    progress.quota = quota(cell, rules, pass);
    progress.fewest = (int)((rules->least + rules->passes - 1) / rules->passes);
    progress.end_ns = sk_clock_now() + share_ns;
    if (cell->op->group == SK_OVERLAP)
        measure_parts(cell, sync, operands, progress.warmup, pass, progress.end_ns);
    const void *argument = cell->op->own ? cell->op->own : operands;
    for (;;) {
        struct batch batch;
        bool counts = true;
        int most = leads && (share_ns > 0 || pass == 0) ? choose(cell, rules, &progress, &counts) : 0;
        int n = order_and_learn(cell, sync, cell->op->call, argument, most, &batch);
        if (n == 0)
            break;
        progress.warmup -= counts ? 0 : n;
        if (leads && counts)
            keep(cell, sync, &batch);
    }
    operands->work = 0;
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
    sk_json_real(json, "mean_ns", cell->summary.mean.value);
    if (isfinite(cell->summary.mean.relative_error))
        sk_json_real(json, "stderr", cell->summary.mean.relative_error);
}

/* What was asked for. */
static void write_rules(const struct sk_rules *rules, struct sk_json *json)
{
    sk_json_int(json, "warmup", rules->warmup);
    sk_json_int(json, "rep_min", rules->least);
    sk_json_int(json, "rep_max", rules->most);
    if (rules->standard_error > 0)
        sk_json_real(json, "allowed_stderr", rules->standard_error);
    else
        sk_json_real(json, "precision", rules->precision);
    sk_json_ints(json, "cut", (int64_t[]){rules->cut.lowest, rules->cut.highest}, 2);
    sk_json_bool(json, "auto_refined", rules->auto_refined);
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
                   const struct sk_operands *operands, const struct sk_rules *rules, int pass,
                   const struct sk_disturbance *seen)
{
    int n = cell->n - cell->pass_begin;
    sk_json_begin(json, NULL, '{');
    sk_json_text(json, "rec", "cell");
    sk_json_text(json, "op", cell->op->name);
    sk_json_text(json, "definition", sk_op_definition(cell->op));
    sk_json_int(json, "p", operands->size);
    sk_json_int(json, "size_B", (int64_t)operands->count * (int64_t)sk_datatype_bytes(operands->datatype));
    sk_json_text(json, "datatype", sk_datatype_names[operands->datatype]);
    if (cell->op->group == SK_BANDWIDTH)
        sk_json_int(json, "messages", sk_window_messages(cell->op->flow, operands->size));
    sk_json_text(json, "sync", sk_sync_names[sync->kind]);
    sk_json_int(json, "pass", pass);
    write_repetitions(cell, json);
    if (cell->op->group == SK_OVERLAP) {
        sk_json_int(json, "work_rounds", cell->work);
        sk_json_ints(json, "pure_ns", cell->pure_ns, (size_t)cell->n_pure);
        sk_json_ints(json, "work_ns", cell->work_ns, (size_t)cell->n_work);
    }
    sk_json_text(json, "status", status_names[cell->status]);
    if (!cell->op->own || cell->op->check)
        sk_json_bool(json, "verified", cell->verified);
    sk_disturbance_write(seen, json);
    if (pass == 0)
        sk_json_int(json, "first_ns", cell->first_ns);
    if (sync->kind == SK_WINDOW)
        sk_json_int(json, "window_ns", sk_pacer_window_ns(&cell->pacer));
    if (sync->kind == SK_DISSEMINATION && n > 0)
        sk_json_int(json, "skew_ns", cell->skew_sum_ns / n);
    write_rules(rules, json);
    write_statistics(cell, json);
    sk_processes_write(&cell->processes, json);
    sk_json_end(json, '}');
}

/* sk_master_worker: what a unit of work costs that a master hands out, over workers and unit size. See README.md. */
#include "base/alloc.h"
#include "base/check.h"
#include "ops/lacks.h"
#include "base/rng.h"
#include "main/common.h"
#include "masterworker/farm.h"
#include "masterworker/units.h"
#include "ops/work.h"
#include "time/clock.h"
#include "time/load.h"

#include <mpi.h>
#include <stdio.h>

static const char summary[] =
    "sk_master_worker times a master that hands out units of work to all other processes, one by one, and collects\n"
    "their results: time per unit, how long the master waits for workers, how long workers work. Variants collect by\n"
    "MPI_Waitsome, MPI_Waitany or MPI_Recv from MPI_ANY_SOURCE, and hand out by MPI_Send, or by what their name ends\n"
    "with. Start it with the mpiexec of the MPI library it was compiled with.";

enum { MOST_NUMBERS = 64, MOST_CELLS = 10000, READY_TRIALS = 5, MOST_WORK_US = 10000000 };
#define MOST_BYTES ((int64_t)1 << 26)

struct cell { int variant; int64_t size, work_us; };

struct settings {
    struct sk_common common;
    const char *variants, *sizes, *work_us;
    int64_t result_size, units, reps, passes;
};

struct launch {
    struct settings settings;
    struct sk_world world;
    struct sk_record record;
    struct sk_load load;
    struct cell *cells;
    int n_cells, *order;
    int64_t begin_ns, *ready;
    struct sk_harvest *plain, *watched;
    bool all_right, complete;
};

static void read_settings(struct launch *l, int argc, char **argv)
{
    struct settings *s = &l->settings;
    const struct sk_option options[] = {
        SK_COMMON_OPTIONS(s->common),
        {"variants", "A,B", "how to collect and hand out", SK_OPTION_TEXT, &s->variants, 0},
        {"sizes", "B,B", "bytes of a unit", SK_OPTION_TEXT, &s->sizes, 0},
        {"result-size", "B", "bytes of a result", SK_OPTION_COUNT, &s->result_size, SK_UNIT_LEAST},
        {"work-us", "T,T", "work on a unit in us, 0: communication alone", SK_OPTION_TEXT, &s->work_us, 0},
        {"units", "N", "for each worker in a repetition", SK_OPTION_COUNT, &s->units, 1},
        {"reps", "N", "repetitions of a cell in all passes", SK_OPTION_COUNT, &s->reps, 1},
        {"passes", "N", "rounds over all cells", SK_OPTION_COUNT, &s->passes, 1},
    };
    sk_common_options(&l->world, &s->common, options, sizeof options / sizeof *options, summary, argc, argv);
    SK_REQUIRE(l->world.size >= 2, "a master needs a worker, there is %d process; start more", l->world.size);
    SK_REQUIRE(!s->common.ops[0], "--ops is not known here; name variants with --variants");
    SK_REQUIRE(s->result_size <= MOST_BYTES, "--result-size %lld is too large: at most %lld",
               (long long)s->result_size, (long long)MOST_BYTES);
    SK_REQUIRE(s->units <= 1000000, "--units %lld is too large: at most 1000000", (long long)s->units);
    SK_REQUIRE(s->reps <= 1000000, "--reps %lld is too large: at most 1000000", (long long)s->reps);
    SK_REQUIRE(s->passes <= s->reps, "--passes %lld is greater than --reps %lld; lower it", (long long)s->passes,
               (long long)s->reps);
}

static void plan(struct launch *l)
{
    const struct settings *s = &l->settings;
    char why[SK_WHY] = "";
    int variants[SK_VARIANTS];
    int64_t sizes[MOST_NUMBERS], works[MOST_NUMBERS], room = INT32_MAX / 4 / (l->world.size - 1);
    room = room < MOST_BYTES ? room : MOST_BYTES;
    int n = sk_options_choose("variants", s->variants, sk_variant_names(), SK_VARIANTS, variants, why, sizeof why);
    SK_REQUIRE(n > 0, "%s", why);
    int n_sizes = sk_unit_counts("sizes", s->sizes, SK_UNIT_LEAST, room, sizes, MOST_NUMBERS, why, sizeof why);
    SK_REQUIRE(n_sizes > 0, "%s", why);
    int n_works = sk_unit_counts("work-us", s->work_us, 0, MOST_WORK_US, works, MOST_NUMBERS, why, sizeof why);
    SK_REQUIRE(n_works > 0, "%s", why);
    SK_REQUIRE(n_sizes <= MOST_NUMBERS && n_works <= MOST_NUMBERS, "--sizes and --work-us take at most %d numbers",
               MOST_NUMBERS);
    l->n_cells = n * n_sizes * n_works;
    SK_REQUIRE(l->n_cells <= MOST_CELLS, "%d cells are too many, at most %d; name fewer values", l->n_cells,
               MOST_CELLS);
    l->cells = sk_alloc((size_t)l->n_cells * sizeof *l->cells);
    l->order = sk_alloc((size_t)l->n_cells * sizeof *l->order);
    for (int i = 0; i < l->n_cells; i++) {
        l->cells[i] = (struct cell){variants[i / n_works / n_sizes], sizes[i / n_works % n_sizes], works[i % n_works]};
        l->order[i] = i;
    }
    l->plain = sk_alloc((size_t)s->reps * sizeof *l->plain);
    l->watched = sk_alloc((size_t)s->reps * sizeof *l->watched);
    l->ready = sk_alloc(READY_TRIALS * sizeof *l->ready);
}

static void write_env(struct launch *l, int argc, char **argv)
{
    struct sk_json *json = &l->record.json;
    char *provenance = sk_env_provenance(&l->world, l->settings.common.provenance);
    sk_record_open(&l->record, l->settings.common.out, l->world.rank);
    sk_env_begin(json, &l->world, &l->settings.common, argc, argv);
    if (l->world.rank == 0) {
        sk_json_begin(json, "parameter", '{');
        sk_json_int(json, "workers", l->world.size - 1);
        sk_json_end(json, '}');
        sk_json_int(json, "clock_read_ns", sk_clock_read_ns());
        sk_json_raw(json, "provenance", provenance);
        sk_json_end(json, '}');
    }
    sk_free(provenance);
    sk_record_write(&l->record);
}

/* ---- one cell ---------------------------------------------------------------------------------------------------- */

/* How many repetitions fit into the share, by one that counts not; process 0 decides. */
static int64_t agreed_reps(struct launch *l, struct sk_farm *farm, int64_t share_ns)
{
    const struct settings *s = &l->settings;
    int64_t n = (s->reps + s->passes - 1) / s->passes;
    if (sk_clock_is_virtual())
        return n;
    int64_t each = sk_farm_run(farm, SK_WATCHED).t_ns + sk_farm_run(farm, SK_PLAIN).t_ns;
    if (each > 0 && share_ns / each < n)
        n = share_ns > each ? share_ns / each : 1;
    SK_MPI(PMPI_Bcast(&n, 1, MPI_INT64_T, 0, l->world.harness));
    return n;
}

enum value { TIME, COLLECTING, CALLS, BUSY, WORKED };

static int64_t value_of(const struct sk_harvest *harvest, enum value which)
{
    switch (which) {
    case TIME: return harvest->t_ns;
    case COLLECTING: return harvest->collect_ns;
    case CALLS: return harvest->calls;
    case BUSY: return harvest->busy_ns;
    case WORKED: return harvest->worked_ns;
    }
    return 0;
}

static void write_values(struct sk_json *json, const char *name, const struct sk_harvest *harvests, int64_t n,
                         enum value which)
{
    int64_t *values = sk_alloc((size_t)n * sizeof *values);
    for (int64_t i = 0; i < n; i++)
        values[i] = value_of(&harvests[i], which);
    sk_json_ints(json, name, values, (size_t)n);
    sk_free(values);
}

/* As it stands in the run file: Master_worker[Waitany] is communication alone, Master_worker[Waitany:100us] is not. */
static const char *name_of(const struct cell *cell)
{
    static char name[80];
    const char *variant = sk_variant_names()[cell->variant];
    if (cell->work_us > 0)
        snprintf(name, sizeof name, "Master_worker[%s:%lldus]", variant, (long long)cell->work_us);
    else
        snprintf(name, sizeof name, "Master_worker[%s]", variant);
    return name;
}

static void write_cell(struct launch *l, const struct cell *cell, const struct sk_farm *farm, int pass, int64_t n,
                       bool right, const struct sk_disturbance *seen)
{
    struct sk_json *json = &l->record.json;
    if (l->world.rank == 0) {
        sk_json_begin(json, NULL, '{');
        sk_json_text(json, "rec", "units");
        sk_json_text(json, "op", name_of(cell));
        sk_json_text(json, "variant", sk_variant_names()[cell->variant]);
        sk_json_int(json, "p", l->world.size);
        sk_json_int(json, "size_B", cell->size);
        sk_json_int(json, "result_B", l->settings.result_size);
        sk_json_int(json, "work_ns", 1000 * cell->work_us);
        sk_json_int(json, "pass", pass);
        sk_json_int(json, "units", farm->n_units);
        sk_json_bool(json, "verified", right);
        sk_disturbance_write(seen, json);
        write_values(json, "t_ns", l->plain, n, TIME);
        write_values(json, "watched_ns", l->watched, n, TIME);
        write_values(json, "collect_ns", l->watched, n, COLLECTING);
        write_values(json, "calls", l->watched, n, CALLS);
        write_values(json, "busy_ns", l->watched, n, BUSY);
        write_values(json, "worked_ns", l->watched, n, WORKED);
        sk_json_ints(json, "ready_ns", l->ready, READY_TRIALS);
        sk_json_end(json, '}');
    }
    sk_record_write(&l->record);
}

static void run_cell(struct launch *l, const struct cell *cell, int pass, int64_t share_ns)
{
    struct sk_farm farm = {.world = &l->world, .variant = cell->variant, .workers = l->world.size - 1,
                           .unit_bytes = (size_t)cell->size, .result_bytes = (size_t)l->settings.result_size,
                           .n_units = l->settings.units * (l->world.size - 1), .seed = l->settings.common.seed};
    sk_load_begin(&l->load, &l->world);
    farm.rounds = sk_work_rounds(1000 * cell->work_us);
    sk_farm_open(&farm);
    int64_t wrong = pass > 0 ? 0 : sk_farm_run(&farm, SK_THOROUGH).wrong;
    int64_t n = agreed_reps(l, &farm, share_ns);
    for (int i = 0; i < READY_TRIALS; i++)
        l->ready[i] = sk_farm_ready(&farm);
    for (int64_t i = 0; i < n; i++) {
        l->watched[i] = sk_farm_run(&farm, SK_WATCHED);
        /* a virtual clock costs nothing */
        l->plain[i] = sk_clock_is_virtual() ? l->watched[i] : sk_farm_run(&farm, SK_PLAIN);
        wrong += l->plain[i].wrong + l->watched[i].wrong;
    }
    sk_farm_close(&farm);
    SK_MPI(PMPI_Bcast(&wrong, 1, MPI_INT64_T, 0, l->world.harness));
    if (wrong > 0 && l->world.rank == 0)
        sk_say("%s with units of %lld B: %lld results were wrong; its times are kept and marked",
               name_of(cell), (long long)cell->size, (long long)wrong);
    l->all_right = l->all_right && wrong == 0;
    struct sk_disturbance seen = sk_load_end(&l->load, &l->world);
    write_cell(l, cell, &farm, pass, n, wrong == 0, &seen);
}

/* ---- the launch -------------------------------------------------------------------------------------------------- */

/* Leaves out what cannot be measured here, with its reason. */
static void leave_out(struct launch *l)
{
    int kept = 0;
    for (int i = 0; i < l->n_cells; i++) {
        const char *why = sk_variant_lacks(l->cells[i].variant);
        if (!why) {
            l->cells[kept++] = l->cells[i];
            continue;
        }
        if (l->world.rank == 0)
            sk_lacks_write(&l->record.json, name_of(&l->cells[i]), why);
        sk_record_write(&l->record);
    }
    l->n_cells = kept;
}

/* What is left of the budget, as process 0 sees it; every process must call it. */
static int64_t remaining_ns(const struct launch *l)
{
    int64_t left = (int64_t)(1e9 * l->settings.common.budget_s) - (sk_clock_now() - l->begin_ns);
    SK_MPI(PMPI_Bcast(&left, 1, MPI_INT64_T, 0, l->world.harness));
    return left;
}

static void run_passes(struct launch *l)
{
    int passes = (int)l->settings.passes, left = passes * l->n_cells;
    for (int pass = 0; pass < passes && (pass == 0 || sk_clock_is_virtual() || remaining_ns(l) > 0); pass++) {
        struct sk_rng rng = sk_rng_seeded(l->settings.common.seed, (uint64_t)pass);
        sk_rng_shuffle(&rng, l->order, l->n_cells);
        for (int i = 0; i < l->n_cells; i++, left--)
            run_cell(l, &l->cells[l->order[i]], pass, 4 * (remaining_ns(l) / left));
    }
    l->complete = remaining_ns(l) >= 0 || sk_clock_is_virtual();
}

static void run(struct launch *l, int argc, char **argv)
{
    l->all_right = l->complete = true;
    plan(l);
    write_env(l, argc, argv);
    leave_out(l);
    run_passes(l);
    sk_common_end(&l->record, l->complete, 1e-9 * (double)(sk_clock_now() - l->begin_ns));
    if (l->world.rank == 0)
        sk_json_end(&l->record.json, '}');
    sk_record_write(&l->record);
    sk_record_close(&l->record);
    sk_free(l->cells);
    sk_free(l->order);
    sk_free(l->plain);
    sk_free(l->watched);
    sk_free(l->ready);
}

int main(int argc, char **argv)
{
    static struct launch l = {
        .settings = {.common = {.out = "", .run_id = "", .provenance = "", .ops = "", .seed = 1, .budget_s = 60},
                     .variants = "Waitsome,Waitany,Recv_any", .sizes = "1024", .work_us = "0,100",
                     .result_size = 16, .units = 50, .reps = 30, .passes = 3}};
    sk_program_name("sk_master_worker");
    l.begin_ns = sk_clock_now();
    SK_MPI(MPI_Init(&argc, &argv));
    sk_world_open(&l.world);
    read_settings(&l, argc, argv);
    l.begin_ns = sk_clock_now();
    run(&l, argc, argv);
    sk_world_close(&l.world);
    SK_MPI(MPI_Finalize());
    return l.all_right ? SK_EXIT_OK : SK_EXIT_WRONG_RESULT;
}

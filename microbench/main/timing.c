#include "main/timing.h"

#include "base/alloc.h"
#include "base/check.h"
#include "ops/lacks.h"
#include "base/rng.h"
#include "main/cell.h"
#include "main/clocks.h"
#include "main/common.h"
#include "ops/persistent.h"
#include "rma/windows.h"

#include <limits.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

struct settings {
    struct sk_common common;
    struct sk_rules rules;
    int64_t size;
    const char *datatype, *sync, *clock, *cut;
    int64_t per_process, auto_refined;
    int ops[SK_MOST_OPS], n_ops, datatype_id, sync_id, clock_id;
};

struct experiment {
    const struct sk_suite *suite;
    struct settings settings;
    struct sk_world world;
    struct sk_record record;
    struct sk_sync sync;
    struct sk_clocks clocks;
    struct sk_operands operands;
    struct sk_load load;
    struct sk_cell *cells[SK_MOST_OPS]; /* of the chosen operations; a simulation has a thousand times all of them */
    int64_t begin_ns;
    bool all_verified, complete;
};

enum { AUTOMATIC, ESTIMATED, CLOCKS };
static const char *const clock_names[CLOCKS] = {"auto", "estimated"};

static void require_choice(const char *option, const char *text, const char *const *names, int n, int *found)
{
    char why[SK_WHY] = "";
    int chosen[8], count = sk_options_choose(option, text, names, n, chosen, why, sizeof why);
    SK_REQUIRE(count >= 0, "%s", why);
    SK_REQUIRE(count == 1, "--%s: one value is needed, several were given; see --help", option);
    *found = chosen[0];
}

static void require_ops(struct settings *s, const struct sk_suite *suite)
{
    char why[SK_WHY] = "";
    const char *text = s->common.ops[0] ? s->common.ops : suite->usual;
    s->n_ops = sk_ops_choose(suite->ops, suite->n_ops, text, s->ops, why, sizeof why);
    SK_REQUIRE(s->n_ops > 0, "%s", why);
}

/* The quarters that the mean leaves out, numbered from 1, the lowest: neighbours from an end on, and one is left. */
static void require_cut(struct settings *s)
{
    bool cut[4] = {false};
    const char *text = s->cut;
    bool ok = true;
    for (const char *at = text; *at && ok; at += at[1] == ',' ? 2 : 1) {
        ok = *at >= '1' && *at <= '4' && (at[1] == '\0' || (at[1] == ',' && at[2] != '\0')) && !cut[*at - '1'];
        if (ok)
            cut[*at - '1'] = true;
    }
    s->rules.cut = (struct sk_cut){0};
    while (s->rules.cut.lowest < 4 && cut[s->rules.cut.lowest])
        s->rules.cut.lowest++;
    while (s->rules.cut.highest < 4 && cut[3 - s->rules.cut.highest])
        s->rules.cut.highest++;
    int n = cut[0] + cut[1] + cut[2] + cut[3];
    SK_REQUIRE(ok && n < 4 && n == s->rules.cut.lowest + s->rules.cut.highest,
               "--cut-quartiles '%s': quarters to leave out are needed, from an end on, such as 4 or 1,4 or 3,4", text);
}

static void require_sense(struct settings *s, const struct sk_suite *suite, const struct sk_world *world)
{
    require_ops(s, suite);
    require_choice("datatype", s->datatype, sk_datatype_names, SK_DATATYPES, &s->datatype_id);
    require_choice("sync", s->sync, sk_sync_names, SK_SYNC_KINDS, &s->sync_id);
    require_choice("clock", s->clock, clock_names, CLOCKS, &s->clock_id);
    int64_t element = (int64_t)sk_datatype_bytes((enum sk_datatype)s->datatype_id);
    SK_REQUIRE(s->size % element == 0, "--size %lld is not a multiple of the %lld bytes of --datatype %s; give a "
               "multiple", (long long)s->size, (long long)element, s->datatype);
    SK_REQUIRE(s->size <= INT_MAX / world->size, "--size %lld is too large for %d processes: at most %d bytes a "
               "process", (long long)s->size, world->size, INT_MAX / world->size);
    SK_REQUIRE(s->rules.least <= s->rules.most, "--min-reps %lld is greater than --max-reps %lld; lower the first or "
               "raise the second", (long long)s->rules.least, (long long)s->rules.most);
    SK_REQUIRE(s->rules.most <= 10000000, "--max-reps %lld is too large: at most 10000000", (long long)s->rules.most);
    SK_REQUIRE(s->rules.passes <= s->rules.most, "--passes %lld is greater than --max-reps %lld; lower it",
               (long long)s->rules.passes, (long long)s->rules.most);
    SK_REQUIRE(s->rules.standard_error < 1, "--standard-error %g is too large: a share of the mean below 1, as 0.02",
               s->rules.standard_error);
    SK_REQUIRE(s->per_process <= 1 && s->auto_refined <= 1, "--per-process and --auto-refined are 0 or 1; see --help");
    require_cut(s);
    s->rules.auto_refined = s->auto_refined == 1;
    SK_REQUIRE(s->rules.warmup <= 10000000, "--warmup %lld is too large: at most 10000000", (long long)s->rules.warmup);
}

static void read_settings(struct settings *s, const struct sk_suite *suite, const struct sk_world *world, int argc,
                          char **argv)
{
    const struct sk_option options[] = {
        SK_COMMON_OPTIONS(s->common),
        {"size", "BYTES", "message size", SK_OPTION_COUNT, &s->size, 1},
        {"datatype", "NAME", "byte, int or double", SK_OPTION_TEXT, &s->datatype, 0},
        {"sync", "NAME", "round, window or dissemination", SK_OPTION_TEXT, &s->sync, 0},
        {"min-reps", "N", "repetitions before the stop rule is asked", SK_OPTION_COUNT, &s->rules.least, 1},
        {"max-reps", "N", "repetitions at most", SK_OPTION_COUNT, &s->rules.most, 1},
        {"precision", "X", "relative half width of the 95 % intervals", SK_OPTION_REAL, &s->rules.precision, 0},
        {"standard-error", "X", "instead of it: allowed standard error of the mean, relative", SK_OPTION_REAL,
         &s->rules.standard_error, 0},
        {"cut-quartiles", "A,B", "quarters of the repetitions that the mean leaves out, as 1,4", SK_OPTION_TEXT,
         &s->cut, 0},
        {"per-process", "0|1", "keep process 0's time of each repetition, and every process's", SK_OPTION_COUNT,
         &s->per_process, 0},
        {"auto-refined", "0|1", "kept in the file: points are chosen by what was measured", SK_OPTION_COUNT,
         &s->auto_refined, 0},
        {"warmup", "N", "calls before the first pass, half before others", SK_OPTION_COUNT, &s->rules.warmup, 0},
        {"passes", "N", "rounds over all operations", SK_OPTION_COUNT, &s->rules.passes, 1},
        {"clock", "NAME", "auto, or estimated: measure offsets even on one node", SK_OPTION_TEXT, &s->clock, 0},
    };
    sk_common_options(world, &s->common, options, sizeof options / sizeof *options, suite->summary, argc, argv);
    require_sense(s, suite, world);
}

/* ---- the launch -------------------------------------------------------------------------------------------------- */

static void write_env(struct experiment *e, int argc, char **argv)
{
    char *provenance = sk_env_provenance(&e->world, e->settings.common.provenance);
    sk_record_open(&e->record, e->settings.common.out, e->world.rank);
    struct sk_json *json = &e->record.json;
    sk_env_begin(json, &e->world, &e->settings.common, argc, argv);
    sk_clocks_write(&e->clocks, &e->sync.clock, json);
    if (e->world.rank == 0) {
        sk_json_raw(json, "provenance", provenance);
        sk_json_end(json, '}');
    }
    sk_free(provenance);
    sk_record_write(&e->record);
}

/* Leaves out what this library cannot do, with a record each. */
static void skip_lacking(struct experiment *e)
{
    struct settings *s = &e->settings;
    int kept = 0;
    for (int i = 0; i < s->n_ops; i++) {
        const char *op = e->suite->ops[s->ops[i]].name, *why = sk_lacks(op);
        if (!why) {
            s->ops[kept++] = s->ops[i];
            continue;
        }
        if (e->world.rank == 0)
            sk_lacks_write(&e->record.json, op, why);
        sk_record_write(&e->record);
    }
    s->n_ops = kept;
}

static int64_t remaining_ns(const struct experiment *e)
{
    return (int64_t)(1e9 * e->settings.common.budget_s) - (sk_clock_now() - e->begin_ns);
}

static void add_cell(struct experiment *e, int op)
{
    e->cells[op] = sk_alloc(sizeof *e->cells[op]);
    *e->cells[op] = sk_cell_new(&e->suite->ops[op], &e->settings.rules, &e->sync);
}

static void remove_cell(struct experiment *e, int op)
{
    sk_cell_free(e->cells[op]);
    sk_free(e->cells[op]);
}

static void run_cell(struct experiment *e, int op, int pass, int cells_left)
{
    struct sk_cell *cell = e->cells[op];
    sk_load_begin(&e->load, &e->world);
    if (pass == 0) {
        sk_cell_first(cell, &e->sync, &e->operands);
        e->all_verified = e->all_verified && cell->verified;
    }
    sk_cell_pass(cell, &e->sync, &e->operands, &e->settings.rules, pass, remaining_ns(e) / cells_left);
    struct sk_disturbance seen = sk_load_end(&e->load, &e->world);
    if (e->world.rank == 0) {
        e->complete = e->complete && cell->status != SK_OUT_OF_BUDGET;
        sk_cell_write(cell, &e->record.json, &e->sync, &e->operands, &e->settings.rules, pass, &seen);
    }
    sk_record_write(&e->record);
}

static void run_passes(struct experiment *e)
{
    const struct settings *s = &e->settings;
    int passes = (int)s->rules.passes, cells_left = passes * s->n_ops, order[SK_MOST_OPS];
    memcpy(order, s->ops, sizeof order);
    for (int pass = 0; pass < passes; pass++) {
        struct sk_rng rng = sk_rng_seeded(s->common.seed, (uint64_t)pass);
        if (pass > 0)
            e->sync.clock = sk_clocks_renew(&e->clocks, e->sync.clock);
        sk_rng_shuffle(&rng, order, s->n_ops);
        for (int i = 0; i < s->n_ops; i++)
            run_cell(e, order[i], pass, cells_left--);
    }
}

static void write_end(struct experiment *e)
{
    struct sk_json *json = &e->record.json;
    e->sync.clock = sk_clocks_renew(&e->clocks, e->sync.clock);
    sk_common_end(&e->record, e->complete, 1e-9 * (double)(sk_clock_now() - e->begin_ns));
    sk_clocks_write(&e->clocks, &e->sync.clock, json);
    if (e->world.rank == 0)
        sk_json_end(json, '}');
    sk_record_write(&e->record);
    sk_record_close(&e->record);
}

/* Room for the operation that needs most: with thousands of processes a block from each does not fit into memory. */
static struct sk_blocks room(const struct experiment *e)
{
    struct sk_blocks most = {1, 1};
    for (int i = 0; i < e->settings.n_ops; i++) {
        enum sk_flow flow = e->suite->ops[e->settings.ops[i]].flow;
        struct sk_blocks one = sk_flow_room(flow, e->world.rank, e->world.size);
        most.send = one.send > most.send ? one.send : most.send;
        most.receive = one.receive > most.receive ? one.receive : most.receive;
    }
    return most;
}

static bool has_one_sided(const struct experiment *e)
{
    for (int i = 0; i < e->settings.n_ops; i++)
        if (sk_flow_is_one_sided(e->suite->ops[e->settings.ops[i]].flow))
            return true;
    return false;
}

static void run(struct experiment *e, int argc, char **argv)
{
    struct settings *s = &e->settings;
    bool gathers = s->per_process == 1 && e->world.rank == 0;
    e->sync = (struct sk_sync){.kind = (enum sk_sync_kind)s->sync_id, .world = &e->world, .each = s->per_process == 1};
    e->sync.ends_ns = sk_alloc(gathers ? (size_t)e->world.size * SK_BATCH * sizeof *e->sync.ends_ns : 1);
    e->all_verified = e->complete = true;
    e->clocks = (struct sk_clocks){.world = &e->world, .always = s->clock_id == ESTIMATED};
    e->sync.clock = sk_clocks_open(&e->clocks, s->common.budget_s);
    write_env(e, argc, argv);
    skip_lacking(e);
    e->operands = sk_operands_new(MPI_COMM_WORLD, (enum sk_datatype)s->datatype_id, (size_t)s->size, room(e));
    if (has_one_sided(e))
        sk_windows_open(&e->operands);
    if (e->suite->open)
        e->suite->open(&e->operands);
    for (int i = 0; i < s->n_ops; i++)
        add_cell(e, s->ops[i]);
    run_passes(e);
    if (e->suite->close)
        e->suite->close();
    write_end(e);
    for (int i = 0; i < s->n_ops; i++)
        remove_cell(e, s->ops[i]);
    sk_persistent_close();
    sk_windows_close(&e->operands);
    sk_operands_free(&e->operands);
    sk_free(e->sync.ends_ns);
}

int sk_timing(const struct sk_suite *suite, int argc, char **argv)
{
    static struct experiment e;
    int running = 0;
    e = (struct experiment){
        .suite = suite,
        .settings = {.common = {.out = "", .run_id = "", .provenance = "", .ops = "", .seed = 1, .budget_s = 60},
                     .rules = {.least = 20, .most = 400, .warmup = 5, .passes = 5, .precision = 0.05},
                     .size = 8, .datatype = "byte", .sync = "round", .clock = "auto", .cut = ""}};
    sk_program_name(suite->name);
    e.begin_ns = sk_clock_now();
    SK_MPI(MPI_Initialized(&running));
    if (!running)
        SK_MPI(MPI_Init(&argc, &argv));
    sk_world_open(&e.world);
    read_settings(&e.settings, suite, &e.world, argc, argv);
    run(&e, argc, argv);
    sk_world_close(&e.world);
    if (!running)
        SK_MPI(MPI_Finalize());
    return e.all_verified ? SK_EXIT_OK : SK_EXIT_WRONG_RESULT;
}

/* sk_memory: how many bytes each process pays for communicators, windows, grids, and for MPI itself. See README.md. */
#include "base/alloc.h"
#include "base/check.h"
#include "ops/lacks.h"
#include "main/common.h"
#include "main/footprint.h"
#include "mem/smaps.h"
#include "mem/use.h"
#include "time/clock.h"

#include <mpi.h>
#include <string.h>

static const char summary[] =
    "sk_memory measures the memory that each process pays for communicators, windows and grids, and for MPI itself.\n"
    "Start it with the mpiexec of the MPI library it was compiled with.\n"
    "--ops takes names, and the words paper (default: those of the case study) and all.";

enum { LIBRARY = SK_OBJECT_KINDS, NAMES, PAPER = NAMES, ALL, WORDS, MOST_CELLS = SK_OBJECT_KINDS - 1 + SK_SHAPES };

static const char *const names[WORDS] = {
#define SK_OBJECT(id, name, stem, group) name,
#include "mem/objects.def"
#undef SK_OBJECT
    "MPI_memory", "paper", "all"};

struct settings {
    struct sk_common common;
    const char *shape_names;
    int64_t creations, slope_objects;
    int ops[NAMES], n_ops, shapes[SK_SHAPES], n_shapes;
};

struct experiment {
    struct settings settings;
    struct sk_world world;
    struct sk_record record;
    struct sk_bench bench;
    struct sk_footprint cells[MOST_CELLS];
    int n_cells;
    struct sk_smaps before_init, after_init, after_use;
    size_t own_before, own_after;
    int64_t begin_ns;
    bool all_verified, complete;
};

static bool chosen(const struct settings *s, int op)
{
    for (int i = 0; i < s->n_ops; i++)
        if (s->ops[i] == op)
            return true;
    return false;
}

/* Whether one of the words is the operation or a group that it belongs to. */
static bool stands_for(const int *words, int n_words, int op)
{
    bool is_further = op < SK_OBJECT_KINDS && sk_object_groups[op] == SK_OBJECTS_FURTHER;
    for (int i = 0; i < n_words; i++)
        if (words[i] == op || words[i] == ALL || (words[i] == PAPER && !is_further))
            return true;
    return false;
}

static void require_sense(struct settings *s)
{
    char why[SK_WHY] = "";
    int words[WORDS];
    int n_words = sk_options_choose("ops", s->common.ops[0] ? s->common.ops : names[PAPER], names, WORDS, words, why,
                                    sizeof why);
    SK_REQUIRE(n_words > 0, "%s", why);
    s->n_ops = 0;
    for (int op = 0; op < NAMES; op++)
        if (stands_for(words, n_words, op))
            s->ops[s->n_ops++] = op;
    s->n_shapes = sk_options_choose("shapes", s->shape_names, sk_shape_names, SK_SHAPES, s->shapes, why, sizeof why);
    SK_REQUIRE(s->n_shapes > 0, "%s", why);
    SK_REQUIRE(s->creations <= 1000, "--creations %lld is too large: at most 1000", (long long)s->creations);
    SK_REQUIRE(s->slope_objects <= 100000, "--slope-objects %lld is too large: at most 100000",
               (long long)s->slope_objects);
}

static void read_settings(struct settings *s, const struct sk_world *world, int argc, char **argv)
{
    const struct sk_option options[] = {
        SK_COMMON_OPTIONS(s->common),
        {"shapes", "A,B", "orders of the group of MPI_Comm_create", SK_OPTION_TEXT, &s->shape_names, 0},
        {"creations", "K", "objects of a kind that live at once", SK_OPTION_COUNT, &s->creations, 2},
        {"slope-objects", "N", "objects for the slope of the set size, 0: none", SK_OPTION_COUNT, &s->slope_objects, 0},
    };
    sk_common_options(world, &s->common, options, sizeof options / sizeof *options, summary, argc, argv);
    require_sense(s);
}

static void write_env(struct experiment *e, int argc, char **argv)
{
    char *provenance = sk_env_provenance(&e->world, e->settings.common.provenance);
    sk_record_open(&e->record, e->settings.common.out, e->world.rank);
    sk_env_begin(&e->record.json, &e->world, &e->settings.common, argc, argv);
    if (e->world.rank == 0) {
        sk_json_bool(&e->record.json, "counts_malloc", sk_counts_available());
        sk_json_raw(&e->record.json, "provenance", provenance);
        sk_json_end(&e->record.json, '}');
    }
    sk_free(provenance);
    sk_record_write(&e->record);
}

static const char simulated[] = "this program is simulated: all processes share one memory, whose bytes mean nothing";

static void skip(struct experiment *e, const char *op, const char *why)
{
    if (e->world.rank == 0)
        sk_lacks_write(&e->record.json, op, why);
    sk_record_write(&e->record);
}

static void add_cell(struct experiment *e, enum sk_object_kind kind, enum sk_shape shape)
{
    e->cells[e->n_cells++] = sk_footprint_new(&e->bench, kind, shape, e->settings.common.seed);
}

/* Without a counting malloc nothing can be said about objects: a zero would be a lie. */
static void plan(struct experiment *e)
{
    const struct settings *s = &e->settings;
    e->bench = sk_bench_open(&e->world, (int)s->creations, (int)s->slope_objects);
    for (int kind = 0; kind < SK_OBJECT_KINDS; kind++) {
        if (!chosen(s, kind))
            continue;
        if (SK_IS_SIMULATED)
            skip(e, names[kind], simulated);
        else if (!sk_counts_available())
            skip(e, names[kind], "this program was built without a counting malloc, which needs glibc");
        else if (kind == SK_OBJECT_COMM_CREATE)
            for (int i = 0; i < s->n_shapes; i++)
                add_cell(e, SK_OBJECT_COMM_CREATE, (enum sk_shape)s->shapes[i]);
        else
            add_cell(e, (enum sk_object_kind)kind, SK_IDENTITY);
    }
}

static void count_all(struct experiment *e)
{
    for (int i = 0; i < e->n_cells; i++) {
        struct sk_footprint *cell = &e->cells[i];
        sk_footprint_count(cell, &e->bench);
        e->all_verified = e->all_verified && cell->verified;
        if (!cell->verified && e->world.rank == 0)
            sk_say("%s (%s) makes objects that do not work with %d processes; their bytes are kept and marked",
                   sk_object_names[cell->maker.kind], sk_shape_names[cell->maker.shape], e->world.size);
    }
}

static void slopes(struct experiment *e)
{
    for (int i = 0; i < e->n_cells; i++) {
        struct sk_footprint *cell = &e->cells[i];
        int64_t left = (int64_t)(1e9 * e->settings.common.budget_s) - (sk_clock_now() - e->begin_ns);
        if (e->settings.slope_objects > 0)
            sk_footprint_slope(cell, &e->bench, left / (e->n_cells - i));
        e->complete = e->complete && cell->slope_objects == e->settings.slope_objects;
        if (e->world.rank == 0)
            sk_footprint_write(cell, &e->record.json, e->world.size);
        sk_record_write(&e->record);
    }
}

/* ---- MPI's own memory -------------------------------------------------------------------------------------------- */

static void write_smaps(struct experiment *e, const char *name, const struct sk_smaps *smaps)
{
    struct sk_smaps most;
    SK_MPI(PMPI_Reduce(smaps->bytes, most.bytes, SK_SMAPS_FIELDS, MPI_INT64_T, MPI_MAX, 0, e->world.harness));
    if (e->world.rank != 0)
        return;
    sk_json_begin(&e->record.json, name, '{');
    for (int i = 0; i < SK_SMAPS_FIELDS; i++)
        if (most.bytes[i] >= 0)
            sk_json_int(&e->record.json, sk_smaps_names[i], most.bytes[i]);
    sk_json_end(&e->record.json, '}');
}

static void write_library(struct experiment *e)
{
    struct sk_json *json = &e->record.json;
    int64_t own = (int64_t)(e->own_after - e->own_before), most_own = 0, most = 0;
    int64_t mine = e->after_use.bytes[SK_PSS] - e->before_init.bytes[SK_PSS] - own;
    SK_MPI(PMPI_Reduce(&mine, &most, 1, MPI_INT64_T, MPI_MAX, 0, e->world.harness));
    SK_MPI(PMPI_Reduce(&own, &most_own, 1, MPI_INT64_T, MPI_MAX, 0, e->world.harness));
    if (e->world.rank == 0) {
        sk_json_begin(json, NULL, '{');
        sk_json_text(json, "rec", "mem");
        sk_json_text(json, "op", names[LIBRARY]);
        sk_json_int(json, "p", e->world.size);
    }
    write_smaps(e, "before_init_B", &e->before_init);
    write_smaps(e, "after_init_B", &e->after_init);
    write_smaps(e, "after_use_B", &e->after_use);
    if (e->world.rank == 0) {
        sk_json_int(json, "own_buffers_B", most_own);
        sk_json_int(json, "process_memory_B", most);
        sk_json_int(json, "processes_per_node", e->world.processes_per_node);
        sk_json_end(json, '}');
    }
    sk_record_write(&e->record);
}

static void measure_library(struct experiment *e)
{
    if (!chosen(&e->settings, LIBRARY))
        return;
    if (SK_IS_SIMULATED) {
        skip(e, names[LIBRARY], simulated);
        return;
    }
    if (e->before_init.bytes[SK_PSS] < 0) {
        skip(e, names[LIBRARY], "this kernel gives no proportional set size in /proc/self/smaps");
        return;
    }
    sk_use_everything(&e->world);
    SK_MPI(PMPI_Barrier(e->world.harness));
    e->after_use = sk_smaps_now();
    e->own_after = sk_alloc_live();
    SK_MPI(PMPI_Barrier(e->world.harness));
    write_library(e);
}

/* ---- the launch -------------------------------------------------------------------------------------------------- */

static void write_end(struct experiment *e)
{
    sk_common_end(&e->record, e->complete, 1e-9 * (double)(sk_clock_now() - e->begin_ns));
    if (e->world.rank == 0)
        sk_json_end(&e->record.json, '}');
    sk_record_write(&e->record);
    sk_record_close(&e->record);
}

static void run(struct experiment *e, int argc, char **argv)
{
    e->all_verified = e->complete = true;
    write_env(e, argc, argv);
    plan(e);
    count_all(e);
    measure_library(e);
    slopes(e);
    write_end(e);
    for (int i = 0; i < e->n_cells; i++)
        sk_footprint_free(&e->cells[i]);
    sk_bench_close(&e->bench);
}

int main(int argc, char **argv)
{
    static struct experiment e = {
        .settings = {.common = {.out = "", .run_id = "", .provenance = "", .ops = "", .seed = 1, .budget_s = 60},
                     .shape_names = "identity,reverse,stride,random", .creations = 6, .slope_objects = 256}};
    sk_program_name("sk_memory");
    e.begin_ns = sk_clock_now();
    e.before_init = sk_smaps_settled();
    e.own_before = sk_alloc_live();
    SK_MPI(MPI_Init(&argc, &argv));
    SK_MPI(PMPI_Barrier(MPI_COMM_WORLD));
    e.after_init = sk_smaps_now();
    sk_world_open(&e.world);
    read_settings(&e.settings, &e.world, argc, argv);
    run(&e, argc, argv);
    sk_world_close(&e.world);
    SK_MPI(MPI_Finalize());
    return e.all_verified ? SK_EXIT_OK : SK_EXIT_WRONG_RESULT;
}

/* sk_p2p: messages between two processes, and between all of them in random pairs. See README.md. */
#include "base/alloc.h"
#include "base/check.h"
#include "base/rng.h"
#include "main/common.h"
#include "p2p/cells.h"
#include "time/clock.h"
#include "time/load.h"

#include <stddef.h>
#include <mpi.h>
#include <stdint.h>

static const char summary[] =
    "sk_p2p times messages between process 0 and the last one, or another: latency and bandwidth, exchanges,\n"
    "overheads and gaps, late receivers, overlap, strided data, queues of receives, random perfect matchings of all\n"
    "processes, and local reductions.\n"
    "Start it with the mpiexec of the MPI library it was compiled with. --cells lists kinds, sizes, and their numbers.";

enum { MOST_CELLS = 20000, WARMUP = 3, LATE_SHARE = 10, PAGE = 4096 };

struct settings {
    struct sk_common common;
    const char *cells;
    int64_t reps, passes, messages, late_us;
};

struct experiment {
    struct settings settings;
    struct sk_world world;
    struct sk_record record;
    struct sk_load load;
    struct sk_p2p_cell *cells;
    int n_cells, *order;
    void *out, *in; /* as they were allocated */
    struct sk_pair pair;
    struct sk_trip *trips;
    int64_t begin_ns;
    bool all_verified, complete;
};

static void read_settings(struct settings *s, const struct sk_world *world, int argc, char **argv)
{
    const struct sk_option options[] = {
        SK_COMMON_OPTIONS(s->common),
        {"cells", "TEXT", "what to measure, as 'Round_trip:0,8,64/Strided:65536@1,2,4'", SK_OPTION_TEXT, &s->cells, 0},
        {"reps", "N", "trips of a cell in all passes", SK_OPTION_COUNT, &s->reps, 1},
        {"passes", "N", "rounds over all cells", SK_OPTION_COUNT, &s->passes, 1},
        {"messages", "N", "messages of a train, and of a matching", SK_OPTION_COUNT, &s->messages, 2},
        {"late-us", "N", "how late the receive of Send_to_late begins, in us", SK_OPTION_COUNT, &s->late_us, 1},
    };
    sk_common_options(world, &s->common, options, sizeof options / sizeof *options, summary, argc, argv);
    SK_REQUIRE(world->size >= 2, "messages need two processes or more, there is %d; start more", world->size);
    SK_REQUIRE(!s->common.ops[0], "--ops is not known here; name kinds with --cells");
    SK_REQUIRE(s->reps <= 1000000, "--reps %lld is too large: at most 1000000", (long long)s->reps);
    SK_REQUIRE(s->passes <= s->reps, "--passes %lld is greater than --reps %lld; lower it", (long long)s->passes,
               (long long)s->reps);
    SK_REQUIRE(s->messages <= 10000, "--messages %lld is too large: at most 10000", (long long)s->messages);
    SK_REQUIRE(s->late_us <= 1000000, "--late-us %lld is too large: at most 1000000", (long long)s->late_us);
}

/* The buffers begin with a page: the speed of a copy depends on where its data lie. */
static char *page_of(void *memory)
{
    return (char *)(((uintptr_t)memory + PAGE - 1) / PAGE * PAGE);
}

static void plan(struct experiment *e)
{
    char why[SK_WHY] = "";
    int p = e->world.size;
    e->cells = sk_alloc(MOST_CELLS * sizeof *e->cells);
    e->n_cells = sk_p2p_cells_read(e->settings.cells, p, e->cells, MOST_CELLS, why, sizeof why);
    SK_REQUIRE(e->n_cells > 0, "%s", why);
    SK_REQUIRE(e->n_cells <= MOST_CELLS, "--cells: %d cells are too many, at most %d; take fewer sizes", e->n_cells,
               MOST_CELLS);
    e->order = sk_alloc((size_t)e->n_cells * sizeof *e->order);
    int64_t most = 0;
    for (int i = 0; i < e->n_cells; i++) {
        int64_t bytes = sk_p2p_extent(e->cells[i].kind, e->cells[i].size, e->cells[i].detail, p);
        most = bytes > most ? bytes : most;
        e->order[i] = i;
    }
    e->out = sk_alloc((size_t)most + 2 * PAGE);
    e->in = sk_alloc((size_t)most + 2 * PAGE);
    e->trips = sk_alloc((size_t)e->settings.reps * sizeof *e->trips);
}

static void write_env(struct experiment *e, int argc, char **argv)
{
    char *provenance = sk_env_provenance(&e->world, e->settings.common.provenance);
    sk_record_open(&e->record, e->settings.common.out, e->world.rank);
    sk_env_begin(&e->record.json, &e->world, &e->settings.common, argc, argv);
    if (e->world.rank == 0) {
        sk_json_int(&e->record.json, "clock_read_ns", sk_clock_read_ns());
        sk_json_raw(&e->record.json, "provenance", provenance);
        sk_json_end(&e->record.json, '}');
    }
    sk_free(provenance);
    sk_record_write(&e->record);
}

/* ---- one cell ---------------------------------------------------------------------------------------------------- */

static bool is_matching(const struct sk_p2p_cell *cell)
{
    return cell->kind == SK_P2P_MATCHING;
}

static struct sk_pair pair_of(const struct experiment *e, const struct sk_p2p_cell *cell)
{
    int rank = e->world.rank, peer = e->world.size - 1;
    return (struct sk_pair){.world = &e->world, .leads = rank == 0, .other = rank == 0 ? peer : 0,
                            .takes_part = rank == 0 || rank == peer || is_matching(cell), .out = page_of(e->out),
                            .in = page_of(e->in), .messages = e->settings.messages,
                            .delay_ns = cell->kind == SK_P2P_LATE ? 1000 * e->settings.late_us : 0,
                            .seed = e->settings.common.seed};
}

/* Every process must call it; the same answer on all. */
static bool verified(const struct experiment *e, const struct sk_p2p_cell *cell)
{
    const struct sk_p2p *kind = &sk_p2p_kinds[cell->kind];
    int ok = 1;
    if (e->pair.takes_part) {
        sk_pair_fill(&e->pair);
        kind->trip(&e->pair);
        int mine = is_matching(cell) ? SK_BOTH_WAYS : e->pair.leads ? SK_TO_LEADER : SK_FROM_LEADER;
        ok = !(kind->flow & mine) || sk_pair_check(&e->pair);
    }
    SK_MPI(PMPI_Allreduce(MPI_IN_PLACE, &ok, 1, MPI_INT, MPI_LAND, e->world.harness));
    return ok;
}

/* How many trips fit into the share, by those of the warm-up; process 0 decides. */
static int64_t agreed_trips(const struct experiment *e, const struct sk_p2p_cell *cell, int64_t share_ns)
{
    const struct settings *s = &e->settings;
    int64_t n = (s->reps + s->passes - 1) / s->passes, warmup = sk_clock_is_virtual() || share_ns <= 0 ? 1 : WARMUP;
    if (cell->kind == SK_P2P_LATE && !sk_clock_is_virtual())
        n = (n + LATE_SHARE - 1) / LATE_SHARE;
    int64_t begin = sk_clock_now();
    for (int64_t i = 0; i < warmup && e->pair.takes_part; i++)
        sk_p2p_kinds[cell->kind].trip(&e->pair);
    int64_t each = (sk_clock_now() - begin) / warmup;
    if (each > 0 && !sk_clock_is_virtual() && share_ns / each < n)
        n = share_ns > each ? share_ns / each : 1;
    SK_MPI(PMPI_Bcast(&n, 1, MPI_INT64_T, 0, e->world.harness));
    return n;
}

static void write_times(struct sk_json *json, const char *name, const struct sk_trip *trips, size_t n, size_t offset)
{
    int64_t *values = sk_alloc(n * sizeof *values);
    bool is_there = false;
    for (size_t i = 0; i < n; i++) {
        values[i] = *(const int64_t *)((const char *)&trips[i] + offset);
        is_there = is_there || values[i] != 0;
    }
    if (is_there || offset == 0)
        sk_json_ints(json, name, values, n);
    sk_free(values);
}

/* Of a matching the times of all processes, process after process. */
static struct sk_trip *gathered(const struct experiment *e, const struct sk_p2p_cell *cell, int64_t n, size_t *count)
{
    *count = (size_t)n;
    if (!is_matching(cell))
        return e->trips;
    *count *= (size_t)e->world.size;
    struct sk_trip *all = sk_alloc(*count * sizeof *all);
    int bytes = (int)((size_t)n * sizeof *all);
    SK_MPI(PMPI_Gather(e->trips, bytes, MPI_BYTE, all, bytes, MPI_BYTE, 0, e->world.harness));
    return all;
}

static void write_cell(struct experiment *e, const struct sk_p2p_cell *cell, int pass, int64_t n, bool ok,
                       const struct sk_disturbance *seen)
{
    struct sk_json *json = &e->record.json;
    const struct sk_p2p *kind = &sk_p2p_kinds[cell->kind];
    size_t count;
    struct sk_trip *trips = gathered(e, cell, n, &count);
    if (e->world.rank == 0) {
        sk_json_begin(json, NULL, '{');
        sk_json_text(json, "rec", "trip");
        sk_json_text(json, "op", kind->name);
        sk_json_int(json, "p", e->world.size);
        sk_json_int(json, "size_B", cell->size);
        if (kind->detail[0])
            sk_json_int(json, kind->detail, cell->detail);
        sk_json_int(json, "pass", pass);
        sk_json_bool(json, "verified", ok);
        sk_json_int(json, "messages", e->pair.messages);
        if (e->pair.delay_ns > 0)
            sk_json_int(json, "delay_ns", e->pair.delay_ns);
        sk_disturbance_write(seen, json);
        write_times(json, "t_ns", trips, count, offsetof(struct sk_trip, t_ns));
        write_times(json, "beside_ns", trips, count, offsetof(struct sk_trip, beside_ns));
        write_times(json, "work_ns", trips, count, offsetof(struct sk_trip, work_ns));
        sk_json_end(json, '}');
    }
    if (trips != e->trips)
        sk_free(trips);
    sk_record_write(&e->record);
}

static void run_cell(struct experiment *e, const struct sk_p2p_cell *cell, int pass, int64_t share_ns)
{
    sk_load_begin(&e->load, &e->world);
    e->pair = pair_of(e, cell);
    if (e->pair.takes_part)
        sk_p2p_open(cell->kind, &e->pair, cell->size, cell->detail);
    SK_MPI(PMPI_Barrier(e->world.harness));
    bool ok = pass > 0 || verified(e, cell);
    if (!ok && e->world.rank == 0)
        sk_say("%s of %lld B brought wrong data; its times are kept and marked", sk_p2p_names[cell->kind],
               (long long)cell->size);
    int64_t n = agreed_trips(e, cell, share_ns);
    for (int64_t i = 0; i < n && e->pair.takes_part; i++)
        e->trips[i] = sk_p2p_kinds[cell->kind].trip(&e->pair);
    if (e->pair.takes_part)
        sk_p2p_close(cell->kind, &e->pair);
    struct sk_disturbance seen = sk_load_end(&e->load, &e->world);
    e->all_verified = e->all_verified && ok;
    write_cell(e, cell, pass, n, ok, &seen);
}

/* ---- the launch -------------------------------------------------------------------------------------------------- */

/* What is left of the budget, as process 0 sees it; every process must call it. */
static int64_t remaining_ns(const struct experiment *e)
{
    int64_t left = (int64_t)(1e9 * e->settings.common.budget_s) - (sk_clock_now() - e->begin_ns);
    SK_MPI(PMPI_Bcast(&left, 1, MPI_INT64_T, 0, e->world.harness));
    return left;
}

static void run_passes(struct experiment *e)
{
    int passes = (int)e->settings.passes, left = passes * e->n_cells;
    for (int pass = 0; pass < passes && (pass == 0 || sk_clock_is_virtual() || remaining_ns(e) > 0); pass++) {
        struct sk_rng rng = sk_rng_seeded(e->settings.common.seed, (uint64_t)pass);
        sk_rng_shuffle(&rng, e->order, e->n_cells);
        for (int i = 0; i < e->n_cells; i++, left--)
            run_cell(e, &e->cells[e->order[i]], pass, 4 * (remaining_ns(e) / left));
    }
    e->complete = remaining_ns(e) >= 0 || sk_clock_is_virtual();
}

static void run(struct experiment *e, int argc, char **argv)
{
    e->all_verified = e->complete = true;
    plan(e);
    write_env(e, argc, argv);
    run_passes(e);
    sk_common_end(&e->record, e->complete, 1e-9 * (double)(sk_clock_now() - e->begin_ns));
    if (e->world.rank == 0)
        sk_json_end(&e->record.json, '}');
    sk_record_write(&e->record);
    sk_record_close(&e->record);
    sk_free(e->cells);
    sk_free(e->order);
    sk_free(e->out);
    sk_free(e->in);
    sk_free(e->trips);
}

int main(int argc, char **argv)
{
    static struct experiment e = {
        .settings = {.common = {.out = "", .run_id = "", .provenance = "", .ops = "", .seed = 1, .budget_s = 60},
                     .cells = "Round_trip:0,1,8,64,512,4096,32768,262144/Train:8,4096/Send_to_late:8,4096,262144",
                     .reps = 100, .passes = 5, .messages = 10, .late_us = 1000}};
    sk_program_name("sk_p2p");
    e.begin_ns = sk_clock_now();
    SK_MPI(MPI_Init(&argc, &argv));
    sk_world_open(&e.world);
    read_settings(&e.settings, &e.world, argc, argv);
    e.begin_ns = sk_clock_now();
    run(&e, argc, argv);
    sk_world_close(&e.world);
    SK_MPI(MPI_Finalize());
    return e.all_verified ? SK_EXIT_OK : SK_EXIT_WRONG_RESULT;
}

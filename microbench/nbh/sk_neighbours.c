/* sk_neighbours: how long neighbourhood collectives take, and the making of their topologies. See README.md. */
#include "base/alloc.h"
#include "base/check.h"
#include "ops/lacks.h"
#include "main/clocks.h"
#include "main/common.h"
#include "nbh/trial.h"
#include "time/load.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <mpi.h>
#include <string.h>

enum { CLOCK_EVERY_NS = 2000000000 };

struct launch {
    struct sk_common common;
    const char *experiments, *sync_name;
    int64_t repetitions, warmup, begin_ns, clock_ns;
    struct sk_world world;
    struct sk_record record;
    struct sk_sync sync;
    struct sk_clocks clocks;
    struct sk_pacer pacer;
    struct sk_load load;
    struct sk_table table;
    bool all_right, complete;
};

static const char summary[] =
    "sk_neighbours measures neighbourhood collectives and the making of their topologies: the experiments of a\n"
    "table in CSV, one row each. Columns, in any order: operation; size (bytes to and from each neighbour),\n"
    "datatype (byte, int, double), repetitions, work (rounds beside a call that returns at once); topology (cart,\n"
    "vonneumann, moore, full), n_dim, n_finite (so many of them are no rings), radius, order (fmaj, lmaj, rand,\n"
    "linear), constructor, reorder; p (checked), experiment (number). Start it with the mpiexec of the MPI library\n"
    "it was compiled with.";

static void read_options(struct launch *l, int argc, char **argv)
{
    const struct sk_option options[] = {
        {"experiments", "FILE", "table of experiments to read", SK_OPTION_TEXT, &l->experiments, 0},
        {"out", "FILE", "run file to write", SK_OPTION_TEXT, &l->common.out, 0},
        {"expect-np", "P", "end with status 3 unless there are P processes, 0: any", SK_OPTION_COUNT,
         &l->common.expect_np, 0},
        {"seed", "N", "for every random choice", SK_OPTION_SEED, &l->common.seed, 0},
        {"run-id", "TEXT", "name of this launch, kept in the file", SK_OPTION_TEXT, &l->common.run_id, 0},
        {"provenance", "FILE", "JSON object to keep in the file", SK_OPTION_TEXT, &l->common.provenance, 0},
        {"budget", "SECONDS", "for the whole launch", SK_OPTION_REAL, &l->common.budget_s, 0},
        {"repetitions", "N", "of rows that do not say it", SK_OPTION_COUNT, &l->repetitions, 1},
        {"warmup", "N", "calls before the repetitions", SK_OPTION_COUNT, &l->warmup, 0},
        {"sync", "NAME", "round, window or dissemination", SK_OPTION_TEXT, &l->sync_name, 0},
    };
    sk_common_options(&l->world, &l->common, options, sizeof options / sizeof *options, summary, argc, argv);
    char why[SK_WHY] = "";
    int chosen[SK_SYNC_KINDS], n = sk_options_choose("sync", l->sync_name, sk_sync_names, SK_SYNC_KINDS, chosen, why,
                                                     sizeof why);
    SK_REQUIRE(n >= 0, "%s", why);
    SK_REQUIRE(n == 1, "--sync: one value is needed, several were given; see --help");
    SK_REQUIRE(l->experiments[0] != '\0', "--experiments is missing: name the table to read, --experiments FILE");
    SK_REQUIRE(l->repetitions <= 1000000, "--repetitions %lld is too large: at most 1000000",
               (long long)l->repetitions);
    SK_REQUIRE(l->warmup <= 1000000, "--warmup %lld is too large: at most 1000000", (long long)l->warmup);
    l->sync.kind = (enum sk_sync_kind)chosen[0];
}

/* Process 0 reads the table; every process gets its text. */
static char *table_text(const struct launch *l)
{
    errno = 0;
    char *text = l->world.rank == 0 ? sk_env_read_file(l->experiments) : NULL;
    SK_REQUIRE(l->world.rank != 0 || text, "cannot read the table '%s': %s; --experiments takes a CSV file",
               l->experiments, strerror(errno));
    int64_t length = text ? (int64_t)strlen(text) : 0;
    SK_MPI(PMPI_Bcast(&length, 1, MPI_INT64_T, 0, l->world.harness));
    SK_REQUIRE(length < INT_MAX, "the table '%s' is too large: at most %d bytes", l->experiments, INT_MAX - 1);
    if (!text)
        text = sk_alloc((size_t)length + 1);
    SK_MPI(PMPI_Bcast(text, (int)length + 1, MPI_CHAR, 0, l->world.harness));
    return text;
}

static void read_table(struct launch *l)
{
    char why[SK_WHY] = "", *text = table_text(l);
    const char *slash = strrchr(l->experiments, '/');
    bool ok = sk_table_read(&l->table, slash ? slash + 1 : l->experiments, text, l->world.size, l->repetitions, why,
                            sizeof why);
    sk_free(text);
    SK_REQUIRE(ok, "%s", why);
}

static void write_env(struct launch *l, int argc, char **argv)
{
    char *provenance = sk_env_provenance(&l->world, l->common.provenance);
    sk_record_open(&l->record, l->common.out, l->world.rank);
    struct sk_json *json = &l->record.json;
    sk_env_begin(json, &l->world, &l->common, argc, argv);
    if (l->world.rank == 0)
        sk_json_int(json, "experiments", l->table.n);
    sk_clocks_write(&l->clocks, &l->sync.clock, json);
    if (l->world.rank == 0) {
        sk_json_raw(json, "provenance", provenance);
        sk_json_end(json, '}');
    }
    sk_free(provenance);
    sk_record_write(&l->record);
}

/* Process 0 decides when. */
static void renew_clock(struct launch *l)
{
    int due = sk_clock_now() - l->clock_ns > CLOCK_EVERY_NS;
    if (l->world.single_node)
        return;
    SK_MPI(PMPI_Bcast(&due, 1, MPI_INT, 0, l->world.harness));
    if (!due)
        return;
    l->sync.clock = sk_clocks_renew(&l->clocks, l->sync.clock);
    l->clock_ns = sk_clock_now();
}

static void say_wrong(const struct launch *l, const struct sk_trial *trial)
{
    const struct sk_experiment *x = trial->experiment;
    if (l->world.rank == 0)
        sk_say("%s, line %d, experiment %lld: %s gives a wrong result with %d processes: %s; it is not timed",
               l->experiments, x->line, (long long)x->number, sk_nbh_names[x->op], l->world.size, trial->why);
}

static void run_experiment(struct launch *l, int i)
{
    const struct sk_experiment *x = &l->table.rows[i];
    const char *lacking = sk_lacks(sk_nbh_names[x->op]);
    if (lacking) {
        if (l->world.rank == 0)
            sk_lacks_write(&l->record.json, sk_nbh_names[x->op], lacking);
        sk_record_write(&l->record);
        return;
    }
    int64_t left_ns = (int64_t)(1e9 * l->common.budget_s) - (sk_clock_now() - l->begin_ns);
    renew_clock(l);
    sk_load_begin(&l->load, &l->world);
    struct sk_trial trial = sk_trial_run(x, &l->sync, &l->pacer, l->common.seed, l->warmup,
                                         left_ns / (l->table.n - i));
    struct sk_disturbance seen = sk_load_end(&l->load, &l->world);
    if (l->world.rank == 0)
        sk_trial_write(&trial, &l->record.json, &l->sync, &seen);
    sk_record_write(&l->record);
    if (!trial.right)
        say_wrong(l, &trial);
    l->all_right = l->all_right && trial.right;
    l->complete = l->complete && (!trial.right || trial.complete);
    sk_trial_free(&trial);
}

static void write_end(struct launch *l)
{
    l->sync.clock = sk_clocks_renew(&l->clocks, l->sync.clock);
    sk_common_end(&l->record, l->complete, 1e-9 * (double)(sk_clock_now() - l->begin_ns));
    sk_clocks_write(&l->clocks, &l->sync.clock, &l->record.json);
    if (l->world.rank == 0)
        sk_json_end(&l->record.json, '}');
    sk_record_write(&l->record);
    sk_record_close(&l->record);
}

int main(int argc, char **argv)
{
    static struct launch l;
    l = (struct launch){.common = {.out = "", .run_id = "", .provenance = "", .ops = "", .seed = 1, .budget_s = 600},
                        .experiments = "", .sync_name = "round", .repetitions = 50, .warmup = 3, .all_right = true,
                        .complete = true};
    sk_program_name("sk_neighbours");
    l.begin_ns = l.clock_ns = sk_clock_now();
    SK_MPI(MPI_Init(&argc, &argv));
    sk_world_open(&l.world);
    read_options(&l, argc, argv);
    read_table(&l);
    l.clocks = (struct sk_clocks){.world = &l.world};
    l.sync.world = &l.world;
    l.sync.clock = sk_clocks_open(&l.clocks, l.common.budget_s);
    l.pacer = sk_pacer_start(l.sync.kind);
    write_env(&l, argc, argv);
    for (int i = 0; i < l.table.n; i++)
        run_experiment(&l, i);
    write_end(&l);
    sk_table_free(&l.table);
    sk_world_close(&l.world);
    SK_MPI(MPI_Finalize());
    return l.all_right ? SK_EXIT_OK : SK_EXIT_WRONG_RESULT;
}

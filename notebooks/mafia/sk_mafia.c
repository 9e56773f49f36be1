/* Searches for clusters with MAFIA, times its four functions, counts what they do, and writes a run file. */
#define _POSIX_C_SOURCE 200809L
#include "base/alloc.h"
#include "base/check.h"
#include "base/options.h"
#include "base/record.h"
#include "mafia/machine.h"
#include "mafia/search.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct arguments {
    const char *out, *run_id, *provenance, *points, *dump;
    int64_t n, d, k, clusters, bins, windows, uniform, max_reps;
    uint64_t seed;
    double alpha, beta, budget_s;
};

static struct arguments own = {.out = "", .run_id = "", .provenance = "", .points = "", .dump = "",
                               .n = 100000, .d = 20, .k = 5, .clusters = 3, .bins = 200, .windows = 20, .uniform = 5,
                               .max_reps = 100, .seed = 1, .alpha = 1.5, .beta = 0.25, .budget_s = 10};

static const struct sk_option options[] = {
    {"out", "FILE", "run file: times and counts", SK_OPTION_TEXT, &own.out, 0},
    {"dump", "FILE", "text file: dense windows, dense units, terminal units", SK_OPTION_TEXT, &own.dump, 0},
    {"n", "N", "points", SK_OPTION_COUNT, &own.n, 100},
    {"d", "N", "dimensions of the points", SK_OPTION_COUNT, &own.d, 1},
    {"k", "N", "dimensions of each cluster", SK_OPTION_COUNT, &own.k, 1},
    {"clusters", "N", "clusters that are planted, 1 to 6", SK_OPTION_COUNT, &own.clusters, 1},
    {"seed", "N", "of the points", SK_OPTION_SEED, &own.seed, 0},
    {"points", "FILE", "points from a text file instead: 'n d', then n rows of d numbers", SK_OPTION_TEXT, &own.points,
     0},
    {"bins", "N", "bins of a histogram", SK_OPTION_COUNT, &own.bins, 1},
    {"windows", "N", "windows of a dimension before they are joined", SK_OPTION_COUNT, &own.windows, 1},
    {"uniform", "N", "windows of a dimension without structure", SK_OPTION_COUNT, &own.uniform, 1},
    {"alpha", "X", "a window is dense with more than X times its even share", SK_OPTION_REAL, &own.alpha, 0},
    {"beta", "X", "windows whose heights differ by at most this share are joined", SK_OPTION_REAL, &own.beta, 0},
    {"max-reps", "N", "repetitions at most; 5 at least, whatever the budget", SK_OPTION_COUNT, &own.max_reps, 1},
    {"budget", "SECONDS", "no repetition begins after that", SK_OPTION_REAL, &own.budget_s, 0},
    {"run-id", "TEXT", "kept in the run file", SK_OPTION_TEXT, &own.run_id, 0},
    {"provenance", "FILE", "JSON object that is kept in the run file", SK_OPTION_TEXT, &own.provenance, 0},
};
static const size_t n_options = sizeof options / sizeof *options;
static const int64_t least_reps = 5, most = 1000000;
static const double short_s = 3e-3; /* a search below that is rarely interrupted */
enum { OTHERS = 8, OTHERS_POINTS = 4000 };

static void read_arguments(int argc, char **argv)
{
    char why[512] = "";
    bool help = false, ok = sk_options_read(options, n_options, argc, argv, &help, why, sizeof why);
    if (ok && help) {
        sk_options_help(options, n_options, "Searches for clusters with MAFIA and times its four functions.");
        exit(SK_EXIT_OK);
    }
    SK_REQUIRE(ok, "%s", why);
    SK_REQUIRE(own.out[0] || own.dump[0], "nothing to write: name a run file with --out, or a text file with --dump");
    SK_REQUIRE(own.n <= 100 * most, "--n %lld: at most 100000000 points are possible", (long long)own.n);
    SK_REQUIRE(own.d <= SK_MAFIA_MOST_DIMS, "--d %lld: at most %d dimensions are possible", (long long)own.d,
               SK_MAFIA_MOST_DIMS);
    SK_REQUIRE(own.bins <= most && own.windows <= most && own.uniform <= most && own.max_reps <= most,
               "--bins, --windows, --uniform and --max-reps are at most %lld", (long long)most);
    if (own.points[0])
        return;
    SK_REQUIRE(own.k <= own.d, "--k %lld: a cluster cannot have more dimensions than the points, --d %lld",
               (long long)own.k, (long long)own.d);
    SK_REQUIRE(own.clusters <= SK_MAFIA_MOST_CLUSTERS, "--clusters %lld: 1 to %d are possible",
               (long long)own.clusters, SK_MAFIA_MOST_CLUSTERS);
    SK_REQUIRE(own.windows >= 4 * own.clusters && own.bins % own.windows == 0,
               "--bins %lld and --windows %lld: planting needs at least 4 windows for each cluster, and bins that are "
               "a multiple of them", (long long)own.bins, (long long)own.windows);
}

/* Returns the text of the provenance file; the caller frees it. */
static char *read_provenance(void)
{
    size_t room = 1 << 20;
    char *text = sk_alloc(room);
    memcpy(text, "{}", 3);
    if (own.provenance[0]) {
        errno = 0;
        FILE *file = fopen(own.provenance, "r");
        SK_REQUIRE(file, "cannot read the provenance file '%s': %s", own.provenance, strerror(errno));
        text[fread(text, 1, room - 1, file)] = '\0';
        fclose(file);
        SK_REQUIRE(sk_json_is_object(text), "the provenance file '%s' does not hold one JSON object of less than 1 MiB",
                   own.provenance);
    }
    return text;
}

static void write_env(struct sk_record *record, const struct sk_points *points, int argc, char **argv,
                      const char *provenance)
{
    struct sk_json *json = &record->json;
    sk_json_begin(json, NULL, '{');
    sk_json_text(json, "rec", "env");
    sk_json_int(json, "schema", 1);
    sk_json_text(json, "run_id", own.run_id[0] ? own.run_id : "mafia");
    sk_json_text(json, "program", sk_program());
    sk_json_int(json, "p", 1);
    sk_json_begin(json, "parameter", '{');
    sk_json_int(json, "k", own.k);
    sk_json_end(json, '}');
    sk_json_uint(json, "seed", own.seed);
    sk_json_begin(json, "argv", '[');
    for (int i = 0; i < argc; i++)
        sk_json_text(json, NULL, argv[i]);
    sk_json_end(json, ']');
    sk_machine_write(json);
    sk_json_int(json, "processes_per_node", 1);
    sk_json_bool(json, "oversubscribed", false);
    sk_json_bool(json, "simulated", false);
    sk_json_begin(json, "data", '{');
    sk_json_int(json, "n", (int64_t)points->n);
    sk_json_int(json, "d", points->d);
    sk_json_int(json, "m", own.clusters);
    sk_json_int(json, "bins", own.bins);
    sk_json_int(json, "windows", own.windows);
    sk_json_int(json, "uniform", own.uniform);
    sk_json_real(json, "alpha", own.alpha);
    sk_json_real(json, "beta", own.beta);
    sk_json_end(json, '}');
    sk_json_raw(json, "provenance", provenance);
    sk_json_end(json, '}');
    sk_record_write(record);
}

/* Returns whether exactly what was planted is there: one terminal unit for each cluster, and its 2^k - 1 parts. */
static bool is_planted(const struct sk_plan *plan, const struct sk_grid *grid, const struct sk_search *search,
                       const struct sk_found *found)
{
    uint64_t m = (uint64_t)plan->clusters;
    if (found->terminal != m || search->top.n != m || search->top.dim != plan->k ||
        found->dense != m * ((UINT64_C(1) << plan->k) - 1))
        return false;
    int width = (int)own.bins / plan->windows, hits = 0;
    for (int c = 0; c < plan->clusters; c++)
        for (size_t u = 0; u < search->top.n; u++) {
            bool same = true;
            for (int i = 0; i < plan->k; i++) {
                const struct sk_dense_window *window = &grid->dense[sk_units_at(&search->top, u)[i]];
                int j = plan->dims[c][i], first = plan->first[c][j] * width;
                same = same && window->dim == j && window->first_bin == first && window->end_bin == first + 2 * width;
            }
            hits += same;
        }
    return hits == plan->clusters;
}

struct moment {
    double at_s, others_s;
};

static struct moment now(void)
{
    return (struct moment){sk_machine_now_s(), sk_machine_others_s()};
}

/* Returns the share of all cores that others used since; NaN when unknown. */
static double others_share(const struct moment *since)
{
    struct moment until = now();
    double share = (until.others_s - since->others_s) / ((until.at_s - since->at_s) * sk_machine_cores());
    return isnan(share) ? share : fmin(1, fmax(0, share));
}

struct timing {
    clockid_t clock;
    int64_t reading_ns, reps;
    int64_t *ns; /* ns[function * max_reps + repetition] */
    struct sk_grid others[OTHERS]; /* of other points, searched between repetitions; n_others of them */
    int n_others;
};

static void write_cells(struct sk_record *record, const struct timing *timing, const struct sk_found *first,
                        bool verified, double foreign)
{
    struct sk_json *json = &record->json;
    for (int f = 0; f < SK_FUNCTIONS; f++) {
        sk_json_begin(json, NULL, '{');
        sk_json_text(json, "rec", "cell");
        sk_json_text(json, "op", sk_function_names[f]);
        sk_json_int(json, "p", 1);
        sk_json_int(json, "size_B", 0);
        sk_json_int(json, "pass", 0);
        sk_json_int(json, "n", timing->reps);
        sk_json_ints(json, "t_ns", timing->ns + f * own.max_reps, (size_t)timing->reps);
        sk_json_text(json, "clock", timing->clock == CLOCK_MONOTONIC ? "CLOCK_MONOTONIC" : "CLOCK_THREAD_CPUTIME_ID");
        sk_json_int(json, "readings", first->steps);
        sk_json_int(json, "reading_ns", timing->reading_ns);
        sk_json_int(json, "others_between", timing->n_others);
        sk_json_text(json, "status", timing->reps == own.max_reps ? "capped" : "budget");
        sk_json_bool(json, "verified", verified);
        if (!isnan(foreign))
            sk_json_real(json, "foreign_load", foreign);
        sk_json_int(json, "first_ns", first->ns[f]);
        sk_json_end(json, '}');
        sk_record_write(record);
    }
}

static void write_counts(struct sk_record *record, const struct sk_found *found, bool verified)
{
    struct sk_json *json = &record->json;
    uint64_t left[SK_FUNCTIONS] = {found->candidates, found->distinct, found->dense, found->terminal};
    for (int f = 0; f < SK_FUNCTIONS; f++) {
        sk_json_begin(json, NULL, '{');
        sk_json_text(json, "rec", "count");
        sk_json_text(json, "op", sk_function_names[f]);
        sk_json_int(json, "p", 1);
        sk_json_uint(json, "operations", found->operations[f]);
        sk_json_uint(json, "units_left", left[f]);
        sk_json_bool(json, "verified", verified);
        sk_json_end(json, '}');
        sk_record_write(record);
    }
}

/* Repeats the search. The readings of the clock are taken off the times. */
static void repeat(struct sk_search *search, const struct sk_grid *grid, const struct sk_found *first,
                   struct timing *timing, const struct moment *begin)
{
    int64_t r = 0;
    for (; r < own.max_reps && (r < least_reps || sk_machine_now_s() - begin->at_s < own.budget_s); r++) {
        for (int i = 0; i < timing->n_others; i++)
            sk_search_run(search, &timing->others[i], timing->clock, NULL);
        struct sk_found found = sk_search_run(search, grid, timing->clock, NULL);
        for (int f = 0; f < SK_FUNCTIONS; f++) {
            int64_t ns = found.ns[f] - found.steps * timing->reading_ns;
            timing->ns[f * own.max_reps + r] = ns > 0 ? ns : 1;
            SK_ASSERT(found.operations[f] == first->operations[f]);
        }
    }
    timing->reps = r;
}

/* The processor time of the thread leaves out what other programs take, but reading it is a system call, long beside a
 * short search; between two readings of the other clock a short search is rarely interrupted. */
static clockid_t choose_clock(const struct sk_found *first)
{
    int64_t ns = 0;
    for (int f = 0; f < SK_FUNCTIONS; f++)
        ns += first->ns[f];
    return 1e-9 * (double)ns < short_s ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID;
}

/* The processor learns the branches of a short search by heart when it is repeated, and is twice as fast then as a user
 * will see it. Searches of other points in between make it forget. */
static void plant_others(struct timing *timing)
{
    if (timing->clock != CLOCK_MONOTONIC || own.points[0])
        return;
    struct sk_grid_rules rules = {(int)own.bins, (int)own.windows, (int)own.uniform, own.alpha, own.beta};
    for (; timing->n_others < OTHERS; timing->n_others++) {
        struct sk_plan plan = {.n = OTHERS_POINTS, .d = (int)own.d, .k = (int)own.k, .clusters = (int)own.clusters,
                               .windows = (int)own.windows, .seed = own.seed + 1 + (uint64_t)timing->n_others};
        struct sk_points points = sk_points_planted(&plan);
        timing->others[timing->n_others] = sk_grid_made(&points, &rules);
        sk_points_free(&points);
    }
}

static void write_end(struct sk_record *record, bool capped, double wall_s)
{
    struct sk_json *json = &record->json;
    sk_json_begin(json, NULL, '{');
    sk_json_text(json, "rec", "end");
    sk_json_int(json, "records", record->written);
    sk_json_text(json, "status", capped ? "complete" : "budget");
    sk_json_real(json, "wall_s", wall_s);
    sk_json_end(json, '}');
    sk_record_write(record);
}

static void measure(struct sk_search *search, const struct sk_grid *grid, const struct sk_points *points,
                    const struct sk_found *first, bool verified, int argc, char **argv, const struct moment *begin)
{
    struct sk_record record;
    sk_record_open(&record, own.out, 0);
    char *provenance = read_provenance();
    write_env(&record, points, argc, argv, provenance);
    write_counts(&record, first, verified);
    struct timing timing = {.clock = choose_clock(first)};
    plant_others(&timing);
    timing.reading_ns = sk_search_reading_ns(timing.clock);
    timing.ns = sk_alloc((size_t)own.max_reps * SK_FUNCTIONS * sizeof *timing.ns);
    repeat(search, grid, first, &timing, begin);
    write_cells(&record, &timing, first, verified, others_share(begin));
    write_end(&record, timing.reps == own.max_reps, sk_machine_now_s() - begin->at_s);
    sk_record_close(&record);
    for (int i = 0; i < timing.n_others; i++)
        sk_grid_free(&timing.others[i]);
    sk_free(timing.ns);
    sk_free(provenance);
}

static FILE *open_dump(const struct sk_grid *grid)
{
    if (!own.dump[0])
        return NULL;
    errno = 0;
    FILE *dump = fopen(own.dump, "w");
    SK_REQUIRE(dump, "cannot open '%s': %s; name a new file with --dump", own.dump, strerror(errno));
    for (int w = 0; w < grid->n; w++)
        fprintf(dump, "window %d %d %d\n", grid->dense[w].dim, grid->dense[w].first_bin, grid->dense[w].end_bin);
    return dump;
}

int main(int argc, char **argv)
{
    sk_program_name("sk_mafia");
    read_arguments(argc, argv);
    struct moment begin = now();
    struct sk_plan plan = {.n = (size_t)own.n, .d = (int)own.d, .k = (int)own.k, .clusters = (int)own.clusters,
                           .windows = (int)own.windows, .seed = own.seed};
    struct sk_points points = {0};
    char why[512] = "";
    if (own.points[0])
        SK_REQUIRE(sk_points_read(own.points, &points, why, sizeof why), "%s", why);
    else
        points = sk_points_planted(&plan);
    struct sk_grid_rules rules = {(int)own.bins, (int)own.windows, (int)own.uniform, own.alpha, own.beta};
    struct sk_grid grid = sk_grid_made(&points, &rules);
    FILE *dump = open_dump(&grid);
    struct sk_search search = {0};
    struct sk_found first = sk_search_run(&search, &grid, CLOCK_THREAD_CPUTIME_ID, dump);
    bool verified = own.points[0] || is_planted(&plan, &grid, &search, &first);
    if (dump)
        SK_REQUIRE(fclose(dump) == 0, "cannot write to '%s': %s", own.dump, strerror(errno));
    if (own.out[0])
        measure(&search, &grid, &points, &first, verified, argc, argv, &begin);
    if (!verified)
        sk_say("k = %lld: what was planted is not exactly what was found; use more points (--n) or another --seed",
               (long long)own.k);
    sk_search_free(&search);
    sk_grid_free(&grid);
    sk_points_free(&points);
    return verified ? SK_EXIT_OK : SK_EXIT_WRONG_RESULT;
}

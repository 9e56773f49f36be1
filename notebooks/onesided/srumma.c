/* sk_srumma: multiplication of matrices, C = A B, in which each process gets the parts of A and B that it needs from
 * their owners, one-sided, after M. Krishnan and J. Nieplocha: SRUMMA, a matrix multiplication algorithm suitable for
 * clusters and scalable shared memory systems. */
#define _GNU_SOURCE
#include "base/alloc.h"
#include "base/check.h"
#include "base/options.h"
#include "onesided/transport.h"
#include "trace/now.h"
#include "trace/scalkit_trace.h"

#include <inttypes.h>
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef SK_SIMULATED
#include <smpi/smpi.h>
enum { SK_IS_SIMULATED = 1 };
#else
enum { SK_IS_SIMULATED = 0 };
#endif

static const char *over = "rma", *truth = "";
static int64_t n_rows, repeat = 1, ahead, check = 1, noise, delay_us, delay_every = 1, delay_rank = -1;
static int64_t alternate;
static uint64_t seed = 1;

/* Of the recorder, if that is linked. */
extern __attribute__((weak)) bool sk_is_recording;

static const struct sk_option options[] = {
    { "over", "NAME", "rma: windows of MPI; locks: the same, each transfer locks; layer: serves only within its calls",
      SK_OPTION_TEXT, &over, 0 },
    { "n", "N", "rows and columns of the matrices; 0: 32 for each row or column of processes", SK_OPTION_COUNT,
      &n_rows, 0 },
    { "repeat", "N", "multiplications", SK_OPTION_COUNT, &repeat, 1 },
    { "ahead", "0|1", "1: gets the next panel while it multiplies this one", SK_OPTION_COUNT, &ahead, 0 },
    { "check", "0|1", "1: compare with a plain product; 0: with simulated time, do not even multiply", SK_OPTION_COUNT,
      &check, 0 },
    { "noise", "PERCENT", "largest change of each simulated computation, at random", SK_OPTION_COUNT, &noise, 0 },
    { "seed", "N", "of this noise", SK_OPTION_SEED, &seed, 0 },
    { "delay-us", "US", "sleep so long before some panels", SK_OPTION_COUNT, &delay_us, 0 },
    { "delay-every", "N", "before every N-th panel", SK_OPTION_COUNT, &delay_every, 1 },
    { "delay-rank", "RANK", "only this process; -1: all", SK_OPTION_COUNT, &delay_rank, -1 },
    { "alternate", "0|1", "1: record every other multiplication only, to see what that costs", SK_OPTION_COUNT,
      &alternate, 0 },
    { "truth", "DIR", "folder for files that say when the layer served each request", SK_OPTION_TEXT, &truth, 0 },
};
enum { OPTIONS = sizeof options / sizeof options[0] };

/* The processes stand in `rows` by `columns`; each has a block of `high` rows by `wide` columns of A, of B and of C.
 * The inner dimension is cut into `panels`, so that each panel of A, or B, has one owner in a row, or column. */
static struct { int rank, size, rows, columns, row, column, panels; int64_t high, wide, panel; } grid;

static const char summary[] =
    "sk_srumma multiplies matrices; each process gets what it needs, one-sided, from its owner. It prints a JSON\n"
    "object.";
static const struct sk_transport *transport;
static double *own, *product, *panels[2][2];

static int lcm(int a, int b)
{
    int x = a, y = b;
    while (y) {
        int rest = x % y;
        x = y;
        y = rest;
    }
    return a / x * b;
}

static void make_grid(void)
{
    SK_MPI(PMPI_Comm_rank(MPI_COMM_WORLD, &grid.rank));
    SK_MPI(PMPI_Comm_size(MPI_COMM_WORLD, &grid.size));
    grid.rows = (int)sqrt((double)grid.size + 0.5);
    while (grid.size % grid.rows)
        grid.rows--;
    grid.columns = grid.size / grid.rows;
    grid.row = grid.rank / grid.columns;
    grid.column = grid.rank % grid.columns;
    grid.panels = lcm(grid.rows, grid.columns);
    n_rows = n_rows ? n_rows : 32 * grid.panels;
    SK_REQUIRE(n_rows % grid.panels == 0,
               "--n=%" PRId64 " cannot be shared by %d by %d processes; use a multiple of %d", n_rows,
               grid.rows, grid.columns, grid.panels);
    grid.high = n_rows / grid.rows;
    grid.wide = n_rows / grid.columns;
    grid.panel = n_rows / grid.panels;
}

/* Small whole numbers, so that products are exact. */
static double element(int which, int64_t i, int64_t j)
{
    return (double)((i * 7 + j * 13 + 5 * which) % 11 - 5);
}

static void fill(void)
{
    for (int which = 0; which < 2; which++)
        for (int64_t i = 0; i < grid.high; i++)
            for (int64_t j = 0; j < grid.wide; j++)
                own[(which * grid.high + i) * grid.wide + j] =
                    element(which, grid.row * grid.high + i, grid.column * grid.wide + j);
}

static double largest_error(void)
{
    double worst = 0;
    for (int64_t i = 0; i < grid.high; i++)
        for (int64_t j = 0; j < grid.wide; j++) {
            double sum = 0;
            for (int64_t k = 0; k < n_rows; k++)
                sum += element(0, grid.row * grid.high + i, k) * element(1, k, grid.column * grid.wide + j);
            worst = fmax(worst, fabs(sum - product[i * grid.wide + j]));
        }
    return worst;
}

/* Where panel `t` of A lies: columns of the block of a process in this row; of B: rows of one in this column. */
static int owner(int which, int t, struct sk1s_layout *there)
{
    const int64_t size = (int64_t)sizeof(double);
    if (which == 0) {
        int holder = t / (grid.panels / grid.columns);
        int64_t from = t % (grid.panels / grid.columns) * grid.panel;
        *there = grid.panel == grid.wide ? sk1s_contiguous(0, grid.high * grid.wide * size)
                                         : sk1s_strided(from * size, grid.panel * size, grid.wide * size, grid.high);
        return grid.row * grid.columns + holder;
    }
    int holder = t / (grid.panels / grid.rows);
    int64_t from = grid.high + t % (grid.panels / grid.rows) * grid.panel;
    *there = sk1s_contiguous(from * grid.wide * size, grid.panel * grid.wide * size);
    return holder * grid.columns + grid.column;
}

static void pause_us(int64_t us)
{
    struct timespec span = { us / 1000000, us % 1000000 * 1000 };
    SK_TRACE_ENTER("delay");
    nanosleep(&span, NULL);
    SK_TRACE_LEAVE();
}

static void maybe_delay(int64_t step)
{
    bool is_one = delay_rank < 0 || delay_rank == grid.rank;
    if (delay_us > 0 && is_one && step % delay_every == delay_every - 1)
        pause_us(delay_us);
}

static void multiply(const double *a, const double *b)
{
    for (int64_t i = 0; i < grid.high; i++)
        for (int64_t k = 0; k < grid.panel; k++) {
            double factor = a[i * grid.panel + k];
            const double *row = b + k * grid.wide;
            double *sum = product + i * grid.wide;
            for (int64_t j = 0; j < grid.wide; j++)
                sum[j] += factor * row[j];
        }
}

#ifdef SK_SIMULATED
/* A number from -1 to 1 for each process and step. */
static double random_part(int64_t step)
{
    uint64_t x = seed * UINT64_C(0x9E3779B97F4A7C15) + (uint64_t)step;
    x += (uint64_t)grid.rank * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
    return (double)((x ^ x >> 31) >> 11) / (double)(UINT64_C(1) << 52) - 1.0;
}
#endif

static void work(const double *a, const double *b, int64_t step)
{
#ifdef SK_SIMULATED
    double flops = 2.0 * (double)grid.high * (double)grid.panel * (double)grid.wide;
    smpi_execute_flops(flops * (1.0 + (double)noise / 100 * random_part(step)));
    if (!check)
        return;
#endif
    (void)step;
    multiply(a, b);
}

static void get_panel(int t, double *const to[2], int operations[2])
{
    struct sk1s_layout there;
    for (int which = 0; which < 2; which++) {
        int target = owner(which, t, &there);
        if (operations)
            operations[which] = transport->nbget(target, to[which], there);
        else
            transport->get(target, to[which], there);
    }
}

static void await_panel(const int operations[2])
{
    transport->wait(operations[0]);
    transport->wait(operations[1]);
}

/* One multiplication. Processes begin with different panels, so that they do not all want the same one. */
static void srumma(int64_t turn)
{
    int first = (grid.row + grid.column) % grid.panels, operations[2][2];
    memset(product, 0, (size_t)(grid.high * grid.wide) * sizeof *product);
    if (ahead)
        get_panel(first, panels[0], operations[0]);
    for (int k = 0; k < grid.panels; k++) {
        int64_t step = turn * grid.panels + k;
        int now = ahead ? k % 2 : 0;
        maybe_delay(step);
        if (ahead && k + 1 < grid.panels)
            get_panel((first + k + 1) % grid.panels, panels[1 - now], operations[1 - now]);
        if (ahead)
            await_panel(operations[now]);
        else
            get_panel((first + k) % grid.panels, panels[0], NULL);
        SK_TRACE_ENTER("multiply");
        work(panels[now][0], panels[now][1], step);
        SK_TRACE_LEAVE();
    }
}

/* Time of a message of 64 bytes, as long as a request of the layer, from process 0 to the last one; 0 if alone. */
static int64_t latency_ns(void)
{
    enum { TRIPS = 20 };
    char message[64] = "";
    int last = grid.size - 1, other = grid.rank == 0 ? last : 0;
    int64_t begin = 0;
    for (int k = -1; k < TRIPS && last > 0 && grid.rank % last == 0; k++) {
        if (k == 0)
            begin = sk_now();
        if (grid.rank == 0)
            SK_MPI(PMPI_Send(message, sizeof message, MPI_BYTE, other, 0, MPI_COMM_WORLD));
        SK_MPI(PMPI_Recv(message, sizeof message, MPI_BYTE, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        if (grid.rank != 0)
            SK_MPI(PMPI_Send(message, sizeof message, MPI_BYTE, other, 0, MPI_COMM_WORLD));
    }
    return last > 0 ? (sk_now() - begin) / (2 * TRIPS) : 0;
}

static void report(const int64_t *times, int64_t latency, double error)
{
    printf("{\"over\": \"%s\", \"simulated\": %s, \"processes\": %d, \"rows\": %d, \"n\": %" PRId64
           ", \"ahead\": %" PRId64 ", \"seed\": %" PRIu64 ", \"latency_ns\": %" PRId64 ", \"error\": ",
           transport->name, SK_IS_SIMULATED ? "true" : "false", grid.size, grid.rows, n_rows, ahead, seed, latency);
    if (check)
        printf("%g", error);
    else
        printf("null");
    printf(", \"ns\": [");
    for (int64_t turn = 0; turn < repeat; turn++)
        printf("%s%" PRId64, turn ? ", " : "", times[turn]);
    printf("]}\n");
    fflush(stdout);
}

static void maybe_record(bool is_wanted)
{
    if (alternate && &sk_is_recording)
        sk_is_recording = is_wanted;
}

static double run(int64_t *times)
{
    double worst = 0, error = 0;
    for (int64_t turn = 0; turn < repeat; turn++) {
        maybe_record(turn % 2 == 1);
        transport->barrier();
        int64_t begin = sk_now();
        SK_TRACE_ENTER("srumma");
        srumma(turn);
        SK_TRACE_LEAVE();
        transport->barrier();
        times[turn] = sk_now() - begin;
    }
    maybe_record(true);
    if (check)
        error = largest_error();
    SK_MPI(PMPI_Allreduce(&error, &worst, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD));
    return worst;
}

static void read_options(int argc, char **argv)
{
    char why[512] = "";
    bool help = false, ok = sk_options_read(options, OPTIONS, argc, argv, &help, why, sizeof why);
    int rank;
    SK_MPI(PMPI_Comm_rank(MPI_COMM_WORLD, &rank));
    SK_REQUIRE(ok, "%s", why);
    if (help) {
        if (rank == 0)
            sk_options_help(options, OPTIONS, summary);
        MPI_Finalize();
        exit(SK_EXIT_OK);
    }
    transport = sk_transport(over);
    SK_REQUIRE(transport != NULL, "--over: '%s' is not one of rma, locks, layer", over);
    SK_REQUIRE(ahead <= 1 && check <= 1 && alternate <= 1, "--ahead, --check and --alternate are 0 or 1");
    SK_REQUIRE(noise <= 100, "--noise=%" PRId64 " is more than 100 percent", noise);
}

int main(int argc, char **argv)
{
    sk_program_name("sk_srumma");
    MPI_Init(&argc, &argv);
    read_options(argc, argv);
    make_grid();
    size_t block = (size_t)(grid.high * grid.wide) * sizeof(double);
    int64_t latency = latency_ns();
    own = transport->begin(2 * (int64_t)block, truth[0] ? truth : NULL);
    product = sk_alloc(block);
    for (int k = 0; k < 4; k++)
        panels[k / 2][k % 2] = sk_alloc((size_t)(k % 2 ? grid.wide : grid.high) * (size_t)grid.panel * sizeof(double));
    int64_t *times = sk_alloc((size_t)repeat * sizeof *times);
    fill();
    double error = run(times);
    transport->end();
    if (grid.rank == 0)
        report(times, latency, error);
    for (int k = 0; k < 4; k++)
        sk_free(panels[k / 2][k % 2]);
    sk_free(product);
    sk_free(times);
    MPI_Finalize();
    return error > 0 ? SK_EXIT_WRONG_RESULT : SK_EXIT_OK;
}

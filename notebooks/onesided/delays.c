/* sk_delays: process 1 sleeps while process 0 wants data of it, with every kind of transfer. Prints when process 0
 * began and ended, and when process 1 slept, on the clock of traces: how long 0 had to wait if it needs 1 for that. */
#define _GNU_SOURCE
#include "base/check.h"
#include "base/options.h"
#include "onesided/transport.h"
#include "trace/now.h"
#include "trace/scalkit_trace.h"

#include <inttypes.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { PIECES = 100, PIECE = 800, APART = 1600, ROOM = PIECES * APART };

static const char *over = "rma", *truth = "";
static int64_t sleep_us = 50000, head_us = 5000, turns = 1;
static const struct sk_option options[] = {
    { "over", "NAME", "rma: windows of MPI; locks: the same, each transfer locks; layer: serves only within its calls",
      SK_OPTION_TEXT, &over, 0 },
    { "sleep-us", "US", "process 1 sleeps so long", SK_OPTION_COUNT, &sleep_us, 0 },
    { "head-us", "US", "process 0 begins so much later", SK_OPTION_COUNT, &head_us, 0 },
    { "turns", "N", "of each kind of transfer", SK_OPTION_COUNT, &turns, 1 },
    { "truth", "DIR", "folder for files that say when the layer served each request", SK_OPTION_TEXT, &truth, 0 },
};
enum { OPTIONS = sizeof options / sizeof options[0] };

static const char *const kinds[] = { "get",         "put",        "accumulate", "fetch and add",
                                     "strided get", "vector get", "strided put" };
enum { KINDS = sizeof kinds / sizeof kinds[0] };

static const char summary[] =
    "sk_delays lets process 0 wait for process 1, with every kind of transfer; a line for each:\n"
    "kind: begin, begin of the call that completes it, end, and when process 1 fell asleep and awoke, in ns.";
static const struct sk_transport *transport;
static double local[ROOM / sizeof(double)];

static void pause_us(int64_t us)
{
    struct timespec span = { us / 1000000, us % 1000000 * 1000 };
    nanosleep(&span, NULL);
}

static void transfer(int kind)
{
    int64_t places[PIECES];
    struct sk1s_layout one = sk1s_contiguous(0, 8), pieces = sk1s_strided(0, PIECE, APART, PIECES);
    for (int k = 0; k < PIECES; k++)
        places[k] = (int64_t)(PIECES - 1 - k) * APART;
    switch (kind) {
    case 0:
        transport->get(1, local, one);
        break;
    case 1:
        transport->put(1, local, one);
        break;
    case 2:
        transport->accumulate(1, local, one);
        break;
    case 3:
        transport->fetch_and_add(1, 0, 1);
        break;
    case 4:
        transport->get(1, local, pieces);
        break;
    case 5:
        transport->get(1, local, sk1s_vector(places, PIECE, PIECES));
        break;
    default:
        transport->put(1, local, pieces);
    }
}

static void turn(int rank, int kind)
{
    int64_t begin = 0, completing = 0, end = 0, asleep[2] = { 0, 0 };
    transport->barrier();
    if (rank == 0) {
        pause_us(head_us);
        begin = sk_now();
        transfer(kind);
        end = sk_now();
        completing = sk_completing;
    } else if (rank == 1) {
        asleep[0] = sk_now();
        SK_TRACE_ENTER("delay");
        pause_us(sleep_us);
        SK_TRACE_LEAVE();
        asleep[1] = sk_now();
        transport->poll();
    }
    transport->barrier();
    if (rank == 1)
        SK_MPI(PMPI_Send(asleep, 2, MPI_INT64_T, 0, 0, MPI_COMM_WORLD));
    if (rank != 0)
        return;
    SK_MPI(PMPI_Recv(asleep, 2, MPI_INT64_T, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    printf("%s: %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 "\n", kinds[kind], begin, completing, end,
           asleep[0], asleep[1]);
    fflush(stdout);
}

static void read_options(int argc, char **argv, int rank, int size)
{
    char why[512] = "";
    bool help = false, ok = sk_options_read(options, OPTIONS, argc, argv, &help, why, sizeof why);
    SK_REQUIRE(ok, "%s", why);
    if (help) {
        if (rank == 0)
            sk_options_help(options, OPTIONS, summary);
        MPI_Finalize();
        exit(SK_EXIT_OK);
    }
    transport = sk_transport(over);
    SK_REQUIRE(transport != NULL, "--over: '%s' is not one of rma, locks, layer", over);
    SK_REQUIRE(size >= 2, "one process has nobody to wait for; start 2");
}

int main(int argc, char **argv)
{
    int rank, size;
    sk_program_name("sk_delays");
    MPI_Init(&argc, &argv);
    SK_MPI(PMPI_Comm_rank(MPI_COMM_WORLD, &rank));
    SK_MPI(PMPI_Comm_size(MPI_COMM_WORLD, &size));
    read_options(argc, argv, rank, size);
    transport->begin(ROOM, truth[0] ? truth : NULL);
    for (int64_t k = 0; k < turns * KINDS; k++)
        turn(rank, (int)(k % KINDS));
    transport->end();
    MPI_Finalize();
    return SK_EXIT_OK;
}

/* sk_time: how long collective operations take, from a common start to the last end. See README.md. */
#include "main/timing.h"

static const char summary[] =
    "sk_time measures the run time of collective operations, from a common start to the last end over all processes.\n"
    "Start it with the mpiexec of the MPI library it was compiled with.\n"
    "--ops takes names, and the words paper (default: those of the case study), blocking, nonblocking, overlap,\n"
    "point-to-point, bandwidth, persistent, partitioned, in-place, further, substitutes, send-modes, rma (one-sided),\n"
    "simple (without communication), all.";

int main(int argc, char **argv)
{
    const struct sk_suite suite = {.name = "sk_time", .summary = summary, .usual = "paper", .ops = sk_ops,
                                   .n_ops = SK_OPS};
    return sk_timing(&suite, argc, argv);
}

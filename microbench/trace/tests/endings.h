/* Ways in which a program ends before it should; each process says first how many calls it made. */
#ifndef SK_TRACE_ENDINGS_H
#define SK_TRACE_ENDINGS_H

#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static const char *const ends[] = { "abort", "exit", "mpi-abort", "segmentation", "overflow", "quit" };

static volatile int *nowhere;

static int overflow(int depth)
{
    volatile char much[4096];
    much[0] = (char)depth;
    return depth < 0 ? 0 : overflow(depth + 1) + much[0];
}

/* Calls of MPI between which the disk becomes full; returns how many. */
static int full_disk(void)
{
    enum { CALLS = 100 };
    struct rlimit none = { 0, RLIM_INFINITY }, before;
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before);
    for (int k = 0; k < CALLS; k++) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (k == 20)
            setrlimit(RLIMIT_FSIZE, &none);
    }
    setrlimit(RLIMIT_FSIZE, &before);
    return CALLS;
}

static void end(const char *how, int rank, int calls)
{
    printf("rank %d made %d calls\n", rank, calls);
    fflush(stdout);
    if (strcmp(how, "abort") == 0)
        abort();
    if (strcmp(how, "exit") == 0)
        exit(3);
    if (strcmp(how, "segmentation") == 0)
        *nowhere = 1;
    if (strcmp(how, "overflow") == 0)
        overflow(0);
    if (strcmp(how, "quit") == 0)
        raise(SIGQUIT);
    if (rank == 0)
        MPI_Abort(MPI_COMM_WORLD, 3);
    pause();
}

#endif

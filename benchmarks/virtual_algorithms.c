/* Collective operations in virtual time, each begun by all processes at the same time: when every process was done, and how
 * many messages it sent. benchmarks/virtual_algorithms.py compiles and runs it.
 *
 *     virtual_algorithms OUT SIZE...     one JSON object a line into OUT; sizes in bytes, at least 8
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <inttypes.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { REPEATS = 3, OPERATIONS = 11 };
static const int64_t SLACK_NS = 1000000000;

static const char *const names[OPERATIONS] = {"message", "barrier",  "broadcast", "reduce",  "allreduce",     "allgather",
                                              "alltoall", "gather", "scatter",   "reduce-scatter", "message-from-1"};

static int rank, processes;
static char *from, *to;
static int64_t (*messages_sent)(void);

static int64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static void wait_until(int64_t when)
{
    for (int64_t left = when - now(); left > 0; left = when - now()) {
        struct timespec t = {left / 1000000000, left % 1000000000};
        nanosleep(&t, NULL);
    }
}

static void one_message(int source, int size)
{
    if (rank == source)
        MPI_Send(from, size, MPI_CHAR, 1 - source, 7, MPI_COMM_WORLD);
    else if (rank == 1 - source)
        MPI_Recv(to, size, MPI_CHAR, source, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void run(int operation, int size)
{
    MPI_Comm all = MPI_COMM_WORLD;
    int n = size / 8;
    switch (operation) {
    case 0: one_message(0, size); break;
    case 1: MPI_Barrier(all); break;
    case 2: MPI_Bcast(to, size, MPI_CHAR, 0, all); break;
    case 3: MPI_Reduce(from, to, n, MPI_INT64_T, MPI_SUM, 0, all); break;
    case 4: MPI_Allreduce(from, to, n, MPI_INT64_T, MPI_SUM, all); break;
    case 5: MPI_Allgather(from, size, MPI_CHAR, to, size, MPI_CHAR, all); break;
    case 6: MPI_Alltoall(from, size, MPI_CHAR, to, size, MPI_CHAR, all); break;
    case 7: MPI_Gather(from, size, MPI_CHAR, to, size, MPI_CHAR, 0, all); break;
    case 8: MPI_Scatter(from, size, MPI_CHAR, to, size, MPI_CHAR, 0, all); break;
    case 9: MPI_Reduce_scatter_block(from, to, n, MPI_INT64_T, MPI_SUM, all); break;
    default: one_message(1, size);
    }
}

static void write_row(FILE *out, const char *name, const int64_t *values, const char *end)
{
    fprintf(out, "\"%s\":[", name);
    for (int i = 0; i < processes; i++)
        fprintf(out, "%s%" PRId64, i ? "," : "", values[i]);
    fprintf(out, "]%s", end);
}

static void measure(int operation, int size, FILE *out)
{
    int64_t *all = calloc(2 * (size_t)processes, sizeof *all);
    for (int repeat = -1; repeat < REPEATS; repeat++) {
        int64_t start = now() + SLACK_NS;
        MPI_Bcast(&start, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
        wait_until(start);
        int64_t mine[2] = {-start, -messages_sent()};
        run(operation, size);
        mine[0] += now();
        mine[1] += messages_sent();
        wait_until(start + SLACK_NS); /* else those who are done early would send what others have to read */
        MPI_Gather(&mine[0], 1, MPI_INT64_T, all, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
        MPI_Gather(&mine[1], 1, MPI_INT64_T, all + processes, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
        if (rank == 0 && repeat >= 0) {
            fprintf(out, "{\"operation\":\"%s\",\"S\":%d,\"repeat\":%d,", names[operation], size, repeat);
            write_row(out, "t_ns", all, ",");
            write_row(out, "messages", all + processes, "}\n");
        }
    }
    free(all);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &processes);
    *(void **)&messages_sent = dlsym(RTLD_DEFAULT, "sk_virtual_messages");
    if (!messages_sent || argc < 3) {
        if (rank == 0)
            fprintf(stderr, "virtual_algorithms OUT SIZE..., above the layer of virtual time\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    FILE *out = rank == 0 ? fopen(argv[1], "w") : NULL;
    const char *only = getenv("SCALKIT_OPERATIONS");
    for (int k = 2; k < argc; k++) {
        int size = atoi(argv[k]);
        from = calloc((size_t)processes, (size_t)size);
        to = calloc((size_t)processes, (size_t)size);
        for (int operation = 0; operation < OPERATIONS; operation++) {
            char word[64];
            snprintf(word, sizeof word, ",%s,", names[operation]);
            if (!only || strstr(only, word))
                measure(operation, size, out);
        }
        free(from);
        free(to);
    }
    if (out)
        fclose(out);
    MPI_Finalize();
    return 0;
}

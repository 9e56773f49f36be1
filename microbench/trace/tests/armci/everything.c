/* Calls every function of ARMCI that the recorder knows, counts its own calls, and prints the count of each process.
 * With `progress` process 0 wants data of process 1, which sleeps; then it adds to data there, and fences. */
#define _GNU_SOURCE
#include <armci.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int calls, rank, n_ranks;

#define COUNT(call) (calls++, (call))
#define MUST(condition) \
    do { \
        if (!(condition)) { \
            fprintf(stderr, "rank %d, line %d: not %s\n", rank, __LINE__, #condition); \
            MPI_Abort(MPI_COMM_WORLD, 3); \
        } \
    } while (0)

enum { ROWS = 3, WIDE = 2, APART = 4 * (int)sizeof(double), ROW = WIDE * (int)sizeof(double) };

static int bytes = WIDE * ROWS * (int)sizeof(double), count[2] = { ROW, ROWS }, dense = ROW, apart = APART, mutex = 1;
static double one = 1, out[WIDE * ROWS] = { 1, 2, 3, 4, 5, 6 }, in[WIDE * ROWS];

static void check(double factor)
{
    for (int k = 0; k < WIDE * ROWS; k++)
        MUST(in[k] == factor * out[k]);
    memset(in, 0, sizeof in);
}

static void blocking(char *there, int next)
{
    void *from[ROWS], *to[ROWS], *back[ROWS];
    int was = -1, *flag = (int *)(there + 512);
    for (int k = 0; k < ROWS; k++) {
        from[k] = out + WIDE * k;
        back[k] = in + WIDE * k;
        to[k] = there + 40 * k;
    }
    armci_giov_t put = { from, to, ROW, ROWS }, get = { to, back, ROW, ROWS };
    COUNT(ARMCI_Put(out, there, bytes, next));
    COUNT(ARMCI_Acc(ARMCI_ACC_DBL, &one, out, there, bytes, next));
    COUNT(ARMCI_Fence(next));
    COUNT(ARMCI_Get(there, in, bytes, next));
    check(2);
    COUNT(ARMCI_PutS(out, &dense, there, &apart, count, 1, next));
    COUNT(ARMCI_AccS(ARMCI_ACC_DBL, &one, out, &dense, there, &apart, count, 1, next));
    COUNT(ARMCI_AllFence());
    COUNT(ARMCI_GetS(there, &apart, in, &dense, count, 1, next));
    check(2);
    COUNT(ARMCI_PutS(out, &dense, there, &dense, count, 1, next)); /* in one piece */
    COUNT(ARMCI_PutV(&put, 1, next));
    COUNT(ARMCI_AccV(ARMCI_ACC_DBL, &one, &put, 1, next));
    COUNT(ARMCI_AllFence());
    COUNT(ARMCI_GetV(&get, 1, next));
    check(2);
    COUNT(ARMCI_Put_flag(out, there, bytes, flag, 1, next));
    COUNT(ARMCI_PutS_flag(out, &dense, there, &apart, count, 1, flag, 2, next));
    COUNT(ARMCI_Rmw(ARMCI_FETCH_AND_ADD, &was, flag, 3, next));
    MUST(was == 2);
}

static void started(char *there, int next)
{
    void *from[ROWS], *to[ROWS], *back[ROWS];
    armci_hdl_t first, second;
    for (int k = 0; k < ROWS; k++) {
        from[k] = out + WIDE * k;
        back[k] = in + WIDE * k;
        to[k] = there + 40 * k;
    }
    armci_giov_t put = { from, to, ROW, ROWS }, get = { to, back, ROW, ROWS };
    COUNT(ARMCI_NbPut(out, there, bytes, next, &first));
    COUNT(ARMCI_Wait(&first));
    COUNT(ARMCI_Fence(next));
    COUNT(ARMCI_NbAcc(ARMCI_ACC_DBL, &one, out, there, bytes, next, &first));
    COUNT(ARMCI_Fence(next));
    COUNT(ARMCI_NbGet(there, in, bytes, next, &second));
    COUNT(ARMCI_Wait(&second));
    COUNT(ARMCI_Wait(&first));
    check(2);
    COUNT(ARMCI_NbPutS(out, &dense, there, &apart, count, 1, next, NULL));
    COUNT(ARMCI_WaitProc(next));
    COUNT(ARMCI_NbAccS(ARMCI_ACC_DBL, &one, out, &dense, there, &apart, count, 1, next, NULL));
    COUNT(ARMCI_WaitAll());
    COUNT(ARMCI_AllFence());
    COUNT(ARMCI_NbGetS(there, &apart, in, &dense, count, 1, next, &first));
    while (COUNT(ARMCI_Test(&first)))
        continue;
    check(2);
    COUNT(ARMCI_NbPutV(&put, 1, next, &first));
    COUNT(ARMCI_Wait(&first));
    COUNT(ARMCI_NbAccV(ARMCI_ACC_DBL, &one, &put, 1, next, &first));
    COUNT(ARMCI_Wait(&first));
    COUNT(ARMCI_Fence(next));
    COUNT(ARMCI_NbGetV(&get, 1, next, &first));
    COUNT(ARMCI_Wait(&first));
    check(2);
}

#define VALUES(Type, number) \
    COUNT(ARMCI_PutValue##Type(number, there, next)); \
    COUNT(ARMCI_NbPutValue##Type(number, there, next, &handle)); \
    COUNT(ARMCI_Wait(&handle)); \
    COUNT(ARMCI_Fence(next)); \
    MUST(COUNT(ARMCI_GetValue##Type(there, next)) == number);

static void values(char *there, int next)
{
    armci_hdl_t handle;
    VALUES(Int, 3)
    VALUES(Long, 4)
    VALUES(Float, 5)
    VALUES(Double, 6)
}

static void in_turn(char *there, int next)
{
    int n = 0, previous = (rank + n_ranks - 1) % n_ranks;
    void *memory = COUNT(ARMCI_Malloc_local(64));
    COUNT(ARMCI_Free_local(memory));
    COUNT(ARMCI_Create_mutexes(mutex + 1));
    COUNT(ARMCI_Lock(mutex, 0));
    COUNT(ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, &(long){ 0 }, there, 1, next));
    COUNT(ARMCI_Unlock(mutex, 0));
    COUNT(ARMCI_Barrier());
    COUNT(ARMCI_Destroy_mutexes());
    COUNT(ARMCI_Put(&rank, there + 256, sizeof rank, next));
    COUNT(armci_notify(next));
    COUNT(armci_notify_wait(previous, &n));
    MUST(n == 1);
    COUNT(ARMCI_Barrier());
    MUST(COUNT(ARMCI_GetValueInt(there + 256, next)) == rank);
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void progress(char *there)
{
    double value = 1;
    for (int k = 0; k < 2; k++) {
        ARMCI_Barrier();
        struct timespec span = { 0, (rank == 1 ? 100 : 5) * 1000000L };
        nanosleep(&span, NULL);
        double begin = seconds();
        if (rank == 0 && k == 1)
            ARMCI_Acc(ARMCI_ACC_DBL, &one, &value, there, sizeof value, 1);
        if (rank == 0 && k == 0)
            ARMCI_Get(there, &value, sizeof value, 1);
        else if (rank == 0)
            ARMCI_AllFence();
        else
            ARMCI_GetValueDouble(there, 0);
        printf("%d %d %.9f %.9f\n", rank, k, begin, seconds());
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    void **parts = malloc(sizeof *parts * (size_t)n_ranks);
    COUNT(ARMCI_Init());
    COUNT(ARMCI_Malloc(parts, 1024));
    int next = (rank + 1) % n_ranks;
    if (argc > 1 && strcmp(argv[1], "progress") == 0) {
        progress(parts[1 - rank]);
    } else {
        blocking(parts[next], next);
        started(parts[next], next);
        values(parts[next], next);
        in_turn(parts[next], next);
        printf("rank %d made %d calls\n", rank, calls + 3);
    }
    fflush(stdout);
    COUNT(ARMCI_Barrier());
    COUNT(ARMCI_Free(parts[rank]));
    COUNT(ARMCI_Finalize());
    free(parts);
    MPI_Finalize();
    return 0;
}

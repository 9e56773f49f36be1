/* A small ARMCI over windows of MPI, for tests of the recorder; accumulates doubles, without a factor. */
#include "armci.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 8 };
enum what { PUT, GET, ADD };

static struct { MPI_Win win; char **bases; armci_size_t bytes; } parts[MOST];
static int n_parts, own_rank, n_ranks, *notes_seen, n_mutexes;
static void **notes, **mutexes;

static _Noreturn void fail(const char *why)
{
    fprintf(stderr, "parmci: %s\n", why);
    MPI_Abort(MPI_COMM_WORLD, 3);
    abort();
}

static MPI_Win window(const void *there, int rank, MPI_Aint *at)
{
    for (int k = 0; k < n_parts; k++) {
        uintptr_t place = (uintptr_t)there - (uintptr_t)parts[k].bases[rank];
        if (place < (uintptr_t)parts[k].bytes) {
            *at = (MPI_Aint)place;
            return parts[k].win;
        }
    }
    fail("an address is in no memory of this process");
}

static void move(enum what what, void *here, void *there, int bytes, int rank)
{
    MPI_Aint at;
    MPI_Win win = window(there, rank, &at);
    if (what == PUT)
        MPI_Put(here, bytes, MPI_BYTE, rank, at, bytes, MPI_BYTE, win);
    else if (what == GET)
        MPI_Get(here, bytes, MPI_BYTE, rank, at, bytes, MPI_BYTE, win);
    else
        MPI_Accumulate(here, bytes / 8, MPI_DOUBLE, rank, at, bytes / 8, MPI_DOUBLE, MPI_SUM, win);
}

static void move_strided(enum what what, char *here, const int *hops, char *there, const int *steps, const int *count,
                         int levels, int rank)
{
    if (levels == 0)
        move(what, here, there, count[0], rank);
    for (int k = 0; levels > 0 && k < count[levels]; k++)
        move_strided(what, here + (int64_t)k * hops[levels - 1], hops, there + (int64_t)k * steps[levels - 1], steps,
                     count, levels - 1, rank);
}

static void move_vector(enum what what, armci_giov_t *pieces, int n, int rank)
{
    for (int k = 0; k < n; k++)
        for (int i = 0; i < pieces[k].ptr_array_len; i++) {
            void *from = pieces[k].src_ptr_array[i], *to = pieces[k].dst_ptr_array[i];
            move(what, what == GET ? to : from, what == GET ? from : to, pieces[k].bytes, rank);
        }
}

static int local(int rank)
{
    for (int k = 0; k < n_parts; k++)
        MPI_Win_flush_local(rank, parts[k].win);
    return 0;
}

static int all_local(void)
{
    for (int k = 0; k < n_parts; k++)
        MPI_Win_flush_local_all(parts[k].win);
    return 0;
}

int PARMCI_Put(void *from, void *to, int bytes, int rank)
{
    move(PUT, from, to, bytes, rank);
    return local(rank);
}

int PARMCI_Get(void *from, void *to, int bytes, int rank)
{
    move(GET, to, from, bytes, rank);
    return local(rank);
}

int PARMCI_Acc(int kind, void *scale, void *from, void *to, int bytes, int rank)
{
    (void)kind, (void)scale;
    move(ADD, from, to, bytes, rank);
    return local(rank);
}

int PARMCI_PutS(void *from, int *here, void *to, int *there, int *count, int levels, int rank)
{
    move_strided(PUT, from, here, to, there, count, levels, rank);
    return local(rank);
}

int PARMCI_GetS(void *from, int *there, void *to, int *here, int *count, int levels, int rank)
{
    move_strided(GET, to, here, from, there, count, levels, rank);
    return local(rank);
}

int PARMCI_AccS(int kind, void *scale, void *from, int *here, void *to, int *there, int *count, int levels, int rank)
{
    (void)kind, (void)scale;
    move_strided(ADD, from, here, to, there, count, levels, rank);
    return local(rank);
}

int PARMCI_PutV(armci_giov_t *pieces, int n, int rank)
{
    move_vector(PUT, pieces, n, rank);
    return local(rank);
}

int PARMCI_GetV(armci_giov_t *pieces, int n, int rank)
{
    move_vector(GET, pieces, n, rank);
    return local(rank);
}

int PARMCI_AccV(int kind, void *scale, armci_giov_t *pieces, int n, int rank)
{
    (void)kind, (void)scale;
    move_vector(ADD, pieces, n, rank);
    return local(rank);
}

int PARMCI_Put_flag(void *from, void *to, int bytes, int *flag, int value, int rank)
{
    ARMCI_Put(from, to, bytes, rank); /* a call within a call */
    PARMCI_Fence(rank);
    return PARMCI_Put(&value, flag, sizeof value, rank);
}

int PARMCI_PutS_flag(void *from, int *here, void *to, int *there, int *count, int levels, int *flag, int value,
                     int rank)
{
    PARMCI_PutS(from, here, to, there, count, levels, rank);
    PARMCI_Fence(rank);
    return PARMCI_Put(&value, flag, sizeof value, rank);
}

#define BEGINS(name, parameters, statement) \
    int PARMCI_Nb##name parameters \
    { \
        (void)handle; \
        statement; \
        return 0; \
    }
BEGINS(Put, (void *from, void *to, int bytes, int rank, armci_hdl_t *handle), move(PUT, from, to, bytes, rank))
BEGINS(Get, (void *from, void *to, int bytes, int rank, armci_hdl_t *handle), move(GET, to, from, bytes, rank))
BEGINS(Acc, (int kind, void *scale, void *from, void *to, int bytes, int rank, armci_hdl_t *handle),
       (void)kind; (void)scale; move(ADD, from, to, bytes, rank))
BEGINS(PutS, (void *from, int *here, void *to, int *there, int *count, int levels, int rank, armci_hdl_t *handle),
       move_strided(PUT, from, here, to, there, count, levels, rank))
BEGINS(GetS, (void *from, int *there, void *to, int *here, int *count, int levels, int rank, armci_hdl_t *handle),
       move_strided(GET, to, here, from, there, count, levels, rank))
BEGINS(AccS, (int kind, void *scale, void *from, int *here, void *to, int *there, int *count, int levels, int rank,
              armci_hdl_t *handle),
       (void)kind; (void)scale; move_strided(ADD, from, here, to, there, count, levels, rank))
BEGINS(PutV, (armci_giov_t *pieces, int n, int rank, armci_hdl_t *handle), move_vector(PUT, pieces, n, rank))
BEGINS(GetV, (armci_giov_t *pieces, int n, int rank, armci_hdl_t *handle), move_vector(GET, pieces, n, rank))
BEGINS(AccV, (int kind, void *scale, armci_giov_t *pieces, int n, int rank, armci_hdl_t *handle),
       (void)kind; (void)scale; move_vector(ADD, pieces, n, rank))

int PARMCI_Wait(armci_hdl_t *handle)
{
    (void)handle;
    return all_local();
}

int PARMCI_Test(armci_hdl_t *handle)
{
    return PARMCI_Wait(handle);
}

int PARMCI_WaitProc(int rank)
{
    return local(rank);
}

int PARMCI_WaitAll(void)
{
    return all_local();
}

#define VALUES(Type, type) \
    int PARMCI_PutValue##Type(type value, void *to, int rank) \
    { \
        return PARMCI_Put(&value, to, sizeof value, rank); \
    } \
    int PARMCI_NbPutValue##Type(type value, void *to, int rank, armci_hdl_t *handle) \
    { \
        (void)handle; \
        return PARMCI_Put(&value, to, sizeof value, rank); \
    } \
    type PARMCI_GetValue##Type(void *from, int rank) \
    { \
        type value; \
        PARMCI_Get(from, &value, sizeof value, rank); \
        return value; \
    }
VALUES(Int, int)
VALUES(Long, long)
VALUES(Float, float)
VALUES(Double, double)

int PARMCI_Rmw(int op, void *here, void *there, int value, int rank)
{
    MPI_Aint at;
    MPI_Win win = window(there, rank, &at);
    long more = value;
    bool is_int = op == ARMCI_FETCH_AND_ADD || op == ARMCI_SWAP, adds = op <= ARMCI_FETCH_AND_ADD_LONG;
    void *what = adds && !is_int ? (void *)&more : adds ? (void *)&value : here;
    long was;
    MPI_Fetch_and_op(what, &was, is_int ? MPI_INT : MPI_LONG, rank, at, adds ? MPI_SUM : MPI_REPLACE, win);
    MPI_Win_flush(rank, win);
    if (is_int)
        *(int *)here = *(int *)(void *)&was;
    else
        *(long *)here = was;
    return 0;
}

void PARMCI_Fence(int rank)
{
    for (int k = 0; k < n_parts; k++)
        MPI_Win_flush(rank, parts[k].win);
}

void PARMCI_AllFence(void)
{
    for (int k = 0; k < n_parts; k++)
        MPI_Win_flush_all(parts[k].win);
}

void PARMCI_Barrier(void)
{
    ARMCI_AllFence();
    MPI_Barrier(MPI_COMM_WORLD);
}

int PARMCI_Malloc(void **bases, armci_size_t bytes)
{
    void *own;
    if (n_parts == MOST)
        fail("there are too many memories");
    MPI_Win_allocate((MPI_Aint)bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &own, &parts[n_parts].win);
    MPI_Allgather(&own, sizeof own, MPI_BYTE, bases, sizeof own, MPI_BYTE, MPI_COMM_WORLD);
    MPI_Win_lock_all(0, parts[n_parts].win);
    parts[n_parts].bases = malloc(sizeof *bases * (size_t)n_ranks);
    parts[n_parts].bytes = bytes;
    for (int k = 0; k < n_ranks; k++)
        parts[n_parts].bases[k] = bases[k];
    for (armci_size_t k = 0; k < bytes; k++)
        ((char *)own)[k] = 0;
    n_parts++;
    MPI_Barrier(MPI_COMM_WORLD);
    return 0;
}

int PARMCI_Free(void *part)
{
    int at = 0;
    while (at < n_parts && parts[at].bases[own_rank] != part)
        at++;
    if (at == n_parts)
        fail("this memory is not there");
    MPI_Win_unlock_all(parts[at].win);
    MPI_Win_free(&parts[at].win);
    free(parts[at].bases);
    parts[at] = parts[--n_parts];
    return 0;
}

void *PARMCI_Malloc_local(armci_size_t bytes)
{
    return malloc((size_t)bytes);
}

int PARMCI_Free_local(void *memory)
{
    free(memory);
    return 0;
}

int PARMCI_Init(void)
{
    MPI_Comm_rank(MPI_COMM_WORLD, &own_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    notes = malloc(sizeof *notes * (size_t)n_ranks);
    mutexes = malloc(sizeof *mutexes * (size_t)n_ranks);
    notes_seen = calloc((size_t)n_ranks, sizeof *notes_seen);
    return PARMCI_Malloc(notes, n_ranks * (armci_size_t)sizeof(int));
}

int PARMCI_Init_args(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    return PARMCI_Init();
}

int PARMCI_Finalize(void)
{
    PARMCI_Free(notes[own_rank]);
    free(notes);
    free(mutexes);
    free(notes_seen);
    return 0;
}

int PARMCI_Create_mutexes(int n)
{
    n_mutexes = n;
    return PARMCI_Malloc(mutexes, n * (armci_size_t)sizeof(int));
}

int PARMCI_Destroy_mutexes(void)
{
    return PARMCI_Free(mutexes[own_rank]);
}

void PARMCI_Lock(int mutex, int rank)
{
    int was = 1;
    while (was) {
        was = 1;
        PARMCI_Rmw(ARMCI_SWAP, &was, (int *)mutexes[rank] + mutex, 0, rank);
    }
}

void PARMCI_Unlock(int mutex, int rank)
{
    int zero = 0;
    PARMCI_Rmw(ARMCI_SWAP, &zero, (int *)mutexes[rank] + mutex, 0, rank);
}

int parmci_notify(int rank)
{
    int was;
    PARMCI_Fence(rank);
    return PARMCI_Rmw(ARMCI_FETCH_AND_ADD, &was, (int *)notes[rank] + own_rank, 1, rank);
}

int parmci_notify_wait(int rank, int *n)
{
    int came = 0;
    notes_seen[rank]++;
    while (came < notes_seen[rank])
        PARMCI_Rmw(ARMCI_FETCH_AND_ADD, &came, (int *)notes[own_rank] + rank, 0, own_rank);
    *n = notes_seen[rank];
    return came;
}

/* Weak, as those of the true library: the recorder's come before them. */
#define SK_ARMCI(type, name, parameters, arguments, rank, after) \
    type ARMCI_##name parameters __attribute__((weak, alias("PARMCI_" #name)));
#define SK_ARMCI_VOID(name, parameters, arguments, rank, after) \
    void ARMCI_##name parameters __attribute__((weak, alias("PARMCI_" #name)));
#include "trace/armci.def"
int armci_notify(int rank) __attribute__((weak, alias("parmci_notify")));
int armci_notify_wait(int rank, int *n) __attribute__((weak, alias("parmci_notify_wait")));

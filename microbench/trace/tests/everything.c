/* Calls functions of every kind that the recorder knows, counts its own calls, and prints the count of each process.
 * With `delay`, process 1 comes late by 30 ms to a barrier, a message and a fence; with `progress` it lets process 0
 * wait for progress; with `threads`, two threads of each make communicators; with `spawn` they start one process more;
 * with `crash` all of it is done and the program is killed; with `abort`, `exit`, `mpi-abort`, `segmentation`,
 * `overflow` and `quit` it says how many calls it made and ends like that; with `recovers` it goes on after an abort;
 * with `busy` another thread calls MPI all the time until it ends; with `fork` a child enters a region. */
#define _GNU_SOURCE
#include "endings.h"
#include "trace/scalkit_trace.h"

#include <dlfcn.h>
#include <mpi.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int calls, rank, n_ranks;

#define COUNT(call) (calls++, (call))

static void sleep_ms(int ms)
{
    struct timespec span = { 0, ms * 1000000L };
    nanosleep(&span, NULL);
}

static void one_sided(void)
{
    int value = rank, got[4] = { 0 }, zero = 0, *memory;
    MPI_Win win;
    MPI_Request requests[4];
    MPI_Group world, others;
    int next = (rank + 1) % n_ranks, previous = (rank + n_ranks - 1) % n_ranks;
    COUNT(MPI_Win_allocate(64, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win));
    memset(memory, 0, 64);
    COUNT(MPI_Win_fence(0, win));
    COUNT(MPI_Put(&value, 1, MPI_INT, next, 0, 1, MPI_INT, win));
    COUNT(MPI_Put(&value, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, win));
    COUNT(MPI_Win_fence(0, win));
    COUNT(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, next, 0, win));
    COUNT(MPI_Accumulate(&value, 1, MPI_INT, next, 1, 1, MPI_INT, MPI_SUM, win));
    COUNT(MPI_Win_flush(next, win));
    COUNT(MPI_Get(got, 1, MPI_INT, next, 0, 1, MPI_INT, win));
    COUNT(MPI_Win_unlock(next, win));
    COUNT(MPI_Win_lock_all(0, win));
    COUNT(MPI_Fetch_and_op(&value, got, MPI_INT, next, 2, MPI_SUM, win));
    COUNT(MPI_Win_flush_local(next, win));
    COUNT(MPI_Compare_and_swap(&value, &zero, got, MPI_INT, next, 3, win));
    COUNT(MPI_Get_accumulate(&value, 1, MPI_INT, got + 1, 1, MPI_INT, previous, 2, 1, MPI_INT, MPI_SUM, win));
    COUNT(MPI_Win_flush_all(win));
    COUNT(MPI_Rput(&value, 1, MPI_INT, next, 4, 1, MPI_INT, win, &requests[0]));
    COUNT(MPI_Rget(got + 2, 1, MPI_INT, previous, 4, 1, MPI_INT, win, &requests[1]));
    COUNT(MPI_Raccumulate(&value, 1, MPI_INT, next, 5, 1, MPI_INT, MPI_SUM, win, &requests[2]));
    COUNT(MPI_Rget_accumulate(&value, 1, MPI_INT, got + 3, 1, MPI_INT, next, 6, 1, MPI_INT, MPI_SUM, win,
                              &requests[3]));
    COUNT(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    COUNT(MPI_Waitall(3, requests + 1, MPI_STATUSES_IGNORE));
    COUNT(MPI_Win_sync(win));
    COUNT(MPI_Win_flush_local_all(win));
    COUNT(MPI_Win_unlock_all(win));
#if MPI_VERSION >= 4
    COUNT(MPI_Win_lock(MPI_LOCK_SHARED, next, 0, win));
    COUNT(MPI_Get_c(got, 1, MPI_INT, next, 0, 1, MPI_INT, win));
    COUNT(MPI_Win_unlock(next, win));
#endif
    if (n_ranks > 1) {
        MPI_Comm_group(MPI_COMM_WORLD, &world);
        MPI_Group_incl(world, 1, rank == 0 ? &next : &zero, &others);
        if (rank == 0) {
            COUNT(MPI_Win_start(others, 0, win));
            COUNT(MPI_Put(&value, 1, MPI_INT, next, 7, 1, MPI_INT, win));
            COUNT(MPI_Win_complete(win));
        } else if (rank == 1) {
            COUNT(MPI_Win_post(others, 0, win));
            COUNT(MPI_Win_wait(win));
        }
        MPI_Group_free(&others);
        MPI_Group_free(&world);
    }
    COUNT(MPI_Win_free(&win));
}

static void messages(void)
{
    int out = rank, in[3] = { 0 }, flag = 0, which, done;
    int next = (rank + 1) % n_ranks, previous = (rank + n_ranks - 1) % n_ranks;
    MPI_Request requests[4];
    MPI_Status statuses[4];
    COUNT(MPI_Sendrecv(&out, 1, MPI_INT, next, 1, in, 1, MPI_INT, previous, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
#if MPI_VERSION >= 4 || OMPI_MAJOR_VERSION >= 5
    COUNT(MPI_Isendrecv(&out, 1, MPI_INT, next, 6, in, 1, MPI_INT, previous, 6, MPI_COMM_WORLD, &requests[0]));
    COUNT(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    COUNT(MPI_Isendrecv_replace(in, 1, MPI_INT, next, 7, previous, 7, MPI_COMM_WORLD, &requests[0]));
    COUNT(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
#endif
    COUNT(MPI_Irecv(in, 1, MPI_INT, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &requests[0]));
    COUNT(MPI_Isend(&out, 1, MPI_INT, next, 2, MPI_COMM_WORLD, &requests[1]));
    COUNT(MPI_Waitall(2, requests, statuses));
    COUNT(MPI_Irecv(in, 1, MPI_INT, previous, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[0]));
    COUNT(MPI_Send(&out, 1, MPI_INT, next, 3, MPI_COMM_WORLD));
    while (!flag)
        COUNT(MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE));
    COUNT(MPI_Recv_init(in, 1, MPI_INT, previous, 4, MPI_COMM_WORLD, &requests[0]));
    COUNT(MPI_Send_init(&out, 1, MPI_INT, next, 4, MPI_COMM_WORLD, &requests[1]));
    for (int k = 0; k < 3; k++) {
        COUNT(MPI_Startall(2, requests));
        COUNT(MPI_Waitany(2, requests, &which, MPI_STATUS_IGNORE));
        for (int left = 1; left > 0; left -= done)
            COUNT(MPI_Waitsome(2, requests, &done, in, MPI_STATUSES_IGNORE));
    }
    COUNT(MPI_Request_free(&requests[0]));
    COUNT(MPI_Request_free(&requests[1]));
    COUNT(MPI_Irecv(in, 1, MPI_INT, previous, 99, MPI_COMM_WORLD, &requests[0]));
    COUNT(MPI_Cancel(&requests[0]));
    COUNT(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    COUNT(MPI_Isend(&out, 1, MPI_INT, next, 5, MPI_COMM_WORLD, &requests[0]));
    COUNT(MPI_Request_get_status(requests[0], &flag, MPI_STATUS_IGNORE));
    COUNT(MPI_Probe(previous, 5, MPI_COMM_WORLD, statuses));
    MPI_Message message;
    COUNT(MPI_Mprobe(previous, 5, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE));
    COUNT(MPI_Mrecv(in, 1, MPI_INT, &message, MPI_STATUS_IGNORE));
    COUNT(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
}

static void collectives(void)
{
    int value = 1, sum, all[64], one = 1, zero = 0;
    MPI_Comm half, copy, later;
    MPI_Request request;
    COUNT(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &half));
    COUNT(MPI_Comm_dup(MPI_COMM_WORLD, &copy));
    COUNT(MPI_Barrier(half));
    COUNT(MPI_Bcast(&value, 1, MPI_INT, 0, copy));
    COUNT(MPI_Reduce(&value, &sum, 1, MPI_INT, MPI_SUM, n_ranks - 1, MPI_COMM_WORLD));
    COUNT(MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, half));
    COUNT(MPI_Allgather(&value, 1, MPI_INT, all, 1, MPI_INT, copy));
    COUNT(MPI_Gather(&value, 1, MPI_INT, all, 1, MPI_INT, 0, copy));
    COUNT(MPI_Ibarrier(copy, &request));
    COUNT(MPI_Wait(&request, MPI_STATUS_IGNORE));
    COUNT(MPI_Ialltoallv(&value, &one, &zero, MPI_INT, all, &one, &zero, MPI_INT, MPI_COMM_SELF, &request));
    COUNT(MPI_Wait(&request, MPI_STATUS_IGNORE));
    COUNT(MPI_Comm_idup(copy, &later, &request));
    COUNT(MPI_Wait(&request, MPI_STATUS_IGNORE));
    COUNT(MPI_Barrier(later));
    COUNT(MPI_Comm_free(&later));
    COUNT(MPI_Comm_free(&half));
    COUNT(MPI_Comm_free(&copy));
}

static MPI_Comm of_thread[2];

/* Stands before that of the library: the first process of a communicator comes late out of it, so that others wait. */
int PMPI_Comm_dup(MPI_Comm comm, MPI_Comm *made)
{
    int (*real)(MPI_Comm, MPI_Comm *), first = 1;
    *(void **)&real = dlsym(RTLD_NEXT, "PMPI_Comm_dup");
    int status = real(comm, made);
    if (comm == of_thread[0] || comm == of_thread[1])
        PMPI_Comm_rank(comm, &first);
    if (first == 0)
        sleep_ms(1);
    return status;
}

/* A thread makes communicators of its own, in an order among the threads that no process shares with another. */
static void *makes_communicators(void *which)
{
    MPI_Comm own = *(MPI_Comm *)which, made;
    for (int k = 0; k < 100; k++) {
        SK_TRACE_ENTER("make");
        MPI_Comm_dup(own, &made);
        MPI_Comm_free(&made);
        SK_TRACE_LEAVE();
    }
    return NULL;
}

static void threads(void)
{
    pthread_t other;
    for (int k = 0; k < 2; k++)
        COUNT(MPI_Comm_split(MPI_COMM_WORLD, 0, k == 0 ? rank : -rank, &of_thread[k])); /* the other one is first */
    if (pthread_create(&other, NULL, makes_communicators, &of_thread[1 - rank % 2]))
        MPI_Abort(MPI_COMM_WORLD, 3);
    makes_communicators(&of_thread[rank % 2]);
    pthread_join(other, NULL);
    calls += 4 * 100;
    for (int k = 0; k < 2; k++)
        COUNT(MPI_Comm_free(&of_thread[k]));
}

static void late(void)
{
    int value = 0;
    MPI_Win win;
    COUNT(MPI_Win_create(&value, sizeof value, sizeof value, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    SK_TRACE_ENTER("work");
    if (rank == 1)
        sleep_ms(30);
    SK_TRACE_LEAVE();
    COUNT(MPI_Barrier(MPI_COMM_WORLD));
    SK_TRACE_ENTER("work");
    if (rank == 1)
        sleep_ms(30);
    SK_TRACE_LEAVE();
    if (rank == 1)
        COUNT(MPI_Send(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD));
    else if (rank == 0)
        COUNT(MPI_Recv(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    COUNT(MPI_Barrier(MPI_COMM_WORLD));
    COUNT(MPI_Win_fence(0, win));
    if (rank == 1)
        sleep_ms(30);
    COUNT(MPI_Win_fence(0, win));
    COUNT(MPI_Win_free(&win));
}

/* All start one process more, and talk with it; it is not recorded, so what it calls is not counted. */
static void spawn(const char *program, MPI_Comm parent)
{
    MPI_Comm other = parent, all;
    int value = 0;
    if (parent == MPI_COMM_NULL)
        COUNT(MPI_Comm_spawn(program, MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &other, MPI_ERRCODES_IGNORE));
    COUNT(MPI_Intercomm_merge(other, parent != MPI_COMM_NULL, &all));
    COUNT(MPI_Bcast(&value, 1, MPI_INT, 0, all));
    COUNT(MPI_Comm_free(&all));
    COUNT(MPI_Comm_disconnect(&other));
}

/* Operations that are prepared once, and begun again and again. */
static void persistent(void)
{
#if MPI_VERSION >= 4
    int from = rank, to = 0;
    MPI_Request requests[2];
    COUNT(MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]));
    COUNT(MPI_Allreduce_init(&from, &to, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]));
    for (int k = 0; k < 2; k++) {
        COUNT(MPI_Startall(2, requests));
        COUNT(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    }
    for (int k = 0; k < 2; k++)
        COUNT(MPI_Request_free(&requests[k]));
    MPI_Comm made;
    COUNT(MPI_Comm_idup_with_info(MPI_COMM_WORLD, MPI_INFO_NULL, &made, &requests[0]));
    COUNT(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    COUNT(MPI_Comm_free(&made));
#endif
#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
    char room[4096];
    void *at;
    int bytes;
    MPI_Buffer_attach(room, sizeof room);
    COUNT(MPI_Buffer_flush());
    COUNT(MPI_Buffer_detach(&at, &bytes));
#endif
}

static void *call_always(void *nothing)
{
    for (int flag = 0;;)
        MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
    return nothing;
}

static void busy(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, call_always, NULL);
    sleep_ms(30);
    MPI_Abort(MPI_COMM_WORLD, 3);
}

static sigjmp_buf back;
static volatile sig_atomic_t rung;

static void go_back(int signal_number)
{
    siglongjmp(back, signal_number);
}

static void ring(int signal_number)
{
    rung = signal_number;
}

/* The program takes signals itself, and its alarms are its own afterwards too. */
static void recover(void)
{
    if (sigsetjmp(back, 1) == 0)
        raise(SIGABRT);
    raise(SIGALRM);
    if (rung != SIGALRM)
        exit(4);
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Process 0 gets from process 1, which sleeps and then calls MPI; prints when either began and ended. */
static void progress(void)
{
    int *memory, got, flag;
    MPI_Win win;
    COUNT(MPI_Win_allocate(64, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win));
    COUNT(MPI_Win_lock_all(0, win));
    for (int k = 0; k < 3; k++) {
        COUNT(MPI_Barrier(MPI_COMM_WORLD));
        sleep_ms(rank == 1 ? 100 : 5);
        double begin = seconds();
        if (rank == 0) {
            COUNT(MPI_Get(&got, 1, MPI_INT, 1, 0, 1, MPI_INT, win));
            COUNT(MPI_Win_flush(1, win));
        } else {
            COUNT(MPI_Iprobe(0, 0, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
        }
        printf("%d %d %.9f %.9f\n", rank, k, begin, seconds());
    }
    COUNT(MPI_Win_unlock_all(win));
    COUNT(MPI_Win_free(&win));
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    int level, is_threaded = strcmp(what, "threads") == 0 || strcmp(what, "busy") == 0;
    if (strcmp(what, "recovers") == 0) {
        signal(SIGABRT, go_back);
        signal(SIGALRM, ring);
    }
    if (is_threaded)
        COUNT(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level));
    else
        COUNT(MPI_Init(&argc, &argv));
    MPI_Comm parent;
    MPI_Comm_get_parent(&parent);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    if (strcmp(what, "delay") == 0 && n_ranks > 1) {
        late();
    } else if (strcmp(what, "full") == 0) {
        calls += full_disk();
    } else if (strcmp(what, "progress") == 0 && n_ranks == 2) {
        progress();
    } else if (is_threaded && what[0] == 'b') {
        busy();
    } else if (is_threaded) {
        threads();
    } else if (strcmp(what, "spawn") == 0 || parent != MPI_COMM_NULL) {
        spawn(argv[0], parent);
    } else {
        one_sided();
        messages();
        collectives();
        persistent();
    }
    COUNT(MPI_Barrier(MPI_COMM_WORLD));
    if (strcmp(what, "fork") == 0) {
        pid_t child = fork();
        if (child == 0) {
            SK_TRACE_ENTER("child");
            SK_TRACE_LEAVE();
            _exit(0);
        }
        waitpid(child, NULL, 0);
    }
    if (strcmp(what, "crash") == 0)
        raise(SIGKILL);
    if (strcmp(what, "recovers") == 0)
        recover();
    for (size_t k = 0; k < sizeof ends / sizeof ends[0]; k++)
        if (strcmp(what, ends[k]) == 0)
            end(what, rank, calls);
    if (parent == MPI_COMM_NULL)
        printf("rank %d made %d calls\n", rank, calls + 1);
    fflush(stdout);
    MPI_Finalize();
    return 0;
}

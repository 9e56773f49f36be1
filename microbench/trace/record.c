#define _GNU_SOURCE
#include "trace/record.h"

#include "trace/define.h"
#include "trace/filter.h"
#include "trace/folder.h"
#include "trace/news.h"
#include "trace/stack.h"
#include "trace/symbols.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool sk_is_recording;
SK_PER_THREAD unsigned sk_depth;
SK_PER_THREAD bool sk_is_nested;

static SK_PER_THREAD uint32_t inner_path; /* call path of the innermost region or call */
static SK_PER_THREAD uint32_t outermost; /* number of the call of a library that this thread is in */
static SK_PER_THREAD bool is_first; /* the thread that began MPI: regions lie in each other, so it alone marks them */
static int own_rank, n_ranks;
static bool is_shared;
static MPI_Comm private_comm;

uint32_t sk_enter(struct sk_call *call, struct sk_trace_place *place, uint32_t function, const void *site)
{
    uint32_t outer = inner_path;
    if (sk_depth > 0) {
        call->number = outermost;
        sk_unlock();
        return outer;
    }
    if (sk_filter_is_on && (call->number = sk_filter_number(function)) != 0) {
        call->path = function; /* it has none */
        call->enter = sk_now();
        sk_unlock();
        return outer;
    }
    if (sk_stack_is_on) {
        call->path = sk_stack_path(outer, function, site);
        place->path = 0; /* another stack may come to the same place */
    } else if (place->site != site || place->parent != outer || place->path == 0) {
        place->path = sk_define_path(outer, function, site);
        place->parent = outer;
        place->site = site;
    }
    call->path = inner_path = sk_stack_is_on ? call->path : place->path;
    call->number = sk_define_number();
    call->enter = sk_now();
    *sk_open_call = (struct sk_open_call){ call->enter, call->path };
    sk_unlock();
    return outer;
}

void sk_leave(const struct sk_call *call, uint32_t outer)
{
    inner_path = outer;
    if (sk_is_recording && sk_depth == 0) {
        if (call->number & SK_LEFT_OUT) {
            sk_filter_left(call->path, call);
        } else {
            if (!sk_filter_is_on || !sk_filter_is_short(sk_define_function_of(call->path), call))
                sk_buffer_call(call);
            sk_open_call->path = 0;
        }
    }
    sk_unlock();
}

void sk_within(uint32_t number)
{
    if (sk_depth++ == 0)
        outermost = number;
}

static void mark(uint32_t path, int way)
{
    if (!is_first)
        return;
    struct sk_mark one = { sk_now(), sk_define_number(), path, way };
    sk_buffer_mark(&one);
}

void sk_trace_enter(const char *region)
{
    if (!sk_is_recording)
        return;
    sk_lock();
    inner_path = sk_define_path(inner_path, sk_define_region(region), NULL);
    mark(inner_path, 1);
    sk_filter_enter(region);
    sk_unlock();
}

void sk_trace_leave(void)
{
    if (!sk_is_recording || inner_path == 0)
        return;
    sk_lock();
    sk_filter_leave();
    mark(inner_path, -1);
    inner_path = sk_define_parent(inner_path);
    sk_unlock();
}

/* Whether all processes read the same clock: they run under the same boot of the same kernel. */
static bool clocks_are_shared(void)
{
#ifdef SK_SIMULATED
    return true;
#else
    char boot[64] = "", first[64], same;
    int file = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    if (file >= 0) {
        if (read(file, boot, sizeof boot - 1) < 0)
            boot[0] = '\0';
        close(file);
    }
    memcpy(first, boot, sizeof boot);
    PMPI_Bcast(first, sizeof first, MPI_CHAR, 0, private_comm);
    same = boot[0] && memcmp(first, boot, sizeof boot) == 0 && !getenv("SCALKIT_TRACE_MEASURE_CLOCKS");
    PMPI_Allreduce(MPI_IN_PLACE, &same, 1, MPI_CHAR, MPI_MIN, private_comm);
    return same != 0;
#endif
}

/* Process 0 asks one process for its time, again and again; the fastest answer tells the offset best. */
static void exchange(int rank, struct sk_sample *sample)
{
    enum { ROUNDS = 40 };
    int64_t best = INT64_MAX, told[2];
    for (int k = 0; k < ROUNDS; k++) {
        if (own_rank == 0) {
            int64_t sent = sk_now(), theirs;
            PMPI_Send(NULL, 0, MPI_CHAR, rank, 0, private_comm);
            PMPI_Recv(&theirs, 1, MPI_INT64_T, rank, 0, private_comm, MPI_STATUS_IGNORE);
            int64_t there_and_back = sk_now() - sent;
            told[0] = there_and_back;
            told[1] = sent + there_and_back / 2;
            PMPI_Send(told, 2, MPI_INT64_T, rank, 0, private_comm);
        } else {
            PMPI_Recv(NULL, 0, MPI_CHAR, 0, 0, private_comm, MPI_STATUS_IGNORE);
            int64_t mine = sk_now();
            PMPI_Send(&mine, 1, MPI_INT64_T, 0, 0, private_comm);
            PMPI_Recv(told, 2, MPI_INT64_T, 0, 0, private_comm, MPI_STATUS_IGNORE);
            if (told[0] < best) {
                best = told[0];
                *sample = (struct sk_sample){ mine, told[1] - mine, told[0] / 2 };
            }
        }
    }
}

static void sample_clock(void)
{
    struct sk_sample sample = { sk_now(), 0, 0 };
    for (int rank = 1; rank < n_ranks && !is_shared; rank++)
        if (own_rank == 0 || own_rank == rank)
            exchange(rank, &sample);
    sk_buffer_sample(&sample);
}

/* A child has the memory and the files of its parent, whose records it must not touch. */
static void leave_child(void)
{
    sk_is_recording = false;
}

void sk_record_begin(int thread_level)
{
    const char *given = getenv("SCALKIT_TRACE_BUFFER");
    long records = given ? atol(given) : 0;
    char fine, folder[4000];
    uint64_t run;
#ifndef SK_SIMULATED
    MPI_Comm parent = MPI_COMM_NULL;
    PMPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) /* spawned: its ranks are those of another world, whose files have these names */
        return;
#endif
    PMPI_Comm_dup(MPI_COMM_WORLD, &private_comm);
    PMPI_Comm_rank(MPI_COMM_WORLD, &own_rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    run = sk_folder_begin(folder, sizeof folder, "trace", private_comm);
    sk_define_begin(own_rank, run, folder);
    fine = sk_buffer_open(folder, own_rank, records > 0 ? (size_t)records : 1 << 16,
                          (struct sk_definitions){ sk_define_next_number, sk_news });
    PMPI_Allreduce(MPI_IN_PLACE, &fine, 1, MPI_CHAR, MPI_MIN, private_comm);
    sk_lock_begin(thread_level == MPI_THREAD_MULTIPLE);
    if (!fine)
        return;
    sk_define_comm(MPI_COMM_WORLD);
    sk_define_comm(MPI_COMM_SELF);
    is_shared = clocks_are_shared();
    sample_clock();
    is_first = true;
    pthread_atfork(NULL, NULL, leave_child);
    sk_is_recording = true;
}

void sk_record_begun(void)
{
    sk_lock();
    sk_filter_begin();
    sk_stack_begin();
    sk_unlock();
}

void sk_record_pause(bool is_paused)
{
    sk_lock();
    sk_filter_pause(is_paused);
    sk_unlock();
}

void sk_record_last(void)
{
    sample_clock();
    sk_lock();
    sk_depth = 0;
    sk_filter_pause(false);
    sk_unlock();
}

void sk_record_end(void)
{
    sk_buffer_close();
    sk_symbols_forget();
    sk_is_recording = false;
}

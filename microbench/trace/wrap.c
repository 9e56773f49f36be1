/* A function for each line of mpi.def, and one with `_c` where there is one: it calls PMPI, and records the call, or,
 * for a profile, counts it. */
#define _GNU_SOURCE
#ifdef SK_PROFILE
#include "trace/profile/calls.h"
#else
#include "trace/record.h"
#endif

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

/* Returns memory of this thread for `n` handles, or statuses, valid until the next call. */
static void *scratch(int which, size_t bytes)
{
    static SK_PER_THREAD struct { void *memory; size_t bytes; } kept[4];
    if (kept[which].bytes < bytes || !kept[which].memory) {
        free(kept[which].memory);
        kept[which].bytes = 2 * bytes + 64;
        kept[which].memory = malloc(kept[which].bytes);
        if (!kept[which].memory)
            abort();
    }
    return kept[which].memory;
}

#ifdef SK_PROFILE
#include "trace/profile/words.h"
#else
#include "trace/words.h"
#endif

/* The function has another name in C, so that headers that differ in a `const` have nothing to object to. */
#define WRAP(name, parameters, arguments, before, after) \
    EXPORT int wrap_##name parameters __asm__("MPI_" #name); \
    EXPORT int wrap_##name parameters \
    { \
        static struct sk_trace_place place; \
        struct sk_call call = SK_NO_CALL; \
        if (!sk_is_recording || sk_is_nested) \
            return PMPI_##name arguments; \
        sk_lock(); \
        before \
        uint32_t outer = sk_enter(&call, &place, SK_F_##name, __builtin_return_address(0)); \
        int status = PMPI_##name arguments; \
        call.leave = sk_record_now(); \
        sk_lock(); \
        if (status == MPI_SUCCESS) { \
            after \
        } \
        sk_leave(&call, outer); \
        return status; \
    }

#include "trace/wrapped.def"

/* Init and Finalize: the recorder begins in the one and ends in the other. */

static int began(int status, struct sk_call *call, uint32_t function, int level)
{
    static struct sk_trace_place place;
    if (status == MPI_SUCCESS) {
        int64_t enter = call->enter;
        sk_record_begin(level);
        if (!sk_is_recording)
            return status;
        sk_lock();
        uint32_t outer = sk_enter(call, &place, function, NULL);
        call->enter = enter;
        ON_WORLD(call)
        call->leave = sk_record_now();
        sk_lock();
        sk_leave(call, outer);
        sk_record_begun();
    }
    return status;
}

EXPORT int MPI_Init(int *argc, char ***argv)
{
    if (sk_is_nested)
        return PMPI_Init(argc, argv);
    struct sk_call call = SK_NO_CALL;
    call.enter = sk_record_now();
    return began(PMPI_Init(argc, argv), &call, SK_F_Init, MPI_THREAD_SINGLE);
}

EXPORT int MPI_Init_thread(int *argc, char ***argv, int wanted, int *provided)
{
    if (sk_is_nested)
        return PMPI_Init_thread(argc, argv, wanted, provided);
    struct sk_call call = SK_NO_CALL;
    call.enter = sk_record_now();
    int status = PMPI_Init_thread(argc, argv, wanted, provided);
    return began(status, &call, SK_F_Init_thread, *provided);
}

/* Finalizes MPI by a function of Fortran, or by that of C. */
static int finalize(void (*fortran)(MPI_Fint *))
{
    static struct sk_trace_place place;
    struct sk_call call = SK_NO_CALL;
    MPI_Fint status = MPI_SUCCESS;
    sk_record_last(); /* also within a call of a library, which cannot be recorded to its end */
    sk_lock();
    ON_WORLD(&call)
    uint32_t outer = sk_enter(&call, &place, SK_F_Finalize, NULL);
    sk_is_nested = true;
    if (fortran)
        fortran(&status);
    else
        status = PMPI_Finalize();
    sk_is_nested = false;
    call.leave = sk_record_now();
    sk_lock();
    sk_leave(&call, outer);
    sk_record_end();
    return status;
}

EXPORT int MPI_Finalize(void)
{
    return !sk_is_recording || sk_is_nested ? PMPI_Finalize() : finalize(NULL);
}

#ifndef SK_SIMULATED
EXPORT int MPI_Pcontrol(const int level, ...)
{
    if (sk_is_recording)
        sk_record_pause(level == 0);
    return PMPI_Pcontrol(level);
}

#include "trace/fortran.h"
#endif

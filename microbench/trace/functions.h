/* The functions that are recorded: their numbers and their names. */
#ifndef SK_TRACE_FUNCTIONS_H
#define SK_TRACE_FUNCTIONS_H

#include <mpi.h>

#if MPI_VERSION >= 4
#define SK_LARGE_COUNTS
#endif

enum sk_function {
#define SK_CALL(name, parameters, arguments, before, after) SK_F_##name,
#define SK_ONLY SK_CALL
#include "trace/mpi.def"
#undef SK_ONLY
#undef SK_CALL
#ifdef SK_LARGE_COUNTS
#define SK_CALL(name, parameters, arguments, before, after) SK_F_##name##_c,
#define SK_ONLY(name, parameters, arguments, before, after)
#include "trace/mpi.def"
#undef SK_ONLY
#undef SK_CALL
#endif
    SK_F_Init,
    SK_F_Init_thread,
    SK_F_Finalize,
    SK_N_FUNCTIONS
};

extern const char *const sk_function_names[SK_N_FUNCTIONS];

#endif

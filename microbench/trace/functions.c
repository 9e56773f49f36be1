#include "trace/functions.h"

const char *const sk_function_names[SK_N_FUNCTIONS] = {
#define SK_CALL(name, parameters, arguments, before, after) "MPI_" #name,
#define SK_ONLY SK_CALL
#include "trace/mpi.def"
#undef SK_ONLY
#undef SK_CALL
#ifdef SK_LARGE_COUNTS
#define SK_CALL(name, parameters, arguments, before, after) "MPI_" #name "_c",
#define SK_ONLY(name, parameters, arguments, before, after)
#include "trace/mpi.def"
#undef SK_ONLY
#undef SK_CALL
#endif
    "MPI_Init",
    "MPI_Init_thread",
    "MPI_Finalize",
};

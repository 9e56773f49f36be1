/* The functions of Fortran: fortran.awk makes one of each line of mpi.def, under each of its names. It calls that of
 * the library, which may call those of C, by either name; what it calls is part of it. wrap.c includes this. */
#include <dlfcn.h>

static void no_fortran(const char *name)
{
    fprintf(stderr, "scalkit trace: the program calls %s, and its MPI library has no such function.\n", name);
    abort();
}

#define FIND(real, name) \
    if (!real && !(*(void **)&real = dlsym(RTLD_NEXT, name))) \
        no_fortran(name);
#define TO_C(convert, many, to, from) \
    for (int k_ = 0; k_ < (many); k_++) \
        (to)[k_] = convert(((const MPI_Fint *)(from))[k_]);

/* Whether an address is one that says that no status is wanted; each way to use MPI may have one of its own. MPICH
 * fills its variables in the first call of Fortran, which comes late where C began MPI. */
static bool is_ignored(const void *status)
{
    static const char *const variables[] = { "MPI_F_STATUS_IGNORE", "MPI_F_STATUSES_IGNORE", "MPI_F08_STATUS_IGNORE",
                                             "MPI_F08_STATUSES_IGNORE" };
    static const char *const symbols[] = { "mpi_fortran_status_ignore", "mpi_fortran_statuses_ignore",
                                           "mpi_fortran_status_ignore_", "mpi_fortran_statuses_ignore_" };
    enum { N = 4 };
    static void *const *places[N];
    static const void *known[N];
    static bool is_known;
    if (!is_known) {
        MPI_Fint flag, error;
        void (*asked)(MPI_Fint *, MPI_Fint *);
        if ((*(void **)&asked = dlsym(RTLD_NEXT, "mpi_initialized_")))
            asked(&flag, &error);
    }
    for (int k = 0; k < N && !is_known; k++) {
        places[k] = dlsym(RTLD_DEFAULT, variables[k]);
        known[k] = dlsym(RTLD_DEFAULT, symbols[k]);
    }
    is_known = true;
    for (int k = 0; k < N; k++)
        /* A place is NULL where the library was built without Fortran. */
        if ((places[k] && status == *places[k]) || status == known[k])
            return true;
    return false;
}

/* Fortran counts from 1, but mpi_f08 of MPICH 4.0 from 0. The status of Fortran has the layout of that of C wherever an
 * INTEGER is an int. */
static int *from_zero(const MPI_Fint *which, int n)
{
    int *found = scratch(3, sizeof *found * (size_t)(n > 0 ? n : 1));
    for (int k = 0; k < n; k++)
        found[k] = which[k] > 0 ? which[k] - 1 : which[k];
    return found;
}

/* MPI_IN_PLACE is another address in Fortran; what it goes with says nothing. */
#undef SIZE_OF
#define SIZE_OF(data, n, type, m, other) \
    if ((n) > 0 && type != MPI_DATATYPE_NULL) { SIZE(n, type) } else { SIZE(m, other) }
#ifndef SK_PROFILE
#undef OWN_STATUS
#undef OWN_STATUSES
#define OWN_STATUS MPI_Status own_status; if (is_ignored(told)) told = &own_status;
#define OWN_STATUSES(n) if (is_ignored(told)) told = scratch(1, sizeof *told * (size_t)((n) > 0 ? (n) : 1));
#endif

#include "fortran.inc"

/* Begin and end, and none of these names has a descriptor of an array. */
#define FORTRAN_INIT(symbol) \
    EXPORT void symbol(MPI_Fint *error); \
    EXPORT void symbol(MPI_Fint *error) \
    { \
        static void (*real)(MPI_Fint *); \
        struct sk_call call = SK_NO_CALL; \
        MPI_Fint status = MPI_SUCCESS; \
        FIND(real, #symbol) \
        call.enter = sk_record_now(); \
        sk_is_nested = true; \
        real(&status); \
        sk_is_nested = false; \
        began(status, &call, SK_F_Init, MPI_THREAD_SINGLE); \
        if (error) \
            *error = status; \
    }
#define FORTRAN_INIT_THREAD(symbol) \
    EXPORT void symbol(MPI_Fint *wanted, MPI_Fint *provided, MPI_Fint *error); \
    EXPORT void symbol(MPI_Fint *wanted, MPI_Fint *provided, MPI_Fint *error) \
    { \
        static void (*real)(MPI_Fint *, MPI_Fint *, MPI_Fint *); \
        struct sk_call call = SK_NO_CALL; \
        MPI_Fint status = MPI_SUCCESS; \
        FIND(real, #symbol) \
        call.enter = sk_record_now(); \
        sk_is_nested = true; \
        real(wanted, provided, &status); \
        sk_is_nested = false; \
        began(status, &call, SK_F_Init_thread, *provided); \
        if (error) \
            *error = status; \
    }
#define FORTRAN_FINALIZE(symbol) \
    EXPORT void symbol(MPI_Fint *error); \
    EXPORT void symbol(MPI_Fint *error) \
    { \
        static void (*real)(MPI_Fint *); \
        MPI_Fint status = MPI_SUCCESS; \
        FIND(real, #symbol) \
        if (sk_is_recording && !sk_is_nested) \
            status = finalize(real); \
        else \
            real(&status); \
        if (error) \
            *error = status; \
    }
FORTRAN_INIT(mpi_init_)
FORTRAN_INIT(mpi_init_f08_)
FORTRAN_INIT_THREAD(mpi_init_thread_)
FORTRAN_INIT_THREAD(mpi_init_thread_f08_)
FORTRAN_FINALIZE(mpi_finalize_)
FORTRAN_FINALIZE(mpi_finalize_f08_)

#define FORTRAN_PCONTROL(symbol) \
    EXPORT void symbol(MPI_Fint *level); \
    EXPORT void symbol(MPI_Fint *level) \
    { \
        MPI_Pcontrol(*level); \
    }
FORTRAN_PCONTROL(mpi_pcontrol_)
FORTRAN_PCONTROL(mpi_pcontrol_f08_)

/* Which calls of MPI 4 the library's header declares: Open MPI 5 has these although it calls itself MPI 3.1. */
#ifndef SK_OPS_MPI4_H
#define SK_OPS_MPI4_H

#include <mpi.h>

#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
#define SK_HAS_MPI_4 1 /* persistent collectives and partitioned messages */
#else
#define SK_HAS_MPI_4 0
#endif

#endif

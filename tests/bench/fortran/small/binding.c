/* What compilers of Fortran call, for a library without it. It calls C by the name that PREFIX says: MPI_ as MPICH does,
 * PMPI_ as Open MPI does. */
#include <mpi.h>
#include <stddef.h>

#define JOIN_(prefix, name) prefix##name
#define JOIN(prefix, name) JOIN_(prefix, name)
#define C(name) JOIN(PREFIX, name)

/* Handles of sums.f90. */
static MPI_Comm comm_of(const MPI_Fint *comm)
{
    return *comm == 1 ? MPI_COMM_WORLD : MPI_COMM_NULL;
}

void mpi_init_(MPI_Fint *e)
{
    *e = C(Init)(NULL, NULL);
}

void mpi_finalize_(MPI_Fint *e)
{
    *e = C(Finalize)();
}

void mpi_comm_rank_(const MPI_Fint *comm, MPI_Fint *rank, MPI_Fint *e)
{
    *e = C(Comm_rank)(comm_of(comm), rank);
}

void mpi_allreduce_(
    const double *from, double *to, const MPI_Fint *n, const MPI_Fint *type, const MPI_Fint *op, const MPI_Fint *comm,
    MPI_Fint *e)
{
    MPI_Op sum = *op == 1 ? MPI_SUM : MPI_OP_NULL;
    *e = C(Allreduce)(from, to, *n, *type == 1 ? MPI_DOUBLE : MPI_DATATYPE_NULL, sum, comm_of(comm));
}

/* Functions as compilers of Fortran call them, and, without LIBRARY, a program that calls them. They call C by the
 * name that
 * LIBRARY says: MPI_ as MPICH does, PMPI_ as Open MPI does. Each call of the program is to be recorded once, from its
 * place. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

typedef MPI_Fint F;

#ifdef LIBRARY
#define NAMED_(prefix, name) prefix##name
#define NAMED(prefix, name) NAMED_(prefix, name)
#define C(name) NAMED(LIBRARY, name)
#define OUT(ierror, call) int status_ = (call); if (ierror) *(ierror) = status_;

static MPI_Status *status_of(F *status)
{
    return status == MPI_F_STATUS_IGNORE ? MPI_STATUS_IGNORE : (MPI_Status *)status;
}

void mpi_init_(F *e) { OUT(e, C(Init)(NULL, NULL)) }
void mpi_finalize_(F *e) { OUT(e, C(Finalize)()) }
void mpi_recv_(void *to, F *n, F *type, F *peer, F *tag, F *comm, F *status, F *e)
{
    OUT(e, C(Recv)(to, *n, PMPI_Type_f2c(*type), *peer, *tag, PMPI_Comm_f2c(*comm), status_of(status)))
}
void mpi_isend_f08ts_(void *from, F *n, F *type, F *peer, F *tag, F *comm, F *request, F *e)
{
    MPI_Request made;
    OUT(e, C(Isend)(from, *n, PMPI_Type_f2c(*type), *peer, *tag, PMPI_Comm_f2c(*comm), &made))
    *request = PMPI_Request_c2f(made);
}
void mpi_waitany_f08_(F *n, F *requests, F *which, F *status, F *e)
{
    MPI_Request one = PMPI_Request_f2c(*requests);
    OUT(e, C(Waitany)(*n, &one, which, status_of(status)))
    *requests = PMPI_Request_c2f(one);
    *which += 1;
}
void mpi_comm_dup_(F *comm, F *made, F *e)
{
    MPI_Comm one;
    OUT(e, C(Comm_dup)(PMPI_Comm_f2c(*comm), &one))
    *made = PMPI_Comm_c2f(one);
}
void mpi_barrier_(F *comm, F *e) { OUT(e, C(Barrier)(PMPI_Comm_f2c(*comm))) }

#else

void mpi_init_(F *), mpi_finalize_(F *), mpi_recv_(void *, F *, F *, F *, F *, F *, F *, F *);
void mpi_isend_f08ts_(void *, F *, F *, F *, F *, F *, F *, F *), mpi_waitany_f08_(F *, F *, F *, F *, F *);
void mpi_comm_dup_(F *, F *, F *), mpi_barrier_(F *, F *);

int main(void)
{
    F error, rank, size, made, request, which = 0, n = 3, one = 1, tag = 5, value[3] = { 1, 2, 3 }, got[3] = { 0 };
    F type = 0, any = MPI_ANY_SOURCE;
    mpi_init_(&error);
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &size);
    F world = PMPI_Comm_c2f(MPI_COMM_WORLD), to = (rank + 1) % size;
    type = PMPI_Type_c2f(MPI_INT);
    mpi_comm_dup_(&world, &made, &error);
    mpi_isend_f08ts_(value, &n, &type, &to, &tag, &made, &request, NULL); /* mpi_f08 may leave the error out */
    mpi_recv_(got, &n, &type, &any, &tag, &made, MPI_F_STATUS_IGNORE, &error);
    mpi_waitany_f08_(&one, &request, &which, MPI_F_STATUS_IGNORE, NULL);
    mpi_barrier_(&made, &error);
    if (got[2] != 3 || which != 1)
        abort();
    printf("rank %d made 7 calls\n", rank);
    mpi_finalize_(&error);
    return 0;
}

#endif

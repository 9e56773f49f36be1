! Two sums of the ranks, the second one in a region: by mpif.h, or by the module that MPI names.
program sums
#ifdef MPI
  use MPI
#endif
  use scalkit_region
  implicit none
#ifndef MPI
  include 'mpif.h'
#endif
  integer :: e, rank
  double precision :: x, total
  call MPI_Init(e)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, e)
  x = rank
  call MPI_Allreduce(x, total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, e)
  call sk_region_begin("sum")
  call MPI_Allreduce(total, x, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, e)
  call sk_region_end("sum")
  if (rank == 0) print *, x
  call MPI_Finalize(e)
end program

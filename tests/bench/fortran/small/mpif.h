! The handles that binding.c knows.
      integer, parameter :: MPI_COMM_WORLD = 1, MPI_DOUBLE_PRECISION = 1, MPI_SUM = 1
      external :: MPI_Init, MPI_Finalize, MPI_Comm_rank, MPI_Allreduce

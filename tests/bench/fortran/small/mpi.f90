! The modules of MPI for a library without them: what sums.f90 uses, above binding.c.
module mpi
  implicit none
  include 'mpif.h'
end module

module mpi_f08
  implicit none
  private
  public :: MPI_Comm, MPI_Datatype, MPI_Op, MPI_COMM_WORLD, MPI_DOUBLE_PRECISION, MPI_SUM
  public :: MPI_Init, MPI_Finalize, MPI_Comm_rank, MPI_Allreduce
  type, bind(C) :: MPI_Comm
    integer :: MPI_VAL
  end type
  type, bind(C) :: MPI_Datatype
    integer :: MPI_VAL
  end type
  type, bind(C) :: MPI_Op
    integer :: MPI_VAL
  end type
  type(MPI_Comm), parameter :: MPI_COMM_WORLD = MPI_Comm(1)
  type(MPI_Datatype), parameter :: MPI_DOUBLE_PRECISION = MPI_Datatype(1)
  type(MPI_Op), parameter :: MPI_SUM = MPI_Op(1)
  interface
    subroutine MPI_Init(ierror) bind(C, name="mpi_init_")
      integer, intent(out) :: ierror
    end subroutine
    subroutine MPI_Finalize(ierror) bind(C, name="mpi_finalize_")
      integer, intent(out) :: ierror
    end subroutine
    subroutine MPI_Comm_rank(comm, rank, ierror) bind(C, name="mpi_comm_rank_")
      import :: MPI_Comm
      type(MPI_Comm), intent(in) :: comm
      integer, intent(out) :: rank, ierror
    end subroutine
    subroutine MPI_Allreduce(from, to, n, datatype, op, comm, ierror) bind(C, name="mpi_allreduce_")
      import :: MPI_Comm, MPI_Datatype, MPI_Op
      type(*), intent(in) :: from
      type(*) :: to
      integer, intent(in) :: n
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Op), intent(in) :: op
      type(MPI_Comm), intent(in) :: comm
      integer, intent(out) :: ierror
    end subroutine
  end interface
end module

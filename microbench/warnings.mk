# Included with SOURCE and MPICC set: what the compiler is to warn of, and in WITH_MPICH whether the library is called libmpich,
# as Debian's MPICH 4.0 is. Of its declaration of MPI_Waitall gcc takes MPI_STATUSES_IGNORE for an array without room.

WITH_MPICH := $(findstring -lmpich,$(shell $(MPICC) -show 2>/dev/null))
WARNINGS   := -Wall -Wextra -Wpedantic -Wshadow $(if $(WITH_MPICH),-Wno-stringop-overflow)

/* C = A B through GA_Dgemm of Global Arrays, checked; prints the time of one multiplication.
 *
 * With Debian's packages libglobalarrays-dev, libarmci-mpi-dev and libopenblas0-serial, and an MPI library of MPICH's
 * ABI; libskarmci.a tells a recorder of the calls of ARMCI:
 *
 *     L=/usr/lib/x86_64-linux-gnu
 *     make -C microbench/trace armci MPICC=mpicc BUILD=/tmp/rec
 *     mpicc -O2 benchmarks/srumma_global_arrays.c -o ga_dgemm $L/libga-mpich.a /tmp/rec/libskarmci.a \
 *         $L/libarmci-mpich.a $L/openblas-serial/libopenblas.so.0 -Wl,-rpath,$L/openblas-serial \
 *         -l:libgfortran.so.5 -lm
 *     scalkit trace run --record-only --dir runs/ga -- mpiexec -n 4 ./ga_dgemm 512 3
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "ga.h"
#include "macdecls.h"

/* Global Arrays asks for ScaLAPACK, which nothing here calls. */
#define NEVER(name) _Noreturn void name(void); _Noreturn void name(void) { abort(); }
NEVER(numroc_) NEVER(descinit_) NEVER(indxg2p_) NEVER(iceil_)
NEVER(blacs_gridinit_) NEVER(blacs_gridinfo_) NEVER(blacs_gridexit_)
NEVER(pdlamch_) NEVER(pdpotrf_) NEVER(pdpotri_) NEVER(pdpotrs_) NEVER(pdgetrf_) NEVER(pdgetrs_)
NEVER(pdsyev_) NEVER(pdsyevd_) NEVER(pdsyevr_) NEVER(pdsyevx_) NEVER(pdsygvx_) NEVER(pzheevd_) NEVER(pzheevr_)

static int new_array(int n, double value)
{
    int sizes[2] = { n, n }, chunks[2] = { -1, -1 };
    int array = NGA_Create(C_DBL, 2, sizes, "array", chunks);
    GA_Fill(array, &value);
    return array;
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 512, repeat = argc > 2 ? atoi(argv[2]) : 3;
    MPI_Init(&argc, &argv);
    GA_Initialize();
    MA_init(C_DBL, 1 << 20, 1 << 20);
    int a = new_array(n, 1), b = new_array(n, 2), c = new_array(n, 0), at[2] = { n - 1, n / 2 }, ld = 1;
    GA_Sync();
    double begin = MPI_Wtime(), value;
    for (int k = 0; k < repeat; k++)
        GA_Dgemm('n', 'n', n, n, n, 1.0, a, b, 0.0, c);
    GA_Sync();
    double each = (MPI_Wtime() - begin) / repeat;
    NGA_Get(c, at, at, &value, &ld);
    if (GA_Nodeid() == 0)
        printf("n %d, %d processes: %.1f ms each, element %g, expected %g\n", n, GA_Nnodes(), 1e3 * each, value,
               2.0 * n);
    GA_Terminate();
    MPI_Finalize();
    return value != 2.0 * n;
}

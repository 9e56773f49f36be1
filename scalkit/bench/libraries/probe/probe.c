/* Says which MPI library it was linked with (probe library), or how many processes share its world (probe world).
 * The first works without a launcher: MPI_Get_library_version may be called before MPI_Init. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static int print_library(void)
{
    char text[MPI_MAX_LIBRARY_VERSION_STRING + 1] = "";
    int length = 0, version = 0, subversion = 0;
    if (MPI_Get_library_version(text, &length) != MPI_SUCCESS || MPI_Get_version(&version, &subversion) != MPI_SUCCESS)
        return 1;
    printf("standard %d.%d\nlibrary %s\n", version, subversion, text);
    return 0;
}

static int print_world(int argc, char **argv)
{
    int rank = 0, size = 0, sum = 0;
    if (MPI_Init(&argc, &argv) != MPI_SUCCESS)
        return 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int one = 1;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("world %d\n", sum == size ? size : -1);
    fflush(stdout);
    MPI_Finalize();
    return 0;
}

int main(int argc, char **argv)
{
    return argc > 1 && strcmp(argv[1], "library") == 0 ? print_library() : print_world(argc, argv);
}

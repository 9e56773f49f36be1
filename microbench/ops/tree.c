#include "ops/tree.h"

enum { TAG = 73 };

/* Process r hears from (r - 1) / 2 and tells 2 r + 1 and 2 r + 2. */
int sk_tree_bcast(void *buffer, int count, MPI_Datatype type, MPI_Comm comm, int rank, int size)
{
    int status = MPI_SUCCESS;
    if (rank > 0)
        status = MPI_Recv(buffer, count, type, (rank - 1) / 2, TAG, comm, MPI_STATUS_IGNORE);
    for (int child = 1; child <= 2 && status == MPI_SUCCESS; child++)
        if (rank <= (size - 1 - child) / 2 && 2 * rank + child < size)
            status = MPI_Send(buffer, count, type, 2 * rank + child, TAG, comm);
    return status;
}

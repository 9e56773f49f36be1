/* Messages of blocks that do not lie side by side: a vector type. */
#include "base/check.h"
#include "p2p/kinds.h"

void sk_strided_open(struct sk_pair *pair, int64_t stride)
{
    int blocks = pair->count / SK_STRIDED_BYTES;
    pair->width = SK_STRIDED_BYTES;
    pair->step = (size_t)SK_STRIDED_BYTES * (size_t)(stride > 0 ? stride : 1);
    pair->blocks = (size_t)blocks;
    if (stride == 0) {
        pair->type = MPI_DOUBLE;
        pair->count = blocks;
        return;
    }
    SK_MPI(MPI_Type_vector(blocks, 1, (int)stride, MPI_DOUBLE, &pair->type));
    SK_MPI(MPI_Type_commit(&pair->type));
    pair->count = 1;
}

void sk_strided_close(struct sk_pair *pair)
{
    if (pair->type != MPI_DOUBLE)
        SK_MPI(MPI_Type_free(&pair->type));
}

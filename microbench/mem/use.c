#include "mem/use.h"

#include "base/check.h"
#include "catalogue/ops.h"

static void message_to_everyone(const struct sk_world *world)
{
    for (int distance = 0; distance < world->size; distance++) {
        int to = (world->rank + distance) % world->size;
        int from = (world->rank - distance + world->size) % world->size;
        double out = world->rank, in = -1;
        SK_MPI(MPI_Sendrecv(&out, 1, MPI_DOUBLE, to, 0, &in, 1, MPI_DOUBLE, from, 0, MPI_COMM_WORLD,
                            MPI_STATUS_IGNORE));
    }
}

void sk_use_everything(const struct sk_world *world)
{
    struct sk_operands operands = sk_operands_new(MPI_COMM_WORLD, SK_BYTE, 8,
                                                  (struct sk_blocks){world->size, world->size});
    for (int i = 0; i < SK_OPS; i++)
        if (sk_ops[i].group == SK_PAPER)
            SK_MPI(sk_ops[i].call(&operands));
    message_to_everyone(world);
    SK_MPI(PMPI_Barrier(world->harness));
    sk_operands_free(&operands);
}

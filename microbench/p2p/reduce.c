/* What adding up a byte takes, without any message: MPI_Reduce_local, on both processes at once as in a reduction. */
#include "p2p/kinds.h"

#include "base/check.h"
#include "time/clock.h"

#include <string.h>

/* The buffers hold zeros: sums of anything else would grow without end. */
void sk_reduce_open(struct sk_pair *pair, int64_t element)
{
    size_t bytes = (size_t)pair->count;
    if (bytes > 0) {
        memset(pair->out, 0, bytes);
        memset(pair->in, 0, bytes);
    }
    pair->blocks = 0;
    pair->type = element == 1 ? MPI_UINT8_T : MPI_DOUBLE;
    pair->count = (int)(bytes / (size_t)element);
}

struct sk_trip sk_reduce(const struct sk_pair *pair)
{
    int64_t begin = sk_clock_now();
    SK_MPI(MPI_Reduce_local(pair->out, pair->in, pair->count, pair->type, MPI_SUM));
    return (struct sk_trip){.t_ns = sk_clock_now() - begin};
}

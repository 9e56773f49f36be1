/* What packing scattered data takes, and unpacking them again, without any message: MPI_Pack and MPI_Unpack, on both
 * processes at once. Collective operations pack so; messages of scattered data may take longer, or less. */
#include "base/check.h"
#include "p2p/kinds.h"
#include "time/clock.h"

struct sk_trip sk_pack(const struct sk_pair *pair)
{
    int size = (int)(pair->blocks * pair->width), packed = 0, unpacked = 0;
    int64_t begin = sk_clock_now();
    SK_MPI(MPI_Pack(pair->out, pair->count, pair->type, pair->in, size, &packed, MPI_COMM_WORLD));
    SK_MPI(MPI_Unpack(pair->in, size, &unpacked, pair->out, pair->count, pair->type, MPI_COMM_WORLD));
    return (struct sk_trip){.t_ns = sk_clock_now() - begin};
}

#include "p2p/pair.h"

#include "base/check.h"
#include "time/clock.h"

#include <string.h>

void sk_pair_send(const struct sk_pair *pair)
{
    SK_MPI(MPI_Send(pair->out, pair->count, pair->type, pair->other, SK_TAG, MPI_COMM_WORLD));
}

void sk_pair_receive(const struct sk_pair *pair)
{
    SK_MPI(MPI_Recv(pair->in, pair->count, pair->type, pair->other, SK_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

void sk_pair_nod(const struct sk_pair *pair)
{
    SK_MPI(PMPI_Send(NULL, 0, MPI_BYTE, pair->other, SK_TAG_READY, MPI_COMM_WORLD));
}

void sk_pair_await_nod(const struct sk_pair *pair)
{
    SK_MPI(PMPI_Recv(NULL, 0, MPI_BYTE, pair->other, SK_TAG_READY, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

int64_t sk_pair_wait(int64_t ns)
{
    int64_t begin = sk_clock_now(), now = begin;
    if (sk_clock_is_virtual()) {
        sk_clock_sleep(ns);
        now = sk_clock_now();
    }
    while (now - begin < ns && !sk_clock_is_virtual())
        now = sk_clock_now();
    return now - begin;
}

static char expected(size_t i, bool from_leader)
{
    return (char)(i * 31 + i / 251 + (from_leader ? 7 : 101));
}

static size_t extent(const struct sk_pair *pair)
{
    return pair->blocks > 0 ? (pair->blocks - 1) * pair->step + pair->width : 0;
}

void sk_pair_fill(const struct sk_pair *pair)
{
    size_t bytes = extent(pair);
    for (size_t i = 0; i < bytes; i++)
        pair->out[i] = expected(i, pair->leads);
    if (bytes > 0)
        memset(pair->in, 0, bytes);
}

bool sk_pair_check(const struct sk_pair *pair)
{
    for (size_t block = 0; block < pair->blocks; block++)
        for (size_t i = block * pair->step; i < block * pair->step + pair->width; i++)
            if (pair->in[i] != expected(i, !pair->leads))
                return false;
    return true;
}

#include "p2p/kinds.h"

#include "base/check.h"

#include <limits.h>

const struct sk_p2p sk_p2p_kinds[SK_P2P_KINDS] = {
#define SK_P2P(id, name, detail, flow, open, trip, close) {name, detail, flow, open, trip, close},
#include "p2p/kinds.def"
#undef SK_P2P
};

const char *const sk_p2p_names[SK_P2P_KINDS] = {
#define SK_P2P(id, name, detail, flow, open, trip, close) name,
#include "p2p/kinds.def"
#undef SK_P2P
};

int64_t sk_p2p_extent(enum sk_p2p_kind kind, int64_t size, int64_t detail, int p)
{
    int64_t bytes = size;
    bool makes_sense = size >= 0 && size <= SK_MOST_BYTES && detail >= 0;
    if (makes_sense && (kind == SK_P2P_STRIDED || kind == SK_P2P_PACK)) {
        makes_sense = size % SK_STRIDED_BYTES == 0 && detail <= SK_MOST_BYTES && (detail > 0 || kind != SK_P2P_PACK);
        bytes = detail > 1 && size > 0 ? (size / SK_STRIDED_BYTES - 1) * SK_STRIDED_BYTES * detail + SK_STRIDED_BYTES
                                       : size;
    }
    if (kind == SK_P2P_REDUCE)
        makes_sense = makes_sense && (detail == 1 || detail == 8) && size % detail == 0;
    if (kind == SK_P2P_QUEUED)
        makes_sense = makes_sense && detail <= SK_MOST_QUEUED;
    if (kind == SK_P2P_MATCHING)
        makes_sense = makes_sense && p % 2 == 0;
    return makes_sense && bytes <= SK_MOST_BYTES ? bytes : -1;
}

void sk_p2p_open(enum sk_p2p_kind kind, struct sk_pair *pair, int64_t size, int64_t detail)
{
    SK_ASSERT(size <= INT_MAX);
    pair->type = MPI_BYTE;
    pair->count = (int)size;
    pair->width = pair->step = 1;
    pair->blocks = (size_t)size;
    if (sk_p2p_kinds[kind].open)
        sk_p2p_kinds[kind].open(pair, detail);
}

void sk_p2p_close(enum sk_p2p_kind kind, struct sk_pair *pair)
{
    if (sk_p2p_kinds[kind].close)
        sk_p2p_kinds[kind].close(pair);
}

int64_t sk_p2p_usual(const struct sk_pair *pair, struct sk_trip (*trip)(const struct sk_pair *pair))
{
    enum { TRIPS = 5 };
    int64_t least = INT64_MAX;
    for (int i = 0; i < TRIPS; i++) {
        int64_t t_ns = trip(pair).t_ns;
        least = t_ns < least ? t_ns : least;
    }
    return pair->leads ? least : 0;
}

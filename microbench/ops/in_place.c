#include "ops/in_place.h"

#include "ops/data.h"

/* Only the root of a rooted operation gives in place. */
static const void *own(const struct sk_operands *x)
{
    return x->rank == 0 ? MPI_IN_PLACE : x->send;
}

#define SK_IN_PLACE_CALL(stem, call)                                                                                   \
    int sk_in_place_##stem(const void *operands)                                                                       \
    {                                                                                                                  \
        const struct sk_operands *x = operands;                                                                        \
        return call;                                                                                                   \
    }
#include "ops/in_place.def"
#undef SK_IN_PLACE_CALL

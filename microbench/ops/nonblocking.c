#include "ops/nonblocking.h"

#include "ops/data.h"
#include "ops/work.h"

#define SK_NONBLOCKING(stem, call)                                                                                     \
    static int start_##stem(const struct sk_operands *x, MPI_Request *request)                                         \
    {                                                                                                                  \
        return call;                                                                                                   \
    }                                                                                                                  \
                                                                                                                       \
    int sk_##stem(const void *operands)                                                                                \
    {                                                                                                                  \
        MPI_Request request = MPI_REQUEST_NULL;                                                                        \
        int status = start_##stem(operands, &request);                                                                 \
        return status == MPI_SUCCESS ? MPI_Wait(&request, MPI_STATUS_IGNORE) : status;                                 \
    }                                                                                                                  \
                                                                                                                       \
    int sk_##stem##_overlap(const void *operands)                                                                      \
    {                                                                                                                  \
        MPI_Request request = MPI_REQUEST_NULL;                                                                        \
        const struct sk_operands *x = operands;                                                                        \
        int status = start_##stem(x, &request);                                                                        \
        sk_work(x->work);                                                                                              \
        return status == MPI_SUCCESS ? MPI_Wait(&request, MPI_STATUS_IGNORE) : status;                                 \
    }
#include "ops/nonblocking.def"
#undef SK_NONBLOCKING

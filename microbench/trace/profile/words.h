/* What the words of mpi.def do where calls are only counted: they find the bytes that a call gives away or asks for. */
#include "trace/types.h"

static inline int64_t bytes_of(int64_t n, MPI_Datatype type)
{
    uint32_t layout;
    return sk_types_bytes(n, type, &layout);
}

#define NONE
#define ON_WIN(win, rank)
#define ON_COMM(comm, rank)
#define ON_WORLD(call)
#define ON_NEIGHBOURS(comm, rank)
#define RMA(kind, n, type, remote) if (peer >= 0) call.bytes = bytes_of((int64_t)(n), type);
#define SIZE(n, type) call.bytes = bytes_of((int64_t)(n), type);
#define SIZE_OF(data, n, type, m, other) if (data == MPI_IN_PLACE) { SIZE(m, other) } else { SIZE(n, type) }
#define POSTED(request)
#define SEND(n, type, peer, tag, comm, flags) if (peer >= 0) call.bytes = bytes_of((int64_t)(n), type);
#define SEND_INIT(n, type, peer, tag, comm, request)
#define OWN_STATUS
#define OWN_STATUSES(n)
#define RECEIVED(comm, order)
#define RECEIVED_SCOPE(scope, order)
#define RECEIVING(comm, peer, request, order, persistent)
#define RECEIVING_SCOPE(scope, request, order, persistent)
#define PROBED(flag, message, comm)
#define MATCHED(message)
#define SAVED(n, requests)
#define ENDED(flag, which, told)
#define ALL_ENDED(flag, n, told)
#define SOME_ENDED(done, which, told)
#define STARTED(n, requests)
#define FREED
#define CANCELLED(request)
#define NEW_WIN(win, comm)
#define FILED(n, type) SIZE(n, type)
#define NEW_COMM(comm)
#define sk_forget_win(win) (void)(win)
#define sk_forget_comm(comm) (void)(comm)

#pragma GCC diagnostic ignored "-Wunused-variable" /* of the functions of Fortran, which make all arguments ready */
#pragma GCC diagnostic ignored "-Wunused-function"

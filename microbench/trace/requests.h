/* What a request stands for until it is completed, and what a matched message does. */
#ifndef SK_TRACE_REQUESTS_H
#define SK_TRACE_REQUESTS_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

struct sk_request {
    int64_t bytes;     /* of a persistent send */
    uint32_t posted;   /* call that posted it, or started it last */
    uint32_t order;    /* its place among the receives that could be confused */
    int32_t scope, peer, tag;
    uint32_t kind;     /* SK_SEND, SK_RECEIVE; 0 if completing it is all there is to record */
    bool is_persistent, is_active, is_cancelled, is_live;
};

struct sk_message { int32_t scope; uint32_t order; };

void sk_request_keep(MPI_Request handle, const struct sk_request *request);
struct sk_request *sk_request_find(MPI_Request handle); /* NULL if nothing was kept */
void sk_request_forget(MPI_Request handle);

void sk_message_keep(MPI_Message handle, struct sk_message message);
struct sk_message sk_message_take(MPI_Message handle);

/* A request that was completed by `call`: records what that says, and forgets it if it is not persistent. */
void sk_request_ended(MPI_Request handle, uint32_t call, MPI_Status *status);
void sk_request_started(MPI_Request handle, uint32_t call);

#endif

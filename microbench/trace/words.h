/* What the words of mpi.def do where a trace is recorded. wrap.c includes this, or that of a profile. */
#include "trace/define.h"
#include "trace/kinds.h"
#include "trace/requests.h"
#include "trace/types.h"

/* `remote` is the type of the data at the target, whose layout counts. */
static void rma(struct sk_call *call, uint32_t kind, MPI_Win win, int peer, int64_t n, MPI_Datatype type,
                MPI_Datatype remote)
{
    uint32_t layout;
    call->scope = sk_scope_of_win(win);
    call->peer = peer;
    if (peer >= 0 && call->scope >= 0) {
        int64_t bytes = sk_types_bytes(n, type, &layout);
        if (remote != type)
            sk_types_bytes(1, remote, &layout);
        struct sk_transfer one = { bytes, call->number, call->number, kind | layout, call->scope, peer, 0 };
        sk_record_transfer(&one);
    }
}

static void sent(struct sk_call *call, int64_t n, MPI_Datatype type, int peer, int tag, MPI_Comm comm, uint32_t flags)
{
    uint32_t layout;
    call->scope = sk_scope_of_comm(comm);
    call->peer = peer;
    if (peer >= 0 && call->scope >= 0) {
        int64_t bytes = sk_types_bytes(n, type, &layout);
        uint32_t kind = SK_SENT | layout | flags;
        struct sk_transfer one = { bytes, call->number, call->number, kind, call->scope, peer, tag };
        sk_record_transfer(&one);
    }
}

static void received(struct sk_call *call, int32_t scope, uint32_t order, const MPI_Status *told)
{
    int bytes = 0;
    call->scope = scope;
    if (scope < 0 || told->MPI_SOURCE < 0)
        return;
    PMPI_Get_count(told, MPI_BYTE, &bytes);
    struct sk_transfer one = { bytes < 0 ? 0 : bytes, call->number, order,          SK_RECEIVED | SK_BLOCKING,
                               scope,                 told->MPI_SOURCE, told->MPI_TAG };
    sk_record_transfer(&one);
}

static void sized(const struct sk_call *call, int64_t n, MPI_Datatype type)
{
    uint32_t layout;
    if (call->scope >= 0 && type != MPI_DATATYPE_NULL) {
        int64_t bytes = sk_types_bytes(n, type, &layout);
        struct sk_transfer one = { bytes, call->number, call->number, SK_COLLECTIVE, call->scope, 0, 0 };
        sk_record_transfer(&one);
    }
}

static void posted(const struct sk_call *call, MPI_Request request)
{
    struct sk_request one = { .posted = call->number, .scope = -1, .is_active = true };
    if (request != MPI_REQUEST_NULL)
        sk_request_keep(request, &one);
}

static void send_init(struct sk_call *call, int64_t n, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
                      MPI_Request request)
{
    uint32_t layout;
    call->scope = sk_scope_of_comm(comm);
    struct sk_request one = { .bytes = sk_types_bytes(n, type, &layout), .scope = call->scope, .peer = peer, .tag = tag,
                              .kind = SK_SENT, .is_persistent = true };
    sk_request_keep(request, &one);
}

static void receiving(struct sk_call *call, int32_t scope, MPI_Request request, uint32_t order, bool is_persistent)
{
    struct sk_request one = { .posted = call->number, .order = order, .scope = scope, .kind = SK_RECEIVED,
                              .is_persistent = is_persistent, .is_active = !is_persistent };
    call->scope = scope;
    if (request != MPI_REQUEST_NULL)
        sk_request_keep(request, &one);
}

static MPI_Request *saved_requests(int n, const MPI_Request *requests)
{
    MPI_Request *saved = scratch(0, sizeof *saved * (size_t)(n > 0 ? n : 1));
    for (int k = 0; k < n; k++)
        saved[k] = requests[k];
    return saved;
}

static void new_win(struct sk_call *call, MPI_Win win, MPI_Comm comm)
{
    sk_define_win(win, comm);
    call->scope = sk_scope_of_win(win);
}

#define NONE
#define ON_WIN(win, rank) call.scope = sk_scope_of_win(win); call.peer = (rank);
#define ON_WORLD(call) (call)->scope = SK_WORLD;
#define ON_COMM(comm, rank) call.scope = sk_scope_of_comm(comm); call.peer = (rank);
#define ON_NEIGHBOURS(comm, rank) ON_COMM(comm, call.scope < 0 ? -1 : sk_define_sources(comm))
#define RMA(kind, n, type, remote) rma(&call, kind, win, peer, (int64_t)(n), type, remote);
#define SIZE(n, type) sized(&call, (int64_t)(n), type);
#define SIZE_OF(data, n, type, m, other) if (data == MPI_IN_PLACE) { SIZE(m, other) } else { SIZE(n, type) }
#define POSTED(request) posted(&call, *(request));
#define SEND(n, type, peer, tag, comm, flags) sent(&call, (int64_t)(n), type, peer, tag, comm, flags);
#define SEND_INIT(n, type, peer, tag, comm, request) send_init(&call, (int64_t)(n), type, peer, tag, comm, *(request));
#define OWN_STATUS MPI_Status own_status; if (told == MPI_STATUS_IGNORE) told = &own_status;
#define OWN_STATUSES(n) if (told == MPI_STATUSES_IGNORE) told = scratch(1, sizeof *told * (size_t)((n) > 0 ? (n) : 1));
#define RECEIVED(comm, order) received(&call, sk_scope_of_comm(comm), order, told);
#define RECEIVED_SCOPE(scope, order) received(&call, scope, order, told);
#define RECEIVING(comm, peer, request, order, persistent) \
    if ((peer) != MPI_PROC_NULL) receiving(&call, sk_scope_of_comm(comm), *(request), order, persistent);
#define RECEIVING_SCOPE(scope, request, order, persistent) receiving(&call, scope, *(request), order, persistent);
#define PROBED(flag, message, comm) \
    call.scope = sk_scope_of_comm(comm); \
    if ((flag) && *(message) != MPI_MESSAGE_NO_PROC) \
        sk_message_keep(*(message), (struct sk_message){ call.scope, call.number & ~SK_LEFT_OUT });
#define MATCHED(message) struct sk_message matched = sk_message_take(*(message));
#define SAVED(n, requests) MPI_Request *saved = saved_requests(n, requests);
#define ENDED(flag, which, told) if (flag) sk_request_ended(saved[which], call.number, told);
#define ALL_ENDED(flag, n, told) \
    for (int k = 0; (flag) && k < (n); k++) sk_request_ended(saved[k], call.number, &(told)[k]);
#define SOME_ENDED(done, which, told) \
    for (int k = 0; (done) != MPI_UNDEFINED && k < (done); k++) \
        sk_request_ended(saved[(which)[k]], call.number, &(told)[k]);
#define STARTED(n, requests) for (int k = 0; k < (n); k++) sk_request_started((requests)[k], call.number);
#define FREED sk_request_forget(saved[0]);
#define CANCELLED(request) if (sk_request_find(*(request))) sk_request_find(*(request))->is_cancelled = true;
#define NEW_WIN(win, comm) new_win(&call, win, comm);
#define FILED(n, type) (void)(n); (void)(type); /* their bytes are not recorded */
#define NEW_COMM(comm) sk_define_comm(comm);

#include "trace/requests.h"

#include "trace/kinds.h"
#include "trace/map.h"
#include "trace/record.h"

#include <stdlib.h>

static struct sk_map places, messages, orders;
static struct sk_request *requests;
static uint32_t *idle;
static size_t room, used, n_idle;

static uint64_t key(MPI_Request handle)
{
    return (uint64_t)(uintptr_t)handle;
}

static uint32_t new_place(void)
{
    if (n_idle > 0)
        return idle[--n_idle];
    if (used == room) {
        room = room ? 2 * room : 256;
        requests = realloc(requests, room * sizeof *requests);
        idle = realloc(idle, room * sizeof *idle);
        if (!requests || !idle)
            abort();
    }
    return (uint32_t)used++;
}

void sk_request_keep(MPI_Request handle, const struct sk_request *request)
{
    const uint32_t *known = sk_map_find(&places, key(handle), 0);
    uint32_t place = known ? *known : new_place();
    requests[place] = *request;
    if (!known)
        sk_map_set(&places, key(handle), 0, place);
}

struct sk_request *sk_request_find(MPI_Request handle)
{
    const uint32_t *known = sk_map_find(&places, key(handle), 0);
    return known ? &requests[*known] : NULL;
}

void sk_request_forget(MPI_Request handle)
{
    const uint32_t *known = sk_map_find(&places, key(handle), 0);
    if (known) {
        idle[n_idle++] = *known;
        sk_map_remove(&places, key(handle), 0);
    }
}

void sk_message_keep(MPI_Message handle, struct sk_message message)
{
    sk_map_set(&messages, (uint64_t)(uintptr_t)handle, 0, (uint32_t)message.scope);
    sk_map_set(&orders, (uint64_t)(uintptr_t)handle, 0, message.order);
}

struct sk_message sk_message_take(MPI_Message handle)
{
    const uint32_t *scope = sk_map_find(&messages, (uint64_t)(uintptr_t)handle, 0);
    const uint32_t *order = sk_map_find(&orders, (uint64_t)(uintptr_t)handle, 0);
    struct sk_message found = { scope ? (int32_t)*scope : -1, order ? *order : 0 };
    sk_map_remove(&messages, (uint64_t)(uintptr_t)handle, 0);
    sk_map_remove(&orders, (uint64_t)(uintptr_t)handle, 0);
    return found;
}

static bool was_cancelled(const struct sk_request *request, const MPI_Status *status)
{
    int cancelled = 0;
    if (request->is_cancelled)
        PMPI_Test_cancelled(status, &cancelled);
    return cancelled != 0;
}

void sk_request_ended(MPI_Request handle, uint32_t call, MPI_Status *status)
{
    struct sk_request *request = sk_request_find(handle);
    if (!request || !request->is_active)
        return;
    if (!was_cancelled(request, status)) {
        if (request->kind == SK_RECEIVED && request->scope >= 0 && status->MPI_SOURCE >= 0) {
            int bytes = 0;
            PMPI_Get_count(status, MPI_BYTE, &bytes);
            struct sk_transfer transfer = { bytes < 0 ? 0 : bytes, request->posted, request->order, SK_RECEIVED,
                                            request->scope, status->MPI_SOURCE, status->MPI_TAG };
            sk_record_transfer(&transfer);
        }
        sk_record_completion(call, request->posted);
    }
    request->is_active = false;
    if (!request->is_persistent)
        sk_request_forget(handle);
}

void sk_request_started(MPI_Request handle, uint32_t call)
{
    struct sk_request *request = sk_request_find(handle);
    if (!request)
        return;
    request->posted = request->order = call;
    request->is_active = true;
    if (request->kind == SK_SENT && request->scope >= 0 && request->peer >= 0) {
        struct sk_transfer transfer = { request->bytes, call,          call,        SK_SENT,
                                        request->scope, request->peer, request->tag };
        sk_record_transfer(&transfer);
    }
}

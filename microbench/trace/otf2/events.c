#include "trace/otf2/events.h"

#include "trace/buffer.h"
#include "trace/kinds.h"
#include "trace/map.h"
#include "trace/otf2/defined.h"
#include "trace/otf2/paths.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM = 1 << 16 };

struct frame { struct sk_call call; uint32_t region; bool is_call; };

static struct frame *stack;
static size_t depth, stack_room;
static struct sk_transfer *posts; /* of the innermost call, until it is known which it completes itself */
static uint64_t *ids;
static size_t n_posts, posts_room;
static struct sk_map operations, requests; /* number of the posting call */
static char *is_library;                   /* of each region: 0 not asked yet, 1 no, 2 yes */
static uint64_t n_problems;

__extension__ typedef __int128 wide;

static int64_t ns(uint64_t time)
{
    if (sk_defined.ticks == 1000000000)
        return (int64_t)time;
    wide since = (wide)time - sk_defined.begin;
    return (int64_t)((since * 1000000000 + sk_defined.ticks / 2) / sk_defined.ticks);
}

static void *grown(void *memory, size_t *room, size_t needed, size_t size)
{
    if (needed <= *room)
        return memory;
    *room = 2 * needed + 64;
    memory = realloc(memory, *room * size);
    if (!memory) {
        fprintf(stderr, "sk_otf2_read: no memory for %zu records.\n", *room);
        exit(3);
    }
    return memory;
}

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

static bool is_call(uint32_t region)
{
    if (is_library[region] == 0) {
        const char *name = sk_defined_text(sk_defined.regions[region].name);
        is_library[region] = begins(name, "MPI_") || begins(name, "ARMCI_") || begins(name, "sk1s_") ? 2 : 1;
    }
    return is_library[region] == 2;
}

/* The innermost region, if it is a call. */
static struct sk_call *now(void)
{
    return depth > 0 && stack[depth - 1].is_call ? &stack[depth - 1].call : NULL;
}

static void write_posts(void)
{
    for (size_t k = 0; k < n_posts; k++)
        sk_buffer_transfer(&posts[k]);
    n_posts = 0;
}

static void post(uint32_t kind, int32_t scope, uint32_t peer, uint32_t tag, uint64_t bytes, uint64_t id)
{
    struct sk_call *call = now();
    if (!call || scope < 0)
        return;
    size_t room = posts_room;
    posts = grown(posts, &posts_room, n_posts + 1, sizeof *posts);
    ids = grown(ids, &room, n_posts + 1, sizeof *ids);
    ids[n_posts] = id;
    posts[n_posts++] = (struct sk_transfer){ (int64_t)bytes, call->number, call->number,
                                             kind,           scope,        (int32_t)peer, (int32_t)tag };
    call->scope = scope;
    if ((kind & 0xFF) != SK_RECEIVED)
        call->peer = (int32_t)peer;
}

static void keep(struct sk_map *map, uint64_t id, uint64_t of)
{
    if (now())
        sk_map_set(map, id, of, now()->number);
}

/* Returns whether something was posted under an id, and by which call; forgets it. */
static bool take(struct sk_map *map, uint64_t id, uint64_t of, uint32_t *posted)
{
    const uint32_t *known = sk_map_find(map, id, of);
    if (!known)
        return false;
    *posted = *known;
    sk_map_remove(map, id, of);
    return true;
}

#define EVENT(name, ...) \
    static OTF2_CallbackCode name(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t position, void *data, \
                                  OTF2_AttributeList *attributes, ##__VA_ARGS__)
#define DONE return OTF2_CALLBACK_SUCCESS

EVENT(on_enter, OTF2_RegionRef region)
{
    if (region >= sk_defined.n_regions || !sk_defined.regions[region].is_known) {
        fprintf(stderr, "sk_otf2_read: location %" PRIu64 " enters region %u, which is not defined.\n", location,
                region);
        exit(3);
    }
    uint32_t parent = depth > 0 ? stack[depth - 1].call.path : 0;
    write_posts();
    stack = grown(stack, &stack_room, depth + 1, sizeof *stack);
    struct frame *top = &stack[depth++];
    struct sk_call call = { ns(time), 0, sk_paths_number(), sk_paths_find(parent, region), -1, -1 };
    bool is_inside = depth > 1 && stack[depth - 2].is_call; /* a callback of the library is part of its call */
    *top = (struct frame){ call, region, is_inside || is_call(region) };
    if (!top->is_call) {
        struct sk_mark mark = { top->call.enter, top->call.number, top->call.path, 1 };
        sk_buffer_mark(&mark);
    }
    DONE;
}

/* Ends the innermost region. */
static void leave(int64_t time)
{
    struct frame *top = &stack[--depth];
    write_posts();
    if (top->is_call) {
        top->call.leave = time;
        sk_buffer_call(&top->call);
    } else {
        struct sk_mark mark = { time, sk_paths_number(), top->call.path, -1 };
        sk_buffer_mark(&mark);
    }
}

EVENT(on_leave, OTF2_RegionRef region)
{
    size_t at = depth;
    while (at > 0 && stack[at - 1].region != region)
        at--;
    n_problems += at != depth;
    while (at > 0 && depth >= at)
        leave(ns(time));
    DONE;
}

EVENT(on_send, uint32_t receiver, OTF2_CommRef comm, uint32_t tag, uint64_t bytes)
{
    post(SK_SENT | SK_BLOCKING, sk_paths_comm(comm), receiver, tag, bytes, UINT64_MAX);
    DONE;
}

EVENT(on_isend, uint32_t receiver, OTF2_CommRef comm, uint32_t tag, uint64_t bytes, uint64_t request)
{
    post(SK_SENT, sk_paths_comm(comm), receiver, tag, bytes, UINT64_MAX);
    keep(&requests, request, 0);
    DONE;
}

EVENT(on_recv, uint32_t sender, OTF2_CommRef comm, uint32_t tag, uint64_t bytes)
{
    post(SK_RECEIVED | SK_BLOCKING, sk_paths_comm(comm), sender, tag, bytes, UINT64_MAX);
    DONE;
}

EVENT(on_request, uint64_t request)
{
    keep(&requests, request, 0);
    DONE;
}

EVENT(on_request_complete, uint64_t request)
{
    uint32_t posted;
    if (take(&requests, request, 0, &posted) && now())
        sk_buffer_completion(now()->number, posted);
    DONE;
}

EVENT(on_request_cancelled, uint64_t request)
{
    uint32_t posted;
    (void)take(&requests, request, 0, &posted);
    DONE;
}

EVENT(on_irecv, uint32_t sender, OTF2_CommRef comm, uint32_t tag, uint64_t bytes, uint64_t request)
{
    uint32_t posted;
    int32_t scope = sk_paths_comm(comm);
    if (!take(&requests, request, 0, &posted) || !now() || scope < 0)
        DONE;
    struct sk_transfer one = { (int64_t)bytes, posted, posted, SK_RECEIVED, scope, (int32_t)sender, (int32_t)tag };
    sk_buffer_transfer(&one);
    sk_buffer_completion(now()->number, posted);
    DONE;
}

EVENT(on_collective, OTF2_CollectiveOp op, OTF2_CommRef comm, uint32_t root, uint64_t sent, uint64_t received)
{
    if (now()) {
        now()->scope = sk_paths_comm(comm);
        now()->peer = root > INT32_MAX ? -1 : (int32_t)root;
    }
    DONE;
}

EVENT(on_collective_complete, OTF2_CollectiveOp op, OTF2_CommRef comm, uint32_t root, uint64_t sent, uint64_t received,
      uint64_t request)
{
    return on_request_complete(location, time, position, data, attributes, request);
}

static void on_win(uint32_t win, int32_t peer)
{
    if (now()) {
        now()->scope = sk_paths_win(win);
        now()->peer = peer;
    }
}

static int32_t rank_or_all(uint32_t remote)
{
    return remote > INT32_MAX ? -1 : (int32_t)remote;
}

EVENT(on_rma_collective, OTF2_CollectiveOp op, OTF2_RmaSyncLevel level, OTF2_RmaWinRef win, uint32_t root,
      uint64_t sent, uint64_t received)
{
    on_win(win, -1);
    DONE;
}

EVENT(on_group_sync, OTF2_RmaSyncLevel level, OTF2_RmaWinRef win, OTF2_GroupRef group)
{
    const char *name = depth > 0 ? sk_defined_text(sk_defined.regions[stack[depth - 1].region].name) : "";
    bool opens = strcmp(name, "MPI_Win_post") == 0 || strcmp(name, "MPI_Win_start") == 0;
    on_win(win, opens ? sk_paths_group(group) : -1);
    DONE;
}

EVENT(on_lock, OTF2_RmaWinRef win, uint32_t remote, uint64_t lock, OTF2_LockType type)
{
    int32_t rank = rank_or_all(remote);
    on_win(win, rank >= 0 && type == OTF2_LOCK_EXCLUSIVE ? rank + SK_EXCLUSIVE : rank);
    DONE;
}

EVENT(on_unlock, OTF2_RmaWinRef win, uint32_t remote, uint64_t lock)
{
    on_win(win, rank_or_all(remote));
    DONE;
}

EVENT(on_sync, OTF2_RmaWinRef win, uint32_t remote, OTF2_RmaSyncType type)
{
    on_win(win, rank_or_all(remote));
    DONE;
}

EVENT(on_destroy, OTF2_RmaWinRef win)
{
    on_win(win, -1);
    DONE;
}

static void operation(uint32_t kind, uint32_t win, uint32_t remote, uint64_t bytes, uint64_t id)
{
    post(kind, sk_paths_win(win), remote, 0, bytes, id);
    keep(&operations, id, win);
}

EVENT(on_put, OTF2_RmaWinRef win, uint32_t remote, uint64_t bytes, uint64_t id)
{
    operation(SK_PUT, win, remote, bytes, id);
    DONE;
}

EVENT(on_get, OTF2_RmaWinRef win, uint32_t remote, uint64_t bytes, uint64_t id)
{
    operation(SK_GET, win, remote, bytes, id);
    DONE;
}

EVENT(on_atomic, OTF2_RmaWinRef win, uint32_t remote, OTF2_RmaAtomicType type, uint64_t sent, uint64_t received,
      uint64_t id)
{
    uint32_t kind = type == OTF2_RMA_ATOMIC_TYPE_ACCUMULATE ? SK_ACCUMULATE : SK_RMW;
    operation(kind, win, remote, sent > received ? sent : received, id);
    DONE;
}

/* The first completion of an operation counts, local or remote. */
EVENT(on_complete, OTF2_RmaWinRef win, uint64_t id)
{
    uint32_t posted;
    if (!take(&operations, id, win, &posted) || !now())
        DONE;
    for (size_t k = 0; k < n_posts; k++)
        if (ids[k] == id && posted == now()->number) {
            posts[k].kind |= SK_BLOCKING;
            DONE;
        }
    sk_buffer_completion(now()->number, posted);
    DONE;
}

static OTF2_EvtReaderCallbacks *callbacks(void)
{
    OTF2_EvtReaderCallbacks *on = OTF2_EvtReaderCallbacks_New();
    if (!on)
        abort();
    OTF2_EvtReaderCallbacks_SetEnterCallback(on, on_enter);
    OTF2_EvtReaderCallbacks_SetLeaveCallback(on, on_leave);
    OTF2_EvtReaderCallbacks_SetMpiSendCallback(on, on_send);
    OTF2_EvtReaderCallbacks_SetMpiIsendCallback(on, on_isend);
    OTF2_EvtReaderCallbacks_SetMpiIsendCompleteCallback(on, on_request_complete);
    OTF2_EvtReaderCallbacks_SetMpiRecvCallback(on, on_recv);
    OTF2_EvtReaderCallbacks_SetMpiIrecvRequestCallback(on, on_request);
    OTF2_EvtReaderCallbacks_SetMpiIrecvCallback(on, on_irecv);
    OTF2_EvtReaderCallbacks_SetMpiRequestCancelledCallback(on, on_request_cancelled);
    OTF2_EvtReaderCallbacks_SetMpiCollectiveEndCallback(on, on_collective);
    OTF2_EvtReaderCallbacks_SetNonBlockingCollectiveRequestCallback(on, on_request);
    OTF2_EvtReaderCallbacks_SetNonBlockingCollectiveCompleteCallback(on, on_collective_complete);
    OTF2_EvtReaderCallbacks_SetRmaCollectiveEndCallback(on, on_rma_collective);
    OTF2_EvtReaderCallbacks_SetRmaGroupSyncCallback(on, on_group_sync);
    OTF2_EvtReaderCallbacks_SetRmaRequestLockCallback(on, on_lock);
    OTF2_EvtReaderCallbacks_SetRmaAcquireLockCallback(on, on_lock);
    OTF2_EvtReaderCallbacks_SetRmaReleaseLockCallback(on, on_unlock);
    OTF2_EvtReaderCallbacks_SetRmaSyncCallback(on, on_sync);
    OTF2_EvtReaderCallbacks_SetRmaWinDestroyCallback(on, on_destroy);
    OTF2_EvtReaderCallbacks_SetRmaPutCallback(on, on_put);
    OTF2_EvtReaderCallbacks_SetRmaGetCallback(on, on_get);
    OTF2_EvtReaderCallbacks_SetRmaAtomicCallback(on, on_atomic);
    OTF2_EvtReaderCallbacks_SetRmaOpCompleteBlockingCallback(on, on_complete);
    OTF2_EvtReaderCallbacks_SetRmaOpCompleteNonBlockingCallback(on, on_complete);
    OTF2_EvtReaderCallbacks_SetRmaOpCompleteRemoteCallback(on, on_complete);
    return on;
}

void sk_events_begin(void)
{
    is_library = calloc(sk_defined.n_regions + 1u, 1);
    if (!is_library)
        abort();
    sk_buffer_convert();
}

static void empty(struct sk_map *map)
{
    free(map->slots);
    memset(map, 0, sizeof *map);
}

uint64_t sk_events_read(OTF2_Reader *reader, uint64_t location, uint32_t rank, const char *folder)
{
    uint64_t events = 0;
    OTF2_EvtReaderCallbacks *on = callbacks();
    depth = n_posts = 0;
    empty(&operations);
    empty(&requests);
    sk_paths_begin(rank);
    if (!sk_buffer_open(folder, (int)rank, ROOM))
        exit(3);
    OTF2_EvtReader *from = OTF2_Reader_GetEvtReader(reader, location);
    if (from) {
        OTF2_Reader_RegisterEvtCallbacks(reader, from, on, NULL);
        if (OTF2_Reader_ReadAllLocalEvents(reader, from, &events) != OTF2_SUCCESS) {
            fprintf(stderr, "sk_otf2_read: the events of location %" PRIu64 " cannot be read to their end.\n", 
                    location);
            exit(3);
        }
        OTF2_Reader_CloseEvtReader(reader, from);
    }
    OTF2_EvtReaderCallbacks_Delete(on);
    sk_buffer_close();
    return events;
}

uint64_t sk_events_unmatched(void)
{
    return n_problems;
}

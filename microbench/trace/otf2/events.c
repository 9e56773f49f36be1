#include "trace/otf2/events.h"

#include "trace/buffer.h"
#include "trace/kinds.h"
#include "trace/map.h"
#include "trace/otf2/defined.h"
#include "trace/otf2/frames.h"
#include "trace/otf2/paths.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM = 1 << 16 };

static struct sk_map operations, changes, requests; /* number of the posting call */
static uint64_t n_problems;
static uint32_t rank_now, rank_of_problem;

__extension__ typedef __int128 wide;

static int64_t ns(uint64_t time)
{
    if (sk_defined.ticks == 1000000000)
        return (int64_t)time;
    wide since = (wide)time - sk_defined.begin;
    return (int64_t)((since * 1000000000 + sk_defined.ticks / 2) / sk_defined.ticks);
}

static struct sk_call *now(void)
{
    return sk_frames_call();
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
    sk_frames_enter(region, ns(time));
    DONE;
}

EVENT(on_leave, OTF2_RegionRef region)
{
    if (!sk_frames_leave(region, ns(time)) && n_problems++ == 0)
        rank_of_problem = rank_now;
    DONE;
}

EVENT(on_send, uint32_t receiver, OTF2_CommRef comm, uint32_t tag, uint64_t bytes)
{
    sk_frames_post(SK_SENT | SK_BLOCKING, sk_paths_comm(comm), receiver, tag, bytes, UINT64_MAX);
    DONE;
}

EVENT(on_isend, uint32_t receiver, OTF2_CommRef comm, uint32_t tag, uint64_t bytes, uint64_t request)
{
    sk_frames_post(SK_SENT, sk_paths_comm(comm), receiver, tag, bytes, UINT64_MAX);
    keep(&requests, request, 0);
    DONE;
}

EVENT(on_recv, uint32_t sender, OTF2_CommRef comm, uint32_t tag, uint64_t bytes)
{
    sk_frames_post(SK_RECEIVED | SK_BLOCKING, sk_paths_comm(comm), sender, tag, bytes, UINT64_MAX);
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

EVENT(on_collective_request, uint64_t request)
{
    sk_frames_hold(request);
    DONE;
}

EVENT(on_collective_complete, OTF2_CollectiveOp op, OTF2_CommRef comm, uint32_t root, uint64_t sent, uint64_t received,
      uint64_t request)
{
    sk_frames_complete_held(request, sk_paths_comm(comm), root > INT32_MAX ? -1 : (int32_t)root);
    DONE;
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
    const char *name = sk_frames_name();
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
    sk_frames_post(kind, sk_paths_win(win), remote, 0, bytes, id);
    keep(kind == SK_PUT || kind == SK_ACCUMULATE ? &changes : &operations, id, win);
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

/* An operation is complete once, but one that changes the target may be so here first, and there later. */
EVENT(on_complete, OTF2_RmaWinRef win, uint64_t id)
{
    uint32_t posted;
    const uint32_t *put = sk_map_find(&changes, id, win);
    if (put)
        sk_frames_complete(*put, id);
    else if (take(&operations, id, win, &posted))
        sk_frames_complete(posted, id);
    DONE;
}

EVENT(on_complete_remote, OTF2_RmaWinRef win, uint64_t id)
{
    uint32_t posted;
    if (take(&changes, id, win, &posted) || take(&operations, id, win, &posted))
        sk_frames_complete(posted, id);
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
    OTF2_EvtReaderCallbacks_SetNonBlockingCollectiveRequestCallback(on, on_collective_request);
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
    OTF2_EvtReaderCallbacks_SetRmaOpCompleteRemoteCallback(on, on_complete_remote);
    return on;
}

void sk_events_begin(void)
{
    sk_buffer_convert();
}

static void empty(struct sk_map *map)
{
    free(map->slots);
    memset(map, 0, sizeof *map);
}

static void leave_out(uint32_t rank, const char *folder, bool has_some, bool keep_going)
{
    char path[4096];
    if (!keep_going) {
        const char *how = has_some ? " to their end" : "";
        fprintf(stderr, "sk_otf2_read: the events of location %" PRIu32 " cannot be read%s; take the rest with "
                "--keep-going.\n", rank, how);
        exit(3);
    }
    sk_buffer_abandon();
    snprintf(path, sizeof path, "%s/%06" PRIu32 ".sktrace", folder, rank);
    if (!has_some)
        remove(path);
}

uint64_t sk_events_read(OTF2_Reader *reader, uint64_t location, uint32_t rank, const char *folder, bool keep_going)
{
    uint64_t events = 0;
    bool is_whole = true;
    rank_now = rank;
    OTF2_EvtReaderCallbacks *on = callbacks();
    sk_frames_begin();
    empty(&operations);
    empty(&changes);
    empty(&requests);
    sk_paths_begin(rank);
    struct sk_definitions definitions = { sk_paths_next_number, sk_paths_news };
    if (!sk_buffer_open(folder, (int)rank, ROOM, definitions))
        exit(3);
    OTF2_EvtReader *from = OTF2_Reader_GetEvtReader(reader, location);
    if (from) {
        OTF2_Reader_RegisterEvtCallbacks(reader, from, on, NULL);
        is_whole = OTF2_Reader_ReadAllLocalEvents(reader, from, &events) == OTF2_SUCCESS;
        OTF2_Reader_CloseEvtReader(reader, from);
    }
    OTF2_EvtReaderCallbacks_Delete(on);
    sk_frames_end();
    if (is_whole && (events > 0 || !sk_defined_has_events(location)))
        sk_buffer_close();
    else
        leave_out(rank, folder, events > 0, keep_going);
    return events;
}

uint64_t sk_events_unmatched(uint32_t *rank)
{
    *rank = rank_of_problem;
    return n_problems;
}

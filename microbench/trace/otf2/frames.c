#include "trace/otf2/frames.h"

#include "trace/kinds.h"
#include "trace/map.h"
#include "trace/otf2/defined.h"
#include "trace/otf2/paths.h"

#include <stdio.h>
#include <stdlib.h>

struct frame { struct sk_call call; uint64_t request; uint32_t region; bool is_call, is_held; };

static struct frame *stack;
static struct sk_transfer *posts; /* of the innermost call, until it is known which it completes itself */
static uint64_t *ids;
static struct sk_call *held; /* calls that are complete but for what they are on */
static struct sk_map held_places; /* of each request */
static size_t depth, stack_room, n_posts, posts_room, n_held, held_room;

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

struct sk_call *sk_frames_call(void)
{
    return depth > 0 && stack[depth - 1].is_call ? &stack[depth - 1].call : NULL;
}

const char *sk_frames_name(void)
{
    return depth > 0 ? sk_defined_text(sk_defined.regions[stack[depth - 1].region].name) : "";
}

static void write_posts(void)
{
    for (size_t k = 0; k < n_posts; k++)
        sk_buffer_transfer(&posts[k]);
    n_posts = 0;
}

void sk_frames_begin(void)
{
    depth = n_posts = n_held = 0;
    free(held_places.slots);
    held_places = (struct sk_map){ NULL, 0, 0 };
}

void sk_frames_end(void)
{
    for (size_t k = 0; k < n_held; k++)
        sk_buffer_call(&held[k]);
    n_held = 0;
}

void sk_frames_post(uint32_t kind, int32_t scope, uint32_t peer, uint32_t tag, uint64_t bytes, uint64_t id)
{
    struct sk_call *call = sk_frames_call();
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

void sk_frames_complete(uint32_t posted, uint64_t id)
{
    const struct sk_call *call = sk_frames_call();
    if (!call)
        return;
    for (size_t k = 0; k < n_posts; k++)
        if (ids[k] == id && posted == call->number) {
            posts[k].kind |= SK_BLOCKING;
            return;
        }
    sk_buffer_completion(call->number, posted);
}

void sk_frames_enter(uint32_t region, int64_t time)
{
    uint32_t parent = depth > 0 ? stack[depth - 1].call.path : 0;
    write_posts();
    stack = grown(stack, &stack_room, depth + 1, sizeof *stack);
    struct frame *top = &stack[depth++];
    struct sk_call call = { time, 0, sk_paths_number(), sk_paths_find(parent, region), -1, -1 };
    bool is_inside = depth > 1 && stack[depth - 2].is_call; /* a callback of the library is part of its call */
    *top = (struct frame){ .call = call, .region = region };
    top->is_call = is_inside || sk_defined.regions[region].is_function;
    if (!top->is_call) {
        struct sk_mark mark = { top->call.enter, top->call.number, top->call.path, 1 };
        sk_buffer_mark(&mark);
    }
}

static void end_call(const struct frame *frame)
{
    if (!frame->is_held) {
        sk_buffer_call(&frame->call);
        return;
    }
    held = grown(held, &held_room, n_held + 1, sizeof *held);
    sk_map_set(&held_places, frame->request, 0, (uint32_t)n_held);
    held[n_held++] = frame->call;
}

/* Ends the innermost region. */
static void end_region(int64_t time)
{
    struct frame *top = &stack[--depth];
    write_posts();
    if (top->is_call) {
        top->call.leave = time;
        end_call(top);
    } else {
        struct sk_mark mark = { time, sk_paths_number(), top->call.path, -1 };
        sk_buffer_mark(&mark);
    }
}

bool sk_frames_leave(uint32_t region, int64_t time)
{
    size_t at = depth;
    while (at > 0 && stack[at - 1].region != region)
        at--;
    bool is_innermost = at == depth && depth > 0;
    while (at > 0 && depth >= at)
        end_region(time);
    return is_innermost;
}

void sk_frames_hold(uint64_t request)
{
    if (sk_frames_call()) {
        stack[depth - 1].is_held = true;
        stack[depth - 1].request = request;
    }
}

void sk_frames_complete_held(uint64_t request, int32_t scope, int32_t peer)
{
    struct sk_call *call = sk_frames_call();
    const uint32_t *place = sk_map_find(&held_places, request, 0);
    struct sk_call *begun = place ? &held[*place] : NULL;
    if (!begun && call && stack[depth - 1].is_held && stack[depth - 1].request == request)
        begun = call;
    if (!begun)
        return;
    begun->scope = scope;
    begun->peer = peer;
    if (call)
        sk_buffer_completion(call->number, begun->number);
    sk_map_remove(&held_places, request, 0);
}

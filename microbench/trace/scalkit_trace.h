/* What a program says of itself to the recorder, be that preloaded or linked. Without one nothing happens.
 *
 * Regions of the program:
 *
 *     SK_TRACE_ENTER("solve");
 *     ...
 *     SK_TRACE_LEAVE();
 *
 * Calls of a communication library of your own, in each of its functions:
 *
 *     void my_get(int rank, void *to, size_t bytes)
 *     {
 *         static struct sk_trace_function function = { .name = "my_get" };
 *         struct sk_trace_call call;
 *         SK_TRACE_BEGIN(&call, &function, rank);
 *         SK_TRACE_TRANSFER(&call, SK_TRACE_GET | SK_TRACE_BLOCKING, rank, bytes);
 *         ...
 *         SK_TRACE_END(&call);
 *     }
 *
 * Ranks are those of MPI_COMM_WORLD, -1 for none. What is called within such a call, of MPI or of the library, is part
 * of it, and not recorded. A call that ends what another one began says so: SK_TRACE_COMPLETE(&wait, begun), where
 * `begun` is the `number` of that other call. */
#ifndef SCALKIT_TRACE_H
#define SCALKIT_TRACE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What was transferred: one of the first line, and where one of these holds one of the second, and SK_TRACE_BLOCKING.
 * Of a notification, SK_TRACE_NOTIFIED is what the process that waited for it says. */
enum {
    SK_TRACE_PUT = 1, SK_TRACE_GET, SK_TRACE_ACCUMULATE, SK_TRACE_RMW, SK_TRACE_NOTIFY, SK_TRACE_NOTIFIED,
    SK_TRACE_STRIDED = 1 << 8, SK_TRACE_VECTOR = 2 << 8, /* how the data lies at the target, if not in one piece */
    SK_TRACE_BLOCKING = 1 << 17 /* the call that begins it waits for its end, too */
};

struct sk_trace_place { const void *site; uint32_t parent, path; };
struct sk_trace_function { const char *name; struct sk_trace_place place; uint32_t region; }; /* the name is yours */
struct sk_trace_call { int64_t enter; uint32_t number, path, outer; int32_t rank; }; /* the number is for you */

#define SK_TRACE_WEAK __attribute__((weak, visibility("default")))

SK_TRACE_WEAK void sk_trace_enter(const char *region);
SK_TRACE_WEAK void sk_trace_leave(void); /* the region that was entered last */

SK_TRACE_WEAK void sk_trace_begin(struct sk_trace_call *call, struct sk_trace_function *function, const void *site,
                                  int rank);
SK_TRACE_WEAK void sk_trace_transfer(const struct sk_trace_call *call, unsigned what, int rank, int64_t bytes);
SK_TRACE_WEAK void sk_trace_complete(const struct sk_trace_call *call, uint32_t begun);
SK_TRACE_WEAK void sk_trace_end(const struct sk_trace_call *call);

#ifdef __cplusplus
}
#endif

#define SK_TRACE_ENTER(region) (sk_trace_enter ? sk_trace_enter(region) : (void)0)
#define SK_TRACE_LEAVE() (sk_trace_leave ? sk_trace_leave() : (void)0)

#define SK_TRACE_BEGIN(call, function, rank) \
    (sk_trace_begin ? sk_trace_begin(call, function, __builtin_return_address(0), rank) : (void)((call)->number = 0))
#define SK_TRACE_TRANSFER(call, what, rank, bytes) \
    (sk_trace_transfer ? sk_trace_transfer(call, what, rank, bytes) : (void)0)
#define SK_TRACE_COMPLETE(call, begun) (sk_trace_complete ? sk_trace_complete(call, begun) : (void)0)
#define SK_TRACE_END(call) (sk_trace_end ? sk_trace_end(call) : (void)0)

#endif

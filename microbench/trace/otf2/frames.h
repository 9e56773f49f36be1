/* The regions that the location which is being read is in, one in the other, and what is said of the innermost call. */
#ifndef SK_TRACE_OTF2_FRAMES_H
#define SK_TRACE_OTF2_FRAMES_H

#include "trace/buffer.h"

#include <stdbool.h>
#include <stdint.h>

void sk_frames_begin(void); /* a new location */
void sk_frames_end(void);   /* of this one; writes calls that still waited for what would be said of them */

void sk_frames_enter(uint32_t region, int64_t time);
bool sk_frames_leave(uint32_t region, int64_t time); /* whether it is the innermost; those in it are left, too */

struct sk_call *sk_frames_call(void); /* the innermost region, if it is a call, else NULL */
const char *sk_frames_name(void);     /* of the innermost region; "" if there is none */

/* A transfer that the innermost call began; `id` names it, for the next function. */
void sk_frames_post(uint32_t kind, int32_t scope, uint32_t peer, uint32_t tag, uint64_t bytes, uint64_t id);

/* The innermost call completes what the call `posted` began. */
void sk_frames_complete(uint32_t posted, uint64_t id);

/* The innermost call began a collective operation that does not wait; on what is said when it is complete. */
void sk_frames_hold(uint64_t request);
void sk_frames_complete_held(uint64_t request, int32_t scope, int32_t peer);

#endif
